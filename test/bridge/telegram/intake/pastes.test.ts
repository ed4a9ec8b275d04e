/** A pasted text that Telegram's client has cut into several messages is one request, whatever dies between its pieces. */
import { expect, test } from '@jest/globals';
import { FencedError } from '../../../../src/errors.js';
import { MINUTE, SECOND } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import { CHAT, OTHER_CHAT, openScene, PERSON, project, type Scene, testSettings } from '../scene.js';
import { takingIn } from '../takingIn.js';

// covers: bridge/telegram/intake/pastes.ts

const LINE = 'at Object.<anonymous> (/srv/app/index.js:10:5)\n';
const LONG = `Please fix this stack trace:\n${LINE.repeat(180)}and DO NOT touch the database.`;
const ORDER_AT_THE_END = /DO NOT touch the database\.$/;

describeWithRedis('a paste of 8,519 characters', () => {
  // rule: a-paste-is-one-request
  test('is one request, with every piece marked as seen', async () => {
    const scene = await openScene();
    const { store, intake } = await takingIn(scene, {}, false);
    const pieces = paste(scene, LONG);
    expect(pieces).toHaveLength(3);
    expect(await intake.runOnce()).toBe(0);
    const [session, ...more] = await pending(scene);
    expect(more).toEqual([]);
    expect(session?.request.message_text.replace(/\s/g, '')).toBe(LONG.replace(/\s/g, ''));
    expect(session?.request.message_id).toBe(String(pieces[0]));
    await scene.peer.waitFor(() => pieces.every((id) => reactions(scene, id).includes('👀')));
    for (const id of pieces) {
      expect(await store.records.sessionOfMessage('popoto', String(CHAT), String(id))).toBe(session?.session_id);
    }
    await intake.start();
    await scene.peer.waitFor(() => scene.peer.unconfirmedUpdates === 0);
  });

  test('whose pieces arrive one by one is waited for, and nothing of it is confirmed before', async () => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    for (const [index, text] of cut(LONG).entries()) {
      scene.peer.say(CHAT, text, { userId: PERSON });
      const pauseMs = await intake.runOnce();
      expect(await pending(scene)).toHaveLength(index < 2 ? 0 : 1);
      if (index < 2) expect(pauseMs).toBeGreaterThan(0);
      if (index < 2) expect(scene.peer.unconfirmedUpdates).toBe(index + 1);
      await scene.clock.advance(SECOND / 2);
    }
    expect((await pending(scene))[0]?.request.message_text).toMatch(ORDER_AT_THE_END);
  });

  // rule: a-paste-is-one-request
  test('is one request if its bridge is killed between the pieces, or before it could confirm them', async () => {
    const scene = await openScene();
    const first = await takingIn(scene, {}, false);
    const [one = '', ...others] = cut(LONG);
    scene.peer.say(CHAT, one, { userId: PERSON });
    await first.intake.runOnce();
    // Killed here: nothing is stored, and Telegram has the piece.
    expect(await pending(scene)).toEqual([]);
    for (const text of others) scene.peer.say(CHAT, text, { userId: PERSON });
    const second = await takingIn(scene, {}, false);
    await second.intake.runOnce();
    expect(await pending(scene)).toHaveLength(1);
    // Killed here: all is stored, and nothing confirmed. The offset was lost as well.
    expect(scene.peer.unconfirmedUpdates).toBe(3);
    await scene.store.redis.del(scene.store.keys.updateOffset(scene.api.botId));
    const third = await takingIn(scene, {}, false);
    await third.intake.start();
    await scene.peer.waitFor(() => scene.peer.unconfirmedUpdates === 0);
    expect(await pending(scene)).toHaveLength(1);
  });

  test('is one request if its bridge dies after the acceptance: a later piece alone is known', async () => {
    const scene = await openScene();
    const { chatMemory } = scene.store;
    let saves = 0;
    const saveUpdateOffset: typeof chatMemory.saveUpdateOffset = async (botId, offset) => {
      saves += 1;
      if (saves > 1) throw new FencedError('killed here');
      await chatMemory.saveUpdateOffset(botId, offset);
    };
    const store = { ...scene.store, chatMemory: Object.assign(Object.create(chatMemory), { saveUpdateOffset }) };
    const dying = await takingIn(scene, { store }, false);
    paste(scene, LONG);
    await dying.intake.runOnce();
    expect(await scene.store.records.updateOffset(scene.api.botId)).toBe(1_001);
    const { intake } = await takingIn(scene, {}, false);
    await intake.start();
    await scene.peer.waitFor(() => scene.peer.unconfirmedUpdates === 0);
    expect(await pending(scene)).toHaveLength(1);
  });

  test('is one request although others write in between, whose messages keep their order', async () => {
    const scene = await openScene();
    const settings = testSettings([project('popoto', '/srv/popoto', [CHAT, OTHER_CHAT], [String(PERSON), '2'])]);
    const { intake } = await takingIn(scene, { settings }, false);
    for (const text of cut(LONG)) {
      scene.peer.say(CHAT, text, { userId: PERSON });
      scene.peer.say(CHAT, 'me too', { userId: 2 });
      scene.peer.say(OTHER_CHAT, 'elsewhere', { userId: PERSON });
    }
    await intake.runOnce();
    const texts = (await pending(scene)).map(({ request }) => request.message_text.slice(0, 9));
    expect(texts.sort()).toEqual([...Array(3).fill('elsewhere'), ...Array(3).fill('me too'), 'Please fi'].sort());
  });

  test('that ends with a full message is not waited for longer than its next piece may take', async () => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    scene.peer.say(CHAT, 'x'.repeat(4_096), { userId: PERSON });
    expect(await intake.runOnce()).toBeGreaterThan(0);
    await scene.clock.advance(2 * SECOND);
    expect(await intake.runOnce()).toBe(0);
    expect(await pending(scene)).toHaveLength(1);
  });

  test('in a group is for the bot if any of its pieces says so; a long text of a stranger delays nobody', async () => {
    const scene = await openScene();
    const popoto = project('popoto', '/srv/popoto', [CHAT]);
    const places = popoto.places.map((place) => ({ ...place, trigger: 'addressed' as const }));
    const { intake } = await takingIn(scene, { settings: testSettings([{ ...popoto, places }]) }, false);
    scene.peer.say(CHAT, 'x'.repeat(4_096), { userId: 99 });
    expect(await intake.runOnce()).toBe(0);
    paste(scene, `${LONG}\n@watchkeeper_peer_bot`);
    await intake.runOnce();
    paste(scene, LONG);
    await intake.runOnce();
    const asked = await pending(scene);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.request.message_text).toMatch(ORDER_AT_THE_END);
  });
});

describeWithRedis('messages that are no paste', () => {
  test.each([
    ['short', ['x'.repeat(3_000), 'and this'], 0],
    ['apart', ['x'.repeat(4_096), 'and this'], MINUTE],
    ['followed by a command', ['x'.repeat(4_096), '/new'], 0],
  ])('are requests of their own: %s', async (_, [first = '', second = ''], pauseMs) => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    scene.peer.say(CHAT, first, { userId: PERSON });
    if (pauseMs > 0) await scene.clock.advance(pauseMs);
    scene.peer.say(CHAT, second, { userId: PERSON });
    await intake.runOnce();
    expect((await pending(scene)).map(({ request }) => request.message_text)).toEqual(
      second.startsWith('/') ? [first] : [first, second],
    );
  });

  test('of two people are two requests', async () => {
    const scene = await openScene();
    const settings = testSettings([project('popoto', '/srv/popoto', [CHAT], [String(PERSON), '2'])]);
    const { intake } = await takingIn(scene, { settings }, false);
    scene.peer.say(CHAT, 'x'.repeat(4_096), { userId: PERSON });
    scene.peer.say(CHAT, 'and this', { userId: 2 });
    await intake.runOnce();
    await scene.clock.advance(2 * SECOND);
    await intake.runOnce();
    expect(await pending(scene)).toHaveLength(2);
  });
});

/** As Telegram's own clients do. */
function cut(text: string): string[] {
  const starts = Array.from({ length: Math.ceil(text.length / 4_096) }, (_, index) => index * 4_096);
  return starts.map((start) => text.slice(start, start + 4_096).trim());
}

function paste(scene: Scene, text: string): number[] {
  return cut(text).map((piece) => scene.peer.say(CHAT, piece, { userId: PERSON }));
}

async function pending({ store }: Scene) {
  const ids = await store.records.sessionIds('pending');
  const sessions = await Promise.all(ids.map((id) => store.records.session(id)));
  return sessions.filter((session) => session !== null);
}

function reactions(scene: Scene, messageId: number): string[] {
  const message = scene.peer.messages(CHAT).find((each) => each.messageId === messageId);
  return message?.reactions.map(({ emoji }) => emoji) ?? [];
}
