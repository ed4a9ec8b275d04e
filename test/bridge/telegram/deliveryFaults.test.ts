/** What becomes of an answer for each thing that Telegram may say: there once in the end, or given up with an event. */
import { expect, test } from '@jest/globals';
import type { AgentSession, OutboxEntry } from '../../../src/jobs/model.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { describeWithRedis } from '../../harness/redis.js';
import type { Fault, FaultKind } from '../../peers/telegram/faults.js';
import { activeSession, answered, CHAT, deliveryOf, openScene, type Scene, withProgressMessage } from './scene.js';

const ANSWER = 'The answer is **42**.';
const MOVED_TO = -100_777;
const ALWAYS = Number.POSITIVE_INFINITY;

async function entryOf(scene: Scene, { session_id }: AgentSession): Promise<OutboxEntry> {
  const entry = await scene.store.records.outboxEntry(session_id);
  if (entry === null) throw new Error('no outbox entry');
  return entry;
}

/** Tried whenever the entry is due; after that twice an hour, as by a bridge that is rarely awake: a day has 1,440 minutes. */
const TRIES_WHEN_DUE = 10;

/** Tries until the way of the entry is over. @returns the end, and after how long */
async function deliverUntilOver(scene: Scene, session: AgentSession) {
  const delivery = deliveryOf(scene);
  const begun = scene.clock.now();
  for (let tries = 1; ; tries += 1) {
    const state = await delivery.deliver(session.session_id);
    const entry = await entryOf(scene, session);
    if (state !== 'queued' && state !== 'sending') return { state, tookMs: scene.clock.now() - begun, entry };
    const least = tries < TRIES_WHEN_DUE ? 1 : 30 * MINUTE;
    await scene.clock.advance(Math.max(entry.due_at - scene.clock.now(), least));
  }
}

/** How often a text was put into a send, and reached the server. */
function sendsOfAnswer({ peer }: Scene): number {
  const sends = peer.calls.filter(
    ({ method, parameters }) => method === 'sendMessage' && /42/.test(String(parameters.text)),
  );
  return sends.filter(({ outcome }) => !/^4\d\d/.test(outcome)).length;
}

function standing(scene: Scene, chat: number): string[] {
  return scene.peer.botMessages(chat).flatMap(({ text }) => (text.includes('42') ? [text] : []));
}

describeWithRedis('a temporary fault of Telegram', () => {
  const faults: readonly [string, FaultKind, { within: number; chat?: number }][] = [
    ['429, short', { kind: 'too_many_requests', retryAfterS: 7 }, { within: 7 * SECOND }],
    ['429, for hours', { kind: 'too_many_requests', retryAfterS: 90_000 }, { within: HOUR }],
    ['400, formatting', { kind: 'bad_request', description: "can't parse entities: unclosed tag" }, { within: 0 }],
    ['400, message thread not found', { kind: 'bad_request', description: 'message thread not found' }, { within: 0 }],
    ['400, topic closed', { kind: 'bad_request', description: 'TOPIC_CLOSED' }, { within: 0 }],
    ['400, chat migrated', { kind: 'chat_migrated', migrateToChatId: MOVED_TO }, { within: 0, chat: MOVED_TO }],
    ['401', { kind: 'unauthorized' }, { within: MINUTE }],
    ['502', { kind: 'server_error', status: 502, html: true }, { within: 0 }],
    ['reset', { kind: 'reset' }, { within: 0 }],
    ['lost answer', { kind: 'lost_answer' }, { within: 0 }],
  ];

  // rule: a-send-fault-has-an-end
  test.each(faults)(
    '%s: the answer is in the chat, sent at most once',
    async (_name, fault, { within, chat = CHAT }) => {
      const scene = await openScene();
      scene.peer.openChat(CHAT, { forum: true });
      scene.peer.openChat(MOVED_TO);
      const threadId = scene.peer.createTopic(CHAT, 'Bugs', { userId: 1 });
      const session = await answered(
        scene,
        await withProgressMessage(scene, await activeSession(scene, { threadId })),
        ANSWER,
      );
      const injected = scene.peer.inject({ ...fault, method: 'sendMessage' });
      const { state, tookMs } = await deliverUntilOver(scene, session);
      expect({ state, tookMs, used: injected.used }).toEqual({ state: 'sent', tookMs: within, used: 1 });
      expect(standing(scene, chat).length).toBeGreaterThan(0);
      expect(sendsOfAnswer(scene)).toBe(1);
      expect(scene.told).toEqual([]);
    },
  );
});

describeWithRedis('a permanent fault of Telegram', () => {
  const faults: readonly [string, FaultKind, 'given_up' | 'unknown', 'at once' | 'after a day'][] = [
    ['400, too long', { kind: 'bad_request', description: 'message is too long' }, 'given_up', 'at once'],
    ['403, blocked', { kind: 'forbidden' }, 'given_up', 'after a day'],
    ['400, chat not found', { kind: 'bad_request', description: 'chat not found' }, 'given_up', 'after a day'],
    ['429, for hours', { kind: 'too_many_requests', retryAfterS: 20_000 }, 'given_up', 'after a day'],
    ['401', { kind: 'unauthorized' }, 'given_up', 'after a day'],
    ['502', { kind: 'server_error', status: 502 }, 'unknown', 'after a day'],
    ['reset', { kind: 'reset' }, 'unknown', 'after a day'],
  ];

  // rule: a-send-fault-has-an-end
  test.each(faults)(
    '%s: delivery ends, with a critical event',
    async (_name, fault, state, when) => {
      const scene = await openScene();
      const session = await answered(scene, await activeSession(scene), ANSWER);
      const everywhere: Fault[] = [
        { ...fault, method: 'sendMessage', times: ALWAYS },
        { ...fault, method: 'editMessageText', times: ALWAYS },
      ];
      for (const each of everywhere) scene.peer.inject(each);
      const end = await deliverUntilOver(scene, session);
      expect(end.state).toBe(state);
      if (when === 'at once') expect(end.tookMs).toBe(0);
      else {
        expect(end.tookMs).toBeGreaterThan(DAY);
        expect(end.tookMs).toBeLessThan(DAY + 2 * HOUR);
        expect(end.entry.last_error).toContain('a day has passed');
      }
      expect(scene.peer.botMessages(CHAT)).toEqual([]);
      expect(sendsOfAnswer(scene)).toBeLessThanOrEqual(1);
      expect(scene.told).toMatchObject([
        { event: 'message_undelivered', reason: `answer_${state}`, details: { last_error: end.entry.last_error } },
      ]);
    },
    60_000,
  );
});
