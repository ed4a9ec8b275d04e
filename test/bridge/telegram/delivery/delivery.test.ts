import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { DeliveryService } from '../../../../bridge/chat/deliveryService.js';
import { TelegramApi } from '../../../../bridge/telegram/api.js';
import { ChatError } from '../../../../bridge/telegram/chatError.js';
import { UnreachableError } from '../../../../src/errors.js';
import { armFailpoint } from '../../../../src/failpoints.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../../src/host/identity.js';
import type { AgentSession, OutboxEntry } from '../../../../src/jobs/model.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import {
  activeSession,
  answered,
  CHAT,
  deliveryOf,
  displayOf,
  openScene,
  type Scene,
  withProgressMessage,
} from '../scene.js';

const ANSWER = 'The answer is **42**.';
const SHOWN = 'The answer is 42.';
/** Where it cannot be a reply. */
const ELSEWHERE = `About your message, "do it":\n\n${SHOWN}`;

describeWithRedis('the final message', () => {
  // rule: a-final-message-is-sent-once
  test('arrives once, as a reply in its chat, and the progress message is closed', async () => {
    const scene = await openScene();
    const session = await withProgressMessage(scene, await activeSession(scene));
    await scene.clock.advance(3 * MINUTE);
    await answered(scene, session, ANSWER);
    const delivery = deliveryOf(scene);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await delivery.stop();
    expect(shown(scene)).toEqual(['Done in 3 minutes.', SHOWN]);
    expect(scene.peer.botMessages(CHAT)[1]).toMatchObject({
      replyTo: Number(session.request.message_id),
      entities: [{ type: 'bold', offset: 14, length: 2 }],
    });
    expect(await scene.store.records.session(session.session_id)).toMatchObject({ request: { delivery: 'sent' } });
    const ownId = String(scene.peer.botMessages(CHAT)[1]?.messageId);
    expect(await scene.store.records.sessionOfMessage('popoto', String(CHAT), ownId)).toBe(session.session_id);
    // A second try changes nothing.
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(scene.peer.botMessages(CHAT)).toHaveLength(2);
  });

  test('closes its progress message, too, if Redis forgets everything while it is sent', async () => {
    const scene = await openScene();
    const session = await withProgressMessage(scene, await activeSession(scene));
    await answered(scene, session, ANSWER);
    const { redis, keys } = scene.store;
    const send = scene.api.sendMessage.bind(scene.api);
    scene.api.sendMessage = async (...message) => {
      const sent = await send(...message);
      await redis.del(keys.outbox(session.session_id), keys.session(session.session_id));
      return sent;
    };
    const delivery = deliveryOf(scene);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await delivery.stop();
    expect(shown(scene)).toEqual([expect.stringMatching(/^Done/), SHOWN]);
  });

  test('goes to its topic', async () => {
    const scene = await openScene();
    scene.peer.openChat(CHAT, { forum: true });
    const threadId = scene.peer.createTopic(CHAT, 'Bugs', { userId: 1 });
    const session = await answered(scene, await activeSession(scene, { threadId }), ANSWER);
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(scene.peer.botMessages(CHAT)).toMatchObject([
      { threadId, text: SHOWN, replyTo: Number(session.request.message_id) },
    ]);
  });

  // rule: a-send-fault-has-an-end
  test('goes outside its topic if that was closed', async () => {
    const scene = await openScene();
    scene.peer.openChat(CHAT, { forum: true });
    const threadId = scene.peer.createTopic(CHAT, 'Bugs', { userId: 1 });
    const session = await answered(scene, await activeSession(scene, { threadId }), ANSWER);
    scene.peer.closeTopic(CHAT, threadId, { userId: 1 });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(scene.peer.botMessages(CHAT)).toMatchObject([{ threadId: null, text: ELSEWHERE }]);
  });

  test('that is long is sent in parts; only the first is a reply', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), `${'line of text\n'.repeat(900)}end`);
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    const messages = scene.peer.botMessages(CHAT);
    expect(messages.pop()?.kind).toBe('document');
    expect(messages.length).toBeGreaterThan(2);
    expect(messages.map((message) => message.text).join('\n')).toBe(`${'line of text\n'.repeat(900)}end`);
    expect(messages.map((message) => message.replyTo !== null)).toEqual(messages.map((_, index) => index === 0));
  });

  test('that Telegram rejects as HTML is sent as plain text', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    scene.peer.inject({
      kind: 'bad_request',
      description: "can't parse entities: unsupported start tag",
      match: (parameters) => parameters.has('parse_mode'),
    });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(shown(scene)).toEqual([SHOWN]);
    expect(scene.peer.botMessages(CHAT)[0]?.entities ?? []).toEqual([]);
  });

  test('contains no secret of ours', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), `the token is ${scene.peer.token}`);
    await deliveryOf(scene).deliver(session.session_id);
    expect(shown(scene)[0]).not.toContain(scene.peer.token);
  });

  test.each(['lost_answer', 'reset'] as const)(
    'with an unknown outcome (%s) is never resent: a silent placeholder gets it, and the progress message stays',
    async (kind) => {
      const scene = await openScene();
      const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
      scene.peer.inject({ kind, method: 'sendMessage' });
      const delivery = deliveryOf(scene);
      expect(await delivery.deliver(session.session_id)).toBe('sent');
      await delivery.stop();
      expect(sends(scene, '<b>42</b>')).toBe(1);
      const placeholder = scene.peer.calls.find(({ parameters }) => parameters.text === '…')?.parameters;
      expect(placeholder).toMatchObject({ disable_notification: true });
      expect(scene.peer.botMessages(CHAT).at(-1)).toMatchObject({
        text: SHOWN,
        replyTo: Number(session.request.message_id),
      });
      expect(shown(scene)[0]).toBe('Done in 1 second.');
      expect(await entryOf(scene, session)).toMatchObject({ state: 'sent', progress_message_id: null });
    },
  );

  // rule: a-final-message-is-sent-once
  test('with an unknown outcome and no progress message goes into a placeholder; lost replies to that do no harm', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    scene.peer.inject({ kind: 'reset', method: 'sendMessage' });
    const isPlaceholder = {
      method: 'sendMessage',
      match: (parameters: { text(name: string): string }) => parameters.text('text') === '…',
    } as const;
    scene.peer.inject({ kind: 'lost_answer', ...isPlaceholder });
    const delivery = deliveryOf(scene);
    expect(await delivery.deliver(session.session_id)).toBe('sending');
    await scene.clock.advance(SECOND);
    scene.peer.inject({ kind: 'lost_answer', method: 'editMessageText' });
    expect(await delivery.deliver(session.session_id)).toBe('queued');
    await scene.clock.advance(10 * SECOND);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    expect(sends(scene, '<b>42</b>')).toBe(1);
    expect(shown(scene)).toEqual(['…', SHOWN]);
  });

  test('whose second part has an unknown outcome is complete in the chat', async () => {
    const scene = await openScene();
    const text = `${'first\n'.repeat(650)}\n${'second\n'.repeat(580)}\n${'third\n'.repeat(300)}`;
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), text);
    scene.peer.inject({
      kind: 'reset',
      method: 'sendMessage',
      match: (parameters) => parameters.text('text').includes('second'),
    });
    scene.peer.inject({
      kind: 'reset',
      method: 'sendMessage',
      match: (parameters) => parameters.text('text').includes('third'),
    });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    const words = shown(scene)
      .slice(1, -1)
      .join('\n')
      .split('\n')
      .filter((word) => word !== '');
    expect(words.sort()).toEqual(
      text
        .split('\n')
        .filter((word) => word !== '')
        .sort(),
    );
  });

  // rule: a-final-message-is-sent-once
  test('whose sender died between claim and answer is not sent again', async () => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    await scene.store.outbox.claim(session.session_id, MINUTE, scene.here);
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sending');
    await scene.clock.advance(MINUTE);
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(sends(scene, '<b>42</b>')).toBe(0);
    expect(shown(scene).slice(1)).toEqual([SHOWN]);
  });

  // rule: a-final-message-is-sent-once
  test('whose sender is proven dead is settled at once by the service of its successor, without a second send', async () => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    await scene.store.outbox.claim(session.session_id, MINUTE, await deadProcess());
    const delivery = deliveryOf(scene);
    const chat = { deliver: (id: string) => delivery.deliver(id), showProgress: async () => undefined };
    const service = new DeliveryService(scene, chat);
    await service.start();
    // The clock does not move: the claim would hold for a minute.
    await scene.clock.advance(0);
    await scene.peer.waitFor(() => shown(scene).includes(SHOWN));
    await service.stop();
    expect(sends(scene, '<b>42</b>')).toBe(0);
    expect(await entryOf(scene, session)).toMatchObject({ state: 'sent', claimed_by: { pid: process.pid } });
  });

  // rule: a-final-message-is-sent-once
  test.each([
    ['claim', 1],
    ['arrival', 2],
  ])(
    'whose %s was stored, but the reply lost, is settled in the next round, not when its claim expires',
    async (_, nth) => {
      const scene = await openScene();
      const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
      const delivery = deliveryOf(scene);
      const chat = { deliver: (id: string) => delivery.deliver(id), showProgress: async () => undefined };
      const service = new DeliveryService(scene, chat);
      armFailpoint(`commit.delivery.after:throw:${nth}`);
      await service.runOnce();
      expect(await entryOf(scene, session)).toMatchObject({ state: 'sending', claimed_by: { pid: process.pid } });
      // The clock does not move.
      await service.runOnce();
      await service.stop();
      expect(sends(scene, '<b>42</b>')).toBeLessThanOrEqual(1);
      expect(shown(scene).filter((text) => text === SHOWN)).toHaveLength(1);
      expect(await entryOf(scene, session)).toMatchObject({ state: 'sent' });
    },
  );

  test('claimed by an older version, which did not record the owner, waits for the end of the claim', async () => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    await scene.store.outbox.claim(session.session_id, MINUTE, await deadProcess());
    const { claimed_by: _, ...former } = await entryOf(scene, session);
    await scene.store.redis.hset(scene.store.keys.outbox(session.session_id), 'doc', JSON.stringify(former));
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sending');
  });

  // rule: a-final-message-is-sent-once
  test('that hangs when the bridge stops is given up with the drain, and settled by an edit at the next start', async () => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    const hang = scene.peer.inject({ kind: 'hang', method: 'sendMessage' });
    const first = deliveryOf(scene);
    const delivering = first.deliver(session.session_id);
    await scene.peer.waitFor(() => hang.used === 1);
    first.stopSoon();
    await scene.clock.advance(scene.drainMs);
    expect(await delivering).toBe('sending');
    await first.stop();
    expect(await entryOf(scene, session)).toMatchObject({ state: 'sending', claimed_until: null });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(sends(scene, '<b>42</b>')).toBe(1);
    expect(shown(scene).slice(1)).toEqual([SHOWN]);
  });

  test('that is stored after the drain is not sent, and not in doubt', async () => {
    const scene = await openScene();
    const first = deliveryOf(scene);
    first.stopSoon();
    await scene.clock.advance(scene.drainMs);
    const session = await answered(scene, await activeSession(scene), ANSWER);
    expect(await first.deliver(session.session_id)).toBe('queued');
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(sends(scene, '<b>42</b>')).toBe(1);
  });

  test('without any reply in time is in doubt as well', async () => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    const hang = scene.peer.inject({ kind: 'hang', method: 'sendMessage' });
    const delivering = deliveryOf(scene).deliver(session.session_id);
    await scene.peer.waitFor(() => hang.used === 1);
    await scene.clock.advance(30 * SECOND);
    expect(await delivering).toBe('sent');
    expect(shown(scene).slice(1)).toEqual([SHOWN]);
  });

  // rule: nobody-sends-within-a-ban
  test('waits as long as Telegram asks, at most an hour, whoever is asked to send it meanwhile', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    const delivery = deliveryOf(scene);
    scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 7, method: 'sendMessage' });
    expect(await delivery.deliver(session.session_id)).toBe('queued');
    expect((await entryOf(scene, session)).due_at).toBe(scene.clock.now() + 7 * SECOND);
    await scene.clock.advance(7 * SECOND);
    scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 90_000, method: 'sendMessage' });
    expect(await delivery.deliver(session.session_id)).toBe('queued');
    const { due_at } = await entryOf(scene, session);
    expect(due_at).toBe(scene.clock.now() + HOUR);
    const tried = sends(scene, '<b>42</b>');
    await scene.clock.advance(HOUR - 1);
    for (const each of [delivery, deliveryOf(scene)]) expect(await each.deliver(session.session_id)).toBe('queued');
    expect(sends(scene, '<b>42</b>')).toBe(tried);
    await scene.clock.advance(1);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    expect(shown(scene)).toEqual([SHOWN]);
  });

  // rule: a-refusal-that-can-pass-is-tried-for-a-day
  test.each([
    ['400', 'Bad Request: not enough rights to send text messages to the chat'],
    ['403', 'Forbidden: bot was kicked from the supergroup chat'],
    ['403', 'Forbidden: bot was blocked by the user'],
    ['400', 'Bad Request: CHAT_WRITE_FORBIDDEN'],
    ['400', 'Bad Request: CHAT_RESTRICTED'],
    ['400', 'Bad Request: TOPIC_CLOSED'],
    ['400', 'Bad Request: chat not found'],
    ['400', 'Bad Request: words that nobody has heard yet'],
  ])(
    'that is refused with %s, %s, is tried again, more and more rarely, and arrives when that has passed',
    async (_, description) => {
      const scene = await openScene();
      const session = await answered(scene, await activeSession(scene), ANSWER);
      const refusing = scene.peer.inject({
        kind: 'bad_request',
        description,
        method: 'sendMessage',
        times: Number.POSITIVE_INFINITY,
      });
      const delivery = deliveryOf(scene);
      const pauses: number[] = [];
      for (let tries = 0; tries < 14; tries += 1) {
        expect(await delivery.deliver(session.session_id)).toBe('queued');
        const pause = (await entryOf(scene, session)).due_at - scene.clock.now();
        pauses.push(pause);
        await scene.clock.advance(pause);
      }
      expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
      expect(pauses.at(-1)).toBe(30 * MINUTE);
      expect(scene.told).toEqual([]);
      refusing.remove();
      expect(await delivery.deliver(session.session_id)).toBe('sent');
      expect(shown(scene)).toEqual([SHOWN]);
    },
  );

  // rule: a-send-fault-has-an-end
  test.each([
    ['for a day', 'Forbidden: bot was blocked by the user', DAY],
    ['for what it is', 'Bad Request: message is too long', 0],
  ] as const)('that is refused %s is given up, with the reason and an event', async (_, description, afterMs) => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    scene.peer.inject({ kind: 'bad_request', description, method: 'sendMessage', times: Number.POSITIVE_INFINITY });
    const delivery = deliveryOf(scene);
    if (afterMs > 0) expect(await delivery.deliver(session.session_id)).toBe('queued');
    await scene.clock.advance(afterMs + 1);
    expect(await delivery.deliver(session.session_id)).toBe('given_up');
    expect((await entryOf(scene, session)).last_error).toMatch(/400 /);
    expect(scene.told).toMatchObject([
      {
        id: `undelivered-${session.session_id}.detected`,
        event: 'message_undelivered',
        asked: 'do it',
        agent: { name: 'scripted', version: null },
        reason: 'answer_given_up',
        session_id: session.session_id,
        project_key: 'popoto',
        final: true,
        details: { chat_id: String(CHAT), last_error: expect.stringMatching(/400 /) },
      },
    ]);
    expect(await scene.store.records.dueOutbox(scene.clock.now() + DAY)).toEqual({ due: [], nextAt: null });
  });

  test('in doubt, with nowhere left to put it, ends as unknown', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    scene.peer.inject({ kind: 'lost_answer', method: 'sendMessage' });
    scene.peer.inject({ kind: 'forbidden', method: 'sendMessage', times: Number.POSITIVE_INFINITY });
    const delivery = deliveryOf(scene);
    expect(await delivery.deliver(session.session_id)).toBe('sending');
    await scene.clock.advance(DAY + 1);
    expect(await delivery.deliver(session.session_id)).toBe('unknown');
    expect(shown(scene)).toEqual([SHOWN]);
    expect(scene.told).toMatchObject([{ event: 'message_undelivered', reason: 'answer_unknown' }]);
  });

  // rule: nobody-sends-within-a-ban
  test('is the only one that is tried after a ban of its chat, in whichever process; the others follow once it is taken', async () => {
    const scene = await openScene();
    const answers: AgentSession[] = [];
    for (const directory of ['/srv/a', '/srv/b', '/srv/c'])
      answers.push(await answered(scene, await activeSession(scene, { directory }), ANSWER));
    const deliveries = [deliveryOf(scene), deliveryOf(scene)];
    const tryAll = () =>
      Promise.all(answers.map(({ session_id }, index) => deliveries[index % 2]?.deliver(session_id)));
    const ban = scene.peer.inject({
      kind: 'too_many_requests',
      retryAfterS: 10,
      method: 'sendMessage',
      times: Infinity,
    });
    await deliveries[0]?.deliver(answers[0]?.session_id ?? '');
    let tried = sends(scene, '<b>42</b>');
    // During the ban, nobody.
    await tryAll();
    expect(sends(scene, '<b>42</b>')).toBe(tried);
    for (let bans = 0; bans < 3; bans += 1) {
      await scene.clock.advance(10 * SECOND);
      await tryAll();
      tried += 1;
      expect(sends(scene, '<b>42</b>')).toBe(tried);
      // Those that waited look again before the ban is over.
      await scene.clock.advance(6 * SECOND);
      await tryAll();
      expect(sends(scene, '<b>42</b>')).toBe(tried);
      await scene.clock.advance(4 * SECOND);
      await tryAll();
      tried += 1;
      expect(sends(scene, '<b>42</b>')).toBe(tried);
    }
    ban.remove();
    for (let looks = 0; looks < 3; looks += 1) {
      await scene.clock.advance(10 * SECOND);
      await tryAll();
    }
    expect(shown(scene)).toEqual([SHOWN, SHOWN, SHOWN]);
    // What was not tried is no attempt.
    const tries = await Promise.all(answers.map(async (session) => (await entryOf(scene, session)).tries));
    expect(tries.reduce((sum, each) => sum + each)).toBe(tried + answers.length);
  });

  test('that waits in a banned chat leaves its progress messages unsent, too', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 60, method: 'sendMessage' });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('queued');
    const { length } = scene.peer.calls.filter(({ method }) => method === 'sendMessage');
    const display = displayOf(scene);
    const working = await activeSession(scene, { directory: '/srv/b' });
    display.begin(working);
    await scene.peer.waitFor(() => scene.peer.calls.some(({ method }) => method === 'sendChatAction'));
    expect(scene.peer.calls.filter(({ method }) => method === 'sendMessage')).toHaveLength(length);
    await display.end(working.session_id);
  });

  // rule: no-instant-binds-longer-than-its-length
  test.each(['nobody yet', 'a pause', 'a claim'])(
    'that has to wait for %s does not wait longer because the clock is set back',
    async (what) => {
      const scene = await openScene();
      const session = await answered(scene, await activeSession(scene), ANSWER);
      if (what === 'a pause') {
        scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 60, method: 'sendMessage' });
        await deliveryOf(scene).deliver(session.session_id);
      } else if (what === 'a claim') {
        const elsewhere = { ...scene.here, host: 'otherhost', pid: 1 };
        await scene.store.outbox.claim(session.session_id, MINUTE, elsewhere);
      }
      scene.clock.moveWallClock(-2 * HOUR);
      const service = new DeliveryService(scene, deliveryOf(scene));
      await service.runOnce();
      expect(await entryOf(scene, session)).toMatchObject({ state: 'sent' });
    },
  );

  test('whose placeholder was deleted goes into another one', async () => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    scene.peer.inject({ kind: 'reset', method: 'sendMessage' });
    scene.peer.inject({ kind: 'bad_request', description: 'message to edit not found', method: 'editMessageText' });
    const delivery = deliveryOf(scene);
    expect(await delivery.deliver(session.session_id)).toBe('sending');
    await scene.clock.advance(SECOND);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    expect(shown(scene).slice(1)).toEqual(['…', SHOWN]);
    expect(sends(scene, '<b>42</b>')).toBe(1);
  });

  // rule: a-send-fault-has-an-end
  test('follows its chat, once, when the chat becomes a supergroup', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    scene.peer.openChat(-100_777);
    scene.peer.inject({
      kind: 'chat_migrated',
      migrateToChatId: -100_777,
      chatId: CHAT,
      times: Number.POSITIVE_INFINITY,
    });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(scene.peer.botMessages(-100_777)).toMatchObject([{ text: ELSEWHERE, replyTo: null }]);
    const again = await answered(scene, await activeSession(scene), ANSWER);
    scene.peer.inject({
      kind: 'chat_migrated',
      migrateToChatId: CHAT,
      chatId: -100_777,
      times: Number.POSITIVE_INFINITY,
    });
    expect(await deliveryOf(scene).deliver(again.session_id)).toBe('given_up');
  });

  test('follows its chat, and does not close a message there that has the number of its progress message', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    const moved = -100_777;
    scene.peer.openChat(moved);
    const to = { chatId: String(moved), threadId: null, replyTo: null };
    const messageId = await scene.api.sendMessage(to, { plain: 'Another answer', html: null });
    scene.peer.inject({ kind: 'chat_migrated', migrateToChatId: moved, chatId: CHAT });
    scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 7, chatId: moved });
    const quiet = async () => ({ messageId, mayComeLate: false });
    const delivery = deliveryOf(scene, Object.assign(displayOf(scene), { quiet }));
    expect(await delivery.deliver(session.session_id)).toBe('queued');
    await scene.clock.advance(7 * SECOND);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await delivery.stop();
    expect(scene.peer.botMessages(moved).map(({ text }) => text)).toEqual(['Another answer', ELSEWHERE]);
  });

  test('is given up a day after it was written if Telegram cannot be reached until then', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    await scene.peer.stop();
    const delivery = deliveryOf(scene);
    expect(await delivery.deliver(session.session_id)).toBe('queued');
    expect(await entryOf(scene, session)).toMatchObject({ tries: 1, due_at: scene.clock.now() + SECOND });
    await scene.clock.advance(SECOND);
    expect(await delivery.deliver(session.session_id)).toBe('queued');
    expect(await entryOf(scene, session)).toMatchObject({ tries: 2, due_at: scene.clock.now() + 2 * SECOND });
    await scene.clock.advance(DAY + 1);
    expect(scene.told).toEqual([]);
    expect(await delivery.deliver(session.session_id)).toBe('given_up');
    expect(scene.told).toMatchObject([{ reason: 'answer_given_up', details: { tries: 3 } }]);
  });

  test('that is interrupted by a stop continues at the same point at the next start', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), `${'a\n'.repeat(2_000)}\n${'b\n'.repeat(2_000)}`);
    const first = deliveryOf(scene);
    let stopped: Promise<void> | null = null;
    scene.peer.inject({
      kind: 'reset',
      method: 'sendMessage',
      match: () => {
        stopped ??= first.stop();
        return false;
      },
    });
    expect(await first.deliver(session.session_id)).toBe('queued');
    await stopped;
    expect(await entryOf(scene, session)).toMatchObject({ parts_done: 1, due_at: scene.clock.now() });
    expect(scene.peer.botMessages(CHAT)).toHaveLength(1);
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(shown(scene).join('').replace(/\n/g, '')).toBe('a'.repeat(2_000) + 'b'.repeat(2_000));
  });

  // rule: a-final-message-is-sent-once
  test('that causes no wake is still sent before the chats stop', async () => {
    const scene = await openScene();
    const delivery = deliveryOf(scene);
    const chat = { deliver: (id: string) => delivery.deliver(id), showProgress: async () => undefined };
    const service = new DeliveryService(scene, chat);
    const session = await answered(scene, await activeSession(scene), ANSWER);
    delivery.stopSoon();
    await service.lastLook();
    await delivery.stop();
    await service.stop();
    expect((await entryOf(scene, session)).state).toBe('sent');
  });

  test('is delivered by the service as soon as Redis answers again; the trouble and its end are logged once', async () => {
    const scene = await openScene();
    const delivery = deliveryOf(scene);
    const chat = { deliver: (id: string) => delivery.deliver(id), showProgress: async () => undefined };
    let isAway = true;
    const dueOutbox: typeof scene.store.records.dueOutbox = async (now) => {
      if (isAway) throw new UnreachableError('Connection is closed.');
      return scene.store.records.dueOutbox(now);
    };
    const records = Object.create(scene.store.records, { dueOutbox: { value: dueOutbox } });
    const service = new DeliveryService({ ...scene, store: { ...scene.store, records } }, chat);
    const session = await answered(scene, await activeSession(scene), ANSWER);
    await service.start();
    const said = (words: string) => scene.logged.filter((line) => line.includes(words)).length;
    while (said('final messages wait: Redis does not answer') === 0) await scene.clock.advance(SECOND);
    await scene.clock.advance(MINUTE);
    isAway = false;
    while (said('final messages are delivered again') === 0) await scene.clock.advance(SECOND);
    await scene.peer.waitFor(() => shown(scene).includes(SHOWN));
    await service.stop();
    expect((await entryOf(scene, session)).state).toBe('sent');
    expect(said('final messages wait')).toBe(1);
  });

  test('is delivered by the service: at a wake, and when it is due', async () => {
    const scene = await openScene();
    const delivery = deliveryOf(scene);
    const chat = { deliver: (id: string) => delivery.deliver(id), showProgress: async () => undefined };
    const service = new DeliveryService(scene, chat);
    await service.start();
    await scene.clock.advance(0);
    const session = await answered(scene, await activeSession(scene), ANSWER);
    scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 7, method: 'sendMessage' });
    service.wake(session.session_id);
    await scene.peer.waitFor(() => scene.peer.calls.some((call) => call.outcome.startsWith('429')));
    await untilTimer(scene, 7 * SECOND);
    await scene.clock.advance(7 * SECOND);
    await scene.peer.waitFor(() => shown(scene).includes(SHOWN));
    await service.stop();
    expect((await entryOf(scene, session)).state).toBe('sent');
  });
});

describeWithRedis('an error of the API', () => {
  test('shows what may have happened, and never the token', async () => {
    const scene = await openScene();
    const { clock, peer } = scene;
    scene.peer.openChat(CHAT);
    const to = { chatId: String(CHAT), threadId: null, replyTo: null };
    const send = (api = scene.api) =>
      api.sendMessage(to, { plain: 'x', html: null }).catch((error: unknown) => error as ChatError);
    const nobody = new TelegramApi({ token: peer.token, apiRoot: 'http://127.0.0.1:1' }, clock);
    const nowhere = new TelegramApi({ token: peer.token, apiRoot: 'http://no-such-host.invalid' }, clock);
    const stranger = new TelegramApi({ token: '1:wrong', apiRoot: peer.url }, clock);
    const failures: Record<string, unknown> = {
      nobody: await send(nobody),
      nowhere: await send(nowhere),
      stranger: await send(stranger),
    };
    for (const fault of [
      { kind: 'too_many_requests', retryAfterS: 3 },
      { kind: 'forbidden' },
      { kind: 'server_error', status: 500 },
      { kind: 'server_error', status: 502, html: true },
      { kind: 'reset' },
    ] as const) {
      peer.inject(fault);
      failures['status' in fault ? `${fault.status}` : fault.kind] = await send();
    }
    expect(failures).toMatchObject({
      nobody: { kind: 'not_reached', retryable: true },
      nowhere: { kind: 'not_reached' },
      stranger: { kind: 'unauthorized', status: 401 },
      too_many_requests: { kind: 'limited', retryAfterMs: 3_000 },
      forbidden: { kind: 'refused', status: 403, retryable: false },
      500: { kind: 'unknown', status: 500 },
      502: { kind: 'unknown' },
      reset: { kind: 'unknown' },
    });
    for (const failure of Object.values(failures)) {
      expect(failure).toBeInstanceOf(ChatError);
      expect(`${(failure as Error).stack} ${JSON.stringify(failure)}`).not.toContain(peer.token.split(':')[1]);
    }
  });
});

/** @returns the identity of a process that has ended */
async function deadProcess(): Promise<ProcessIdentity> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const identity = readProcessIdentity('testhost', child.pid);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return identity;
}

async function entryOf(scene: Scene, session: AgentSession): Promise<OutboxEntry> {
  const entry = await scene.store.records.outboxEntry(session.session_id);
  if (entry === null) throw new Error('no outbox entry');
  return entry;
}

function shown(scene: Scene): string[] {
  return scene.peer.botMessages(CHAT).map((message) => message.text);
}

/** How often a text with these words was put into a send. */
function sends(scene: Scene, words: string): number {
  return scene.peer.calls.filter(
    (call) => call.method === 'sendMessage' && String(call.parameters.text).includes(words),
  ).length;
}

/** The service has gone to sleep until `ms` from now. */
async function untilTimer(scene: Scene, ms: number): Promise<void> {
  while (scene.clock.nextInMs !== ms) await new Promise((resolve) => setImmediate(resolve));
}
