/** A bridge whose GitHub or chat goes away: said in words, and nothing is lost or done twice. */
import { expect, test } from '@jest/globals';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const EXITS: Scenario = { when: { message: '^exit' }, steps: [{ do: 'exit', code: 1 }] };

describeScenes('an outage', () => {
  test(
    'of GitHub keeps nobody waiting: the message is revived and told without a link, and its incidents stay open',
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

  test(
    'of an answer to sendMessage sends nothing twice: the text goes into the progress message by an edit',
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
      expect(scene.telegram.botMessages(1).filter(({ text }) => text.includes('You wrote')).length).toBeGreaterThan(0);
      const session = await scene.store.records.session(asked.session);
      expect(session).toMatchObject({ status: 'completed', answer: expect.stringContaining('You wrote: hello') });
    },
    SCENE_TIMEOUT_MS,
  );
});
