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
import type { Program } from './program.js';
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

interface LostRuns {
  readonly scene: BridgeScene;
  readonly bridge: Program;
  readonly sessions: readonly string[];
  readonly stepsOf: (session: string) => readonly string[];
}

/** `script` of util-linux makes terminals. */
const testInTerminal = canScan() && spawnSync('script', ['--version']).status === 0 ? test : test.skip;

describeScenes('a bridge that ends', () => {
  // rule: an-orphan-runs-again
  // rule: a-stray-session-is-found
  test(
    'killed with SIGKILL: no agent is left; what ran, what waited in a lane or in none, and a send follow once, in order',
    async () => {
      const scene = await openTestScene({
        projects: {
          ship: {
            chats: [
              { id: 1, directory: 'one' },
              { id: 2, directory: 'two' },
              { id: 3, directory: 'three' },
              { id: 4, directory: 'four' },
            ],
            scenarios: [{ when: { message: '^hang', attempt: 1 }, steps: HANG }, { steps: ANSWER }],
          },
        },
      });
      const bridge = await scene.startBridge();
      const sending = await answerWhoseSendHangs(scene, 'ship', 4);
      const hanging = [1, 2, 3].map((chat) => new Conversation(scene, 'ship', chat, 'hang, the first'));
      const waiting = [1, 2, 3].map((chat) => new Conversation(scene, 'ship', chat, 'the second'));
      const runs = await Promise.all(hanging.map((asked) => asked.start()));
      for (const { run } of runs) await scene.until('the tool', () => findRun(run).length === 2);
      for (const asked of hanging) await asked.firstCall();
      await scene.until('all messages accepted', () => scene.telegram.unconfirmedUpdates === 0);

      await bridge.kill();
      await scene.until('the end of the runs', () => runs.every(({ run }) => findRun(run).length === 0), 5_000);
      expect(sessionsStarted(scene, [...hanging, ...waiting])).toHaveLength(3);
      const { redis, keys, records } = scene.store;
      const stray = waiting[2]?.session ?? '';
      const lane = (await records.session(stray))?.lane ?? '';
      expect(await redis.lrem(keys.lane(lane), 0, stray)).toBe(1);

      await scene.startBridge();
      // Far sooner than the claim of the dead one would end.
      await sending.answered(`answer of ${sending.session}`, 15_000);
      for (const asked of hanging) await asked.answered(`answer of ${asked.revival}`);
      for (const asked of waiting) await asked.answered(`answer of ${asked.session}`);
      for (const [index, asked] of hanging.entries()) {
        expect(asked.replies().filter(({ text }) => text.startsWith('answer of'))).toHaveLength(1);
        expect(asked.events().map(({ rule }) => rule)).toContain('orphan');
        const next = waiting[index] as Conversation;
        // Whoever has lost its place in the lane has none before or behind another.
        if (next.session === stray) continue;
        expect(sessionsStarted(scene, [asked, next])).toEqual([asked.session, asked.revival, next.session]);
        expectNoOverlap(scene, [asked.revival, next.session]);
      }
      expect(sendsOf(scene, sending)).toHaveLength(1);
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

  // rule: quick-restarts-are-reported
  // rule: a-run-cut-down-early-is-put-back
  test(
    'killed three times before it has reached its Redis, then four times as its agent starts: answered once, reported by doctor and one event',
    async () => {
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], scenarios: [{ steps: ANSWER }] } },
        // So long that a busy machine starts a bridge meanwhile.
        timings: { youngRunMs: 60_000 },
      });
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
      expect(told).toMatchObject([{ details: { starts: { length: 4 } } }]);
    },
    2 * SCENE_TIMEOUT_MS,
  );

  // rule: a-lost-run-was-an-attempt-unless-proven-otherwise
  test.each<[string, readonly number[], (lost: LostRuns) => Promise<unknown>]>([
    [
      'that has printed something, and one that deletes the journals',
      [1, 2],
      async ({ scene, sessions: [printing = '', deleting = ''] }) => {
        await scene.until('its sign of life', () =>
          scene.evidence.journal(printing).some(({ event }) => event === 'heartbeat'),
        );
        await scene.until('its journal', () => scene.evidence.journal(deleting).length > 0);
        rmSync(join(scene.logs, 'sessions', deleting), { recursive: true });
      },
    ],
    [
      'while it stands still and reads nothing',
      [1],
      ({ scene, bridge, sessions: [session = ''], stepsOf }) => {
        bridge.signal('SIGSTOP');
        return scene.until('five steps', () => stepsOf(session).length >= 5);
      },
    ],
  ])(
    'killed twice beside a plain program %s: two runs, and the chat reads of the failure',
    async (_, chats, happens) => {
      const steps = join(testFolder(), 'steps');
      const agent = { kind: 'command', command: ['sh', '-c', STEPS], output: 'text' };
      const scene = await openTestScene({
        projects: { ship: { chats: chats.map((id) => ({ id, directory: `${id}` })), agent } },
        timings: { youngRunMs: 1_000 },
        environment: { SCENE_STEPS: steps, AGENT_ENV: 'SCENE_STEPS SCENE_MARK' },
      });
      const everyone = chats.map((chat) => new Conversation(scene, 'ship', chat, 'a hundred steps'));
      const stepsOf = (session: string) =>
        (existsSync(steps) ? readFileSync(steps, 'utf8') : '')
          .split('\n')
          .filter((line) => line.startsWith(`${session} `));
      const attempts = [everyone.map(({ session }) => session), everyone.map(({ revival }) => revival)];
      for (const sessions of attempts) {
        const bridge = await scene.startBridge();
        await scene.until('two steps', () => sessions.every((session) => stepsOf(session).length >= 2));
        await happens({ scene, bridge, sessions, stepsOf });
        await bridge.kill();
      }
      await scene.startBridge();
      for (const asked of everyone) await asked.answered(FAILURE_PARAGRAPH);
      for (const session of attempts.flat()) expect(new Set(stepsOf(session)).size).toBe(1);
    },
    2 * SCENE_TIMEOUT_MS,
  );

  // rule: signals-stop-in-order
  // rule: an-interruption-repeats-three-times
  test(
    'asked to stop with SIGTERM: stops in time; each message is answered once later, in order per lane; the fourth interruption of a run is a crash',
    async () => {
      const scene = await openTestScene({
        concurrency: 3,
        projects: {
          fleet: {
            chats: [
              { id: 1, directory: 'one' },
              { id: 2, directory: 'two' },
              { id: 3, directory: 'three' },
              { id: 4, directory: 'four' },
              { id: 5, directory: 'five' },
            ],
            scenarios: [
              { when: { message: '^endless', attempt: 1 }, steps: HANG },
              { when: { message: '^endless' }, steps: [{ do: 'answer', text: 'turn {{turn}} of one conversation' }] },
              // What was interrupted is told so in its prompt.
              { when: { message: 'service was restarted' }, steps: ANSWER },
              { when: { message: '^long' }, steps: HANG },
              { steps: ANSWER },
            ],
          },
        },
      });
      const bridge = await scene.startBridge();
      const sending = await answerWhoseSendHangs(scene, 'fleet', 5);
      const endless = new Conversation(scene, 'fleet', 4, 'endless work');
      const running = [1, 2].map((chat) => new Conversation(scene, 'fleet', chat, 'long work'));
      const runs = await Promise.all([endless, ...running].map((asked) => asked.start()));
      const waiting = [1, 2, 3, 3, 1, 2].map((chat, index) => new Conversation(scene, 'fleet', chat, `short ${index}`));
      await scene.until('all messages accepted', () => scene.telegram.unconfirmedUpdates === 0);
      for (const { run } of runs) await scene.until('the tool', () => findRun(run).length === 2);

      const exit = await bridge.stop();
      expect(exit).toMatchObject({ code: 0, signal: null });
      expect(exit.tookMs).toBeLessThan(STOP_GRACE_MS);
      expect(scene.evidence.agents().flatMap(({ run }) => findRun(run))).toEqual([]);
      expect(await scene.store.records.sessionIds('active')).toEqual([]);
      expect(await scene.store.records.sessionIds('pending')).toHaveLength(9);
      await expectInterrupted(scene, endless, 1);

      const second = await scene.startBridge();
      // Far sooner than the claim of the first one would end.
      await sending.answered(`answer of ${sending.session}`, 15_000);
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
      expect(sendsOf(scene, sending)).toHaveLength(1);
      await stopInTheMiddle(scene, second, endless);
      await expectInterrupted(scene, endless, 2);
      await stopInTheMiddle(scene, await scene.startBridge(), endless);
      await expectInterrupted(scene, endless, 3);
      // An orderly restart is no incident, and consumes no attempt.
      expect(scene.evidence.faults()).toEqual([]);
      await stopInTheMiddle(scene, await scene.startBridge(), endless);
      await scene.startBridge();
      await endless.answered('turn 5 of one conversation');
      expect(endless.starts()).toHaveLength(4);
      expect(endless.starts(endless.revival)).toHaveLength(1);
      expect((await endless.event(({ rule }) => rule === 'crash')).reason).toBe('run_interrupted_too_often');
    },
    2 * SCENE_TIMEOUT_MS,
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

  // rule: a-long-answer-comes-as-a-file
  test(
    'killed before or after it sends the file of a long answer: no message comes twice, and the file at most once, below them',
    async () => {
      const words = ['first', 'second', 'third'];
      const text = words.map((word) => `**${word}**\n${`${word}\n`.repeat(Math.floor(3_600 / (word.length + 1)))}`);
      const steps: Scenario['steps'] = [{ do: 'answer', text: text.join('\n') }];
      const chats = [
        { id: 1, directory: 'one' },
        { id: 2, directory: 'two' },
      ];
      const scene = await openTestScene({ projects: { ship: { chats, scenarios: [{ steps }] } } });
      const delivered = ({ session }: Conversation) =>
        scene.until('a delivered answer', async () => {
          return (await scene.store.records.session(session))?.request.delivery === 'sent';
        });
      const killed = (when: 'before' | 'after') =>
        scene.startBridge({ WATCHKEEPER_FAILPOINT: `answer.send.${when}:kill:4` });

      const first = await killed('before');
      const one = new Conversation(scene, 'ship', 1, 'hello');
      await first.exited;
      const second = await killed('after');
      await delivered(one);
      const two = new Conversation(scene, 'ship', 2, 'hello');
      await second.exited;
      await scene.startBridge();
      await delivered(two);
      const messages = ({ chat }: Conversation) =>
        scene.telegram
          .botMessages(chat)
          .map(({ text, file }) => file?.name ?? text.split('\n')[0] ?? '')
          .filter((line) => words.includes(line) || line === 'ship-answer.md');
      // Nobody can tell afterwards whether it was sent.
      expect(messages(one)).toEqual(words);
      expect(messages(two)).toEqual([...words, 'ship-answer.md']);
      for (const asked of [one, two]) expect(asked.starts()).toHaveLength(1);
    },
    SCENE_TIMEOUT_MS,
  );
});

/** @returns a message whose answer is being sent, which Telegram never confirms */
async function answerWhoseSendHangs(scene: BridgeScene, project: string, chat: number): Promise<Conversation> {
  const hang = scene.telegram.inject({
    kind: 'hang',
    method: 'sendMessage',
    match: (parameters) => parameters.text('text').includes('answer of'),
  });
  const asked = new Conversation(scene, project, chat, 'hello');
  await scene.until('a send that hangs', () => hang.used === 1);
  return asked;
}

/** @returns the calls that sent its answer */
function sendsOf(scene: BridgeScene, { session }: Conversation): readonly unknown[] {
  return scene.telegram.calls.filter(
    ({ method, parameters }) => method === 'sendMessage' && String(parameters.text).includes(`answer of ${session}`),
  );
}

/** Stops a bridge in order once it has taken up a run that an earlier one began. */
async function stopInTheMiddle(scene: BridgeScene, bridge: Program, asked: Conversation): Promise<void> {
  const before = (await scene.store.records.session(asked.session))?.interruptions ?? 0;
  const { run } = await scene.until('another start', () => asked.starts()[before]);
  await scene.until('the tool', () => findRun(run).length === 2);
  expect(await bridge.stop()).toMatchObject({ code: 0 });
}

async function expectInterrupted(scene: BridgeScene, { session }: Conversation, interruptions: number): Promise<void> {
  const record = await scene.store.records.session(session);
  expect(record).toMatchObject({ status: 'pending', attempt: 1, interruptions, incident_id: null });
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
