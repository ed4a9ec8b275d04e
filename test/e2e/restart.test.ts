/** What a bridge leaves when it goes, and what the next one makes of it. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { systemProcessTable } from '../../src/host/processes.js';
import { journalPath } from '../../src/journal/path.js';
import { testFolder } from '../harness/folder.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import type { AgentRecord } from './evidence.js';
import { canScan, childrenOf, findRun } from './processScan.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/health/notedStarts.ts

const ANSWER: Scenario['steps'] = [
  { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough', takes_ms: 20 },
  { do: 'answer', text: 'answer of {{session}}' },
];
const HANG: Scenario['steps'] = [
  { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough' },
  { do: 'hanging_tool', own_session: true, ignores_sigterm: true },
];
/** A plain program: each of its runs leaves a line per step, and prints it. */
const STEPS =
  'for step in $(seq 100); do echo "$WATCHKEEPER_SESSION $$" >> "$SCENE_STEPS"; echo "step $step"; sleep 0.2; done';
const STOP_GRACE_MS = 10_000;

interface LostRun {
  readonly scene: BridgeScene;
  readonly bridge: Awaited<ReturnType<BridgeScene['startBridge']>>;
  readonly session: string;
  readonly steps: () => readonly string[];
}

/** `script` of util-linux makes terminals. */
const testInTerminal = canScan() && spawnSync('script', ['--version']).status === 0 ? test : test.skip;

describeScenes('a bridge that ends', () => {
  // rule: an-orphan-runs-again
  test(
    'killed with SIGKILL: no agent is left, and both messages run again, in order, once',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: {
            chats: [
              { id: 1, directory: 'one' },
              { id: 2, directory: 'two' },
            ],
            scenarios: [{ when: { message: '^hang', attempt: 1 }, steps: HANG }, { steps: ANSWER }],
          },
        },
      });
      const bridge = await scene.startBridge();
      const hanging = [1, 2].map((chat) => new Conversation(scene, 'ship', chat, 'hang, the first'));
      const waiting = [1, 2].map((chat) => new Conversation(scene, 'ship', chat, 'the second'));
      const runs = await Promise.all(hanging.map((asked) => asked.start()));
      for (const { run } of runs) await scene.until('the tool', () => findRun(run).length === 2);
      for (const asked of hanging) await asked.firstCall();
      await scene.until('four accepted messages', () => scene.telegram.unconfirmedUpdates === 0);

      await bridge.kill();
      await scene.until('the end of both runs', () => runs.every(({ run }) => findRun(run).length === 0), 5_000);
      expect(sessionsStarted(scene, [...hanging, ...waiting])).toHaveLength(2);

      await scene.startBridge();
      for (const asked of hanging) await asked.answered(`answer of ${asked.revival}`);
      for (const asked of waiting) await asked.answered(`answer of ${asked.session}`);
      for (const [index, asked] of hanging.entries()) {
        const next = waiting[index] as Conversation;
        expect(sessionsStarted(scene, [asked, next])).toEqual([asked.session, asked.revival, next.session]);
        expectNoOverlap(scene, [asked.revival, next.session]);
        expect(asked.replies().filter(({ text }) => text.startsWith('answer of'))).toHaveLength(1);
        expect(asked.events().map(({ rule }) => rule)).toContain('orphan');
      }
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: an-answer-on-the-disk-counts
  test(
    'killed while an answer is on disk and Redis is unreachable: the next one sends it, and no agent runs again',
    async () => {
      const steps: Scenario['steps'] = [{ do: 'sleep', ms: 1_000 }, ...ANSWER];
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps }] } },
        timings: { runLeaseMs: 20_000 },
      });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'the only one');
      await asked.start();
      await scene.redis.stop();
      const unsent = join(dirname(journalPath(scene.logs, asked.session)), 'unsent');
      // The file proves something only once it names the boot.
      await scene.until('an answer that waits for Redis', () => existsSync(unsent) && readFileSync(unsent).length > 0);
      await bridge.kill();
      await scene.redis.start();
      expect(scene.evidence.journal(asked.session).at(-1)).toMatchObject({ event: 'session_end', reason: 'answered' });
      expect(asked.repliesWith('answer of')).toEqual([]);
      expect(await scene.store.records.session(asked.session)).toMatchObject({ status: 'active', answer: null });
      await scene.startBridge();
      await asked.answered(`answer of ${asked.session}`);
      await scene.until('a delivered answer', async () => {
        return (await scene.store.records.session(asked.session))?.request.delivery === 'sent';
      });
      expect(asked.repliesWith('answer of')).toHaveLength(1);
      // Nobody can have sent it: its person is notified, as an edit of a silent message would not do.
      const sends = scene.telegram.calls.filter(({ parameters }) => String(parameters.text).startsWith('answer of'));
      expect(sends.map(({ method }) => method)).toEqual(['sendMessage']);
      expect(sends[0]?.parameters.disable_notification).toBeUndefined();
      expect(asked.starts()).toHaveLength(1);
      expect(asked.starts(asked.revival)).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-run-cut-down-early-is-put-back
  test(
    'killed four times as its agent starts: answered once, reported by doctor and one event',
    async () => {
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps: ANSWER }] } },
        // So long that a busy machine starts a bridge meanwhile.
        timings: { youngRunMs: 60_000 },
      });
      const asked = new Conversation(scene, 'ship', 1, 'the only one');
      for (const kills of [1, 2, 3, 4]) {
        await scene.start(['bridge'], { WATCHKEEPER_FAILPOINT: 'agent.spawn.after:kill' }).exited;
        const session = await scene.store.records.session(asked.session);
        // Three of them cost nothing; then the message itself may be what ends the bridge.
        expect(session).toMatchObject({ status: 'active', attempt: 1, interruptions: kills - 1 });
      }
      await scene.startBridge();
      await asked.answered(`answer of ${asked.revival}`);
      expect(asked.replies().filter(({ text }) => text.startsWith('answer of'))).toHaveLength(1);
      expect(asked.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
      const told = scene.evidence.criticalEvents().filter(({ event }) => event === 'bridge_restarts');
      expect(told).toHaveLength(1);
      const { stdout } = await scene.run(['doctor', '--quick']);
      expect(stdout).toMatch(/WARNING +restarts: the bridge of this host was started 5 times within 10 min/);
    },
    2 * SCENE_TIMEOUT_MS,
  );

  // rule: quick-restarts-are-reported
  test(
    'killed three times before it has reached its Redis: one event and doctor report it',
    async () => {
      const scene = await openTestScene({ projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps: ANSWER }] } } });
      const folder = join(scene.logs, 'starts');
      const noted = () => {
        const [name] = existsSync(folder) ? readdirSync(folder).filter((each) => each.endsWith('.json')) : [];
        return name === undefined ? 0 : JSON.parse(readFileSync(join(folder, name), 'utf8')).starts.length;
      };
      for (const kills of [1, 2, 3]) {
        const bridge = scene.start(['bridge']);
        await scene.until(`start ${kills}`, () => noted() === kills);
        process.kill(bridge.pid, 'SIGKILL');
        await bridge.exited;
      }
      const { stdout } = await scene.run(['doctor', '--quick']);
      expect(stdout).toMatch(/WARNING +restarts: the bridge of this host was started 3 times within 10 min/);
      await scene.startBridge();
      const told = () => scene.evidence.criticalEvents().filter(({ event }) => event === 'bridge_restarts');
      await scene.until('the event', () => told().length > 0);
      expect(told()).toMatchObject([{ details: { starts: { length: 4 } } }]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-lost-run-was-an-attempt-unless-proven-otherwise
  test.each<[string, (lost: LostRun) => Promise<unknown>]>([
    [
      'that has printed something',
      ({ scene, session }) =>
        scene.until('its sign of life', () =>
          scene.evidence.journal(session).some(({ event }) => event === 'heartbeat'),
        ),
    ],
    [
      'while it stands still and reads nothing',
      ({ scene, bridge, steps }) => {
        bridge.signal('SIGSTOP');
        return scene.until('five steps', () => steps().length >= 5);
      },
    ],
    [
      'that deletes the journals',
      async ({ scene, session }) => {
        await scene.until('its journal', () => scene.evidence.journal(session).length > 0);
        rmSync(join(scene.logs, 'sessions'), { recursive: true });
      },
    ],
  ])(
    'killed twice beside a plain program %s: two runs, and the chat reads of the failure',
    async (_, happens) => {
      const steps = join(testFolder(), 'steps');
      const agent = { kind: 'command', command: ['sh', '-c', STEPS], output: 'text' };
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], agent } },
        timings: { youngRunMs: 1_000 },
        environment: { SCENE_STEPS: steps, AGENT_ENV: 'SCENE_STEPS SCENE_MARK' },
      });
      const asked = new Conversation(scene, 'ship', 1, 'a hundred steps');
      const stepsOf = (session: string) =>
        (existsSync(steps) ? readFileSync(steps, 'utf8') : '')
          .split('\n')
          .filter((line) => line.startsWith(`${session} `));
      for (const session of [asked.session, asked.revival]) {
        const bridge = await scene.startBridge();
        await scene.until('two steps', () => stepsOf(session).length >= 2);
        await happens({ scene, bridge, session, steps: () => stepsOf(session) });
        await bridge.kill();
      }
      await scene.startBridge();
      await asked.answered(FAILURE_PARAGRAPH);
      for (const session of [asked.session, asked.revival]) expect(new Set(stepsOf(session)).size).toBe(1);
    },
    2 * SCENE_TIMEOUT_MS,
  );

  // rule: a-stray-session-is-found
  test(
    'killed, with a waiting message that is in no lane: the next one finds and answers it',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: {
            chats: [{ id: 1, directory: 'one' }],
            scenarios: [{ when: { message: '^hang', attempt: 1 }, steps: HANG }, { steps: ANSWER }],
          },
        },
      });
      const bridge = await scene.startBridge();
      const hanging = new Conversation(scene, 'ship', 1, 'hang, the first');
      const waiting = new Conversation(scene, 'ship', 1, 'the second');
      await hanging.firstCall();
      await scene.until('two accepted messages', () => scene.telegram.unconfirmedUpdates === 0);
      await bridge.kill();
      const { redis, keys, records } = scene.store;
      const lane = (await records.session(waiting.session))?.lane ?? '';
      expect(await redis.lrem(keys.lane(lane), 0, waiting.session)).toBe(1);
      await scene.startBridge();
      await hanging.answered(`answer of ${hanging.revival}`);
      await waiting.answered(`answer of ${waiting.session}`);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: signals-stop-in-order
  test(
    'asked to stop with SIGTERM: stops in time, and every message is answered once later, in order per lane',
    async () => {
      const scene = await openTestScene({
        concurrency: 2,
        projects: {
          fleet: {
            chats: [
              { id: 1, directory: 'one' },
              { id: 2, directory: 'two' },
              { id: 3, directory: 'three' },
            ],
            scenarios: [
              // What was interrupted is told so in its prompt.
              { when: { message: 'service was restarted' }, steps: ANSWER },
              { when: { message: '^long' }, steps: HANG },
              { steps: ANSWER },
            ],
          },
        },
      });
      const bridge = await scene.startBridge();
      const running = [1, 2].map((chat) => new Conversation(scene, 'fleet', chat, 'long work'));
      await Promise.all(running.map((asked) => asked.start()));
      const waiting = [1, 2, 3, 3, 1, 2].map((chat, index) => new Conversation(scene, 'fleet', chat, `short ${index}`));
      await scene.until('eight accepted messages', () => scene.telegram.unconfirmedUpdates === 0);
      for (const { run } of scene.evidence.agents()) await scene.until('the tool', () => findRun(run).length === 2);

      const exit = await bridge.stop();
      expect(exit).toMatchObject({ code: 0, signal: null });
      expect(exit.tookMs).toBeLessThan(STOP_GRACE_MS);
      const runs = scene.evidence.agents().map(({ run }) => run);
      expect(runs.flatMap(findRun)).toEqual([]);
      expect(await scene.store.records.sessionIds('active')).toEqual([]);
      expect(await scene.store.records.sessionIds('pending')).toHaveLength(8);

      await scene.startBridge();
      for (const asked of [...running, ...waiting]) await asked.answered(`answer of ${asked.session}`);
      for (const chat of [1, 2, 3]) {
        const asked = [...running, ...waiting].filter((conversation) => conversation.chat === chat);
        const sessions = asked.map(({ session }) => session);
        const interrupted = running.find((conversation) => conversation.chat === chat)?.session;
        expect(sessionsStarted(scene, asked)).toEqual(
          interrupted === undefined ? sessions : [interrupted, ...sessions],
        );
        expectNoOverlap(scene, sessions);
        const answers = scene.telegram.transcript.filter(
          (entry) => entry.chat === chat && entry.what === 'message' && entry.text.startsWith('answer of'),
        );
        expect(answers.map(({ text }) => text)).toEqual(sessions.map((session) => `answer of ${session}`));
      }
      // An orderly restart is no incident, and consumes no attempt.
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: signals-stop-in-order
  testInTerminal(
    'whose terminal is closed: stops in order, although its shell repeats the signal',
    async () => {
      const scene = await openTestScene({ projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps: HANG }] } } });
      const terminal = await scene.startBridgeInTerminal();
      const { run } = await new Conversation(scene, 'ship', 1, 'long work').start();
      await scene.until('the tool', () => findRun(run).length === 2);
      const [bridge] = childrenOf(terminal.pid);
      // The kernel's own word comes with the end of whoever holds the terminal.
      await terminal.kill();
      process.kill(bridge?.pid ?? 0, 'SIGHUP');
      await scene.until(
        'the end of the bridge',
        () => findRun(run).length === 0 && systemProcessTable().find(bridge?.pid ?? 0) === null,
      );
      expect(await scene.store.records.sessionIds('pending')).toHaveLength(1);
      expect(await scene.store.records.sessionIds('active')).toEqual([]);
      expect(scene.evidence.faults()).toEqual([]);
      const log = readFileSync(join(scene.logs, 'bridge.log'), 'utf8');
      expect(log.match(/SIGHUP: in a terminal this means that the terminal was closed, so it stops/g)).toHaveLength(1);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: signals-stop-in-order
  test(
    'asked to stop: accepts nothing more, and lets a run answer that ends within the grace period',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: {
            chats: [
              { id: 1, directory: 'one' },
              { id: 2, directory: 'two' },
            ],
            scenarios: [
              {
                when: { message: '^short' },
                steps: [
                  { do: 'call', tool: 'read', input: {}, takes_ms: 2_000 },
                  { do: 'answer', text: 'in time' },
                ],
              },
              { steps: ANSWER },
            ],
          },
        },
        timings: { drainMs: 20_000 },
      });
      const bridge = await scene.startBridge();
      const short = new Conversation(scene, 'ship', 1, 'short work');
      await short.start();
      bridge.signal('SIGTERM');
      await scene.until('the end of the polling', () => !scene.telegram.polling);
      const late = new Conversation(scene, 'ship', 2, 'too late');
      expect(await bridge.exited).toMatchObject({ code: 0 });
      expect(short.repliesWith('in time')).toHaveLength(1);
      expect(scene.telegram.unconfirmedUpdates).toBeGreaterThan(0);

      await scene.startBridge();
      await late.answered(`answer of ${late.session}`);
      expect(short.starts()).toHaveLength(1);
      expect(scene.evidence.faults()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: an-interruption-repeats-three-times
  test(
    'stopped during the same run again and again: it continues its conversation three times, then it is a crash',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: {
            chats: [{ id: 1 }],
            scenarios: [
              { when: { message: '^long', attempt: 1 }, steps: HANG },
              { steps: [{ do: 'answer', text: 'turn {{turn}} of one conversation' }] },
            ],
          },
        },
      });
      const asked = new Conversation(scene, 'ship', 1, 'long work');
      for (const interruptions of [1, 2, 3]) {
        await stopInTheMiddle(scene, asked);
        const session = await scene.store.records.session(asked.session);
        expect(session).toMatchObject({ status: 'pending', attempt: 1, interruptions, incident_id: null });
      }
      expect(scene.evidence.faults()).toEqual([]);
      await stopInTheMiddle(scene, asked);
      await scene.startBridge();
      await asked.answered('turn 5 of one conversation');
      expect(asked.starts()).toHaveLength(4);
      expect(asked.starts(asked.revival)).toHaveLength(1);
      expect((await asked.event(({ rule }) => rule === 'crash')).reason).toBe('run_interrupted_too_often');
    },
    2 * SCENE_TIMEOUT_MS,
  );

  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'with %s while an answer is being sent: the next one settles it at once, and the text was sent once',
    async (signal) => {
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps: ANSWER }] } },
      });
      const bridge = await scene.startBridge();
      const hang = scene.telegram.inject({
        kind: 'hang',
        method: 'sendMessage',
        match: (parameters) => parameters.text('text').includes('answer of'),
      });
      const asked = new Conversation(scene, 'ship', 1, 'hello');
      await scene.until('a send that hangs', () => hang.used === 1);
      bridge.signal(signal);
      const exit = await bridge.exited;
      if (signal === 'SIGTERM') expect(exit).toMatchObject({ code: 0 });
      expect(exit.tookMs).toBeLessThan(STOP_GRACE_MS);
      await scene.startBridge();
      // Far sooner than the claim of the dead one would end.
      await asked.answered(`answer of ${asked.session}`, 15_000);
      const texts = scene.telegram.calls.filter(
        ({ method, parameters }) => method === 'sendMessage' && String(parameters.text).includes('answer of'),
      );
      expect(texts).toHaveLength(1);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-long-answer-comes-as-a-file
  test.each(['before', 'after'] as const)(
    'killed %s it sends the file of a long answer: no message comes twice, and the file at most once, below them',
    async (when) => {
      const words = ['first', 'second', 'third'];
      const text = words.map((word) => `**${word}**\n${`${word}\n`.repeat(Math.floor(3_600 / (word.length + 1)))}`);
      const steps: Scenario['steps'] = [{ do: 'answer', text: text.join('\n') }];
      const scene = await openTestScene({ projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps }] } } });
      const bridge = await scene.startBridge({ WATCHKEEPER_FAILPOINT: `answer.send.${when}:kill:4` });
      const asked = new Conversation(scene, 'ship', 1, 'hello');
      await bridge.exited;
      await scene.startBridge();
      await scene.until('a delivered answer', async () => {
        return (await scene.store.records.session(asked.session))?.request.delivery === 'sent';
      });
      const outline = scene.telegram.botMessages(1).map(({ text, file }) => file?.name ?? text.split('\n')[0]);
      const messages = outline.filter((line) => words.includes(line ?? '') || line === 'ship-answer.md');
      // Nobody can tell afterwards whether it was sent.
      expect(messages).toEqual(when === 'before' ? words : [...words, 'ship-answer.md']);
      expect(asked.starts()).toHaveLength(1);
    },
    SCENE_TIMEOUT_MS,
  );
});

/** Starts a bridge, and stops it in order once the run is at work. */
async function stopInTheMiddle(scene: BridgeScene, asked: Conversation): Promise<void> {
  const before = asked.starts().length;
  const bridge = await scene.startBridge();
  const { run } = await scene.until('another start', () => asked.starts()[before]);
  await scene.until('the tool', () => findRun(run).length === 2);
  expect(await bridge.stop()).toMatchObject({ code: 0 });
}

/** @returns the sessions of these messages in the order in which their agents started */
function sessionsStarted(scene: BridgeScene, asked: readonly Conversation[]): string[] {
  const sessions = new Set(asked.flatMap(({ session, revival }) => [session, revival]));
  return scene.evidence
    .agents()
    .filter(({ event, session }) => event === 'start' && sessions.has(session))
    .map(({ session }) => session);
}

/** The last run of each session stopped before the next one's began. */
function expectNoOverlap(scene: BridgeScene, sessions: readonly string[]): void {
  const last = (session: string, event: AgentRecord['event']) =>
    scene.evidence
      .agents()
      .filter((record) => record.session === session && record.event === event)
      .at(-1)?.at ?? 0;
  for (const [index, session] of sessions.entries()) {
    const next = sessions[index + 1];
    expect(last(session, 'stop')).toBeGreaterThanOrEqual(last(session, 'start'));
    if (next !== undefined) expect(last(next, 'start')).toBeGreaterThanOrEqual(last(session, 'stop'));
  }
}
