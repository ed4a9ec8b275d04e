/** Who asks for what in the demo, and what the scripted agents make of it. */
import type { SceneConfiguration } from '../e2e/sceneFiles.js';

export const CHATS = { website: 1001, api: 1002, docs: -1003, shop: 1004, mobile: 1005 } as const;

export const ASKED = {
  website: 'Add a contact page',
  api: 'Run the migration of the orders table',
  docs: 'Publish the release notes',
  shop: 'Make the checkout tests pass',
  mobile: 'Upgrade the build to the new toolchain',
} as const;

export const ANSWERS = {
  website: 'The contact page is there, and the tests pass.',
  api: 'The migration is done: 3 tables changed.',
  shop: 'The checkout tests pass; a port was taken.',
  mobile: 'The build runs on the new toolchain.',
} as const;

export const FAILING_BATCHES = 6;
/** In place of 10 minutes. */
const SILENCE_MS = 2_500;

/** Every fault in a project of its own: each project files at most one new issue per hour. */
export const CONFIGURATION: SceneConfiguration = {
  projects: {
    website: {
      chats: [{ id: CHATS.website }],
      scenarios: [
        {
          steps: [
            { do: 'say', text: 'I look at the other pages first.' },
            { do: 'call', tool: 'read', input: { path: 'pages/about.html' }, output: '<h1>About</h1>', takes_ms: 600 },
            { do: 'say', text: 'Now the new page.' },
            { do: 'call', tool: 'write', input: { path: 'pages/contact.html' }, takes_ms: 700 },
            { do: 'call', tool: 'bash', input: { command: 'npm test' }, output: '12 passed', takes_ms: 800 },
            { do: 'answer', text: ANSWERS.website },
          ],
        },
      ],
    },
    api: {
      chats: [{ id: CHATS.api }],
      thresholds: { silence_ms: SILENCE_MS, tool_wait_ms: SILENCE_MS },
      scenarios: [
        {
          when: { attempt: 1 },
          steps: [
            { do: 'call', tool: 'read', input: { path: 'migrations/7.sql' }, output: 'alter table', takes_ms: 100 },
            // A process session of its own, and deaf to SIGTERM: neither the group nor patience ends it.
            { do: 'hanging_tool', tool: 'bash', own_session: true, ignores_sigterm: true },
          ],
        },
        {
          when: { attempt: 2 },
          steps: [
            { do: 'call', tool: 'bash', input: { command: 'migrate --lock-timeout 5s' }, output: 'ok', takes_ms: 900 },
            { do: 'answer', text: ANSWERS.api },
          ],
        },
      ],
    },
    docs: {
      chats: [{ id: CHATS.docs }],
      scenarios: [
        {
          when: { attempt: 1 },
          steps: [
            { do: 'call', tool: 'bash', input: { command: 'make notes' }, output: 'made', takes_ms: 400 },
            { do: 'exit', code: 1, stderr: 'the publisher broke' },
          ],
        },
        // Without any work of its own: a second attempt that works counts as recovered, whatever becomes of it.
        { when: { attempt: 2 }, steps: [{ do: 'exit', code: 1, stderr: 'the publisher is still broken' }] },
      ],
    },
    shop: {
      chats: [{ id: CHATS.shop }],
      scenarios: [
        {
          when: { attempt: 1 },
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
          when: { attempt: 2 },
          steps: [
            { do: 'call', tool: 'bash', input: { command: 'lsof -i :5432' }, output: 'postgres', takes_ms: 300 },
            { do: 'answer', text: ANSWERS.shop },
          ],
        },
      ],
    },
    mobile: {
      chats: [{ id: CHATS.mobile }],
      scenarios: [
        {
          when: { attempt: 1 },
          steps: [
            { do: 'call', tool: 'bash', input: { command: 'gradle wrapper' }, output: 'ok', takes_ms: 100 },
            { do: 'call', tool: 'bash', input: { command: 'gradle build' }, takes_ms: 120_000 },
            { do: 'answer', text: 'This answer never comes: the bridge is killed before.' },
          ],
        },
        {
          when: { attempt: 2 },
          steps: [
            { do: 'call', tool: 'bash', input: { command: 'gradle build --offline' }, output: 'ok', takes_ms: 300 },
            { do: 'answer', text: ANSWERS.mobile },
          ],
        },
      ],
    },
  },
  timings: { killGraceMs: 1_000, runLeaseMs: 5_000, watchdogLeaseMs: 2_000, progressEveryMs: 400 },
};
