/** What people read while their messages wait for more than their turn. */
import { expect, test } from '@jest/globals';
import { DIRECTORY_HELD_TEXT, DIRECTORY_MISSING_TEXT, WaitingWords } from '../../../bridge/runs/waitingWords.js';
import type { ProgressDisplay } from '../../../bridge/telegram/progress/progress.js';
import { ProgressMemory } from '../../../bridge/telegram/progress/progressMemory.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { clockTime, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { describeWithRedis } from '../../harness/redis.js';
import {
  activeSession,
  answered,
  begun,
  CHAT,
  deliveryOf,
  displayOf,
  OTHER_CHAT,
  openScene,
  proofOf,
  runIdOf,
  type Scene,
  waitingSession,
} from '../telegram/scene.js';

const ROUND_MS = 5 * SECOND;

describeWithRedis('a message behind one that waits for its provider', () => {
  // rule: messages-behind-a-wait-are-told
  test('reads once, on its own silent message, what is waited for and until when; so does one that comes later', async () => {
    const scene = await openScene();
    const until = scene.clock.now() + HOUR;
    await limited(scene, until);
    const display = displayOf(scene);
    const words = wordsOf(scene, display);
    const behind = [await waitingSession(scene), await waitingSession(scene, { chat: OTHER_CHAT })];
    await words.runOnce();
    const later = await waitingSession(scene, { chat: OTHER_CHAT });
    for (let round = 0; round < 4; round += 1) await nextRound(scene, words);
    for (const session of [...behind, later]) {
      const said = saidTo(scene, session);
      expect(said.map(({ text }) => text)).toEqual([
        `The provider's usage limit is reached. I kept your message. One before it, in the same folder, waits until ${clockTime(until)}; yours follows.`,
      ]);
      expect((await sessionNow(scene, session))?.request.progress_message_id).toBe(String(said[0]?.messageId));
    }
    expect(callsOf(scene, 'sendMessage').every(({ parameters }) => parameters.disable_notification)).toBe(true);
    expect(callsOf(scene, 'sendMessage')).toHaveLength(3);
    expect(callsOf(scene, 'editMessageText')).toHaveLength(0);
  });

  // rule: messages-behind-a-wait-are-told
  test('reads the new time on the same message, also from the next bridge', async () => {
    const scene = await openScene();
    const until = scene.clock.now() + MINUTE;
    const head = await limited(scene, until);
    const session = await waitingSession(scene);
    const display = displayOf(scene);
    const words = wordsOf(scene, display);
    await words.runOnce();
    await scene.clock.advance(2 * MINUTE);
    const busyUntil = scene.clock.now() + HOUR;
    await begun(scene, head);
    await scene.store.transitions.putBackToWait(head.session_id, proofOf(head, scene.clock.now()), () => ({
      wait: { for: 'provider', times: 1 },
      notBefore: busyUntil,
    }));
    await words.runOnce();
    const text = `The model's provider is busy or cannot be reached. I kept your message. One before it, in the same folder, waits until ${clockTime(busyUntil)}; yours follows.`;
    expect(saidTo(scene, session).map((message) => message.text)).toEqual([text]);
    const next = wordsOf(scene, displayOf(scene));
    await next.runOnce();
    await nextRound(scene, next);
    expect(saidTo(scene, session).map((message) => message.text)).toEqual([text]);
    // The next bridge does not know what was shown, and learns it from one refusal.
    expect(callsOf(scene, 'editMessageText')).toHaveLength(2);
  });

  // rule: messages-behind-a-wait-are-told
  test('reads that it began as soon as its run does, and in the end only how long it took', async () => {
    const scene = await openScene();
    const head = await limited(scene, scene.clock.now() + HOUR);
    const session = await waitingSession(scene);
    const display = displayOf(scene);
    await wordsOf(scene, display).runOnce();
    await scene.store.transitions.cancel(head.session_id, 'cancelled');
    const active = await begun(scene, (await sessionNow(scene, session)) ?? session);
    display.begin(active);
    await scene.peer.waitFor(() => saidTo(scene, session)[0]?.text === 'Started.');
    // A store that is restored to an older state may forget it.
    const remembered = new ProgressMemory(scene.logsFolder, scene.logger).messageOf(active);
    expect(remembered).toBe(String(saidTo(scene, session)[0]?.messageId));
    await answered(scene, active, 'forty-two');
    const delivery = deliveryOf(scene, display);
    expect(await delivery.deliver(active.session_id)).toBe('sent');
    await delivery.stop();
    expect(saidTo(scene, session).map(({ text }) => text)).toEqual([expect.stringMatching(/^Done in /), 'forty-two']);
  });

  // rule: messages-behind-a-wait-are-told
  test('leaves no message behind if its run begins while the word is being sent', async () => {
    const scene = await openScene();
    const head = await limited(scene, scene.clock.now() + HOUR);
    const session = await waitingSession(scene);
    const display = displayOf(scene);
    const api = scene.api;
    const send = api.sendMessage.bind(api);
    let active: AgentSession | null = null;
    api.sendMessage = async (...given) => {
      // The record is no longer pending when the message's id is known.
      if (active === null) {
        await scene.store.transitions.cancel(head.session_id, 'cancelled');
        active = await begun(scene, session);
        display.begin(active);
      }
      return send(...given);
    };
    await wordsOf(scene, display).runOnce();
    await scene.peer.waitFor(() => saidTo(scene, session)[0]?.text === 'Started.');
    await display.end(session.session_id);
    expect(saidTo(scene, session)).toHaveLength(1);
    expect(await sessionNow(scene, session)).toMatchObject({
      request: { progress_message_id: String(saidTo(scene, session)[0]?.messageId) },
    });
  });

  test('reads it later if its chat wants no messages for a while, with one try in that time', async () => {
    const scene = await openScene();
    await limited(scene, scene.clock.now() + HOUR);
    const session = await waitingSession(scene);
    scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 60, method: 'sendMessage' });
    const words = wordsOf(scene, displayOf(scene));
    for (let round = 0; round < 6; round += 1) await nextRound(scene, words);
    expect(callsOf(scene, 'sendMessage')).toHaveLength(1);
    await scene.clock.advance(MINUTE);
    await words.runOnce();
    expect(saidTo(scene, session)).toHaveLength(1);
  });

  test('is not sent a second one if it is unknown whether the first arrived', async () => {
    const scene = await openScene();
    await limited(scene, scene.clock.now() + HOUR);
    const session = await waitingSession(scene);
    scene.peer.inject({ kind: 'lost_answer', method: 'sendMessage' });
    const words = wordsOf(scene, displayOf(scene));
    for (let round = 0; round < 3; round += 1) await nextRound(scene, words);
    expect(saidTo(scene, session)).toHaveLength(1);
  });

  test('reads nothing while it only waits for its turn', async () => {
    const scene = await openScene();
    await activeSession(scene);
    await waitingSession(scene);
    await wordsOf(scene, displayOf(scene)).runOnce();
    expect(scene.peer.botMessages(CHAT)).toEqual([]);
  });
});

describeWithRedis('a message whose directory is missing', () => {
  // rule: a-missing-directory-waits
  test('reads so once, and its run replaces it', async () => {
    const scene = await openScene();
    const session = await waitingSession(scene);
    const display = displayOf(scene);
    const words = wordsOf(scene, display, (path) => path === '/srv/popoto');
    for (let round = 0; round < 3; round += 1) await nextRound(scene, words);
    expect(saidTo(scene, session).map(({ text }) => text)).toEqual([DIRECTORY_MISSING_TEXT]);
    display.begin(await begun(scene, (await sessionNow(scene, session)) ?? session));
    await scene.peer.waitFor(() => saidTo(scene, session)[0]?.text === 'Started.');
    await display.end(session.session_id);
    expect(callsOf(scene, 'sendMessage')).toHaveLength(1);
  });
});

describeWithRedis('a message whose directory is held by a run that could not be ended', () => {
  // rule: messages-behind-a-wait-are-told
  test('reads so once, after the watchdog has reported it', async () => {
    const scene = await openScene();
    const { store } = scene;
    const former = await activeSession(scene);
    await store.transitions.complete(former.session_id, runIdOf(former), 'forty-two', { isGone: false });
    const session = await waitingSession(scene);
    const words = wordsOf(scene, displayOf(scene));
    await words.runOnce();
    expect(saidTo(scene, session)).toEqual([]);
    const [blocked] = await store.blockedLanes.all();
    if (blocked === undefined) throw new Error('the lane is not blocked');
    await store.blockedLanes.noteReported(blocked, []);
    for (let round = 0; round < 3; round += 1) await nextRound(scene, words);
    expect(saidTo(scene, session).map(({ text }) => text)).toEqual([DIRECTORY_HELD_TEXT]);
  });
});

/** @returns a session at the head of its lane that waits until then for its provider's limit */
async function limited(scene: Scene, until: number): Promise<AgentSession> {
  const session = await activeSession(scene);
  const proof = proofOf(session, scene.clock.now());
  const waiting = await scene.store.transitions.interrupt(session.session_id, runIdOf(session), proof, until);
  if (waiting === null) throw new Error('it was not put back');
  return waiting;
}

function wordsOf(scene: Scene, display: ProgressDisplay, isMissing = (_path: string) => false): WaitingWords {
  const { settings, store, clock, logger } = scene;
  const waiting = { has: () => false, keep: () => undefined };
  return new WaitingWords({
    settings,
    store,
    clock,
    logger,
    chat: deliveryOf(scene, display),
    directories: { isMissing },
    waiting,
  });
}

async function nextRound(scene: Scene, words: WaitingWords): Promise<void> {
  await scene.clock.advance(ROUND_MS);
  await words.runOnce();
}

function saidTo(scene: Scene, { request }: AgentSession) {
  const about = Number(request.message_id);
  return scene.peer.botMessages(Number(request.chat_id)).filter(({ replyTo }) => replyTo === about);
}

function callsOf(scene: Scene, method: string) {
  return scene.peer.calls.filter((call) => call.method === method);
}

async function sessionNow(scene: Scene, { session_id }: AgentSession): Promise<AgentSession | null> {
  return scene.store.records.session(session_id);
}
