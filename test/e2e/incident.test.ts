/** One unhealthy session from the first line to the last word, seen from outside. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH, stepOf } from './conversation.js';
import { findRun } from './processScan.js';
import type { Scenario, SceneProject } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/cli/sessionWhy.ts

const SILENCE_MS = 1_500;
const PLAIN_FIELDS = [
  'timestamp',
  'event',
  'session_id',
  'project_key',
  'reason',
  'action_taken',
  'github_issue',
  'details',
];

const SECOND_ANSWERS: Scenario = {
  when: { attempt: 2 },
  steps: [
    { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough' },
    { do: 'answer', text: 'done at last' },
  ],
};
const EXITS: Scenario = {
  when: { message: '^exit' },
  steps: [
    { do: 'call', tool: 'bash', input: { command: 'make' }, output: 'made {{attempt}}', takes_ms: 400 },
    { do: 'exit', code: 1, stderr: 'it broke' },
  ],
};
const FALLS_SILENT: Scenario = {
  when: { message: '^silence' },
  steps: [{ do: 'call', tool: 'bash', input: { command: 'make' }, output: 'made' }, { do: 'silence' }],
};

const PROJECTS: Record<string, SceneProject> = {
  filing: {
    chats: [
      { id: 11, directory: 'one' },
      { id: 12, directory: 'two' },
      { id: 13, directory: 'three' },
    ],
    thresholds: { silence_ms: SILENCE_MS },
    publicDetail: 'full',
    scenarios: [EXITS, SECOND_ANSWERS, FALLS_SILENT],
  },
  // Both clocks begin with the prompt, so both rules become true in the same millisecond.
  both: {
    chats: [{ id: 21 }],
    thresholds: { silence_ms: SILENCE_MS, runaway_ms: SILENCE_MS },
    scenarios: [SECOND_ANSWERS, { steps: [{ do: 'silence' }] }],
  },
  logging: { chats: [{ id: 51 }], scenarios: [EXITS] },
  failing: {
    chats: [
      { id: -31, directory: 'exits' },
      { id: -32, directory: 'silent' },
    ],
    thresholds: { silence_ms: SILENCE_MS },
    scenarios: [EXITS, FALLS_SILENT],
  },
  working: {
    chats: [{ id: 61 }],
    scenarios: [
      { when: { attempt: 1 }, steps: [{ do: 'exit', code: 1, stderr: 'it broke' }] },
      {
        steps: [
          {
            do: 'repeat',
            times: 24,
            steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms: 250 }],
          },
          { do: 'answer', text: 'done at last' },
        ],
      },
    ],
  },
  looping: {
    chats: [{ id: 71 }],
    scenarios: [
      {
        steps: [
          {
            do: 'repeat',
            times: 6,
            steps: [{ do: 'call', tool: 'bash', input: { command: 'make' }, output: 'made', takes_ms: 50 }],
          },
          { do: 'sleep', ms: 3_000 },
          { do: 'answer', text: 'done at last' },
        ],
      },
    ],
  },
  spreading: {
    chats: [{ id: 41 }],
    thresholds: { silence_ms: SILENCE_MS, tool_wait_ms: SILENCE_MS },
    scenarios: [SECOND_ANSWERS, { steps: [{ do: 'hanging_tool', own_session: true, ignores_sigterm: true }] }],
  },
};

const PLAIN_WORDS = /^The agent (?:exited with code 1 and without an answer|said nothing for \d seconds?)\.$/;

describeScenes('an unhealthy session', () => {
  let scene: BridgeScene;
  const ask = (project: string, chat: number, text: string, threadId?: number) =>
    new Conversation(scene, project, chat, text, threadId === undefined ? {} : { threadId });

  beforeAll(async () => {
    scene = await openTestScene({ projects: PROJECTS });
    await scene.startBridge();
  }, SCENE_TIMEOUT_MS);

  // rule: an-incident-runs-in-order
  test(
    'is detected, reported, revived and closed in order, as is its issue; later ones join, other rules roll up',
    async () => {
      const first = ask('filing', 11, 'silence, the first');
      await first.answered('done at last');
      await first.closing();
      const events = first.events();
      expect(events.map(stepOf)).toEqual(['detected', 'reported', 'revived', 'closed']);
      expect(events.map(({ action_taken }) => action_taken)).toEqual([
        'detected',
        'reported',
        'revival_attempted',
        'revival_attempted',
      ]);
      for (const event of events) expect(Object.keys(event)).toEqual(expect.arrayContaining(PLAIN_FIELDS));
      expect(events.map(({ final }) => final)).toEqual([false, false, false, true]);
      expect(events.at(-1)).toMatchObject({ event: 'session_recovered', rule: 'silence', project_key: 'filing' });
      const url = events[1]?.github_issue;
      const issueOf = (title: string) => scene.github.issues().find((issue) => issue.title === title);
      const own = () => issueOf('[Watchdog] filing: silence');
      expect(own()).toMatchObject({ url, labels: ['watchdog'] });
      const isClosed = () => own()?.state === 'closed' && (own()?.comments.length ?? 0) > 0;
      await scene.github.waitFor(isClosed);
      expect(own()?.body.split('\n')[2]).toBe('**Needs nobody:** the second attempt answered the message.');
      expect(own()?.body).toContain(`- Host: \`${hostname()}\``);
      expect(own()?.body).toContain(`/sessions/${first.session}/tool_use.jsonl`);

      const second = ask('filing', 12, 'silence, the second');
      await second.answered('done at last');
      expect((await second.closing()).github_issue).toBe(url);
      expect(own()?.comments).not.toEqual([]);

      // A rule of its own, but the project has had its new issue of this hour.
      const capped = ask('filing', 13, 'exit twice');
      const failure = await capped.answered(FAILURE_PARAGRAPH);
      const closing = await capped.closing(capped.revival);
      const rollUp = () => issueOf('[Watchdog] filing: crash (collected)');
      expect(failure.text).toContain(String(rollUp()?.url));
      expect(closing).toMatchObject({
        rule: 'crash',
        github_issue: rollUp()?.url,
        action_taken: 'failure_message_sent',
      });
      await scene.github.waitFor(() => rollUp()?.body.includes('**Needs you:** Find out why both') === true);
      expect(rollUp()).toMatchObject({ state: 'open' });

      expect(scene.github.issues()).toHaveLength(2);
      for (const { session } of [first, second]) expect(own()?.body).toContain(session);
      expect(own()?.body).not.toContain(capped.session);
      expect(rollUp()?.body).toContain(capped.session);
      expect(
        scene.github.writes.filter(({ method, path }) => method === 'POST' && path.endsWith('/issues')),
      ).toHaveLength(2);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'that repeats itself is reported at the call that completes the loop, while it works on',
    async () => {
      const asked = ask('looping', 71, 'go round');
      await asked.answered('done at last');
      const detected = asked.events().find((event) => stepOf(event) === 'detected');
      const calls = scene.evidence.journal(asked.session).filter(({ event }) => event === 'post_tool_use');
      expect(detected).toMatchObject({ rule: 'loop' });
      // Whatever is slow here, the next regular look is minutes away.
      expect(Date.parse(detected?.timestamp ?? '') - Date.parse(String(calls.at(-1)?.timestamp))).toBeLessThan(2_900);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: progress-never-hides-the-answer
  test(
    'shows in the chat why it is tried again, and the second attempt at work until its answer',
    async () => {
      const asked = ask('working', 61, 'long work');
      await asked.answered('done at last');
      const seen = scene.telegram.transcript.filter(({ chat, who }) => chat === 61 && who === 'bot');
      const told = seen.findIndex(({ text }) => text.startsWith('The first attempt failed'));
      expect(told).toBeGreaterThan(0);
      const after = seen.slice(told);
      const lines = after.filter(({ what, text }) => what === 'edit' && text.startsWith('Second attempt.\n'));
      expect(new Set(lines.map(({ text }) => text)).size).toBeGreaterThan(4);
      expect(after.filter(({ what }) => what === 'typing').length).toBeGreaterThan(0);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: two-rules-make-one-incident
  test(
    'accused of silence and runaway at once is one incident, one revival, and no failure message',
    async () => {
      const asked = ask('both', 21, 'anything');
      await asked.answered('done at last');
      const closing = await asked.closing();
      expect(new Set(asked.events().map(({ incident_id }) => incident_id)).size).toBe(1);
      expect(asked.events().map(stepOf)).toEqual(['detected', 'reported', 'revived', 'closed']);
      expect(closing).toMatchObject({ rule: 'silence', event: 'session_recovered' });
      const accused = closing.details?.findings as readonly { readonly rule: string }[];
      expect(accused.map(({ rule }) => rule).sort()).toEqual(['runaway', 'silence']);
      expect(asked.events(asked.revival)).toEqual([]);
      expect(asked.starts(asked.revival)).toHaveLength(1);
      expect(asked.repliesWith('Sorry')).toEqual([]);
      expect(scene.telegram.transcript.filter(({ chat, text }) => chat === 21 && text.includes('Sorry'))).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: the-second-failure-is-reported-once
  test(
    'that fails twice is revived once and reported once, in its chat and topic, as a reply',
    async () => {
      const threads = [-31, -32].map((chat) => scene.telegram.createTopic(chat, 'Work')) as [number, number];
      scene.telegram.createTopic(-31, 'Another');
      const exiting = ask('failing', -31, 'exit with 1', threads[0]);
      const silent = ask('failing', -32, 'silence twice', threads[1]);
      for (const [asked, thread, rule] of [
        [exiting, threads[0], 'crash'],
        [silent, threads[1], 'silence'],
      ] as const) {
        await asked.answered(FAILURE_PARAGRAPH);
        expect(await asked.closing(asked.revival)).toMatchObject({ rule, event: 'session_unrecoverable' });
        await asked.closing();
        expect(asked.events().map(stepOf)).toEqual(['detected', 'reported', 'revived', 'closed']);
        expect(asked.events(asked.revival).map(stepOf)).toEqual(['detected', 'reported', 'told', 'closed']);
        expect([asked.starts().length, asked.starts(asked.revival).length]).toEqual([1, 1]);

        const said = scene.telegram.transcript.filter(({ chat, who }) => chat === asked.chat && who === 'bot');
        const failures = said.filter(
          ({ text, what }) => text.split('\n\n')[0] === FAILURE_PARAGRAPH && what === 'message',
        );
        expect(failures).toMatchObject([{ thread, reply_to: asked.messageId }]);
        // One sentence for operators: as in the event, so in the log and the issue. The chat has plain words.
        const accused = asked.events(asked.revival)[0]?.details?.findings as readonly { readonly sentence: string }[];
        const sentence = String(accused[0]?.sentence);
        expect(failures[0]?.text.split('\n\n')[1]).toMatch(PLAIN_WORDS);
        expect(scene.evidence.logLines().some(({ msg }) => msg.endsWith(sentence))).toBe(true);
        expect(scene.github.issues().some(({ body }) => body.includes(`Finding: ${sentence}`))).toBe(true);
        // Everything before it is the one progress message.
        const before = said.slice(0, said.indexOf(failures[0] ?? (said[0] as (typeof said)[number])));
        const progress = new Set(
          before.filter(({ what }) => what === 'message' || what === 'edit').map(({ message_id }) => message_id),
        );
        expect(progress.size).toBe(1);
        expect(before.filter(({ text }) => text.includes('trying again'))).toMatchObject([{ what: 'edit' }]);
      }
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'is logged step by step, each step once, without quotations',
    async () => {
      const asked = ask('logging', 51, 'exit, said a person');
      await asked.answered(FAILURE_PARAGRAPH);
      await asked.closing(asked.revival);
      const log = join(scene.logs, 'bridge.log');
      const linesAbout = (session: string) =>
        readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { msg: string; session_id?: string })
          .filter(({ session_id }) => session_id === session);
      const shown = await scene.run(['session', asked.revival]);
      expect(shown.exit).toMatchObject({ code: 1 });
      expect(shown.stdout).toContain(FAILURE_PARAGRAPH);
      // As much as the chat was told, and first.
      expect(shown.stdout.split('\n')[0]).toMatch(/^why +the agent exited with code 1 and without an answer/);
      expect(shown.stdout).toMatch(/^it ended +.*it broke/m);
      expect(shown.stdout).toMatch(/^last calls +\d\d:\d\d:\d\d \S+ \w+ \(ok/m);
      expect(shown.stdout).toMatch(/^done +The chat was notified of the failure/m);
      expect(shown.stdout.match(/^issue /gm)).toHaveLength(1);
      expect(shown.stdout).toMatch(/^issue {9}http/m);
      expect(shown.stdout).toMatch(/^incident /m);
      await scene.until('the last line', () => linesAbout(asked.revival).some(({ msg }) => msg.includes('is closed')));
      await scene.until('the other end', () => linesAbout(asked.session).some(({ msg }) => msg.includes('is closed')));
      const first = linesAbout(asked.session);
      const second = linesAbout(asked.revival);
      for (const [lines, words] of [
        [first, ['message accepted', 'run started', 'run ended', 'crash:', 'is filed', 'run again', 'is closed']],
        [second, ['run started', 'run ended', 'crash:', 'has it now', 'failure message delivered', 'is closed: told']],
      ] as const) {
        for (const word of words)
          expect([word, lines.filter(({ msg }) => msg.includes(word))]).toMatchObject([word, [{}]]);
      }
      expect(first.find(({ msg }) => msg.includes('run started'))).toMatchObject({
        project_key: 'logging',
        agent: 'scripted',
        agent_pid: expect.any(Number),
        attempt: 1,
      });
      expect(first.find(({ msg }) => msg.includes('run ended'))).toMatchObject({
        outcome: 'failed',
        reason: 'run_failed_exit_1',
        duration_ms: expect.any(Number),
        calls: 1,
      });
      expect(first.find(({ msg }) => msg.includes('is filed'))).toMatchObject({ issue: expect.any(Number) });
      expect(JSON.stringify([first, second])).not.toContain('said a person');
      // An agent's words are no sentence of ours: one field has them, marked.
      for (const lines of [first, second]) {
        const told = lines.filter((line) => JSON.stringify(line).includes('it broke'));
        expect(told).toEqual([expect.objectContaining({ untrusted_end: expect.stringContaining('it broke') })]);
        expect(told[0]?.msg).toMatch(/run ended \(failed: the agent exited with code 1 and without an answer, .*\)$/);
      }
      for (const event of [...asked.events(), ...asked.events(asked.revival)]) {
        expect(event.untrusted_excerpt).toContain('it broke');
        expect(JSON.stringify(event.details)).not.toContain('it broke');
      }
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: nothing-of-a-run-is-left
  test(
    'leaves no process behind, although its tool has its own session and ignores SIGTERM',
    async () => {
      const asked = ask('spreading', 41, 'anything');
      const first = await asked.start();
      const atWork = await scene.until('the tool', () => {
        const found = findRun(first.run);
        return new Set(found.map(({ session }) => session)).size === 2 && found;
      });
      expect(atWork).toHaveLength(2);
      await asked.start(asked.revival);
      expect(findRun(first.run)).toEqual([]);
      await asked.answered('done at last');
    },
    SCENE_TIMEOUT_MS,
  );
});
