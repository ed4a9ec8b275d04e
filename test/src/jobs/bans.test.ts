/** How long Telegram wants a chat left alone: several answers say so, at about the same time. */
import { expect, test } from '@jest/globals';
import { openStore } from '../../../src/jobs/store.js';
import { HOUR, SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';

const CHAT = '-100';

async function scene() {
  const { redis, prefix } = await openTestRedis();
  const clock = new ManualClock();
  return { clock, chats: openStore(redis, clock, prefix).chatMemory };
}

describeWithRedis('bans of a chat', () => {
  test.each([
    [6, 1],
    [1, 6],
  ])('the longest holds, whichever comes first: %d s, then %d s', async (...lengths) => {
    const { clock, chats } = await scene();
    for (const length of lengths) {
      await chats.banEdits(CHAT, length * SECOND);
      await chats.banSends(CHAT, length * SECOND);
    }
    expect([await chats.editBanMs(CHAT), await chats.sendBanMs(CHAT)]).toEqual([6 * SECOND, 6 * SECOND]);
    await clock.advance(5 * SECOND);
    expect([await chats.editBanMs(CHAT), await chats.sendBanMs(CHAT)]).toEqual([SECOND, SECOND]);
    await clock.advance(SECOND);
    expect([await chats.editBanMs(CHAT), await chats.sendBanMs(CHAT)]).toEqual([0, 0]);
  });

  test('one that a clock stored which was ahead gives way to the next', async () => {
    const { clock, chats } = await scene();
    clock.moveWallClock(HOUR);
    await chats.banSends(CHAT, 6 * SECOND);
    clock.moveWallClock(-HOUR);
    await chats.banSends(CHAT, 2 * SECOND);
    expect(await chats.sendBanMs(CHAT)).toBe(2 * SECOND);
  });
});
