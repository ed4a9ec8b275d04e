// covers: bridge/intake/commands/cancel.ts bridge/intake/commands/status.ts
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Update } from 'grammy/types';
import { Redis } from 'ioredis';
import { pollGauge } from '../../../../bridge/health/gauges.js';
import { STORE_AWAY_TEXT } from '../../../../bridge/intake/acceptMessage.js';
import type { ChatMessage } from '../../../../bridge/intake/admission.js';
import { refusal } from '../../../../bridge/telegram/chatError.js';
import type { Turn } from '../../../../bridge/telegram/intake/pollerTurn.js';
import { newIncident } from '../../../../monitoring/incident/newIncident.js';
import { CANCELLED_TEXT } from '../../../../monitoring/incident/texts/chatTexts.js';
import type { LiveTerminal } from '../../../../monitoring/terminals/liveTerminal.js';
import { DEFAULT_ACTIONS } from '../../../../src/config/projects.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { openStore, type Store } from '../../../../src/jobs/store.js';
import { createRedactor } from '../../../../src/log/redact.js';
import { DAY, HOUR, isoTime, MINUTE, SECOND } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import { RedisGate } from '../../../harness/redisGate.js';
import { afterThisTest } from '../../../harness/scope.js';
import type { SayOptions } from '../../../peers/telegram/person.js';
import { revived } from '../revived.js';
import {
  activeSession,
  answered,
  begun,
  CHAT,
  deliveryOf,
  ONLY_POLLER,
  OTHER_CHAT,
  openScene,
  project,
  proofOf,
  type Scene,
  testSettings,
} from '../scene.js';
import { takingIn } from '../takingIn.js';

// covers: bridge/intake/acceptMessage.ts
// covers: bridge/intake/admission.ts
// covers: bridge/intake/commands/commands.ts

const STRANGER = 99;

const stuckSince = (since: number) => ({ rule: 'silence', since, sentence: 'It said nothing.', noticed_at: since });

describeWithRedis('a message', () => {
  // rule: intake-confirms-last
  test('is accepted, acknowledged by a reaction, and only then confirmed', async () => {
    const scene = await openScene();
    const { store } = await takingIn(scene);
    const id = scene.peer.say(CHAT, '@watchkeeper_peer_bot fix the test', { userId: 1 });
    await scene.peer.waitFor(() => scene.peer.unconfirmedUpdates === 0);
    const session = await store.records.session(`tg_popoto_${CHAT}_${id}`);
    expect(session).toMatchObject({
      status: 'pending',
      request: { message_text: 'fix the test', thread_id: null, sender: { id: '1', name: 'Person 1' } },
      lane: 'testhost:/srv/popoto',
      working_directory: '/srv/popoto',
      agent: 'scripted',
      conversation_key: `popoto/${CHAT}//0`,
    });
    await scene.peer.waitFor(() => reactions(scene, id).includes('👀'));
    expect(await store.records.updateOffset(scene.api.botId)).toBe(1_001);
  });

  test('is accepted although Telegram refuses the reaction', async () => {
    const scene = await openScene();
    const { store } = await takingIn(scene);
    scene.peer.inject({ kind: 'bad_request', description: 'REACTION_INVALID', method: 'setMessageReaction' });
    const id = scene.peer.say(CHAT, 'fix the test', { userId: 1 });
    await scene.peer.waitFor(() => scene.peer.unconfirmedUpdates === 0);
    expect(await store.records.session(`tg_popoto_${CHAT}_${id}`)).toMatchObject({ status: 'pending' });
    await scene.peer.waitFor(() => scene.logged.some((line) => line.includes('a small call to the chat failed')));
    expect(await sayAndAccept(scene, 'and this')).toMatchObject({ status: 'pending' });
  });

  // rule: a-message-is-accepted-once
  test('that was accepted before the bridge died is accepted once', async () => {
    const scene = await openScene();
    const first = await takingIn(scene, {}, false);
    const id = scene.peer.say(CHAT, 'one', { userId: 1 });
    await first.intake.runOnce();
    await first.intake.stop();
    // As if the process had died after the acceptance, before it stored the offset and confirmed.
    expect(scene.peer.unconfirmedUpdates).toBe(1);
    await scene.store.redis.del(scene.store.keys.updateOffset(scene.api.botId));
    await takingIn(scene);
    const second = scene.peer.say(CHAT, 'two', { userId: 1 });
    await scene.peer.waitFor(() => reactions(scene, second).length > 0);
    expect(await scene.store.records.waitingIn('testhost:/srv/popoto')).toEqual([
      `tg_popoto_${CHAT}_${id}`,
      `tg_popoto_${CHAT}_${second}`,
    ]);
  });

  test('below the stored offset is not handled again', async () => {
    const scene = await openScene();
    await scene.store.chatMemory.saveUpdateOffset(scene.api.botId, 1_001);
    const { intake } = await takingIn(scene, {}, false);
    scene.peer.say(CHAT, '/new', { userId: 1 });
    scene.peer.say(CHAT, '/help', { userId: 1 });
    await intake.start();
    await scene.peer.waitFor(() => scene.peer.botMessages(CHAT).length > 0 && scene.peer.unconfirmedUpdates === 0);
    expect(await scene.store.records.conversationEpoch('popoto', String(CHAT), null)).toBe(0);
    expect(scene.peer.botMessages(CHAT)).toHaveLength(1);
  });

  test('is not missed when Telegram restarts its numbering after a quiet week', async () => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    const id = scene.peer.say(CHAT, 'one', { userId: 1 });
    await intake.runOnce();
    await scene.peer.waitFor(() => reactions(scene, id).length > 0);
    const { length } = scene.peer.calls;
    scene.peer.say(CHAT, 'two', { userId: 1 });
    await scene.clock.advance(7 * DAY);
    await intake.runOnce();
    const poll = scene.peer.calls.slice(length).find((call) => call.method === 'getUpdates');
    expect(poll?.parameters).not.toHaveProperty('offset');
  });

  test('is accepted, with those after it, if Telegram counts far below the stored offset when a bridge starts', async () => {
    const scene = await openScene();
    await scene.store.chatMemory.saveUpdateOffset(scene.api.botId, 900_000_001);
    scene.peer.countAnewFrom(42);
    const first = scene.peer.say(CHAT, 'one', { userId: 1 });
    const { intake } = await takingIn(scene, {}, false);
    await intake.start();
    await scene.peer.waitFor(() => reactions(scene, first).includes('👀') && scene.peer.unconfirmedUpdates === 0);
    const second = scene.peer.say(CHAT, 'two', { userId: 1 });
    await scene.peer.waitFor(() => reactions(scene, second).includes('👀') && scene.peer.unconfirmedUpdates === 0);
    expect(await scene.store.records.updateOffset(scene.api.botId)).toBe(44);
  });

  test('in a topic belongs to the topic; a reply continues the conversation of the message it answers', async () => {
    const scene = await openScene();
    const { store } = await takingIn(scene);
    scene.peer.openChat(CHAT, { forum: true });
    const topic = scene.peer.createTopic(CHAT, 'Bugs', { userId: 1 });
    const first = await sayAndAccept(scene, 'one', { threadId: topic });
    expect(first).toMatchObject({
      request: { thread_id: String(topic) },
      conversation_key: `popoto/${CHAT}/${topic}/0`,
    });
    scene.peer.say(CHAT, '/new', { userId: 1, threadId: topic });
    await scene.peer.waitFor(() => said(scene, /starts a new conversation/i));
    expect(await sayAndAccept(scene, 'two', { threadId: topic })).toMatchObject({
      conversation_key: `popoto/${CHAT}/${topic}/1`,
    });
    expect(
      await sayAndAccept(scene, 'again', { threadId: topic, replyTo: Number(first.request.message_id) }),
    ).toMatchObject({
      conversation_key: first.conversation_key,
    });
    const active = await begun(scene, first);
    await answered(scene, active, 'the answer');
    await deliveryOf(scene).deliver(first.session_id);
    const answer = scene.peer.botMessages(CHAT).find((message) => message.text === 'the answer')?.messageId ?? 0;
    expect(await sayAndAccept(scene, 'and?', { threadId: topic, replyTo: answer })).toMatchObject({
      conversation_key: first.conversation_key,
    });
    expect(await store.records.conversationEpoch('popoto', String(CHAT), String(topic))).toBe(1);
  });

  test('that answers a message whose record cannot be read is accepted all the same', async () => {
    const scene = await openScene();
    const { store } = await takingIn(scene);
    const first = await sayAndAccept(scene, 'one');
    await store.redis.hset(store.keys.session(first.session_id), 'created_at', 'never');
    const second = await sayAndAccept(scene, 'and?', { replyTo: Number(first.request.message_id) });
    expect(second).toMatchObject({ conversation_key: first.conversation_key, request: { message_text: 'and?' } });
  });

  test('of an unlisted sender starts nothing, and is answered once an hour', async () => {
    const scene = await openScene();
    const { store } = await takingIn(scene);
    for (const text of ['let me in', '/cancel all', 'please']) scene.peer.say(CHAT, text, { userId: STRANGER });
    await scene.peer.waitFor(() => scene.peer.unconfirmedUpdates === 0 && said(scene, /not allowed/));
    expect(scene.peer.botMessages(CHAT)).toHaveLength(1);
    expect(await store.records.sessionIds('pending')).toEqual([]);
    await scene.clock.advance(HOUR);
    scene.peer.say(CHAT, 'now?', { userId: STRANGER });
    await scene.peer.waitFor(() => scene.peer.botMessages(CHAT).length === 2);
  });

  test('of a sender who is only allowed in another project starts nothing here', async () => {
    const scene = await openScene();
    const here = project('popoto', '/srv/popoto', [CHAT]);
    const elsewhere = project('dinghy', '/srv/dinghy', [OTHER_CHAT], [String(STRANGER)]);
    const { store } = await takingIn(scene, { settings: testSettings([here, elsewhere]) });
    scene.peer.say(CHAT, 'let me in', { userId: STRANGER });
    await scene.peer.waitFor(() => scene.peer.unconfirmedUpdates === 0 && said(scene, /not allowed/));
    expect(await store.records.sessionIds('pending')).toEqual([]);
  });

  test('of an anonymous administrator is refused without the id, which would admit all administrators', async () => {
    const scene = await openScene();
    const { admission } = await takingIn(scene, {}, false);
    const anonymous: ChatMessage = {
      ...{ chatId: String(CHAT), threadId: null, messageId: '9', text: 'do it', replyTo: null },
      sender: { id: String(CHAT), name: 'Group' },
    };
    const refused = admission.admit(anonymous);
    expect(refused).toMatchObject({ admitted: false, answer: expect.stringContaining('post under your own name') });
    expect(JSON.stringify(refused)).not.toContain(String(CHAT));
  });

  test('about a new id of a group logs an instruction only if a project lists the group', async () => {
    const scene = await openScene();
    const { handler } = await takingIn(scene, {}, false);
    for (const chat of [OTHER_CHAT, CHAT]) {
      const message = { message_id: 5, date: 0, chat: { id: chat, type: 'group' }, migrate_to_chat_id: -100_999 };
      await handler.handle({ update_id: 1, message } as unknown as Update, { id: 7, username: 'the_bot' }, []);
    }
    const asked = scene.logged.filter((line) => line.includes('watchkeeper.config.json'));
    expect(asked).toEqual([expect.stringContaining(`chat ${CHAT} is now -100999`)]);
  });

  test('is refused if the list of senders is empty', async () => {
    const scene = await openScene();
    const settings = testSettings([project('popoto', '/srv/popoto', [CHAT], [])]);
    await takingIn(scene, { settings });
    scene.peer.say(CHAT, 'hello', { userId: 1 });
    await scene.peer.waitFor(() => said(scene, /You are not allowed to start work here/));
    expect(await scene.store.records.sessionIds('pending')).toEqual([]);
  });

  test('in a chat that no project lists gets a reply with the id and is reported, once an hour', async () => {
    const scene = await openScene();
    await takingIn(scene);
    scene.peer.say(OTHER_CHAT, '/start', { userId: 1 });
    scene.peer.say(OTHER_CHAT, 'anybody?', { userId: 1 });
    await scene.peer.waitFor(
      () => scene.peer.unconfirmedUpdates === 0 && scene.peer.botMessages(OTHER_CHAT).length > 0,
    );
    expect(scene.peer.botMessages(OTHER_CHAT)).toHaveLength(1);
    expect(scene.peer.botMessages(OTHER_CHAT)[0]?.text).toContain(String(OTHER_CHAT));
    expect(scene.told).toMatchObject([
      { event: 'message_unroutable', details: { chat_id: String(OTHER_CHAT) }, untrusted_excerpt: '/start' },
    ]);
  });

  test('without text gets an honest reply; a service message does not', async () => {
    const scene = await openScene();
    await takingIn(scene);
    scene.peer.openChat(CHAT, { forum: true });
    scene.peer.createTopic(CHAT, 'Pictures', { userId: 1 });
    scene.peer.send(CHAT, { kind: 'photo', caption: 'fix what you see' }, { userId: 1 });
    scene.peer.send(CHAT, { kind: 'sticker', emoji: '👍' }, { userId: 1 });
    await scene.peer.waitFor(() => scene.peer.botMessages(CHAT).length === 2 && scene.peer.unconfirmedUpdates === 0);
    const texts = scene.peer.botMessages(CHAT).map((message) => message.text);
    expect(texts.sort()).toEqual([
      expect.stringContaining('this is a picture'),
      expect.stringContaining('this is a sticker'),
    ]);
    expect(await scene.store.records.sessionIds('pending')).toEqual([]);
  });

  test('that is edited keeps its original text, and the sender is notified once', async () => {
    const scene = await openScene();
    await takingIn(scene);
    const session = await sayAndAccept(scene, 'one');
    for (const text of ['two', 'three']) scene.peer.edit(CHAT, Number(session.request.message_id), text);
    await scene.peer.waitFor(() => said(scene, /ignore edits/) && scene.peer.unconfirmedUpdates === 0);
    expect(scene.peer.botMessages(CHAT)).toHaveLength(1);
    expect(await scene.store.records.session(session.session_id)).toMatchObject({ request: { message_text: 'one' } });
  });

  test('that is edited after its end is not promised to continue, nor that it could be stopped', async () => {
    const scene = await openScene();
    await takingIn(scene);
    const running = await begun(scene, await sayAndAccept(scene, 'one'));
    const waiting = await sayAndAccept(scene, 'two');
    const answers: string[] = [];
    const edited = async ({ request }: AgentSession, text: string) => {
      const before = scene.peer.botMessages(CHAT).length;
      scene.peer.edit(CHAT, Number(request.message_id), text);
      await scene.peer.waitFor(() => scene.peer.botMessages(CHAT).length > before);
      answers.push(scene.peer.botMessages(CHAT).at(-1)?.text ?? '');
    };
    await scene.store.transitions.cancel(waiting.session_id, CANCELLED_TEXT);
    await edited(waiting, 'two!');
    await edited(running, 'one!');
    await scene.store.transitions.cancel(running.session_id, CANCELLED_TEXT);
    await edited(running, 'one!!');
    await answered(scene, running, 'done');
    await edited(running, 'one!!!');
    const asNew = 'To ask for something else, send it as a new message.';
    expect(answers).toEqual([
      `I ignore edits, and that message was cancelled. ${asNew}`,
      expect.stringContaining('I ignore edits and continue with the original text.'),
      `I ignore edits, and that message is being cancelled. ${asNew}`,
      `I ignore edits, and that message was already answered. ${asNew}`,
    ]);
  });

  test('that starts something only by an edit starts nothing, and the sender learns that; talk gets no answer', async () => {
    const scene = await openScene();
    const popoto = project('popoto', '/srv/popoto', [CHAT]);
    const places = popoto.places.map((place) => ({ ...place, trigger: 'addressed' as const }));
    await takingIn(scene, { settings: testSettings([{ ...popoto, places }]) });
    const talk = scene.peer.say(CHAT, 'did anybody see the build?', { userId: 1 });
    const unaddressed = scene.peer.say(CHAT, 'fix the build', { userId: 1 });
    const misspelt = scene.peer.say(CHAT, '/canel@watchkeeper_peer_bot', { userId: 1 });
    const ofOther = scene.peer.say(CHAT, '/wether@other_bot', { userId: 1 });
    await scene.peer.waitFor(() => said(scene, /^I don't know/));
    scene.peer.edit(CHAT, talk, 'did anybody see the failing build?');
    scene.peer.edit(CHAT, ofOther, '/weather@other_bot');
    scene.peer.edit(CHAT, unaddressed, 'fix the build @watchkeeper_peer_bot');
    scene.peer.edit(CHAT, misspelt, '/cancel');
    await scene.peer.waitFor(() => scene.peer.botMessages(CHAT).length === 3 && scene.peer.unconfirmedUpdates === 0);
    const answers = scene.peer.botMessages(CHAT).slice(1);
    expect(answers.map(({ text }) => text)).toEqual(
      Array(2).fill('I ignore edits. Please send what you want as a new message.'),
    );
    expect(answers.map(({ replyTo }) => replyTo).sort()).toEqual([unaddressed, misspelt].sort());
    expect(await scene.store.records.sessionIds('pending')).toEqual([]);
  });

  test.each([
    [
      { forwardedFrom: { userId: STRANGER } },
      '[Forwarded by the person who asks you; the words may be those of somebody else.]',
    ],
    [{ viaBot: 'helpful_bot' }, '[Sent through another bot, which may have written the words.]'],
  ])('whose words may be those of others is work, and the agent is told: %j', async (relay, note) => {
    const scene = await openScene();
    await takingIn(scene);
    const { request } = await sayAndAccept(scene, 'the login is broken', relay);
    expect(request).toMatchObject({ message_text: `the login is broken\n\n${note}`, sender: { id: '1' } });
    await ask(scene, '/status', {}, /"the login is broken \[/);
  });

  test('with only a changed link preview is not treated as edited', async () => {
    const scene = await openScene();
    await takingIn(scene);
    const session = await sayAndAccept(scene, 'one');
    scene.peer.edit(CHAT, Number(session.request.message_id), 'one');
    await ask(scene, '/help', {}, /coding agent/);
    expect(scene.peer.botMessages(CHAT)).toHaveLength(1);
  });

  test('that cannot be handled is recorded, reported, and skipped', async () => {
    const scene = await openScene();
    const { accept } = scene.store.transitions;
    const broken = withTransitions(scene, {
      accept: async (draft) => {
        if (draft.message_text.startsWith('poison')) throw new TypeError('a bug of ours');
        return accept.call(scene.store.transitions, draft);
      },
    });
    const { logsFolder } = await takingIn(scene, { store: broken });
    scene.peer.say(CHAT, `poison ${scene.peer.token} ${'x'.repeat(3_000)}`, { userId: 1 });
    await sayAndAccept(scene, 'healthy');
    await scene.peer.waitFor(() => said(scene, /could not process/));
    const lines = readFileSync(join(logsFolder, 'rejected_updates.jsonl'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ update_id: 1_000, error: 'a bug of ours' });
    expect(lines[0]).not.toContain(scene.peer.token);
  });
});

describeWithRedis('while Redis accepts nothing new', () => {
  test('the offset is unchanged until the message is stored', async () => {
    const scene = await openScene();
    const store = withTransitions(scene, { accept: () => Promise.reject(storeIsFull()) });
    const { intake } = await takingIn(scene, { store }, false);
    const id = scene.peer.say(CHAT, 'one', { userId: 1 });
    expect(await intake.runOnce()).toBeGreaterThan(0);
    expect(await intake.runOnce()).toBeGreaterThan(0);
    expect(scene.peer.unconfirmedUpdates).toBe(1);
    expect(await scene.store.records.updateOffset(scene.api.botId)).toBeNull();
    await scene.peer.waitFor(() => said(scene, STORE_AWAY_TEXT));
    await intake.stop();
    await takingIn(scene);
    await scene.peer.waitFor(() => reactions(scene, id).length > 0);
  });

  test('a command that was executed is not repeated because the offset could not be stored', async () => {
    const scene = await openScene();
    const { chatMemory } = scene.store;
    let failures = 2;
    const saveUpdateOffset: typeof chatMemory.saveUpdateOffset = async (botId, offset) => {
      failures -= 1;
      if (failures >= 0) throw storeIsFull();
      await chatMemory.saveUpdateOffset(botId, offset);
    };
    const store = { ...scene.store, chatMemory: Object.assign(Object.create(chatMemory), { saveUpdateOffset }) };
    const { intake } = await takingIn(scene, { store }, false);
    scene.peer.say(CHAT, '/new', { userId: 1 });
    for (let poll = 0; poll < 3; poll += 1) await intake.runOnce();
    expect(await scene.store.records.updateOffset(scene.api.botId)).toBe(1_001);
    expect(await scene.store.records.conversationEpoch('popoto', String(CHAT), null)).toBe(1);
  });
});

describeWithRedis('a bridge whose turn to fetch messages has ended without its knowledge', () => {
  test.each(['/new', 'do it'])('does nothing about %s', async (text) => {
    const scene = await openScene();
    const { store, api } = scene;
    let hasGivenWay = false;
    const another = { read: ['GET', store.keys.lease('another')], equals: 'its own' } as const;
    const giveWay = () => {
      hasGivenWay = true;
    };
    const { intake } = await takingIn(scene, { turn: { ...ONLY_POLLER, fence: () => [another], giveWay } }, false);
    scene.peer.say(CHAT, text, { userId: 1 });
    expect(await intake.runOnce()).toBe(0);
    expect(hasGivenWay).toBe(true);
    expect(await store.records.conversationEpoch('popoto', String(CHAT), null)).toBe(0);
    expect(await store.records.sessionIds('pending')).toEqual([]);
    expect(await store.records.updateOffset(api.botId)).toBeNull();
  });
});

describeWithRedis('a bridge whose turn comes back', () => {
  test('does not repeat a command that another bridge executed meanwhile', async () => {
    const scene = await openScene();
    const { store, api, peer } = scene;
    const place = ['popoto', String(CHAT), null] as const;
    const standing = new EventTarget();
    let isOurs = true;
    let over = new AbortController();
    const turn: Turn = {
      ...ONLY_POLLER,
      get isOurs() {
        return isOurs;
      },
      get over() {
        return over.signal;
      },
      async untilOurs() {
        standing.dispatchEvent(new Event('by'));
        await once(standing, 'over');
      },
    };
    await takingIn(scene, { turn });
    peer.say(CHAT, '/new', { userId: 1 });
    await peer.waitFor(() => peer.unconfirmedUpdates === 0 && peer.polling);
    isOurs = false;
    const standsBy = once(standing, 'by');
    over.abort();
    await standsBy;
    peer.say(CHAT, '/new', { userId: 1 });
    await store.chatMemory.newConversation(...place);
    await store.chatMemory.saveUpdateOffset(api.botId, 1_002);
    [isOurs, over] = [true, new AbortController()];
    standing.dispatchEvent(new Event('over'));
    await peer.waitFor(() => peer.unconfirmedUpdates === 0);
    expect(await store.records.conversationEpoch(...place)).toBe(2);
  });
});

describeWithRedis('while Redis is unreachable', () => {
  // rule: intake-confirms-last
  test('each waiting chat is notified once, and nothing is lost or doubled', async () => {
    const scene = await openScene();
    const gate = await RedisGate.before(scene.redisUrl);
    const redis = impatientRedis(gate.url);
    const settings = testSettings([project('popoto', '/srv/popoto', [CHAT, OTHER_CHAT])]);
    const { intake } = await takingIn(scene, { settings, store: openStore(redis, scene.clock, scene.prefix) });
    await sayAndAccept(scene, 'before');
    await scene.peer.waitFor(() => scene.peer.unconfirmedUpdates === 0 && scene.peer.polling);
    gate.shut();
    const wentAway = scene.clock.now();
    const first = scene.peer.say(CHAT, 'one', { userId: 1 });
    scene.peer.say(CHAT, '/status', { userId: 1 });
    const second = scene.peer.say(CHAT, 'two', { userId: 1 });
    scene.peer.say(OTHER_CHAT, 'not mine', { userId: STRANGER });
    await scene.peer.waitFor(() => said(scene, STORE_AWAY_TEXT));
    const third = scene.peer.say(OTHER_CHAT, 'three', { userId: 1 });
    // The polls go on, with pauses, and the bot does not look dead.
    await movingTime(scene, () => scene.peer.botMessages(OTHER_CHAT).some(({ text }) => text === STORE_AWAY_TEXT));
    expect(intake.lastPollAt).toBeGreaterThan(wentAway);
    expect(scene.peer.unconfirmedUpdates).toBe(5);
    expect(await scene.store.records.sessionIds('pending')).toHaveLength(1);
    await gate.open();
    await movingTime(
      scene,
      () => reactions(scene, third, OTHER_CHAT).length > 0 && scene.peer.unconfirmedUpdates === 0,
    );
    expect((await scene.store.records.waitingIn('testhost:/srv/popoto')).slice(1)).toEqual([
      `tg_popoto_${CHAT}_${first}`,
      `tg_popoto_${CHAT}_${second}`,
      `tg_popoto_${OTHER_CHAT}_${third}`,
    ]);
    expect(scene.peer.botMessages(CHAT).filter(({ text }) => text === STORE_AWAY_TEXT)).toHaveLength(1);
    expect(scene.peer.botMessages(OTHER_CHAT).filter(({ text }) => text === STORE_AWAY_TEXT)).toHaveLength(1);
    expect(scene.logged.filter((line) => line.includes('Redis does not answer'))).toHaveLength(1);
    await scene.peer.waitFor(() => said(scene, /Waiting for/));
  });

  test('an answer that has just arrived is not sent again', async () => {
    const scene = await openScene();
    const gate = await RedisGate.before(scene.redisUrl);
    const redis = impatientRedis(gate.url);
    const session = await answered(scene, await activeSession(scene), 'the answer');
    const store = openStore(redis, scene.clock, scene.prefix);
    const delivery = deliveryOf({ ...scene, store });
    scene.peer.inject({
      kind: 'server_error',
      method: 'sendMessage',
      match: () => {
        gate.shut();
        return false;
      },
    });
    await expect(delivery.deliver(session.session_id)).rejects.toThrow();
    await gate.open();
    await scene.clock.advance(2 * MINUTE);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual(['the answer']);
  });
});

describeWithRedis('a command', () => {
  test('is answered while an agent works: status', async () => {
    const scene = await openScene();
    await takingIn(scene, { describeActivity: () => 'Bash: npm test · 42 s · 12 calls' });
    const running = await begun(scene, await sayAndAccept(scene, 'fix the login test'));
    await sayAndAccept(scene, 'then this');
    await sayAndAccept(scene, 'and that');
    await scene.clock.advance(5 * MINUTE);
    scene.peer.say(CHAT, '/status@Watchkeeper_Peer_Bot', { userId: 1 });
    await scene.peer.waitFor(() => said(scene, /Running/));
    expect(scene.peer.botMessages(CHAT)[0]?.text.split('\n\n')).toEqual([
      'Running for 5 min: "fix the login test"\nBash: npm test · 42 s · 12 calls',
      'Waiting for 5 min, next in line: "then this"',
      'Waiting for 5 min, 1 before it: "and that"',
    ]);
    expect(await scene.store.records.session(running.session_id)).toMatchObject({ status: 'active' });
  });

  test('tells a second attempt from the first: status', async () => {
    const scene = await openScene();
    await takingIn(scene);
    const running = await begun(scene, await sayAndAccept(scene, 'fix the login test'));
    await begun(scene, await revived(scene, running));
    await ask(scene, '/status', {}, /^Running for \S+ s, second attempt: "fix the login test"\n/);
  });

  test('names agents in terminals of the directory, and nothing that was typed there: status', async () => {
    const scene = await openScene();
    const { directory } = scene.settings.projects.get('popoto') ?? { directory: '' };
    const since = scene.clock.now() - 12 * MINUTE;
    const live: LiveTerminal[] = [
      { directory: '/elsewhere', stuck: null },
      { directory: `${directory}2`, stuck: null },
    ];
    await takingIn(scene, { terminals: live });
    await ask(scene, '/status', {}, /^Nothing is running or waiting here\.$/);
    live.push({ directory: join(directory, 'below'), stuck: null });
    await ask(scene, '/status', {}, /here\.\n\nAn agent in a terminal uses this directory\.$/);
    live.push({ directory, stuck: stuckSince(since) });
    const two = '2 agents in terminals use this directory.';
    await ask(scene, '/status', {}, new RegExp(`${two} One has seemed stuck for 12 minutes\\.$`));
    live.splice(2, 1, { directory, stuck: stuckSince(since + MINUTE) });
    await ask(scene, '/status', {}, new RegExp(`${two} Both have seemed stuck, one of them for 12 minutes\\.$`));
    live.push({ directory, stuck: null });
    await ask(scene, '/status', {}, /use this directory\. 2 have seemed stuck, one of them for 12 minutes\.$/);
  });

  test('tells agents in terminals of its own directory from those of the project: status', async () => {
    const scene = await openScene();
    const root = project('popoto', '/srv/popoto', [CHAT]);
    const own = (id: number, name: string) => ({
      ...{ chatId: String(id), threadId: null, directory: join('/srv', name) },
      trigger: 'any' as const,
    });
    const places = [own(CHAT, 'popoto/own'), own(OTHER_CHAT, 'popoto/own2')];
    const live: LiveTerminal[] = [{ directory: '/srv/popoto/own', stuck: null }];
    await takingIn(scene, { settings: testSettings([{ ...root, places }]), terminals: live });
    await ask(scene, '/status', {}, /here\.\n\nAn agent in a terminal uses this directory\.$/);
    live.splice(0, 1, { directory: '/srv/popoto/own2/below', stuck: stuckSince(scene.clock.now() - 12 * MINUTE) });
    const another =
      'An agent in a terminal uses another directory of this project. It has seemed stuck for 12 minutes.';
    await ask(scene, '/status', {}, new RegExp(`here\\.\n\n${another}$`));
    live.push({ directory: '/srv/popoto', stuck: null }, { directory: '/srv/popoto/own', stuck: null });
    const others = '2 agents in terminals use other directories of this project. One has seemed stuck for 12 minutes.';
    await ask(scene, '/status', {}, new RegExp(`An agent in a terminal uses this directory\\.\n\n${others}$`));
  });

  test('says when a message continues that waits for the end of a limit of the provider: status', async () => {
    const scene = await openScene();
    await takingIn(scene);
    const running = await begun(scene, await sayAndAccept(scene, 'fix the login test'));
    const proof = proofOf(running, scene.clock.now());
    await scene.store.transitions.interrupt(running.session_id, proof.run_id, proof, scene.clock.now() + HOUR);
    scene.peer.say(CHAT, '/status', { userId: 1 });
    await scene.peer.waitFor(() => said(scene, /usage limit is reached.* will continue at .*\n"fix the login test"$/));
  });

  test.each([
    ['revive', 'I am handling it'],
    ['report', 'I only report it, and leave the agent alone'],
  ] as const)('says of a silence with the action %s what is done about it: status', async (silence, what) => {
    const scene = await openScene();
    await takingIn(scene);
    const running = await begun(scene, await sayAndAccept(scene, 'fix the login test'));
    const since = isoTime(scene.clock.now());
    const finding = { rule: 'silence', reason: 'silent', since, evidence: [], waits_considered: [] } as const;
    const evidence = {
      findings: [finding],
      actions: { ...DEFAULT_ACTIONS, silence },
      toolCount: 0,
      lastToolCall: null,
    };
    await scene.store.incidents.open(running, newIncident(scene.clock, { session: running, ...evidence }), []);
    await ask(scene, '/status', {}, new RegExp(`working · it has a problem; ${what}$`));
  });

  test('says that a message of another chat or topic uses the directory, without a word of it: status', async () => {
    const scene = await openScene();
    const settings = testSettings([project('popoto', '/srv/popoto', [CHAT, OTHER_CHAT])]);
    await takingIn(scene, { settings });
    const topic = scene.peer.createTopic(CHAT, 'Plans', { userId: 1 });
    const first = await activeSession(scene, { chat: OTHER_CHAT, text: 'the salaries' });
    const second = await sayAndAccept(scene, 'mine', { threadId: topic });
    await sayAndAccept(scene, 'yours');
    const inTopic = { threadId: topic };
    await ask(
      scene,
      '/status',
      inTopic,
      /^Waiting for .*, next in line; another chat's message uses this directory: "mine"/,
    );
    await ask(scene, '/status', {}, /^Waiting for .*, 1 before it: "yours"/);
    await answered(scene, first, 'done');
    await begun(scene, second);
    await ask(
      scene,
      '/status',
      {},
      /^Waiting for .*, next in line; a message of another topic uses this directory: "yours"/,
    );
    expect(scene.peer.botMessages(CHAT).filter(({ text }) => text.includes('salaries'))).toEqual([]);
  });

  // rule: an-unproven-run-blocks-its-lane
  test('reports messages that wait for a directory held by a run that could not be ended: status', async () => {
    const scene = await openScene();
    await takingIn(scene);
    const running = await begun(scene, await sayAndAccept(scene, 'one'));
    await sayAndAccept(scene, 'two');
    await scene.store.transitions.complete(running.session_id, running.run?.run_id ?? '', 'done', { isGone: false });
    await ask(scene, '/status', {}, /next in line: "two"\nIts directory is still held by an earlier run/);
  });

  test('cancels running work, one message by a reply, or everything', async () => {
    const scene = await openScene();
    await takingIn(scene);
    const running = await begun(scene, await sayAndAccept(scene, 'one'));
    const second = await sayAndAccept(scene, 'two');
    const third = await sayAndAccept(scene, 'three');
    await ask(scene, '/cancel', {}, /Stopping the running work/);
    expect(await scene.store.records.session(running.session_id)).toMatchObject({
      status: 'active',
      stop: { cause: 'cancel', run_id: `run-${running.session_id}` },
    });
    await ask(scene, '/cancel', { replyTo: Number(third.request.message_id) }, /Cancelled 1 waiting message/);
    expect(await scene.store.records.session(third.session_id)).toMatchObject({ status: 'cancelled' });
    expect(await scene.store.records.session(second.session_id)).toMatchObject({ status: 'pending' });
    expect(await scene.store.records.outboxEntry(third.session_id)).toMatchObject({
      kind: 'cancelled',
      text: CANCELLED_TEXT,
    });
    await ask(scene, '/cancel', { replyTo: Number(third.request.message_id) }, /has already ended/);
    await ask(scene, '/cancel all', {}, /Stopping the running work. Cancelled 1 waiting message/);
    await ask(scene, '/cancel everything', {}, /send \/cancel alone/);
  });

  test('in a topic means the topic: cancel', async () => {
    const scene = await openScene();
    await takingIn(scene);
    scene.peer.openChat(CHAT, { forum: true });
    const topic = scene.peer.createTopic(CHAT, 'Bugs', { userId: 1 });
    const running = await begun(scene, await sayAndAccept(scene, 'one', { threadId: topic }));
    await ask(scene, '/cancel', {}, /Nothing is running here/);
    expect(await scene.store.records.session(running.session_id)).toMatchObject({ stop: null });
    await ask(scene, '/cancel', { threadId: topic }, /Stopping the running work/);
    expect(await scene.store.records.session(running.session_id)).toMatchObject({ stop: { cause: 'cancel' } });
  });

  // rule: a-topic-is-its-own
  test('shows and stops nothing of other topics, except how much there is', async () => {
    const scene = await openScene();
    await takingIn(scene, { describeActivity: (id) => `Bash: at work on ${id}` });
    scene.peer.openChat(CHAT, { forum: true });
    const [bugs, plans] = ['Bugs', 'Plans'].map((name) => scene.peer.createTopic(CHAT, name, { userId: 1 }));
    const inBugs = { threadId: bugs ?? 0 };
    const running = await begun(scene, await sayAndAccept(scene, 'the salaries', { threadId: plans ?? 0 }));
    const waiting = await sayAndAccept(scene, 'who is let go', { threadId: plans ?? 0 });
    await ask(scene, '/status', inBugs, /^Nothing is running .* here\.\n\nIn other topics of this chat 2 messages are/);
    await ask(scene, '/status', {}, /^Nothing is running .* here\.\n\nIn other topics of this chat 2 messages are/);
    const nothing = /^Nothing is running or waiting here. 2 in other topics of this chat: send \/cancel all there.$/;
    await ask(scene, '/cancel all', inBugs, nothing);
    await ask(scene, '/cancel all', {}, nothing);
    expect(await scene.store.records.session(running.session_id)).toMatchObject({ stop: null });
    expect(await scene.store.records.session(waiting.session_id)).toMatchObject({ status: 'pending' });
    await ask(scene, '/cancel all', { threadId: plans ?? 0 }, /Stopping the running work. Cancelled 1 waiting message/);
    const seen = scene.peer.botMessages(CHAT).filter(({ threadId }) => threadId !== plans);
    expect(seen.map(({ text }) => text).join('\n')).not.toMatch(/salaries|let go|at work/);
  });

  test('turns no text of a tool into a mention or a link: status', async () => {
    const scene = await openScene();
    await takingIn(scene, { describeActivity: () => '@octocat www.evil.example · 3 s' });
    await begun(scene, await sayAndAccept(scene, 'one'));
    await ask(scene, '/status', {}, /@octocat www\.evil\.example · 3 s$/);
    const [answer] = scene.peer.botMessages(CHAT);
    expect(answer?.entities).toEqual([
      { type: 'code', offset: answer?.text.indexOf('@octocat'), length: '@octocat www.evil.example · 3 s'.length },
    ]);
  });

  test('repeats no secret of ours from a message', async () => {
    const scene = await openScene();
    await takingIn({ ...scene, redact: createRedactor(['open-sesame-42']) });
    await sayAndAccept(scene, 'the password is open-sesame-42');
    await ask(scene, '/status', {}, /^Waiting for .*: "the password is \[redacted:own_secret]"$/);
  });

  test.each([
    ['that is forwarded from another person', { forwardedFrom: { userId: STRANGER } }, /^That command was forwarded/],
    ['that is forwarded from a hidden person', { forwardedFrom: 'hidden' }, /^That command was forwarded/],
    ['of its sender that is forwarded', { forwardedFrom: { userId: 1 } }, /^That command was forwarded/],
    ['that another bot has offered', { viaBot: 'helpful_bot' }, /^That command came through another bot/],
  ] as const)('%s is not carried out, and its sender learns why', async (_, relay, answer) => {
    const scene = await openScene();
    const { store } = await takingIn(scene);
    const work = await sayAndAccept(scene, 'a');
    for (const command of ['/cancel all', '@watchkeeper_peer_bot /cancel all', '/new', '/unknown'])
      await ask(scene, command, relay, answer);
    expect((await store.records.session(work.session_id))?.status).toBe('pending');
    expect(await store.records.sessionIds('pending')).toEqual([work.session_id]);
    expect(await store.records.conversationEpoch('popoto', String(CHAT), null)).toBe(0);
    await ask(scene, '/cancel all', {}, /Cancelled 1 waiting message/);
  });

  test('that is edited into a message, or forwarded by a person who is not allowed, is not carried out', async () => {
    const scene = await openScene();
    const { store } = await takingIn(scene);
    const work = await sayAndAccept(scene, 'a');
    scene.peer.edit(CHAT, Number(work.request.message_id), '/cancel all');
    await scene.peer.waitFor(() => said(scene, /^I ignore edits/));
    scene.peer.say(CHAT, '/cancel all', { userId: STRANGER, forwardedFrom: { userId: 1 } });
    await scene.peer.waitFor(() => said(scene, /^You are not allowed/));
    expect((await store.records.session(work.session_id))?.status).toBe('pending');
  });

  test('that is unknown is answered with the list of commands; one for another bot is ignored', async () => {
    const scene = await openScene();
    await takingIn(scene);
    scene.peer.say(CHAT, '/status@other_bot', { userId: 1 });
    await ask(scene, '/frobnicate now', {}, /don't know \/frobnicate. I know \/status/);
    await ask(scene, '/help', {}, /project "popoto"/);
    const path = await sayAndAccept(scene, '/etc/hosts is wrong');
    expect(path.request.message_text).toBe('/etc/hosts is wrong');
    expect(scene.peer.botMessages(CHAT)).toHaveLength(2);
    expect(scene.peer.state().commands.map(({ command }) => command)).toEqual([
      'status',
      'cancel',
      'new',
      'ask',
      'help',
    ]);
  });
});

describeWithRedis('the poll', () => {
  // rule: polling-never-ends
  test('returns at once the first time, so that readiness is known, and waits later', async () => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    await intake.runOnce();
    expect(intake.lastPollAt).not.toBeNull();
    await intake.start();
    await scene.peer.waitFor(() => scene.peer.polling);
    const polls = scene.peer.calls.filter(({ method }) => method === 'getUpdates');
    expect(polls.map(({ parameters }) => Number(parameters.timeout) > 0)).toEqual([false, true]);
  });

  test('logs who disturbs it, continues, and stops at once', async () => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    scene.peer.inject({ kind: 'server_error', method: 'getMe' });
    expect(await intake.runOnce()).toBe(SECOND);
    expect(intake.lastPollAt).toBeNull();
    await intake.start();
    await scene.peer.waitFor(() => scene.peer.polling);
    await scene.api.getUpdates(null, 0, AbortSignal.timeout(5_000));
    await movingTime(
      scene,
      () => scene.peer.polling && scene.logged.some((line) => line.includes('only one bridge may run')),
    );
    await intake.stop();
    await scene.peer.waitFor(() => !scene.peer.polling);
  });

  // rule: polling-never-ends
  test('that another program keeps interrupting is repeated less and less often, logged once, and recovers', async () => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    const gauge = pollGauge(intake, scene.clock);
    const conflict = scene.peer.inject({ kind: 'conflict', method: 'getUpdates', times: Number.POSITIVE_INFINITY });
    const pauses: number[] = [];
    for (let poll = 0; poll < 7; poll += 1) {
      pauses.push(await intake.runOnce());
      await scene.clock.advance(pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30].map((seconds) => seconds * SECOND));
    expect(scene.logged.filter((line) => line.includes('only one bridge may run'))).toHaveLength(1);
    expect(await gauge.read()).toMatchObject({ ok: false, reading: expect.stringContaining('another poller') });
    expect(intake.trouble).toBe('another poller');

    const id = scene.peer.say(CHAT, 'still there?', { userId: 1 });
    conflict.remove();
    expect(await intake.runOnce()).toBe(0);
    expect(intake.trouble).toBeNull();
    expect(await scene.store.records.session(`tg_popoto_${CHAT}_${id}`)).not.toBeNull();
    expect(scene.logged.filter((line) => line.includes('messages are received again'))).toHaveLength(1);
    expect(await gauge.read()).toMatchObject({ ok: true });
  });

  // rule: polling-never-ends
  test.each([
    ['asks to wait for seconds', { kind: 'too_many_requests', retryAfterS: 7 }, 7 * SECOND],
    ['asks to wait for hours', { kind: 'too_many_requests', retryAfterS: 90_000 }, HOUR],
    ['refuses the token', { kind: 'unauthorized' }, MINUTE],
    ['fails', { kind: 'server_error', status: 502 }, SECOND],
    ['breaks the connection', { kind: 'reset' }, SECOND],
  ] as const)('of a Telegram that %s is repeated later, and loses nothing', async (_what, fault, pauseMs) => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    const id = scene.peer.say(CHAT, 'hello', { userId: 1 });
    scene.peer.inject({ ...fault, method: 'getUpdates' });
    expect(await intake.runOnce()).toBe(pauseMs);
    expect(await intake.runOnce()).toBe(0);
    expect(await scene.store.records.session(`tg_popoto_${CHAT}_${id}`)).not.toBeNull();
  });
});

describeWithRedis('a bot token that is revoked while the bridge runs', () => {
  // rule: a-revoked-token-is-said-once
  test.each(['unauthorized', 'not_found'])(
    'is one critical event, and one more when it works again: %s',
    async (how) => {
      const scene = await openScene();
      const { intake } = await takingIn(scene, {}, false);
      await intake.runOnce();
      expect(scene.told).toEqual([]);
      const { api } = scene;
      const { getUpdates } = api;
      const asked = scene.peer.inject({ kind: 'unauthorized', method: 'getUpdates', times: Number.POSITIVE_INFINITY });
      if (how === 'not_found') {
        api.getUpdates = async () => {
          throw refusal('getUpdates', { ok: false, error_code: 404, description: 'Not Found' }, '1:x');
        };
      }
      for (let poll = 0; poll < 3; poll += 1) expect(await intake.runOnce()).toBe(MINUTE);
      // The same bridge after a restart.
      const next = (await takingIn(scene, {}, false)).intake;
      expect(await next.runOnce()).toBe(MINUTE);
      expect(scene.told).toMatchObject([
        {
          event: 'bot_refused',
          final: false,
          details: { bot_id: api.botId, words: expect.stringMatching(/refuses the bot token .*TELEGRAM_BOT_TOKEN/) },
        },
      ]);
      asked.remove();
      api.getUpdates = getUpdates;
      for (const each of [next, intake, next, intake]) {
        // A poll without a message is answered after half a minute.
        scene.peer.say(CHAT, 'hello', { userId: 1 });
        expect(await each.runOnce()).toBe(0);
      }
      expect(scene.told.slice(1)).toMatchObject([
        { event: 'bot_refused', final: true, incident_id: scene.told[0]?.incident_id },
      ]);
    },
  );

  test('is over, too, when another bot takes its place', async () => {
    const scene = await openScene();
    const { begin } = scene.store.botTroubles;
    await begin.call(scene.store.botTroubles, { place: '1', incident_id: 'bot-token-refused-1', since: 0, words: 'x' });
    await (await takingIn(scene, {}, false)).intake.runOnce();
    expect(scene.told).toMatchObject([{ incident_id: 'bot-token-refused-1', final: true, details: { bot_id: '1' } }]);
  });
});

describeWithRedis('an answer that Telegram does not take', () => {
  const LOST = 'a small call to the chat failed';

  test.each([
    ['asks to wait', { kind: 'too_many_requests', retryAfterS: 7 }, 7 * SECOND],
    ['asks to wait for nothing', { kind: 'too_many_requests', retryAfterS: 0 }, SECOND],
    ['fails', { kind: 'server_error', status: 500 }, SECOND],
    ['breaks the connection', { kind: 'reset' }, SECOND],
  ] as const)('because it %s is sent again later, and delays no message', async (_what, fault, pauseMs) => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    scene.peer.inject({ ...fault, method: 'sendMessage' });
    scene.peer.inject({ ...fault, method: 'setMessageReaction' });
    const asked = scene.peer.say(CHAT, '/status', { userId: 1 });
    const work = scene.peer.say(CHAT, 'fix the test', { userId: 1 });
    await intake.runOnce();
    expect(await scene.store.records.session(`tg_popoto_${CHAT}_${work}`)).toMatchObject({ status: 'pending' });
    await until(() => scene.clock.sleepers === 2);
    await scene.clock.advance(pauseMs - 1);
    expect(scene.clock.sleepers).toBe(2);
    await scene.clock.advance(1);
    await scene.peer.waitFor(() => reactions(scene, work).includes('👀') && scene.peer.botMessages(CHAT).length > 0);
    expect(scene.peer.botMessages(CHAT)).toMatchObject([{ replyTo: asked }]);
    expect(scene.logged.filter((line) => line.includes(LOST))).toEqual([]);
  });

  test('is given up after a minute and logged; then the next message of a refused sender gets it', async () => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    const fault = scene.peer.inject({ kind: 'server_error', method: 'sendMessage', times: Number.POSITIVE_INFINITY });
    scene.peer.say(CHAT, 'let me in', { userId: STRANGER });
    scene.peer.say(OTHER_CHAT, 'anybody?', { userId: STRANGER });
    const began = scene.clock.monotonic();
    await intake.runOnce();
    const lost = () => scene.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === LOST);
    while (lost().length < 2) {
      await until(() => scene.clock.sleepers === 2 || lost().length > 0);
      await scene.clock.advance(scene.clock.nextInMs ?? 0);
    }
    expect(scene.clock.monotonic() - began).toBe(71 * SECOND);
    expect(lost()).toMatchObject(Array(2).fill({ level: 'warn', errand: 'answer', tries: 8 }));
    fault.remove();
    for (const chat of [CHAT, OTHER_CHAT]) {
      const again = [1, 2].map(() => scene.peer.say(chat, 'and now?', { userId: STRANGER }));
      await intake.runOnce();
      await scene.peer.waitFor(() => scene.peer.botMessages(chat).length > 0);
      expect(scene.peer.botMessages(chat)).toMatchObject([{ replyTo: again[0] }]);
    }
    expect(scene.told.map(({ event }) => event)).toEqual(['message_unroutable']);
  });

  test('because the bot may not write there is sent once, and counts for the hour', async () => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    scene.peer.inject({ kind: 'forbidden', method: 'sendMessage' });
    for (const text of ['let me in', 'please']) scene.peer.say(CHAT, text, { userId: STRANGER });
    await intake.runOnce();
    await until(() => scene.logged.some((line) => line.includes(LOST)));
    expect(scene.clock.sleepers).toBe(0);
    expect(scene.peer.botMessages(CHAT)).toEqual([]);
  });

  test('waits for no second try when the bridge stops', async () => {
    const scene = await openScene();
    const { intake } = await takingIn(scene, {}, false);
    scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 30, method: 'sendMessage' });
    scene.peer.say(CHAT, '/help', { userId: 1 });
    await intake.runOnce();
    await until(() => scene.clock.sleepers === 1);
    await intake.stop();
    expect(scene.logged.filter((line) => line.includes(LOST))).toHaveLength(1);
  });
});

/** Like the product's connection for commands, with less patience. */
function impatientRedis(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: 500, retryStrategy: () => 20 });
  redis.on('error', () => undefined);
  afterThisTest(() => redis.disconnect());
  return redis;
}

/** The store with some of its transitions as a test wants them. */
function withTransitions({ store }: Scene, changed: Partial<Store['transitions']>): Store {
  return { ...store, transitions: Object.assign(Object.create(store.transitions), changed) };
}

/** As ioredis hands on what a server says that is full. */
function storeIsFull(): Error {
  return Object.assign(new Error("OOM command not allowed when used memory > 'maxmemory'."), { name: 'ReplyError' });
}

async function sayAndAccept(scene: Scene, text: string, options: SayOptions = {}) {
  const id = scene.peer.say(CHAT, text, { userId: 1, ...options });
  await scene.peer.waitFor(() => reactions(scene, id).length > 0);
  const session = await scene.store.records.session(`tg_popoto_${CHAT}_${id}`);
  if (session === null) throw new Error(`message ${id} was not accepted`);
  return session;
}

async function ask(scene: Scene, text: string, options: SayOptions, answer: RegExp): Promise<void> {
  const id = scene.peer.say(CHAT, text, { userId: 1, ...options });
  await scene.peer.waitFor(() =>
    scene.peer.botMessages(CHAT).some((message) => message.replyTo === id && answer.test(message.text)),
  );
}

function reactions(scene: Scene, messageId: number, chat = CHAT): string[] {
  const message = scene.peer.messages(chat).find((each) => each.messageId === messageId);
  return message?.reactions.map(({ emoji }) => emoji) ?? [];
}

function said(scene: Scene, words: RegExp | string): boolean {
  return scene.peer
    .botMessages(CHAT)
    .some(({ text }) => (typeof words === 'string' ? text === words : words.test(text)));
}

/** Resolves once it happened in this process: the peer sees only calls. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setImmediate(resolve));
}

/** Ends each pause as soon as one begins, until `happened`. */
async function movingTime(scene: Scene, happened: () => boolean): Promise<void> {
  let isOver = false;
  const over = scene.peer.waitFor(happened, 15_000).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    const { nextInMs } = scene.clock;
    if (nextInMs !== null && nextInMs <= 5 * SECOND) await scene.clock.advance(nextInMs);
  }
  await over;
}
