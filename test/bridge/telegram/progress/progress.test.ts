import { expect, test } from '@jest/globals';
import { activityLine } from '../../../../bridge/chat/progressView.js';
import type { ProgressDisplay } from '../../../../bridge/telegram/progress/progress.js';
import { ProgressEdits } from '../../../../bridge/telegram/progress/progressEdits.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { HOUR, isoTime, SECOND } from '../../../../src/time.js';
import { describeWithRedis, forgetAll } from '../../../harness/redis.js';
import { revived } from '../revived.js';
import {
  activeSession,
  answered,
  begun,
  CHAT,
  clocksOf,
  deliveryOf,
  displayOf,
  openScene,
  runIdOf,
  type Scene,
  waitingSession,
} from '../scene.js';

/** Turns of the event loop that are given to a loop which should have ended, to show that it has not. */
const TURNS_FOR_THE_DEAD = 500;
/** Telegram's, for a minute. */
const GROUP_LIMIT = 20;

test('an activity is one line', () => {
  const activity = { tool: 'Bash: npm\ntest', note: null, step: null, calls: 12, startedAt: 1_000 };
  expect(activityLine(activity, 43_000)).toBe('Bash: npm test · 42 s · 12 calls');
  expect(activityLine({ ...activity, tool: null, calls: 0 }, 2_000)).toBe('Thinking · 1 s');
});

describeWithRedis('a progress message that a restored store has forgotten', () => {
  // rule: the-progress-message-gets-its-last-line
  test.each(['the same bridge', 'the next bridge'])(
    'is continued by the second attempt and gets its last line: %s',
    async (which) => {
      const scene = await openScene();
      const session = await activeSession(scene);
      const display = await shownAtWork(scene, session);
      const revival = await begun(scene, await revived(scene, await forgetMessage(scene, session, display)));
      expect(revival.request.progress_message_id).toBeNull();
      const next = which === 'the same bridge' ? display : displayOf(scene);
      next.begin(revival);
      const { records } = scene.store;
      while ((await records.session(revival.session_id))?.request.progress_message_id === null)
        await scene.clock.untilWaiting();
      await next.end(revival.session_id);
      await answered(scene, revival, 'forty-two');
      const delivery = deliveryOf(scene, next);
      expect(await delivery.deliver(revival.session_id)).toBe('sent');
      await delivery.stop();
      expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual([
        expect.stringMatching(/^Done in /),
        'forty-two',
      ]);
    },
  );

  // rule: the-progress-message-gets-its-last-line
  test('gets its last line from the next bridge, which finds the answer only on the disk', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    await forgetMessage(scene, session, await shownAtWork(scene, session));
    await answered(scene, session, 'forty-two');
    const delivery = deliveryOf(scene, displayOf(scene));
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await delivery.stop();
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Done in /),
      'forty-two',
    ]);
  });
});

describeWithRedis('a progress message that a store has forgotten together with everything', () => {
  // rule: the-progress-message-gets-its-last-line
  test('gets its last line when its message is ended again, and no second final message comes', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = await shownAtWork(scene, session);
    await display.end(session.session_id);
    const end = { kind: 'failure', text: 'Sorry.', mayBeInChat: false } as const;
    const { store, memory } = scene;
    await store.transitions.endForgotten(session.session_id, runIdOf(session), end);
    scene.peer.inject({ kind: 'reset', method: 'editMessageText' });
    const died = deliveryOf(scene, display);
    expect(await died.deliver(session.session_id)).toBe('sent');
    await died.stop();
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual(['Thinking · 3 s', 'Sorry.']);
    await forgetAll(store);
    expect(await memory.lastSent(session.session_id, session.created_at)).toBe('failure');
    // What `bridge/runs/lostMessages.ts` does with a message that is open in the register.
    expect(await store.regain.ended(session, { ...end, text: 'Sorry, in other words.' })).toBe(true);
    const next = deliveryOf(scene, displayOf(scene));
    expect(await next.deliver(session.session_id)).toBe('sent');
    await next.stop();
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Ended without an answer/),
      'Sorry.',
    ]);
  });
});

/** @returns the display, whose message shows work */
async function shownAtWork(scene: Scene, session: AgentSession): Promise<ProgressDisplay> {
  const display = displayOf(scene);
  display.begin(session);
  await scene.peer.waitFor(() => typing(scene) === 1);
  const startedAt = scene.clock.monotonic();
  display.update(session.session_id, { tool: null, note: null, step: null, calls: 0, startedAt });
  await scene.clock.untilWaiting();
  await scene.clock.advance(3 * SECOND);
  await scene.peer.waitFor(() => shown(scene) === 'Thinking · 3 s');
  await scene.clock.untilWaiting();
  return display;
}

/** As a Redis that is restored to the moment before the message was sent. @returns the session as it is stored then */
async function forgetMessage(scene: Scene, session: AgentSession, display: ProgressDisplay): Promise<AgentSession> {
  await display.end(session.session_id);
  await scene.store.redis.hdel(scene.store.keys.session(session.session_id), 'progress_message_id');
  const restored = await scene.store.records.session(session.session_id);
  if (restored === null) throw new Error('the session is gone');
  expect(restored.request.progress_message_id).toBeNull();
  return restored;
}

describeWithRedis('the progress message', () => {
  test('is one silent reply, edited in place with what the agent does', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    const [message] = scene.peer.botMessages(CHAT);
    expect(message).toMatchObject({ text: 'Started.', replyTo: Number(session.request.message_id) });
    expect(scene.peer.calls.find((call) => call.method === 'sendMessage')?.parameters).toMatchObject({
      disable_notification: true,
    });
    expect(await scene.store.records.session(session.session_id)).toMatchObject({
      request: { progress_message_id: String(message?.messageId) },
    });
    const startedAt = scene.clock.monotonic();
    display.update(session.session_id, { tool: 'Read: a.ts', note: null, step: null, calls: 1, startedAt });
    display.update(session.session_id, {
      tool: 'Bash: npm test',
      note: 'Running the tests',
      step: null,
      calls: 2,
      startedAt,
    });
    await scene.clock.untilWaiting();
    await scene.clock.advance(3 * SECOND);
    await scene.peer.waitFor(() => shown(scene) === 'Bash: npm test · 3 s · 2 calls\nRunning the tests');
    expect(display.describe(session.session_id)).toBe('Bash: npm test · 3 s · 2 calls');
    // Neither the superseded line nor anything more often than every three seconds was shown.
    expect(edits(scene)).toBe(1);
    await display.end(session.session_id);
    expect(display.describe(session.session_id)).toBeNull();
    expect(scene.clock.waiting).toBe(0);
    expect(scene.peer.botMessages(CHAT)).toHaveLength(1);
  });

  test('says which step of its list the agent works on, and so does /status, in a group, too', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    const startedAt = scene.clock.monotonic();
    const step = { number: 2, of: 5, title: 'Write the tests for @octocat' };
    display.update(session.session_id, { tool: null, note: 'Soon', step, calls: 3, startedAt });
    await scene.clock.untilWaiting();
    await scene.clock.advance(3 * SECOND);
    const line = 'step 2 of 5: Write the tests for @octocat';
    await scene.peer.waitFor(() => shown(scene) === `Thinking · 3 s · 3 calls\n${line}\nSoon`);
    const head = 'Thinking · 3 s · 3 calls\n'.length;
    expect(scene.peer.botMessages(CHAT)[0]?.entities?.[0]).toEqual({ type: 'code', offset: head, length: line.length });
    expect(display.describe(session.session_id)).toBe(`Thinking · 3 s · 3 calls · ${line}`);
    await display.end(session.session_id);
  });

  test('has one line about a silent model in every edit, until the agent goes on', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    const quietSince = scene.clock.now();
    const activity = { tool: null, note: 'I look', step: null, calls: 1, startedAt: scene.clock.monotonic() };
    display.update(session.session_id, { ...activity, quietSince });
    await scene.clock.untilWaiting();
    await scene.clock.advance(3 * SECOND);
    const shows = (text: RegExp) => scene.peer.waitFor(() => text.test(shown(scene) ?? ''));
    await shows(/^Thinking · 3 s · 1 call\nNo word from the model since 10:00:00 UTC\.\nI look$/);
    expect(display.describe(session.session_id)).toBe(
      'Thinking · 3 s · 1 call · no word from the model since 10:00:00 UTC',
    );
    const before = edits(scene);
    await runFor(scene, 9 * SECOND);
    await scene.peer.waitFor(() => edits(scene) >= before + 2);
    await shows(/^Thinking · \d+ s · 1 call\nNo word from the model since 10:00:00 UTC\.\nI look$/);
    display.update(session.session_id, { ...activity, quietSince: null });
    await runFor(scene, 4 * SECOND);
    await shows(/^Thinking · \d+ s · 1 call\nI look$/);
    // Edits make no sound, and there is no other message.
    expect(scene.peer.botMessages(CHAT)).toHaveLength(1);
    await display.end(session.session_id);
  });

  // rule: words-of-others-have-no-effect
  test('makes no mention or link of output of tools and agents, and shows no invisible characters', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    const startedAt = scene.clock.monotonic();
    const tool = '@octocat www.evil.example/x <b>\u200b\u{e0041}';
    display.update(session.session_id, { tool, note: 'ask @octocat\u202e', step: null, calls: 1, startedAt });
    await runFor(scene, 4 * SECOND);
    await scene.peer.waitFor(() => shown(scene)?.startsWith('@octocat'));
    const [message] = scene.peer.botMessages(CHAT);
    const [first = '', second = ''] = message?.text.split('\n') ?? [];
    expect(first).toMatch(/^@octocat www\.evil\.example\/x <b> · \d s · 1 call$/);
    expect(second).toBe('ask @octocat');
    expect(message?.entities).toEqual([
      { type: 'code', offset: 0, length: first.length },
      { type: 'code', offset: first.length + 1, length: second.length },
    ]);
    await display.showProgress(session.session_id, 'It failed: `@octocat` did nothing. I am trying again.');
    expect(scene.peer.botMessages(CHAT)[0]).toMatchObject({
      text: 'It failed: @octocat did nothing. I am trying again.',
      entities: [{ type: 'code', offset: 11, length: 8 }],
    });
  });

  test('shows typing every few seconds', async () => {
    const scene = await openScene();
    const display = displayOf(scene);
    display.begin(await activeSession(scene));
    await runFor(scene, 14 * SECOND);
    await scene.peer.waitFor(() => typing(scene) === 4);
  });

  test('shows no typing for as long as Telegram asks', async () => {
    const scene = await openScene();
    scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 20, method: 'sendChatAction' });
    displayOf(scene).begin(await activeSession(scene));
    const asked = () => scene.peer.calls.filter(({ method }) => method === 'sendChatAction').length;
    await scene.peer.waitFor(() => asked() === 1);
    await runFor(scene, 18 * SECOND);
    expect(asked()).toBe(1);
    await runFor(scene, 6 * SECOND);
    await scene.peer.waitFor(() => typing(scene) > 0);
  });

  test('shows no typing within a pause that another message was asked for', async () => {
    const scene = await openScene();
    scene.api.spending.ban(String(CHAT), 'sendChatAction', 20 * SECOND);
    displayOf(scene).begin(await activeSession(scene));
    await scene.peer.waitFor(() => scene.peer.botMessages(CHAT).length > 0);
    await runFor(scene, 18 * SECOND);
    expect(scene.peer.calls.filter(({ method }) => method === 'sendChatAction')).toEqual([]);
    await runFor(scene, 6 * SECOND);
    await scene.peer.waitFor(() => typing(scene) > 0);
  });

  test.each([1, 2])('whose sends have %i lost answers is sent at most once more', async (lost) => {
    const scene = await openScene();
    scene.peer.inject({ kind: 'lost_answer', method: 'sendMessage', times: lost });
    displayOf(scene).begin(await activeSession(scene));
    const drops = () => scene.logged.filter((line) => line.includes('a progress line was dropped')).length;
    while (drops() < lost) await runFor(scene, 500, TURNS_FOR_THE_DEAD);
    await runFor(scene, 12 * SECOND, TURNS_FOR_THE_DEAD);
    if (lost === 1) await scene.peer.waitFor(() => scene.peer.botMessages(CHAT).length === 2);
    expect(scene.peer.botMessages(CHAT)).toHaveLength(2);
  });

  test('is left alone as long as Telegram asks', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    display.update(session.session_id, {
      tool: 'A',
      note: null,
      step: null,
      calls: 1,
      startedAt: scene.clock.monotonic(),
    });
    const fault = scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 20, method: 'editMessageText' });
    await runFor(scene, 4 * SECOND);
    await scene.peer.waitFor(() => fault.used === 1);
    const { length } = scene.peer.calls;
    await runFor(scene, 18 * SECOND);
    expect(scene.peer.calls).toHaveLength(length);
    await runFor(scene, 4 * SECOND);
    await scene.peer.waitFor(() => shown(scene)?.startsWith('A ·'));
  });

  // rule: progress-leaves-room-for-answers
  test.each(['its group is busy', 'its chat asked for a pause'])(
    'is shown again after it was held back because %s',
    async (why) => {
      const scene = await openScene();
      const session = await activeSession(scene);
      const display = await shownAtWork(scene, session);
      if (why === 'its group is busy')
        for (let sent = 0; sent < GROUP_LIMIT; sent += 1) scene.api.spending.note(String(CHAT));
      else scene.api.spending.ban(String(CHAT), 'sendMessage', 30 * SECOND);
      const startedAt = scene.clock.monotonic();
      display.update(session.session_id, { tool: 'A', note: null, step: null, calls: 1, startedAt });
      await runFor(scene, 20 * SECOND);
      expect(shown(scene)).toBe('Thinking · 3 s');
      await runFor(scene, 45 * SECOND);
      await scene.peer.waitFor(() => shown(scene)?.startsWith('A ·'));
    },
  );

  // rule: a-refused-progress-message-goes-on
  test('is shown again, more and more rarely tried, once the chat has taken the bot back', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = await shownAtWork(scene, session);
    const kicked = {
      kind: 'forbidden',
      description: 'Forbidden: bot was kicked',
      times: Number.POSITIVE_INFINITY,
    } as const;
    const fault = scene.peer.inject(kicked);
    const startedAt = scene.clock.monotonic();
    display.update(session.session_id, { tool: 'A', note: null, step: null, calls: 1, startedAt });
    await runFor(scene, 60 * SECOND, TURNS_FOR_THE_DEAD);
    expect(fault.used).toBeLessThan(10);
    fault.remove();
    await runFor(scene, 60 * SECOND, TURNS_FOR_THE_DEAD);
    await scene.peer.waitFor(() => shown(scene)?.startsWith('A ·'));
  });

  // rule: nobody-sends-within-a-ban
  test('is left alone by every process and at its end, too', async () => {
    const scene = await openScene();
    const { session_id: sessionId } = await activeSession(scene);
    const place = { chatId: String(CHAT), threadId: null, replyTo: null };
    const messageId = String(await scene.api.sendMessage(place, { plain: 'Started.', html: null }));
    const message = { sessionId, chatId: String(CHAT), messageId };
    const text = { plain: 'Thinking · 3 s', html: null };
    const agreed = async () => true;
    const fault = scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 20, method: 'editMessageText' });
    await expect(scene.edits.edit(message, text, agreed)).rejects.toMatchObject({ retryAfterMs: 20 * SECOND });
    const others = new ProgressEdits(scene);
    await scene.clock.advance(5 * SECOND);
    const stillFor = { kind: 'limited', retryAfterMs: 15 * SECOND };
    await expect(others.edit(message, text, agreed)).rejects.toMatchObject(stillFor);
    await expect(others.close(message, 'Done.', new AbortController().signal)).rejects.toMatchObject(stillFor);
    await expect(scene.edits.close(message, 'Done.', new AbortController().signal)).rejects.toMatchObject(stillFor);
    expect([fault.used, edits(scene)]).toEqual([1, 1]);
    await scene.clock.advance(15 * SECOND);
    await others.close(message, 'Done.', new AbortController().signal);
    expect(shown(scene)).toBe('Done.');
  });

  // rule: nobody-sends-within-a-ban
  test('is not left alone for longer than Telegram asked because the clock was set back', async () => {
    const scene = await openScene();
    await scene.store.chatMemory.banEdits(String(CHAT), 20 * SECOND);
    expect(await scene.store.chatMemory.editBanMs(String(CHAT))).toBe(20 * SECOND);
    scene.clock.moveWallClock(-HOUR);
    expect(await scene.store.chatMemory.editBanMs(String(CHAT))).toBe(0);
  });

  test('does not delay the end of the run if Telegram hangs', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    const hang = scene.peer.inject({ kind: 'hang', method: 'sendMessage' });
    display.begin(session);
    await scene.peer.waitFor(() => hang.used === 1);
    const ending = display.end(session.session_id);
    await scene.clock.advance(5 * SECOND);
    await ending;
  });

  test('gives the reason for the second attempt, which continues in the same message', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    display.update(session.session_id, { tool: 'of the dead run', note: null, step: null, calls: 1, startedAt: 0 });
    const waiting = await revived(scene, session);
    await display.showProgress(waiting.session_id, 'Trying once more: silent for 15 minutes');
    await runFor(scene, 4 * SECOND, TURNS_FOR_THE_DEAD);
    expect(shown(scene)).toBe('Trying once more: silent for 15 minutes');
    const revival = await begun(scene, waiting);
    display.begin(revival);
    await runFor(scene, 4 * SECOND);
    expect(shown(scene)).toBe('Trying once more: silent for 15 minutes');
    display.update(revival.session_id, {
      tool: 'Bash: ls',
      note: null,
      step: null,
      calls: 1,
      startedAt: scene.clock.monotonic(),
    });
    await runFor(scene, 4 * SECOND);
    await scene.peer.waitFor(() => shown(scene)?.startsWith('Second attempt.\nBash: ls'));
    await display.showProgress('tg_popoto_nobody_1', 'x');
    expect(scene.peer.botMessages(CHAT)).toHaveLength(1);
  });

  // rule: progress-never-hides-the-answer
  test('gives the reason even if the second attempt already runs, and then shows that one until its end', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    await display.end(session.session_id);
    const revival = await begun(scene, await revived(scene, session));
    display.begin(revival);
    await scene.peer.waitFor(() => typing(scene) === 2);
    display.update(revival.session_id, {
      tool: 'Bash: ls',
      note: null,
      step: null,
      calls: 1,
      startedAt: scene.clock.monotonic(),
    });
    await display.showProgress(revival.session_id, 'Trying once more: silent for 15 minutes');
    expect(shown(scene)).toBe('Trying once more: silent for 15 minutes');
    await runFor(scene, 2 * SECOND);
    expect(shown(scene)).toBe('Trying once more: silent for 15 minutes');
    await runFor(scene, 2 * SECOND);
    await scene.peer.waitFor(() => shown(scene)?.startsWith('Second attempt.\nBash: ls'));
    await runFor(scene, 6 * SECOND);
    await scene.peer.waitFor(() => typing(scene) === 4);
    await scene.peer.waitFor(() => shown(scene) === 'Second attempt.\nBash: ls · 9 s · 1 call');
    await display.end(revival.session_id);
    const { length } = scene.peer.calls;
    await runFor(scene, 10 * SECOND, TURNS_FOR_THE_DEAD);
    expect(scene.peer.calls).toHaveLength(length);
  });

  test('keeps the reason for the second attempt below what that one does, whichever process has told it', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    await display.end(session.session_id);
    const since = isoTime(scene.clock.now());
    const silence = { rule: 'silence', reason: 'silent', since, evidence: [], waits_considered: [] } as const;
    const revival = await begun(scene, await revived(scene, session, [silence]));
    const successor = displayOf(scene);
    successor.begin(revival);
    const startedAt = scene.clock.monotonic();
    for (const tool of ['Bash: ls', 'Bash: npm test']) {
      successor.update(revival.session_id, { tool, note: null, step: null, calls: 1, startedAt });
      await runFor(scene, 4 * SECOND);
      await scene.peer.waitFor(() => shown(scene)?.startsWith(`Second attempt.\n${tool}`));
      expect(shown(scene)).toMatch(/\n\nThe first attempt failed\. The agent .*\.$/);
    }
  });

  test.each(['the same process', 'another process'])(
    'has one writer while the second attempt works: the reason that comes late from %s is not put over it',
    async (which) => {
      const scene = await openScene();
      const session = await activeSession(scene);
      const display = displayOf(scene);
      display.begin(session);
      await scene.peer.waitFor(() => typing(scene) === 1);
      await display.end(session.session_id);
      const since = isoTime(scene.clock.now());
      const silence = { rule: 'silence', reason: 'silent', since, evidence: [], waits_considered: [] } as const;
      const revival = await begun(scene, await revived(scene, session, [silence]));
      display.begin(revival);
      // Before the agent has done anything, the message shows no work of the first attempt.
      await scene.peer.waitFor(() => /^The first attempt failed\. .* I am trying again\.$/.test(shown(scene) ?? ''));
      const startedAt = scene.clock.monotonic();
      display.update(revival.session_id, { tool: 'Bash: ls', note: null, step: null, calls: 1, startedAt });
      await runFor(scene, 4 * SECOND);
      await scene.peer.waitFor(() => shown(scene)?.startsWith('Second attempt.\nBash: ls'));
      const teller = which === 'the same process' ? display : displayOf(scene);
      await teller.showProgress(revival.session_id, 'The first attempt failed. I am trying again.');
      expect(shown(scene)).toMatch(/^Second attempt\.\nBash: ls/);
      await display.end(revival.session_id);
    },
  );

  // rule: a-run-without-its-lane-writes-nothing
  test('is left alone by a bridge that was stopped and lost its run meanwhile', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const stood = displayOf(scene);
    stood.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    const revival = await revived(scene, session);
    await displayOf(scene).showProgress(revival.session_id, 'Trying once more: silent for 15 minutes');
    stood.update(session.session_id, { tool: 'of the dead run', note: null, step: null, calls: 1, startedAt: 0 });
    await scene.clock.untilWaiting();
    await scene.clock.stall(10 * SECOND);
    await runFor(scene, 10 * SECOND, TURNS_FOR_THE_DEAD);
    expect(shown(scene)).toBe('Trying once more: silent for 15 minutes');
    expect(typing(scene)).toBe(1);
  });

  // rule: progress-never-hides-the-answer
  test('and the final message both stay unchanged, even after an unknown outcome and a late line', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    await answered(scene, session, 'the answer');
    scene.peer.inject({ kind: 'reset', method: 'sendMessage' });
    const delivery = deliveryOf(scene, display);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await delivery.stop();
    display.update(session.session_id, { tool: 'late', note: null, step: null, calls: 9, startedAt: 0 });
    await display.showProgress(session.session_id, 'The first attempt failed. I am trying again.');
    await runFor(scene, 30 * SECOND, TURNS_FOR_THE_DEAD);
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual(['Done in 1 second.', 'the answer']);
  });

  // rule: progress-never-hides-the-answer
  test('is not updated once another process has ended the session and sent its answer', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    display.update(session.session_id, {
      tool: 'Bash: sleep',
      note: null,
      step: null,
      calls: 1,
      startedAt: scene.clock.monotonic(),
    });
    await runFor(scene, 4 * SECOND);
    await scene.peer.waitFor(() => shown(scene)?.startsWith('Bash: sleep'));
    await answered(scene, session, 'the answer');
    const elsewhere = deliveryOf(scene);
    expect(await elsewhere.deliver(session.session_id)).toBe('sent');
    await elsewhere.stop();
    const { length } = scene.peer.calls;
    await runFor(scene, 33 * SECOND, TURNS_FOR_THE_DEAD);
    expect(scene.peer.calls).toHaveLength(length);
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual(['Done in 4 seconds.', 'the answer']);
  });

  // rule: the-progress-message-gets-its-last-line
  test('that the store has forgotten still gets its last line from the bridge that showed it', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    await display.end(session.session_id);
    await scene.store.redis.hdel(scene.store.keys.session(session.session_id), 'progress_message_id');
    await answered(scene, session, 'the answer');
    const delivery = deliveryOf(scene, display);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await delivery.stop();
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual(['Done in 1 second.', 'the answer']);
  });

  // rule: no-instant-binds-longer-than-its-length
  test.each([4 * HOUR, -4 * HOUR])(
    'says how long it took, although the clock was moved by %d ms meanwhile',
    async (ms) => {
      const scene = await openScene();
      const session = await activeSession(scene);
      const display = displayOf(scene);
      display.begin(session);
      await scene.peer.waitFor(() => typing(scene) === 1);
      display.update(session.session_id, {
        tool: 'Bash: ls',
        note: null,
        step: null,
        calls: 1,
        startedAt: scene.clock.monotonic(),
      });
      scene.clock.moveWallClock(ms);
      await runFor(scene, 58 * SECOND);
      expect(shown(scene)).toMatch(/^Bash: ls · 5\d s · 1 call$/);
      await display.end(session.session_id);
      await answered(scene, session, 'the answer');
      const delivery = deliveryOf(scene, display);
      expect(await delivery.deliver(session.session_id)).toBe('sent');
      await delivery.stop();
      expect(scene.peer.botMessages(CHAT)[0]?.text).toBe('Done in 58 seconds.');
    },
  );

  // rule: no-instant-binds-longer-than-its-length
  test.each([HOUR, -HOUR])(
    'says how long it took, although the clock was moved by %d ms while it waited',
    async (ms) => {
      const scene = await openScene();
      const clocks = clocksOf(scene);
      const accept = clocks.noting(async (session: AgentSession) => ({ session, isNew: true, isNext: true }));
      const { session } = await accept(await waitingSession(scene));
      scene.clock.moveWallClock(ms);
      await scene.clock.advance(20 * SECOND);
      const display = displayOf(scene, clocks);
      const first = await begun(scene, session);
      display.begin(first);
      await scene.peer.waitFor(() => typing(scene) === 1);
      await runFor(scene, 30 * SECOND);
      await display.end(first.session_id);
      // What the second attempt says, too, counts from the acceptance.
      const second = await begun(scene, await revived(scene, first));
      display.begin(second);
      await runFor(scene, 10 * SECOND);
      await display.end(second.session_id);
      await answered(scene, second, 'the answer');
      const delivery = deliveryOf(scene, display);
      expect(await delivery.deliver(second.session_id)).toBe('sent');
      await delivery.stop();
      expect(scene.peer.botMessages(CHAT)[0]?.text).toBe('Done in 60 seconds.');
      expect(clocks.movedMs(second)).toBe(ms);
    },
  );

  // rule: progress-never-hides-the-answer
  test('of a second attempt shows the total time since the question at its end', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    display.begin(session);
    await scene.peer.waitFor(() => typing(scene) === 1);
    await runFor(scene, 150 * SECOND);
    await display.end(session.session_id);
    const revival = await begun(scene, await revived(scene, session));
    display.begin(revival);
    await runFor(scene, 30 * SECOND);
    await answered(scene, revival, 'the answer');
    const delivery = deliveryOf(scene, display);
    expect(await delivery.deliver(revival.session_id)).toBe('sent');
    await delivery.stop();
    expect(scene.peer.botMessages(CHAT)[0]?.text).toBe('Done in 3 minutes.');
  });

  // rule: progress-never-hides-the-answer
  test('whose send was lost says nothing that the end of the run would make untrue', async () => {
    const scene = await openScene();
    const session = await activeSession(scene);
    const display = displayOf(scene);
    scene.peer.inject({ kind: 'lost_answer', method: 'sendMessage' });
    display.begin(session);
    display.update(session.session_id, {
      tool: 'Bash: ls',
      note: null,
      step: null,
      calls: 1,
      startedAt: scene.clock.monotonic(),
    });
    await runFor(scene, 8 * SECOND);
    await scene.peer.waitFor(() => shown(scene)?.startsWith('Bash: ls'));
    await display.end(session.session_id);
    await answered(scene, session, 'the answer');
    const delivery = deliveryOf(scene, display);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await delivery.stop();
    expect(scene.peer.botMessages(CHAT).map(({ text }) => text)).toEqual([
      'Started.',
      'Done in 8 seconds.',
      'the answer',
    ]);
  });
});

/** Lets the display live for `ms`: time goes on only while its loop sleeps. */
async function runFor(scene: Scene, ms: number, mostTurns = Number.POSITIVE_INFINITY): Promise<void> {
  const until = scene.clock.now() + ms;
  while (scene.clock.now() < until) {
    for (let turn = 0; turn < mostTurns && scene.clock.sleepers === 0; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await scene.clock.advance(500);
  }
}

function shown(scene: Scene): string | undefined {
  return scene.peer.botMessages(CHAT).at(-1)?.text;
}

function edits(scene: Scene): number {
  return scene.peer.calls.filter((call) => call.method === 'editMessageText').length;
}

function typing(scene: Scene): number {
  return scene.peer.calls.filter((call) => call.method === 'sendChatAction').length;
}
