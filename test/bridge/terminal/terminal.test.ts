import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { ChatRouter, ProgressRouter, type WaitingChat } from '../../../bridge/chat/chatRouter.js';
import { EnqueuedHandoffs } from '../../../bridge/handoffs/handoffs.js';
import { acceptForOthers, MessageAcceptor, STORE_AWAY_TEXT } from '../../../bridge/intake/acceptMessage.js';
import { Commands } from '../../../bridge/intake/commands/commands.js';
import { AbsentTerminal, TerminalChat } from '../../../bridge/terminal/terminalChat.js';
import { TerminalIntake } from '../../../bridge/terminal/terminalIntake.js';
import { TerminalProgress } from '../../../bridge/terminal/terminalProgress.js';
import { worklogIn } from '../../../memory/home/places.js';
import { BridgeWorklogs } from '../../../memory/sessions/bridgeWorklogs.js';
import { UnreachableError, UsageError } from '../../../src/errors.js';
import { ulid } from '../../../src/ids.js';
import type { Chat } from '../../../src/jobs/ports.js';
import { journalPath } from '../../../src/journal/path.js';
import { MINUTE, SECOND } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import { revived } from '../telegram/revived.js';
import {
  activeSession,
  answered,
  begun,
  CHAT,
  deliveryOf,
  displayOf,
  openScene,
  project,
  type Scene,
  waitingSession,
} from '../telegram/scene.js';

describeWithRedis('the terminal', () => {
  test('accepts lines as messages, and prints each answer once', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    await terminal.untilPrinted(/^Ready: type a message for popoto\./);
    terminal.type('fix the test');
    const id = (await terminal.untilPrinted(/\[(cli_popoto_\w+)\] accepted/))[1] ?? '';
    const session = await scene.store.records.session(id);
    if (session === null) throw new Error('not stored');
    expect(session).toMatchObject({
      request: { chat_id: 'terminal', message_text: 'fix the test' },
      lane: 'testhost:/srv/popoto',
    });
    const active = await begun(scene, session);
    terminal.type('/status');
    await terminal.untilPrinted(/Running for 1 s: "fix the test"/);
    await scene.clock.advance(3 * MINUTE);
    const hidden = `${scene.peer.token.slice(0, 20)}\u0001${scene.peer.token.slice(20)}`;
    await answered(scene, active, `all green\u001b[2J\u0007, token ${scene.peer.token}, token ${hidden}`);
    expect(await terminal.chat.deliver(id)).toBe('sent');
    expect(await terminal.chat.deliver(id)).toBe('sent');
    expect(terminal.printed.match(/answer after 3 min:/g)).toHaveLength(1);
    expect(terminal.printed).toContain('all green[2J, token [redacted:own_secret], token [redacted:own_secret]\n');
    expect(await scene.store.records.session(id)).toMatchObject({ request: { delivery: 'sent' } });
  });

  // rule: a-lone-stop-is-cancel
  test('takes the text behind /ask for work, a lone stop for /cancel, and prints one line for /cancel all', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    await terminal.untilPrinted(/^Ready/);
    terminal.type('/ask fix the test');
    const id = (await terminal.untilPrinted(/\[(cli_popoto_\w+)\] accepted/))[1] ?? '';
    const session = await scene.store.records.session(id);
    if (session === null) throw new Error('not stored');
    expect(session).toMatchObject({ request: { message_text: 'fix the test' } });
    await begun(scene, session);
    terminal.type('Stop!');
    await terminal.untilPrinted(/Stopping the running work\./);
    expect(await scene.store.records.session(id)).toMatchObject({ stop: { cause: 'cancel' } });
    terminal.type('behind it');
    const waiting = (await terminal.untilPrinted(new RegExp(`\\[((?!${id})cli_popoto_\\w+)\\] accepted`)))[1] ?? '';
    terminal.type('/cancel all');
    await terminal.untilPrinted(/Cancelled 1 waiting message: "behind it"\./);
    expect(await terminal.chat.deliver(waiting)).toBe('sent');
    expect(terminal.printed).not.toContain('Cancelled at your request');
  });

  test('continues when nobody reads it any more: a typed line is still a message', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const view = progressOf(scene, terminal, 0);
    terminal.writer.write = () => {
      throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    };
    const session = await order(scene);
    view.begin(session);
    await terminal.chat.showProgress(session.session_id, 'words');
    await answered(scene, session, 'for nobody');
    expect(await terminal.chat.deliver(session.session_id)).toBe('given_up');
    terminal.type('first');
    terminal.type('second');
    const { records } = scene.store;
    while ((await records.sessionIds('pending')).length < 2) await new Promise((resolve) => setImmediate(resolve));
    await terminal.intake.stop();
    const texts = (await records.sessions(await records.sessionIds('pending'))).map((each) =>
      each instanceof Error ? each : each.request.message_text,
    );
    expect(texts.sort()).toEqual(['first', 'second']);
  });

  test('keeps a typed line until the store answers, and says at the stop which one it did not accept', async () => {
    const scene = await openScene();
    let isAway = true;
    const accept: ReturnType<typeof acceptForOthers> = (...given) =>
      isAway ? Promise.reject(new UnreachableError('Redis is away')) : acceptForOthers(scene.store)(...given);
    const terminal = openTerminal(scene, new MessageAcceptor({ ...scene, accept, isHostLost: () => false }));
    terminal.type('kept');
    await terminal.untilPrinted(new RegExp(STORE_AWAY_TEXT));
    isAway = false;
    await scene.clock.advance(2 * SECOND);
    await terminal.untilPrinted(/\[cli_popoto_\w+\] accepted/);
    terminal.type('x'.repeat(100_001));
    await terminal.untilPrinted(/Not accepted: .*100001 characters/);
    isAway = true;
    terminal.type('lost');
    await terminal.untilPrinted(new RegExp(`${STORE_AWAY_TEXT}[^]*${STORE_AWAY_TEXT}`));
    await terminal.intake.stop();
    expect(terminal.printed).toMatch(/Not accepted, because the bridge stops: lost\n$/);
  });

  test('counts the time from the question, also for the answer of a second attempt', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const first = await order(scene);
    await scene.clock.advance(15 * MINUTE);
    const second = await begun(scene, await revived(scene, first));
    await scene.clock.advance(2 * MINUTE);
    await answered(scene, second, 'at last');
    await terminal.chat.deliver(second.session_id);
    expect(terminal.printed).toContain(`[${second.session_id}] answer after 17 min:\nat last\n`);
  });

  test('does not print again what a dead process may have printed', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const session = await answered(scene, await order(scene), 'secretly printed');
    await scene.store.outbox.claim(session.session_id, SECOND, scene.here);
    await scene.clock.advance(SECOND);
    expect(await terminal.chat.deliver(session.session_id)).toBe('unknown');
    expect(terminal.printed).not.toContain('secretly printed');
    expect(terminal.printed).toContain(`watchkeeper session ${session.session_id}`);
  });

  test('shows progress as lines, not more often than configured', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const view = progressOf(scene, terminal, 3 * SECOND);
    const session = await order(scene);
    const startedAt = scene.clock.monotonic();
    view.begin(session);
    view.update(session.session_id, { tool: 'Read: a', note: null, step: null, calls: 1, startedAt });
    view.update(session.session_id, { tool: 'Read: b', note: null, step: null, calls: 2, startedAt });
    await scene.clock.advance(3 * SECOND);
    view.update(session.session_id, { tool: 'Read: b', note: null, step: null, calls: 2, startedAt });
    expect(linesOf(terminal)).toEqual([
      `[${session.session_id}] working …`,
      `[${session.session_id}] Read: a · 1 s · 1 call`,
      `[${session.session_id}] Read: b · 3 s · 2 calls`,
      '',
    ]);
    expect(view.describe(session.session_id)).toBe('Read: b · 3 s · 2 calls');
    await view.end(session.session_id);
    expect(view.describe(session.session_id)).toBeNull();
  });

  test("prints a new step of the agent's list, once", async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const view = progressOf(scene, terminal, 3 * SECOND);
    const session = await order(scene);
    const startedAt = scene.clock.monotonic();
    view.begin(session);
    const step = { number: 2, of: 5, title: 'Write\nthe tests' };
    view.update(session.session_id, { tool: null, note: null, step, calls: 0, startedAt });
    for (const tool of ['Read: a', 'Read: b']) {
      await scene.clock.advance(3 * SECOND);
      view.update(session.session_id, { tool, note: null, step, calls: 1, startedAt: scene.clock.monotonic() });
    }
    expect(linesOf(terminal).slice(1)).toEqual([
      `[${session.session_id}] Thinking · 1 s · step 2 of 5: Write the tests`,
      `[${session.session_id}] Read: a · 1 s · 1 call`,
      `[${session.session_id}] Read: b · 1 s · 1 call`,
      '',
    ]);
    expect(view.describe(session.session_id)).toBe('Read: b · 1 s · 1 call · step 2 of 5: Write the tests');
    await view.end(session.session_id);
  });

  test.each(['not looked for yet', 'being printed already'])(
    'shows work on the next message below the last answer, if that is %s',
    async (how) => {
      const scene = await openScene();
      const terminal = openTerminal(scene);
      const view = progressOf(scene, terminal, 0);
      const first = await order(scene);
      view.begin(first);
      await view.end(first.session_id);
      await answered(scene, first, 'forty-two');
      const printing = how.startsWith('being') ? terminal.chat.deliver(first.session_id) : null;
      const next = await order(scene);
      view.begin(next);
      view.update(next.session_id, {
        tool: 'Read: a',
        note: null,
        step: null,
        calls: 1,
        startedAt: scene.clock.monotonic(),
      });
      await terminal.untilPrinted(new RegExp(`\\[${next.session_id}\\] working`));
      await printing;
      view.update(next.session_id, {
        tool: 'Read: b',
        note: null,
        step: null,
        calls: 2,
        startedAt: scene.clock.monotonic(),
      });
      expect(linesOf(terminal)).toEqual([
        `[${first.session_id}] working …`,
        `[${first.session_id}] answer after 0 ms:`,
        'forty-two',
        `[${next.session_id}] working …`,
        `[${next.session_id}] Read: b · 1 s · 2 calls`,
        '',
      ]);
      expect(await scene.store.records.session(first.session_id)).toMatchObject({ request: { delivery: 'sent' } });
    },
  );

  test('shows work on the next message if the last one has no answer yet, or gets none in time', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    let isStuck = false;
    const deliver = (id: string) => (isStuck ? new Promise<never>(() => undefined) : terminal.chat.deliver(id));
    const chat: Chat = { deliver, showProgress: async () => undefined };
    const view = new TerminalProgress(scene, terminal.writer, chat, 0);
    const first = await order(scene);
    view.begin(first);
    await view.end(first.session_id);
    const second = { ...first, session_id: `${first.session_id}_r1`, attempt: 2 as const };
    view.begin(second);
    while (!terminal.printed.includes('working, second attempt')) {
      await new Promise((resolve) => setImmediate(resolve));
      await scene.clock.advance(100);
    }
    isStuck = true;
    await view.end(second.session_id);
    view.begin({ ...first, session_id: 'third' });
    await scene.clock.advance(2 * SECOND);
    await terminal.untilPrinted(/\[third\] working/);
  });

  test('prints once for each silence of the model that there is no word from it', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const view = progressOf(scene, terminal, 0);
    const session = await order(scene);
    const { session_id: id } = session;
    view.begin(session);
    const activity = { tool: null, note: null, step: null, calls: 0, startedAt: 0 };
    for (const quietSince of [null, 1_000, 1_000, null, 61_000]) view.update(id, { ...activity, quietSince });
    expect(linesOf(terminal)).toEqual([
      `[${id}] working …`,
      `[${id}] No word from the model since 00:00:01 UTC.`,
      `[${id}] No word from the model since 00:01:01 UTC.`,
      '',
    ]);
  });

  test('shows the reason for a second attempt above its work, even if it has already begun', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const view = progressOf(scene, terminal, 0);
    const { session_id: id, ...rest } = await order(scene);
    view.begin({ ...rest, session_id: id, attempt: 2 });
    await terminal.chat.showProgress(id, 'I am trying again.');
    await scene.clock.advance(2 * SECOND);
    expect(linesOf(terminal)).toEqual([`[${id}] I am trying again.`, `[${id}] working, second attempt …`, '']);
  });

  test('shows work on two messages that start at once below the last answer', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const view = progressOf(scene, terminal, 0);
    const first = await answered(scene, await order(scene), 'forty-two');
    view.begin(first);
    await view.end(first.session_id);
    view.begin({ ...first, session_id: 'second' });
    view.begin({ ...first, session_id: 'third' });
    await terminal.untilPrinted(/\[second\] working.*\[third\] working/s);
    expect(linesOf(terminal).indexOf('forty-two')).toBe(2);
  });

  test('gets answers to its own messages, and Telegram gets the others', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const progress = displayOf(scene);
    const router = routerOf(scene, terminal.chat, deliveryOf(scene, progress));
    const here = await answered(scene, await order(scene), 'for the terminal');
    const there = await answered(scene, await activeSession(scene), 'for Telegram');
    expect([await router.deliver(here.session_id), await router.deliver(there.session_id)]).toEqual(['sent', 'sent']);
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual(['for Telegram']);
    expect(terminal.printed).toContain('for the terminal');
    expect(terminal.printed).not.toContain('for Telegram');
    const word = { isOurs: async () => true, giveBack: async () => undefined };
    await router.showWaiting(here, 'a word to the terminal', word);
    const waiting = await waitingSession(scene);
    await router.showWaiting(waiting, 'a word to Telegram', word);
    expect(terminal.printed).toContain(`[${here.session_id}] a word to the terminal`);
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toContain('a word to Telegram');
    await scene.store.transitions.cancel(waiting.session_id, 'cancelled');
    expect(terminal.printed).not.toContain('a word to Telegram');
    // A process without a terminal leaves its messages for the next bridge.
    const due = await answered(scene, await order(scene), 'later');
    const absent = new AbsentTerminal(scene.store.records);
    await absent.showProgress();
    expect(await absent.deliver(due.session_id)).toBe('queued');
    // Without a bot everything is for the terminal.
    const alone = await answered(scene, await activeSession(scene), 'no bot here');
    expect(await routerOf(scene, terminal.chat, null).deliver(alone.session_id)).toBe('sent');
    expect(terminal.printed).toContain('no bot here');
    const views = new ProgressRouter(progress, progressOf(scene, terminal, 0));
    views.begin(here);
    views.update(here.session_id, {
      tool: 'Read: c',
      note: null,
      step: null,
      calls: 1,
      startedAt: scene.clock.monotonic(),
    });
    expect(views.describe(here.session_id)).toBe('Read: c · 1 s · 1 call');
  });

  // rule: a-failover-sends-nothing-twice
  test('prints nothing that is for Telegram, even if the store has just forgotten the recipient', async () => {
    const scene = await openScene();
    const terminal = openTerminal(scene);
    const progress = displayOf(scene);
    const telegram = deliveryOf(scene, progress);
    const there = await answered(scene, await activeSession(scene), 'for Telegram');
    // A bridge stores it again just behind this look.
    const forgetful = Object.create(scene.store.records, {
      session: { value: async () => null },
      outboxEntry: { value: async () => null },
    });
    const before = routerOf(scene, terminal.chat, telegram, forgetful);
    await before.showProgress(there.session_id, 'the words of Telegram');
    await expect(before.deliver(there.session_id)).rejects.toThrow(/nothing to deliver/);
    expect(terminal.printed).not.toContain('Telegram');
    const after = routerOf(scene, terminal.chat, telegram);
    expect(await after.deliver(there.session_id)).toBe('sent');
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual(['for Telegram']);
  });

  // rule: an-answer-is-on-disk-first
  test('gets an answer after its journal is synced to disk, or without that if the disk refuses', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    const session = await answered(scene, await order(scene), 'forty-two');
    const path = journalPath(logsFolder, session.session_id);
    mkdirSync(dirname(path), { recursive: true });
    // A file system says of a pipe that it cannot be synced.
    execFileSync('mkfifo', [path]);
    const before: string[] = [];
    const chat: Chat = {
      async deliver() {
        before.push(...scene.logged);
        return 'sent';
      },
      showProgress: async () => undefined,
    };
    expect(await routerOf(scene, chat, null, scene.store.records, logsFolder).deliver(session.session_id)).toBe('sent');
    expect(before.filter((line) => line.includes('its journal could not be made durable'))).toHaveLength(1);
  });

  test('gets an answer whose end the worklog cannot take, which is logged once; a worklog that can has it', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    const session = await answered(scene, await order(scene), 'forty-two');
    const path = worklogIn(join(logsFolder, 'sessions', session.session_id));
    mkdirSync(path, { recursive: true });
    const chat: Chat = { deliver: async () => 'sent', showProgress: async () => undefined };
    const router = routerOf(scene, chat, null, scene.store.records, logsFolder);
    for (let tries = 0; tries < 2; tries += 1) expect(await router.deliver(session.session_id)).toBe('sent');
    expect(scene.logged.filter((line) => line.includes('its worklog lacks its end'))).toHaveLength(1);
    rmdirSync(path);
    expect(await router.deliver(session.session_id)).toBe('sent');
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, '');
    for (let tries = 0; tries < 2; tries += 1) await router.deliver(session.session_id);
    expect(readFileSync(path, 'utf8').match(/"event":"session_ended".*"reason":"completed"/g)).toHaveLength(1);
  });

  test('unusable orders are refused with an explanation', async () => {
    const scene = await openScene();
    const acceptor = acceptorOf(scene);
    const base = {
      id: ulid(scene.clock),
      chatId: null,
      sender: { id: 'operator', name: 'x' },
      text: 'do it',
      projectKey: 'popoto',
    };
    await expect(acceptor.acceptOrder({ ...base, projectKey: 'popotto' })).rejects.toThrow(/did you mean "popoto"/);
    await expect(acceptor.acceptOrder({ ...base, chatId: '5' })).rejects.toThrow(UsageError);
    await expect(acceptor.acceptOrder({ ...base, text: ' ' })).rejects.toThrow(/no text|is empty/);
    await expect(acceptor.acceptOrder({ ...base, text: 'x'.repeat(100_001) })).rejects.toThrow(/100001 characters/);
    const first = await acceptor.acceptOrder({ ...base, chatId: String(CHAT) });
    expect(first).toMatchObject({ isNew: true, session: { request: { chat_id: String(CHAT) } } });
    expect(await acceptor.acceptOrder({ ...base, chatId: String(CHAT) })).toMatchObject({ isNew: false });
  });
});

/** @returns what was printed behind the first line, which says that the terminal is ready */
function linesOf({ printed }: { readonly printed: string }): string[] {
  return printed.split('\n').slice(1);
}

function progressOf(scene: Scene, { writer, chat }: ReturnType<typeof openTerminal>, progressEveryMs: number) {
  return new TerminalProgress(scene, writer, chat, progressEveryMs);
}

function acceptorOf(scene: Scene): MessageAcceptor {
  const accept = acceptForOthers(scene.store);
  return new MessageAcceptor({ ...scene, accept, isHostLost: () => false });
}

async function order(scene: Scene) {
  const { session } = await acceptorOf(scene).acceptOrder({
    id: ulid(scene.clock),
    projectKey: 'popoto',
    chatId: null,
    sender: { id: 'operator', name: 'x' },
    text: 'do it',
  });
  return begun(scene, session);
}

function openTerminal(scene: Scene, acceptor = acceptorOf(scene)) {
  const input = new PassThrough();
  const watchers = new Set<() => void>();
  const terminal = {
    printed: '',
    writer: {
      write: (text: string) => {
        terminal.printed += text;
        for (const look of watchers) look();
      },
    },
    type: (line: string) => void input.write(`${line}\n`),
    untilPrinted: (words: RegExp) =>
      new Promise<RegExpExecArray>((resolve) => {
        const look = () => {
          const found = words.exec(terminal.printed);
          if (found === null) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      }),
  };
  const chat = new TerminalChat(scene, terminal.writer, { movedMs: () => 0 });
  const intake = new TerminalIntake({
    ...scene,
    lines: createInterface({ input }),
    writer: terminal.writer,
    project: project('popoto', '/srv/popoto', [CHAT]),
    acceptor,
    commands: new Commands(scene, {
      describeActivity: () => null,
      isMissing: () => false,
      terminals: { live: [] },
    }),
  });
  void intake.start();
  afterThisTest(() => intake.stop());
  return Object.assign(terminal, { chat, intake });
}

function routerOf(
  scene: Scene,
  terminal: Chat,
  telegram: WaitingChat | null,
  records = scene.store.records,
  logsFolder = testFolder(),
): ChatRouter {
  const store = Object.create(scene.store, { records: { value: records } });
  const worklogs = new BridgeWorklogs(logsFolder, scene);
  const accepted = { ended: () => undefined };
  const handoffs = new EnqueuedHandoffs({ ...scene, variables: {} });
  return new ChatRouter({ ...scene, store, worklogs, accepted, handoffs }, logsFolder, terminal, telegram);
}
