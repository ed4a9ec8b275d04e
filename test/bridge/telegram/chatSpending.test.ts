import { describe, expect, test } from '@jest/globals';
import { ChatSpending } from '../../../bridge/telegram/chatSpending.js';
import { Errands } from '../../../bridge/telegram/errands.js';
import { SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis } from '../../harness/redis.js';
import { CHAT, openScene } from './scene.js';

const GROUP = '-100500';
/** Telegram's, for a minute. */
const LIMIT = 20;

describe('the limit of a group', () => {
  // rule: progress-leaves-room-for-answers
  test.each([1, 2, 6, 9])(
    'is kept for the answers of %s messages that are worked on, at any moment',
    async (running) => {
      const clock = new ManualClock();
      const spending = new ChatSpending(clock);
      const calls: number[] = [];
      const call = () => {
        calls.push(clock.monotonic());
        spending.note(GROUP);
      };
      for (let message = 0; message < running; message += 1)
        if (spending.waitForLine(GROUP, running, 'first') === 0) call();
      for (let second = 0; second < 300; second += 1) {
        for (let message = 0; message < running; message += 1)
          if (spending.waitForLine(GROUP, running, 'edit') === 0) call();
        const lastMinute = calls.filter((at) => at > clock.monotonic() - 60 * SECOND).length;
        expect(lastMinute + 2 * running).toBeLessThanOrEqual(LIMIT + 1);
        await clock.advance(SECOND);
      }
      // Something is shown all the same, and not all at once.
      expect(calls.length).toBeGreaterThan(5);
      expect(calls.at(-1)).toBeGreaterThan(240 * SECOND);
    },
  );

  test('counts what others send there; a private chat has none, and other groups have their own', async () => {
    const clock = new ManualClock();
    const spending = new ChatSpending(clock);
    for (let sent = 0; sent < LIMIT; sent += 1) {
      spending.note(GROUP);
      spending.note('42');
    }
    expect(spending.waitForLine(GROUP, 1, 'first')).toBe(60 * SECOND);
    expect(spending.waitForLine('42', 1, 'first')).toBe(0);
    expect(spending.waitForLine('-7', 1, 'first')).toBe(0);
    await clock.advance(60 * SECOND);
    expect(spending.waitForLine(GROUP, 1, 'first')).toBe(0);
  });
});

describeWithRedis('a chat that asks for a pause', () => {
  // rule: nobody-sends-within-a-ban
  test.each(['answer', 'reaction'] as const)(
    'gets no further %s before that is over, whoever wants one, and others get theirs',
    async (name) => {
      const method = name === 'answer' ? 'sendMessage' : 'setMessageReaction';
      const scene = await openScene();
      const asked = scene.peer.say(CHAT, 'hello', { userId: 1 });
      const other = scene.peer.say(7, 'hello');
      const errands = new Errands(scene.logger, scene.clock, scene.api.spending);
      const call = (chat: number, message: number) => (signal: AbortSignal) => {
        const [chatId, to] = [String(chat), { chatId: String(chat), threadId: null, replyTo: null }];
        if (method === 'sendMessage') return scene.api.sendMessage(to, { plain: 'hi', html: null }, { signal });
        return scene.api.react(chatId, String(message), '👀', signal);
      };
      const made = () => scene.peer.calls.filter((each) => each.method === method).map(({ outcome }) => outcome);
      const asleep = async (count: number) => {
        while (scene.clock.sleepers < count && made().length <= 2)
          await new Promise((resolve) => setImmediate(resolve));
      };
      scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 20, method });
      errands.run({ name, chatId: String(CHAT) }, call(CHAT, asked));
      await asleep(1);
      for (let more = 0; more < 5; more += 1) errands.run({ name, chatId: String(CHAT) }, call(CHAT, asked));
      errands.run({ name, chatId: '7' }, call(7, other));
      await asleep(6);
      await scene.peer.waitFor(() => made().length === 2);
      await scene.clock.advance(19 * SECOND);
      expect(made()).toHaveLength(2);
      await scene.clock.advance(2 * SECOND);
      await scene.peer.waitFor(() => made().length === 8);
      await errands.stop();
    },
  );
});
