/** A group in which people talk with each other: only what is addressed to the bot is for it. */
import { expect, test } from '@jest/globals';
import { CANCELLED_TEXT } from '../../../monitoring/incident/texts/chatTexts.js';
import type { Settings, Trigger } from '../../../src/config/settings.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { SECOND } from '../../../src/time.js';
import { describeWithRedis } from '../../harness/redis.js';
import type { SayOptions } from '../../peers/telegram/person.js';
import {
  activeSession,
  answered,
  begun,
  CHAT,
  deliveryOf,
  openScene,
  PERSON,
  project,
  type Scene,
  testSettings,
} from './scene.js';
import { takingIn } from './takingIn.js';

// covers: bridge/telegram/intake/entities.ts
// covers: bridge/intake/commands/commandText.ts

const GUEST = 99;
const BOT = '@watchkeeper_peer_bot';

describeWithRedis('in a group, talk', () => {
  // rule: talk-in-a-group-is-left-alone
  test('that is not addressed to the bot gets no run, no answer and no reaction, whoever writes it', async () => {
    const { scene, pending } = await openGroup();
    const greeting = say(scene, 'Morning! Did anybody see the failing build?');
    say(scene, 'lol', { userId: GUEST });
    scene.peer.edit(CHAT, greeting, 'Morning! Did anybody see the failing test?');
    scene.peer.send(CHAT, { kind: 'photo', caption: 'look' }, { userId: PERSON });
    scene.peer.send(CHAT, { kind: 'sticker', emoji: '👍' }, { userId: GUEST });
    say(scene, `forwarded: ${BOT} fix it`, { forwardedFrom: { userId: GUEST } });
    say(scene, 'mail me at someone@watchkeeper_peer_bot.example', { userId: PERSON });
    say(scene, 'thanks', { replyTo: greeting });
    for (const text of ['stop', 'cancel']) say(scene, text);
    await allHandled(scene);
    expect(await pending()).toEqual([]);
    expect(scene.peer.botMessages(CHAT)).toEqual([]);
    expect(scene.peer.messages(CHAT).flatMap(({ reactions }) => reactions)).toEqual([]);
  });

  test.each([
    [`${BOT} fix the build`, 'fix the build'],
    ['@Watchkeeper_Peer_Bot: fix the build', 'fix the build'],
    [`fix the build ${BOT}`, 'fix the build'],
    [`fix the build, ${BOT}.`, 'fix the build.'],
    [`Could you, ${BOT}, fix the build?`, 'Could you, fix the build?'],
    [`why did ${BOT} not fix the build?`, `why did ${BOT} not fix the build?`],
    ['/ask fix the build', 'fix the build'],
    ['/ask@watchkeeper_peer_bot\nfix the build', 'fix the build'],
    [`${BOT} /ask fix the build`, 'fix the build'],
  ])('that is addressed is work, without the address: %j', async (text, prompt) => {
    const { scene } = await openGroup();
    const { request } = await sayAndAccept(scene, text);
    expect(request.message_text).toBe(prompt);
  });

  test('that answers a message of the bot is work; a guest who addresses it is refused', async () => {
    const { scene } = await openGroup();
    const first = await begun(scene, await sayAndAccept(scene, `${BOT} one`));
    await answered(scene, first, 'the answer');
    await deliveryOf(scene).deliver(first.session_id);
    const answer = scene.peer.botMessages(CHAT).at(-1)?.messageId ?? 0;
    const second = await sayAndAccept(scene, 'and two', { replyTo: answer });
    expect(second).toMatchObject({ conversation_key: first.conversation_key, request: { message_text: 'and two' } });
    const foreign = say(scene, '/deploy', { userId: GUEST });
    const refused = say(scene, `${BOT} let me in`, { userId: GUEST });
    await scene.peer.waitFor(() => answerTo(scene, refused)?.startsWith('You are not allowed'));
    expect(answerTo(scene, foreign)).toBeNull();
  });

  test('in a topic that the bot has opened is no answer to the bot', async () => {
    const { scene, pending } = await openGroup();
    scene.peer.openChat(CHAT, { forum: true });
    const topic = scene.peer.createTopic(CHAT, 'Bugs', { userId: PERSON });
    say(scene, 'just talk', { threadId: topic });
    await sayAndAccept(scene, `${BOT} work`, { threadId: topic });
    expect(await pending()).toHaveLength(1);
  });

  test('is all for the bot where the chat says so', async () => {
    const { scene } = await openGroup('any');
    await sayAndAccept(scene, 'Morning! Did anybody see the failing build?');
  });

  test('is not promised to start later while the store is away', async () => {
    const { scene } = await openGroup('addressed', false);
    const { handler } = await takingIn(scene, { settings: groupSettings('addressed') }, false);
    const chat = { id: CHAT, type: 'supergroup' };
    const message = { message_id: 5, date: 0, chat, from: { id: PERSON, first_name: 'Ann' }, text: 'Morning!' };
    const bot = { id: 7, username: 'the_bot' };
    const wouldAccept = (text: string) =>
      handler.wouldAccept({ update_id: 1, message: { ...message, text } } as never, bot);
    expect(wouldAccept('Morning!')).toBeNull();
    expect(wouldAccept('@the_bot do it')).toMatchObject({ text: 'do it' });
    expect(wouldAccept('/ask do it')).toMatchObject({ text: 'do it' });
  });

  // rule: privacy-mode-is-said
  test('that mentions the bot never arrives in privacy mode; /ask does, and /help says so', async () => {
    const { scene, pending } = await openGroup('addressed', false);
    scene.peer.setPrivacyMode(true);
    await takingIn(scene, { settings: groupSettings('addressed') });
    say(scene, `${BOT} fix the build`);
    await sayAndAccept(scene, '/ask fix the build');
    expect(await pending()).toHaveLength(1);
    const deaf = await ask(scene, '/help');
    expect(deaf).toContain(
      "Telegram's privacy mode is on: unless I am an administrator of this group, messages that only mention me",
    );
    expect(deaf).toContain('/ask');
    expect(await ask(scene, '/ask')).toContain('Write your request behind it');
  });

  test('that mentions the bot arrives without it, and /help says how to address it', async () => {
    const { scene } = await openGroup();
    const help = await ask(scene, '/help');
    expect(help).toContain('messages that mention me or reply to me');
    expect(help).not.toContain('privacy mode');
  });
});

describeWithRedis('a lone stop', () => {
  // rule: a-lone-stop-is-cancel
  test.each(['stop', 'Stop!', ' ABORT. ', 'cancel', '"cancel!!!"', `${BOT} stop`])(
    'while a job runs here ends it, and is no job behind it: %j',
    async (text) => {
      const { scene, pending } = await openGroup();
      const running = await begun(scene, await sayAndAccept(scene, `${BOT} one`));
      expect(await ask(scene, text)).toBe('Stopping the running work.');
      expect(await scene.store.records.session(running.session_id)).toMatchObject({ stop: { cause: 'cancel' } });
      expect(await pending()).toEqual([]);
    },
  );

  test('as a reply ends the work of that message; as a reply to other talk it is talk', async () => {
    const { scene, pending } = await openGroup();
    await begun(scene, await sayAndAccept(scene, `${BOT} one`));
    const second = await sayAndAccept(scene, `${BOT} two`);
    const talk = say(scene, 'nice weather');
    const unheard = say(scene, 'stop', { replyTo: talk });
    expect(await ask(scene, 'stop', { replyTo: Number(second.request.message_id) })).toBe(
      'Cancelled 1 waiting message.',
    );
    expect(await scene.store.records.session(second.session_id)).toMatchObject({ status: 'cancelled' });
    expect(answerTo(scene, unheard)).toBeNull();
    expect(await pending()).toEqual([]);
  });

  test('by a guest, or forwarded, ends nothing', async () => {
    const { scene } = await openGroup();
    const running = await begun(scene, await sayAndAccept(scene, `${BOT} one`));
    say(scene, 'stop', { userId: GUEST });
    say(scene, 'stop', { forwardedFrom: { userId: PERSON } });
    say(scene, 'please stop the music');
    await allHandled(scene);
    expect(await scene.store.records.session(running.session_id)).toMatchObject({ stop: null });
  });

  test('where nothing runs is work like any other text', async () => {
    const { scene } = await openGroup('any');
    expect((await sayAndAccept(scene, 'stop')).request.message_text).toBe('stop');
  });
});

describeWithRedis('/cancel all', () => {
  // rule: cancel-all-answers-once
  test('is answered once, silently: no cancelled message gets one of its own', async () => {
    const { scene } = await openGroup('any');
    const delivery = deliveryOf(scene);
    const running = await activeSession(scene);
    const waiting = [await sayAndAccept(scene, 'two'), await sayAndAccept(scene, 'three')];
    const before = scene.peer.botMessages(CHAT).length;
    const answer = 'Stopping the running work. Cancelled 2 waiting messages: "two", "three".';
    expect(await ask(scene, '/cancel all')).toBe(answer);
    const { session_id, run } = running;
    await scene.store.transitions.release(session_id, { run_id: run?.run_id ?? '', proven_at: 0, by: 'scan' });
    expect(await scene.store.transitions.cancelReleased(session_id, run?.run_id ?? '', CANCELLED_TEXT)).not.toBeNull();
    for (const each of [running, ...waiting]) expect(await delivery.deliver(each.session_id)).toBe('sent');
    const said = scene.peer.botMessages(CHAT).slice(before);
    expect(said.map(({ text, silent }) => [text, silent])).toEqual([[answer, true]]);
    // A store that forgets it does not make the chat read of it again.
    expect(await scene.memory.lastSent(session_id, 0)).toBe('cancelled');
  });

  test('names five of the cancelled messages: they may be those of other people', async () => {
    const { scene } = await openGroup('any');
    for (const text of ['1', '2', '3', '4', '5', '6', '7']) await sayAndAccept(scene, `ask ${text}`);
    expect(await ask(scene, '/cancel all')).toBe(
      'Cancelled 7 waiting messages: "ask 1", "ask 2", "ask 3", "ask 4", "ask 5", and 2 more.',
    );
  });

  test('of one message has its own word, as before', async () => {
    const { scene } = await openGroup('any');
    await activeSession(scene);
    const { request, session_id } = await sayAndAccept(scene, 'two');
    await ask(scene, '/cancel', { replyTo: Number(request.message_id) });
    await deliveryOf(scene).deliver(session_id);
    expect(scene.peer.botMessages(CHAT).at(-1)).toMatchObject({ text: CANCELLED_TEXT, silent: false });
  });
});

/** A supergroup that a project lists, and an intake that listens. */
async function openGroup(trigger: Trigger = 'addressed', isStarted = true) {
  const scene = await openScene();
  if (isStarted) await takingIn(scene, { settings: groupSettings(trigger) });
  const pending = () => scene.store.records.sessionIds('pending');
  return { scene, pending };
}

function groupSettings(trigger: Trigger): Settings {
  const popoto = project('popoto', '/srv/popoto', [CHAT]);
  return testSettings([{ ...popoto, places: popoto.places.map((place) => ({ ...place, trigger })) }]);
}

function say(scene: Scene, text: string, options: SayOptions = {}): number {
  return scene.peer.say(CHAT, text, { userId: PERSON, ...options });
}

async function sayAndAccept(scene: Scene, text: string, options: SayOptions = {}): Promise<AgentSession> {
  const id = say(scene, text, options);
  await scene.peer.waitFor(() => scene.peer.messages(CHAT).find(({ messageId }) => messageId === id)?.reactions.length);
  const session = await scene.store.records.session(`tg_popoto_${CHAT}_${id}`);
  if (session === null) throw new Error(`message ${id} was not accepted`);
  return session;
}

async function ask(scene: Scene, text: string, options: SayOptions = {}): Promise<string> {
  const id = say(scene, text, options);
  return scene.peer.waitFor(() => answerTo(scene, id));
}

function answerTo(scene: Scene, id: number): string | null {
  return scene.peer.botMessages(CHAT).find(({ replyTo }) => replyTo === id)?.text ?? null;
}

/** Answers would follow at once: a later command's answer comes after them. */
async function allHandled(scene: Scene): Promise<void> {
  await scene.peer.waitFor(() => scene.peer.unconfirmedUpdates === 0 && scene.peer.polling, 10 * SECOND);
}
