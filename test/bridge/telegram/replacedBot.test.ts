/**
 * A bot that replaces another one, as after a leaked token: the same people, projects and store. In private chats Telegram numbers
 * messages for each bot by itself, so the numbers come again.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { TelegramApi } from '../../../bridge/telegram/api.js';
import { BotNumbers } from '../../../bridge/telegram/botNumbers.js';
import { ProgressEdits } from '../../../bridge/telegram/progress/progressEdits.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { DAY, HOUR, SECOND } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import type { SayOptions } from '../../peers/telegram/person.js';
import { startTelegramPeer } from '../../peers/telegram/telegramPeer.js';
import {
  activeSession,
  answered,
  begun,
  deliveryOf,
  displayOf,
  openScene,
  project,
  type Scene,
  testSettings,
  withProgressMessage,
} from './scene.js';
import { takingIn } from './takingIn.js';

// covers: bridge/telegram/botNumbers.ts

const ADA = 4_242;
const TOKEN = '7000000002:another-token-of-another-bot';
const SUPERGROUP = '-1001234567890';

describeWithRedis('a bot that replaces another one', () => {
  // rule: a-replaced-bot-swallows-nothing
  test('accepts every message, although its numbers were those of messages to the old one', async () => {
    const old = await openPrivateScene();
    const { intake } = await listening(old);
    const former = [];
    for (const text of ['one', 'two', 'three']) former.push(await sayAndAccept(old, text));
    await intake.stop();
    const scene = await replaced(old);
    await listening(scene);
    const texts = ['four', 'five', 'six'];
    for (const [index, text] of texts.entries()) {
      const session = await sayAndAccept(scene, text);
      expect(session.request.message_id).toBe(former[index]?.request.message_id);
      expect(session.session_id).toBe(`tg_popoto_${ADA}_b7000000002_${session.request.message_id}`);
    }
    const waiting = await scene.store.records.waitingIn('testhost:/srv/popoto');
    expect(waiting).toHaveLength(6);
    expect(waiting.slice(0, 3)).toEqual(former.map(({ session_id }) => session_id));
  });

  test('takes a reply or a /cancel for a message of its own, never for one of the old bot', async () => {
    const old = await openPrivateScene();
    const { intake } = await listening(old);
    const first = await sayAndAccept(old, 'one');
    await intake.stop();
    await old.store.chatMemory.newConversation('popoto', String(ADA), null);
    const scene = await replaced(old);
    await listening(scene);
    const number = Number(first.request.message_id);
    const talk = scene.peer.say(ADA, '/help', { userId: ADA });
    expect(talk).toBe(number);
    const asked = await sayAndAccept(scene, 'and?', { replyTo: talk });
    expect(asked.conversation_key).not.toBe(first.conversation_key);
    const cancel = scene.peer.say(ADA, '/cancel', { userId: ADA, replyTo: talk });
    await scene.peer.waitFor(() => answerTo(scene, cancel) === 'I have no work for that message.');
    // Its own answers are known by its own numbers.
    await scene.store.transitions.cancel(first.session_id, 'cancelled');
    await answered(scene, await begun(scene, asked), 'the answer');
    await deliveryOf(scene).deliver(asked.session_id);
    const answer = scene.peer.botMessages(ADA).find(({ text }) => text === 'the answer');
    const next = await sayAndAccept(scene, 'and then?', { replyTo: answer?.messageId ?? 0 });
    expect(next.conversation_key).toBe(asked.conversation_key);
  });

  test('answers what was asked of the old one, naming it, as no reply and without touching messages with the old numbers', async () => {
    const old = await openPrivateScene();
    await new BotNumbers(old).markIn(String(ADA));
    const session = await withProgressMessage(old, await activeSession(old, { chat: ADA, text: 'ask @octocat' }));
    const scene = await replaced(old);
    for (const text of ['a', 'b', 'c']) scene.peer.say(ADA, text, { userId: ADA });
    await scene.api.sendMessage({ chatId: String(ADA), threadId: null, replyTo: null }, { plain: 'mine', html: null });
    const display = displayOf({ ...scene, edits: new ProgressEdits(scene) });
    display.begin(session);
    await display.showProgress(session.session_id, 'I am trying again.');
    const delivery = deliveryOf(scene, display);
    await answered(scene, session, 'the answer');
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await delivery.stop();
    const said = scene.peer.botMessages(ADA).map(({ text, replyTo, editedAt }) => ({ text, replyTo, editedAt }));
    expect(said).toEqual([
      { text: 'mine', replyTo: null, editedAt: null },
      {
        text: 'About your message to the former bot, "ask @octocat":\n\nthe answer',
        replyTo: null,
        editedAt: null,
      },
    ]);
    const [, { entities = [] } = {}] = scene.peer.botMessages(ADA);
    expect(entities.map(({ type }) => type)).toEqual(['code']);
    expect(scene.peer.calls.filter(({ method }) => method === 'editMessageText')).toEqual([]);
  });

  test('is named in the log once, whichever parts ask for its numbers', async () => {
    const old = await openPrivateScene();
    const { intake } = await listening(old);
    const { session_id: former } = await sayAndAccept(old, 'one');
    await old.store.transitions.cancel(former, 'cancelled');
    await intake.stop();
    const scene = await replaced(old);
    await listening(scene);
    const session = await begun(scene, await sayAndAccept(scene, 'two'));
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => answerTo(scene, Number(session.request.message_id)) === 'Started.');
    const delivery = deliveryOf(scene, display);
    await answered(scene, session, 'the answer');
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await delivery.stop();
    expect(scene.logged.filter((line) => line.includes('this bot has replaced'))).toHaveLength(1);
  });

  test('shares the numbers of a supergroup, which are the chat’s', async () => {
    const old = await openPrivateScene();
    await new BotNumbers(old).markIn(String(ADA));
    const numbers = new BotNumbers(await replaced(old));
    expect(await numbers.markIn(String(ADA))).toBe('7000000002');
    expect(await numbers.markIn('-5294327191')).toBe('7000000002');
    expect(await numbers.markIn(SUPERGROUP)).toBeNull();
  });

  test('is known as such by a store of an earlier version, and the only bot of one keeps its ids', async () => {
    const old = await openPrivateScene();
    await old.store.chatMemory.saveUpdateOffset(old.api.botId, 1_000);
    expect(await new BotNumbers(await replaced(old)).markIn(String(ADA))).toBe('7000000002');
    await old.store.redis.del(old.store.keys.firstBot);
    expect(await new BotNumbers(old).markIn(String(ADA))).toBeNull();
  });

  test('is known as such after a loss of the store, by the folders of its sessions', async () => {
    const scene = await replaced(await openPrivateScene());
    const logsFolder = testFolder();
    mkdirSync(join(logsFolder, 'sessions', `tg_popoto_${ADA}_b7000000002_5`), { recursive: true });
    expect(await new BotNumbers({ ...scene, logsFolder }).markIn(String(ADA))).toBe('7000000002');
  });
});

describeWithRedis('a message with a number that is known', () => {
  // rule: a-repetition-is-logged-and-bounded
  test('is a repetition within a day, and the log says so', async () => {
    const scene = await openPrivateScene();
    const { handler } = await listening(scene, false);
    const first = messageAt(scene);
    for (const message of [first, { ...first, text: 'again' }]) await handle(handler, message);
    const { session_id } = await only(scene);
    const logged = scene.logged.filter((line) => line.includes('was accepted before, as session'));
    expect(logged).toEqual([expect.stringContaining(session_id)]);
  });

  test('is another message if it was written more than a day later, and is accepted as one', async () => {
    const scene = await openPrivateScene();
    const { handler } = await listening(scene, false);
    await handle(handler, messageAt(scene));
    await scene.clock.advance(DAY + HOUR);
    const later = { ...messageAt(scene), text: 'another' };
    await handle(handler, later);
    await handle(handler, later);
    const ids = await scene.store.records.waitingIn('testhost:/srv/popoto');
    expect(ids).toEqual([`tg_popoto_${ADA}_5`, `tg_popoto_${ADA}_b${scene.api.botId}_5`]);
    expect(scene.logged.filter((line) => line.includes('but is another one'))).not.toEqual([]);
    await scene.clock.advance(DAY + HOUR);
    await expect(handle(handler, { ...messageAt(scene), text: 'a third' })).rejects.toThrow('is another one');
  });
});

type Handler = Awaited<ReturnType<typeof takingIn>>['handler'];

async function handle(handler: Handler, message: object): Promise<void> {
  await handler.handle({ update_id: 1, message } as never, { id: 7, username: 'the_bot' }, []);
}

function messageAt(scene: Scene) {
  const chat = { id: ADA, type: 'private', first_name: 'Ada' };
  return { message_id: 5, date: scene.clock.now() / SECOND, chat, from: { id: ADA, first_name: 'Ada' }, text: 'one' };
}

async function only(scene: Scene): Promise<AgentSession> {
  const [id = '', ...more] = await scene.store.records.waitingIn('testhost:/srv/popoto');
  expect(more).toEqual([]);
  const session = await scene.store.records.session(id);
  if (session === null) throw new Error('nothing was accepted');
  return session;
}

async function openPrivateScene(): Promise<Scene> {
  const scene = await openScene();
  const settings = testSettings([project('popoto', '/srv/popoto', [ADA], [String(ADA)])]);
  return { ...scene, settings };
}

/** The same store and people, another bot. */
async function replaced(old: Scene): Promise<Scene> {
  const peer = await startTelegramPeer({ clock: old.clock, token: TOKEN });
  afterThisTest(() => peer.stop());
  const base = { ...old, peer, api: new TelegramApi({ token: TOKEN, apiRoot: peer.url }, old.clock) };
  return { ...base, numbers: new BotNumbers(base) };
}

function listening(scene: Scene, isStarted = true) {
  return takingIn(scene, { settings: scene.settings }, isStarted);
}

async function sayAndAccept(scene: Scene, text: string, options: SayOptions = {}): Promise<AgentSession> {
  const id = scene.peer.say(ADA, text, { userId: ADA, ...options });
  await scene.peer.waitFor(() => scene.peer.messages(ADA).find(({ messageId }) => messageId === id)?.reactions.length);
  const ids = await scene.store.records.waitingIn('testhost:/srv/popoto');
  const session = await scene.store.records.session(ids.at(-1) ?? '');
  if (session?.request.message_text.startsWith(text) !== true) throw new Error(`message ${id} was not accepted last`);
  return session;
}

function answerTo(scene: Scene, id: number): string | null {
  return scene.peer.botMessages(ADA).find(({ replyTo }) => replyTo === id)?.text ?? null;
}
