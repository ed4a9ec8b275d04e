import { describe, expect, test } from '@jest/globals';
import { ChatSpending } from '../../../bridge/telegram/chatSpending.js';
import { SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';

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
