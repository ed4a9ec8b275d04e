/** A bridge whose Redis, GitHub or chat goes away and comes back: said in words, and nothing is lost or done twice. */
import { expect, test } from '@jest/globals';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const WORK: Scenario = {
  steps: [
    { do: 'repeat', times: 12, steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms: 250 }] },
    { do: 'answer', text: 'worked through' },
  ],
};
const ANSWER = { do: 'answer', text: 'at last' } as const;
const EXITS: Scenario = { when: { message: '^exit' }, steps: [{ do: 'exit', code: 1 }] };

describeScenes('an outage', () => {
  // rule: a-redis-outage-ends-no-run
  test(
    'of Redis ends no run; a message meanwhile is kept, the chat is notified, and both are answered once',
    async () => {
      const scene = await openTestScene({
        projects: {
          boat: {
            chats: [
              { id: 1, directory: 'one' },
              { id: 2, directory: 'two' },
            ],
            scenarios: [WORK],
          },
        },
        timings: { runLeaseMs: 20_000 },
      });
      const bridge = await scene.startBridge();
      const running = new Conversation(scene, 'boat', 1, 'the first');
      await running.start();
      await scene.redis.kill();
      const meanwhile = new Conversation(scene, 'boat', 2, 'the second');
      await meanwhile.answered('Received; I start it when my store is back');
      expect(scene.telegram.unconfirmedUpdates).toBeGreaterThan(0);
      await bridge.says('is away');
      await scene.redis.start();

      for (const asked of [running, meanwhile]) {
        await asked.answered('worked through');
        expect(asked.starts()).toHaveLength(1);
      }
      await bridge.says('is back after');
      const lines = bridge.stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { msg: string; err?: object });
      const told = lines.slice(lines.findIndex(({ msg }) => msg.includes('is away')));
      expect(told.filter(({ msg }) => msg.includes('is away'))).toHaveLength(1);
      expect(told.filter(({ msg }) => msg.includes('is back after'))).toHaveLength(1);
      expect(told.filter(({ err }) => err !== undefined)).toEqual([]);
      expect(scene.evidence.faults()).toEqual([]);
      // The store can be read again from here as well; nothing of the answers is left to be sent.
      await scene.until('the end of both deliveries', async () => {
        const { due, nextAt } = await scene.store.records.dueOutbox(Number.MAX_SAFE_INTEGER);
        return due.length === 0 && nextAt === null;
      });
      for (const asked of [running, meanwhile]) expect(asked.repliesWith('worked through')).toHaveLength(1);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-redis-outage-is-waited-for
  test(
    'of Redis at the start is logged and waited for, without an exit and without a secret',
    async () => {
      const scene = await openTestScene({
        projects: { boat: { chats: [{ id: 1 }], scenarios: [{ steps: [ANSWER] }] } },
      });
      await scene.redis.stop();
      const bridge = scene.start(['bridge']);
      await bridge.says('waiting for Redis');
      await scene.redis.start();
      const asked = new Conversation(scene, 'boat', 1, 'hello');
      await asked.answered('at last');
      expect(bridge.exit).toBeNull();
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: an-issue-keeps-nobody-waiting
  test(
    'of GitHub delays nobody: the message is revived, reported without a link, and its incidents stay open',
    async () => {
      const scene = await openTestScene({
        projects: { boat: { chats: [{ id: 1 }], scenarios: [EXITS] } },
        timings: { reportWaitMs: 500 },
      });
      const refusing = scene.github.inject({ kind: 'status', status: 502, times: Number.POSITIVE_INFINITY });
      await scene.startBridge();
      const asked = new Conversation(scene, 'boat', 1, 'exit twice');
      const failure = await asked.answered(FAILURE_PARAGRAPH);
      expect(failure.text).not.toContain('Issue:');
      expect(scene.github.issues()).toEqual([]);
      expect(refusing.used).toBeGreaterThan(0);
      expect(asked.starts(asked.revival)).toHaveLength(1);
      const open = await scene.store.records.openIncidents();
      expect(open.map(({ session_id, report }) => [session_id, report.state, report.url])).toEqual([
        [asked.session, 'pending', null],
        [asked.revival, 'pending', null],
      ]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-final-message-is-sent-once
  test(
    'of a reply to sendMessage sends nothing twice: an edit puts the text into a placeholder; progress is closed',
    async () => {
      const scene = await openTestScene({ projects: { boat: { chats: [{ id: 1 }] } } });
      await scene.startBridge();
      const lost = scene.telegram.inject({
        kind: 'lost_answer',
        method: 'sendMessage',
        match: (parameters) => parameters.text('text').includes('You wrote'),
      });
      const asked = new Conversation(scene, 'boat', 1, 'hello');
      await scene.until('a delivered answer', async () => {
        const entry = await scene.store.records.outboxEntry(asked.session);
        return entry !== null && !['queued', 'sending'].includes(entry.state);
      });
      expect(lost.used).toBe(1);
      const sent = scene.telegram.transcript.filter(
        ({ what, text }) => what === 'message' && text.includes('You wrote'),
      );
      expect(sent).toHaveLength(1);
      await scene.until('the last line of the progress message', async () => {
        return (await scene.store.records.outboxEntry(asked.session))?.progress_message_id === null;
      });
      const [progress, ...others] = scene.telegram.botMessages(1).map(({ text }) => text);
      expect(progress).toMatch(/^Done in /);
      expect(others.filter((text) => text.includes('You wrote')).length).toBeGreaterThan(0);
      const session = await scene.store.records.session(asked.session);
      expect(session).toMatchObject({ status: 'completed', answer: expect.stringContaining('You wrote: hello') });
    },
    SCENE_TIMEOUT_MS,
  );
});
