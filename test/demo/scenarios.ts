/** What the scripted agents make of the messages in the demo. */
import type { Step } from '../../bridge/agents/scenario.js';
import { SECOND } from '../../src/time.js';
import type { Scenario, SceneConfiguration } from '../e2e/sceneFiles.js';
import { patience } from '../harness/patience.js';
import { ANSWER_IN_MARKDOWN, CHATS, FAILING_BATCHES, STORIES, type Story } from './cast.js';

/** In place of minutes; more on a machine on which a healthy agent needs seconds to start. */
export const SILENCE_MS = 2 * SECOND * patience();

/** How long a second attempt waits for its issue; no story needs nearly as long. */
export const REPORT_WAIT_MS = 30 * SECOND * patience();

/** A list of tasks of which the first ones are done and the next one is in progress. */
const plan = (titles: readonly string[], done: number): Step => ({
  do: 'plan',
  items: titles.map((title, index) => ({
    title,
    status: index < done ? 'completed' : index === done ? 'in_progress' : 'pending',
  })),
});
const PAGE = ['Look at the other pages', 'Write the page', 'Run the tests'];
const MIGRATION = ['Read the migration', 'Run it', 'Check the tables'];

const WEBSITE: Scenario[] = [
  {
    steps: [
      plan(PAGE, 0),
      { do: 'say', text: 'I look at the other pages first.' },
      { do: 'call', tool: 'read', input: { path: 'pages/about.html' }, output: '<h1>About</h1>', takes_ms: 500 },
      plan(PAGE, 1),
      { do: 'say', text: 'Now the new page.' },
      { do: 'call', tool: 'write', input: { path: 'pages/contact.html' }, takes_ms: 500 },
      plan(PAGE, 2),
      { do: 'call', tool: 'bash', input: { command: 'npm test' }, output: '12 passed', takes_ms: 500 },
      { do: 'answer', text: ANSWER_IN_MARKDOWN },
    ],
  },
];

const SHOP: Scenario[] = [
  {
    when: first('hang'),
    steps: [
      plan(MIGRATION, 0),
      { do: 'call', tool: 'read', input: { path: 'migrations/7.sql' }, output: 'alter table', takes_ms: 100 },
      plan(MIGRATION, 1),
      // A process session of its own, and deaf to SIGTERM: neither the group nor patience ends it.
      {
        do: 'hanging_tool',
        tool: 'bash',
        input: { command: 'migrate up' },
        own_session: true,
        ignores_sigterm: true,
      },
    ],
  },
  {
    when: second('hang'),
    steps: [
      plan(MIGRATION, 1),
      { do: 'call', tool: 'bash', input: { command: 'migrate up --lock-timeout 5s' }, output: 'ok', takes_ms: 700 },
      plan(MIGRATION, 2),
      { do: 'answer', text: STORIES.hang.answer },
    ],
  },
  {
    when: first('cascade'),
    steps: [
      {
        do: 'repeat',
        times: FAILING_BATCHES,
        steps: [
          {
            do: 'call',
            tool: 'bash',
            input: { command: 'npm test -- --seed {{index}}' },
            outcome: 'failed',
            output: 'try {{index}}: connection refused',
            takes_ms: 120,
          },
        ],
      },
      { do: 'silence' },
    ],
  },
  {
    when: second('cascade'),
    steps: [
      { do: 'call', tool: 'bash', input: { command: 'lsof -i :5432' }, output: 'postgres', takes_ms: 500 },
      { do: 'answer', text: STORIES.cascade.answer },
    ],
  },
  {
    when: first('killed'),
    steps: [
      { do: 'call', tool: 'bash', input: { command: 'gradle wrapper' }, output: 'ok', takes_ms: 100 },
      { do: 'call', tool: 'bash', input: { command: 'gradle build' }, takes_ms: 120_000 },
      { do: 'answer', text: 'This answer never comes: the bridge is killed before.' },
    ],
  },
  {
    when: second('killed'),
    steps: [
      { do: 'call', tool: 'bash', input: { command: 'gradle build --offline' }, output: 'ok', takes_ms: 500 },
      { do: 'answer', text: STORIES.killed.answer },
    ],
  },
];

const DOCS: Scenario[] = [
  {
    when: first('crash'),
    steps: [
      { do: 'call', tool: 'bash', input: { command: 'make notes' }, output: 'made', takes_ms: 400 },
      { do: 'exit', code: 1, stderr: 'publish: the registry answered 503' },
    ],
  },
  // It works again, and fails all the same: that is no recovery.
  {
    when: second('crash'),
    steps: [
      { do: 'call', tool: 'bash', input: { command: 'make notes' }, output: 'made', takes_ms: 400 },
      { do: 'exit', code: 1, stderr: 'publish: the registry answered 503 again' },
    ],
  },
];

export const CONFIGURATION: SceneConfiguration = {
  projects: {
    website: { chats: [{ id: CHATS.website.id }], scenarios: WEBSITE },
    shop: {
      chats: [{ id: CHATS.shop.id }],
      thresholds: { silence_ms: SILENCE_MS, tool_wait_ms: SILENCE_MS },
      scenarios: SHOP,
    },
    docs: { chats: [{ id: CHATS.docs.id }], scenarios: DOCS },
  },
  timings: {
    reportWaitMs: REPORT_WAIT_MS,
    killGraceMs: 1_000,
    runLeaseMs: 5_000,
    watchdogLeaseMs: 2_000,
    progressEveryMs: 400,
  },
};

function first(story: Story): NonNullable<Scenario['when']> {
  return { message: STORIES[story].asked, attempt: 1 };
}

function second(story: Story): NonNullable<Scenario['when']> {
  return { message: STORIES[story].asked, attempt: 2 };
}
