import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { AgentEvent } from '../../../bridge/agents/program/contract.js';
import { createScriptedAgent } from '../../../bridge/agents/scripted.js';
import { EnqueuedHandoffs } from '../../../bridge/handoffs/handoffs.js';
import { WaitingSessions } from '../../../bridge/queue/pump.js';
import { endRun } from '../../../bridge/runs/endRun.js';
import type { RunContext } from '../../../bridge/runs/runContext.js';
import { keepRunLease } from '../../../bridge/runs/runLease.js';
import { Runner } from '../../../bridge/runs/runner.js';
import { BridgeWorklogs } from '../../../memory/sessions/bridgeWorklogs.js';
import { newIncident } from '../../../monitoring/incident/newIncident.js';
import { answerInJournal, endOnDisk } from '../../../monitoring/rounds/answeredLocally.js';
import { findCrash } from '../../../monitoring/verdict/detectors/crash.js';
import { memorySettings } from '../../../src/config/memorySettings.js';
import { DEFAULT_ACTIONS } from '../../../src/config/projects.js';
import type { Settings } from '../../../src/config/settings.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { limitMarkOf } from '../../../src/host/marks.js';
import { markedPids } from '../../../src/host/processes.js';
import { readMarkLimits, readStat } from '../../../src/host/procfs.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { conversationKey, laneOf } from '../../../src/jobs/names.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import { openStore, type Store } from '../../../src/jobs/store.js';
import { Wakes } from '../../../src/jobs/wakes.js';
import { readLastLine } from '../../../src/journal/lastLine.js';
import { journalPath } from '../../../src/journal/path.js';
import { markUnsent } from '../../../src/journal/unsent.js';
import { JournalWriter } from '../../../src/journal/writer.js';
import { createLogger } from '../../../src/log/logger.js';
import { createRedactor } from '../../../src/log/redact.js';
import { closeRedis, openRedis } from '../../../src/redis/connect.js';
import { HOUR, systemClock } from '../../../src/time.js';
import { eventually } from '../../e2e/eventually.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis, forgetAll, openTestRedis } from '../../harness/redis.js';
import { RedisGate } from '../../harness/redisGate.js';
import { afterThisTest } from '../../harness/scope.js';
import { standIn } from '../../harness/standIn.js';
import { must } from '../../monitoring/incident/saga/sagaScene.js';
import { until } from '../../monitoring/watchdogScene.js';

const HOST = 'host-a';
const SCENARIOS = [
  {
    when: { message: '^answer' },
    steps: [
      { do: 'call', tool: 'read', output: 'r' },
      { do: 'answer', text: 'done: {{prompt}}' },
    ],
  },
  {
    when: { message: '^later' },
    steps: [
      { do: 'note', text: 'up' },
      { do: 'sleep', ms: 100 },
      { do: 'answer', text: 'done' },
    ],
  },
  { when: { message: '^hang' }, steps: [{ do: 'note', text: 'up' }, { do: 'silence' }] },
  {
    when: { message: '^deaf' },
    steps: [{ do: 'ignore_sigterm' }, { do: 'note', text: 'up' }, { do: 'silence' }],
  },
  {
    when: { message: '^limit' },
    steps: [
      { do: 'failure', cause: 'rate_limit', detail: 'no more for now', until_ms: 0 },
      { do: 'exit', code: 1 },
    ],
  },
  { when: { message: '^crash' }, steps: [{ do: 'exit', code: 1 }] },
  {
    when: { message: '^broke' },
    steps: [
      { do: 'failure', cause: 'credit', detail: 'no money' },
      { do: 'exit', code: 1 },
    ],
  },
];

/** What happened to the runs, as events to wait for. */
class Events extends EventTarget {
  readonly seen: string[] = [];

  tell(name: string): void {
    this.seen.push(name);
    this.dispatchEvent(new Event(name));
  }

  async next(name: string): Promise<void> {
    await once(this, name);
  }

  async until(name: string): Promise<void> {
    if (!this.seen.includes(name)) await this.next(name);
  }
}

const noRoom = () => false;

interface Scene {
  readonly store: Store;
  readonly runner: Runner;
  readonly events: Events;
  readonly logged: string[];
  readonly folder: string;
  readonly worklogs: BridgeWorklogs;
  /** What this process knows to wait. */
  readonly waiting: WaitingSessions;
  readonly gate: RedisGate;
  /** Not behind the gate. */
  readonly truth: Store;
  accept(text: string, messageId?: string): Promise<AgentSession>;
}

interface Options {
  readonly changes?: (context: RunContext) => Partial<RunContext>;
  readonly leaseMs?: number;
  readonly todoTools?: boolean;
}

async function openScene({ changes = () => ({}), leaseMs = 30_000, todoTools = true }: Options = {}): Promise<Scene> {
  const { redis, prefix, url } = await openTestRedis();
  const gate = await RedisGate.before(url);
  const gated = openRedis(gate.url, { purpose: 'commands', clock: systemClock });
  const subscriber = openRedis(url, { purpose: 'subscriber', clock: systemClock });
  afterThisTest(() => {
    closeRedis(gated);
    closeRedis(subscriber);
  });
  const store = openStore(gated, systemClock, prefix);
  const truth = openStore(redis, systemClock, prefix);
  const wakes = new Wakes(subscriber, store.keys);
  await wakes.start();
  afterThisTest(() => wakes.stop());
  const folder = testFolder();
  writeFileSync(join(folder, 'scenario.json'), JSON.stringify({ scenarios: SCENARIOS }));
  const logged: string[] = [];
  const redact = createRedactor([]);
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const events = new Events();
  const agent = createScriptedAgent(join(folder, 'scenario.json'));
  const logger = createLogger({ level: 'debug', redact, clock: systemClock, destinations });
  const here = readProcessIdentity(HOST);
  const disk = { records: store.records, logsFolder: folder, bootId: here.boot_id };
  const waiting = new WaitingSessions();
  const base: RunContext = {
    store,
    clock: systemClock,
    logger,
    here,
    logsId: 'LOGS',
    redact,
    worklogs: new BridgeWorklogs(folder, { clock: systemClock, redact }),
    handoffs: new EnqueuedHandoffs({ clock: systemClock, logger, redact, variables: {} }),
    settings: {
      logsFolder: folder,
      projects: new Map(),
      timings: { runLeaseMs: leaseMs, drainMs: 100, killGraceMs: 500 },
      agentEnvironment: { PATH: process.env.PATH ?? '' },
      agentUser: null,
      memory: memorySettings().parse({ todo_tools: todoTools }),
    } as unknown as Settings,
    agents: { get: () => agent },
    waiting,
    endOnDisk: (session) => endOnDisk({ ...disk, logger, endInChat: async () => null }, session),
    forgotten: {
      note: (sessionId) => events.tell(`forgotten ${sessionId}`),
      noteLost: async (sessionId) => events.tell(`forgotten ${sessionId}`),
    },
    lanes: { startNext: async () => events.tell('lane started') },
    directories: { mustWait: async () => false, follow: async () => false },
    leaving: new AbortController().signal,
    // Its own tests show what the reaper does; here it only tells what it heard.
    reaper: {
      watch: async (_, pid) => events.tell(pid === undefined ? 'watched' : 'started'),
      unwatch: () => events.tell('unwatched'),
    },
    endProcesses: async (target) => {
      const { proven } = await endRun(target, { clock: systemClock, graceMs: 500 });
      events.tell('ended');
      return proven ? { run_id: target.runId, proven_at: systemClock.now(), by: 'scan' } : null;
    },
    chat: { showProgress: async () => undefined },
    display: {
      begin: () => events.tell('begun'),
      update: (_, { note }) => events.tell(note === 'up' ? 'up' : 'updated'),
      end: async () => events.tell('display ended'),
      messageOf: () => null,
    },
  };
  const runner = new Runner({ ...base, ...changes(base) }, wakes);
  await runner.start();
  afterThisTest(() => runner.stop());
  const accept = async (text: string, messageId = '1') => {
    const draft = {
      session_id: `tg_popoto_-100_${messageId}`,
      project_key: 'popoto',
      chat_id: '-100',
      message_id: messageId,
      thread_id: null,
      sender: { id: '7', name: 'Ann' },
      message_text: text,
      conversation_key: conversationKey('popoto', '-100', null, 0),
      lane: laneOf(HOST, folder),
      working_directory: folder,
      agent: 'scripted',
    };
    return (await truth.transitions.accept(draft)).session;
  };
  return { store, truth, runner, events, logged, folder, waiting, gate, accept, worklogs: base.worklogs };
}

async function now({ truth }: Scene, { session_id }: AgentSession): Promise<AgentSession> {
  return must(await truth.records.session(session_id));
}

/** @returns the session as a clock that was an hour ahead dated it */
async function acceptedAnHourAhead({ truth }: Scene, session: AgentSession): Promise<AgentSession> {
  await truth.redis.hset(truth.keys.session(session.session_id), 'created_at', String(session.created_at + HOUR));
  return must(await truth.records.session(session.session_id));
}

/** @returns its second attempt, which waits */
async function revived({ truth }: Scene, session: AgentSession): Promise<AgentSession | null> {
  const second = revivalOf(session, systemClock.now());
  await truth.regain.waiting(second);
  return truth.records.session(second.session_id);
}

describeWithRedis('a run', () => {
  test('answers: journaled, stored, nothing left', async () => {
    const scene = await openScene();
    const session = await scene.accept('answer me');
    await scene.runner.execute(session.session_id, noRoom);
    const after = await now(scene, session);
    expect(after).toMatchObject({ status: 'completed', answer: 'done: answer me', request: { delivery: 'queued' } });
    expect(after.run?.pid).toEqual(expect.any(Number));
    const journal = readFileSync(journalPath(scene.folder, session.session_id), 'utf8').trim().split('\n');
    const events = journal.map((line) => (JSON.parse(line) as { event: string }).event);
    expect(events.slice(0, 2)).toEqual(['run_start', 'session_start']);
    expect(events.at(-1)).toBe('session_end');
    expect(scene.events.seen.filter((name) => name !== 'updated')).toEqual([
      'watched',
      'begun',
      'started',
      'ended',
      'display ended',
      'unwatched',
    ]);
    expect(markedPids(must(after.run).run_id)).toEqual([]);
  });

  // rule: a-forgotten-record-is-stored-once
  test('leaves its session not remembered as waiting, also by a wake that was read before it began', async () => {
    const scene = await openScene();
    const session = await scene.accept('answer me');
    const waited = must(await now(scene, session));
    await scene.runner.execute(session.session_id, noRoom);
    scene.waiting.keep(waited);
    expect(scene.waiting.has(session.session_id)).toBe(false);
  });

  test('answers all the same if its worklog cannot be written, which is logged once', async () => {
    const scene = await openScene();
    const session = await scene.accept('answer me');
    mkdirSync(join(scene.folder, 'sessions', session.session_id, 'worklog.jsonl'), { recursive: true });
    await scene.runner.execute(session.session_id, noRoom);
    expect(await now(scene, session)).toMatchObject({ status: 'completed' });
    expect(scene.logged.filter((line) => line.includes('its worklog lacks a line'))).toHaveLength(1);
  });

  test('has no word of its message in the worklog if the settings say so', async () => {
    const scene = await openScene({
      changes: ({ settings }) => ({ settings: { ...settings, memory: memorySettings().parse({ texts: false }) } }),
    });
    const session = await scene.accept('answer me');
    await scene.runner.execute(session.session_id, noRoom);
    await scene.worklogs.stop();
    const worklog = readFileSync(join(scene.folder, 'sessions', session.session_id, 'worklog.jsonl'), 'utf8');
    const events = ['session_started', 'run_started', 'conversation', 'run_ended', 'session_ended'];
    expect(worklog.match(/(?<="event":")[a-z_]+/g)).toEqual(events);
    expect(scene.worklogs.isEndExpected(session.session_id)).toBe(true);
    expect(worklog).not.toContain('answer me');
  });

  // rule: an-answer-is-on-disk-first
  test('stores no answer before it is complete in the journal', async () => {
    const answers: unknown[] = [];
    const scene = await openScene({
      changes: ({ store, settings: { logsFolder } }) => ({
        store: {
          ...store,
          transitions: standIn(store.transitions, {
            complete: (id: string, runId: string, answer: string) => {
              answers.push(readLastLine(journalPath(logsFolder, id))?.answer, answer);
              return store.transitions.complete(id, runId, answer);
            },
          }),
        },
      }),
    });
    const session = await scene.accept(`answer: ${'x'.repeat(40_000)}`);
    await scene.runner.execute(session.session_id, noRoom);
    expect(await now(scene, session)).toMatchObject({ status: 'completed' });
    expect(answers).toEqual([`done: ${session.request.message_text}`, `done: ${session.request.message_text}`]);
  });

  test('is on disk even if the store becomes unreachable as its agent starts', async () => {
    let comeBack = () => {};
    const back = new Promise<void>((resolve) => {
      comeBack = resolve;
    });
    const scene = await openScene({
      changes: ({ store }) => {
        const { transitions } = store;
        const recordRun: typeof transitions.recordRun = async (...told) => {
          await back;
          return transitions.recordRun(...told);
        };
        return { store: { ...store, transitions: standIn(transitions, { recordRun }) } };
      },
    });
    const session = await scene.accept('answer: the only one');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('ended');
    expect(readLastLine(journalPath(scene.folder, session.session_id))).toMatchObject({
      event: 'session_end',
      answer: 'done: answer: the only one',
    });
    expect(await now(scene, session)).toMatchObject({ status: 'active', answer: null });
    comeBack();
    await done;
    expect(await now(scene, session)).toMatchObject({ status: 'completed', run: { pid: expect.any(Number) } });
  });

  // rule: a-failover-sends-nothing-twice
  test('has an answer that counts as certainly unsent until a reachable store gets it', async () => {
    const told: boolean[] = [];
    const scene = await openScene({
      changes: ({ store, settings: { logsFolder } }) => ({
        store: {
          ...store,
          transitions: standIn(store.transitions, {
            complete: (id: string, runId: string, answer: string) => {
              told.push(isUnsent(logsFolder, id));
              return store.transitions.complete(id, runId, answer);
            },
          }),
        },
      }),
    });
    const session = await scene.accept('later');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    scene.gate.shut();
    await scene.events.until('display ended');
    await awayLine(scene);
    expect(isUnsent(scene.folder, session.session_id)).toBe(true);
    expect(told).toEqual([]);
    await scene.gate.open();
    await done;
    expect(told).toEqual([false]);
    expect(await now(scene, session)).toMatchObject({ status: 'completed', request: { delivery: 'queued' } });
  });

  // rule: an-answer-on-the-disk-counts
  test('whose answer a watchdog finds while it ends the run is sent like any other, and nothing is called lost', async () => {
    const scene = await openScene({
      changes: ({ store, endOnDisk: onDisk, display }) => ({
        display: {
          ...display,
          // No process of the run is left, and its chat is slow: the answer is not stored yet.
          end: async (sessionId) => {
            const session = must(await store.records.session(sessionId));
            const end = must(await onDisk(session));
            must(await store.transitions.endForgotten(sessionId, must(session.run).run_id, end));
          },
        },
      }),
    });
    const session = await scene.accept('answer me');
    await scene.runner.execute(session.session_id, noRoom);
    // In doubt, it would arrive as an edit, of which nobody is notified.
    expect(await scene.truth.records.outboxEntry(session.session_id)).toMatchObject({
      text: 'done: answer me',
      state: 'queued',
    });
    expect(await now(scene, session)).toMatchObject({ status: 'completed', request: { delivery: 'queued' } });
    const said = scene.logged.filter((line) => line.includes('its journal has an answer'));
    expect(said).toEqual([expect.stringContaining('that was not stored yet; it is stored and sent now')]);
  });

  // rule: a-failover-sends-nothing-twice
  test('with a certainly unsent answer sends it like any other, and it is in doubt from then on', async () => {
    const scene = await openScene();
    const session = await scene.accept('answer me');
    const { folder: logsFolder } = scene;
    const options = { logsFolder, sessionId: session.session_id, clock: systemClock, redact: createRedactor([]) };
    const journal = JournalWriter.open(options);
    markUnsent(logsFolder, session.session_id, readProcessIdentity(HOST).boot_id);
    journal.append({ event: 'session_end', reason: 'answered', answer: 'done before' });
    journal.close();
    await scene.runner.execute(session.session_id, noRoom);
    expect(await now(scene, session)).toMatchObject({ answer: 'done before', request: { delivery: 'queued' } });
    expect(isUnsent(logsFolder, session.session_id)).toBe(false);
  });

  test('whose end is on disk starts no agent, even if the session changed before that end could be stored', async () => {
    const scene = await openScene({
      changes: ({ store }) => ({
        async endOnDisk({ session_id }) {
          const session = must(await store.records.session(session_id));
          const findings = [findCrash('run_failed', systemClock.now())];
          const seen = { toolCount: 0, lastToolCall: null, notRevivedBecause: null, untrustedExcerpt: null };
          const incident = newIncident(systemClock, { session, findings, actions: DEFAULT_ACTIONS, ...seen });
          expect(await store.incidents.open(session, incident, [])).toBe(true);
          return { kind: 'failure', text: 'told before', mayBeInChat: false };
        },
      }),
    });
    const session = await scene.accept('answer me');
    await scene.runner.execute(session.session_id, noRoom);
    expect(await now(scene, session)).toMatchObject({ status: 'active', incident_id: expect.any(String) });
    expect(scene.events.seen).not.toContain('started');
  });

  // rule: an-answer-on-the-disk-counts
  test.each([1, 2])(
    'that answered in attempt %i is known on the disk although the clock was set back since its message was accepted',
    async (attempt) => {
      const scene = await openScene();
      const { records } = scene.truth;
      const accepted = await scene.accept('answer me');
      const ahead = await acceptedAnHourAhead(scene, accepted);
      const session = attempt === 1 ? ahead : must(await revived(scene, ahead));
      await scene.runner.execute(session.session_id, noRoom);
      expect(await now(scene, session)).toMatchObject({ status: 'completed' });
      // As the store has it again after it has forgotten the run: the answer is older than its message by the clock.
      expect(await answerInJournal(records, scene.folder, session)).toMatch(/^done: answer me/);
      const later = { ...session, revival_of: null, created_at: ahead.created_at + 1 };
      expect(await answerInJournal(records, scene.folder, later)).toBeNull();
    },
  );

  test('of a session whose journal has an answer starts no agent: the store gets that answer', async () => {
    const scene = await openScene();
    const session = await scene.accept('answer me');
    const { folder: logsFolder } = scene;
    const options = { logsFolder, sessionId: session.session_id, clock: systemClock, redact: createRedactor([]) };
    const journal = JournalWriter.open(options);
    journal.append({ event: 'session_end', reason: 'answered', answer: 'done before' });
    journal.close();
    await scene.runner.execute(session.session_id, noRoom);
    expect(await now(scene, session)).toMatchObject({
      status: 'completed',
      answer: 'done before',
      request: { delivery: 'sending' },
    });
    expect(scene.events.seen).not.toContain('started');
    expect(await scene.truth.records.lane(session.lane)).toMatchObject({ holder: null, waiting: 0 });
  });

  test.each([
    [true, ['CLAUDE_CODE_ENABLE_TODO_TOOLS']],
    [false, []],
  ])('gives the agent the allowed variables and its own marks, and no secret; tasks: %s', async (todoTools, tasks) => {
    process.env.TELEGRAM_BOT_TOKEN = '12345:not-for-agents';
    afterThisTest(() => void delete process.env.TELEGRAM_BOT_TOKEN);
    const scene = await openScene({ todoTools });
    const session = await scene.accept('hang');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    // The agent may speak before its bridge has stored its process.
    await until(async () => typeof (await now(scene, session)).run?.pid === 'number');
    const run = must((await now(scene, session)).run);
    const environment = readFileSync(`/proc/${run.pid}/environ`, 'utf8')
      .split('\0')
      .filter((entry) => entry !== '');
    const names = environment.map((entry) => entry.slice(0, entry.indexOf('='))).sort();
    expect(names).toEqual([
      ...tasks,
      'PATH',
      'WATCHKEEPER_ATTEMPT',
      'WATCHKEEPER_LANE',
      'WATCHKEEPER_MEMORY',
      'WATCHKEEPER_RUN',
      'WATCHKEEPER_SESSION',
    ]);
    expect(environment.join()).not.toContain('not-for-agents');
    expect(readMarkLimits(must(run.pid)).locks).toBe(limitMarkOf(run.run_id));
    expect(readStat(must(run.pid))).toMatchObject({ start: run.pid_start });
    await scene.truth.transitions.cancel(session.session_id, 'x');
    await done;
  });

  test('that fails is a crash with its exit code, and the reason against a second attempt', async () => {
    const scene = await openScene();
    const crashed = await scene.accept('crash');
    await scene.runner.execute(crashed.session_id, noRoom);
    const [incident] = await scene.truth.records.openIncidents();
    expect(incident).toMatchObject({ rule: 'crash', not_revived_because: null });
    expect(incident?.findings[0]?.reason).toBe('run_failed_exit_1');

    const other = await openScene();
    const broke = await other.accept('broke');
    await other.runner.execute(broke.session_id, noRoom);
    const [second] = await other.truth.records.openIncidents();
    expect(second?.not_revived_because).toContain('credit');
  });

  test('whose agent cannot start is a crash as well', async () => {
    const scene = await openScene({
      changes: () => ({ agents: { get: () => createScriptedAgent('/missing') } }),
    });
    const session = await scene.accept('answer');
    await scene.runner.execute(session.session_id, noRoom);
    const [incident] = await scene.truth.records.openIncidents();
    expect(incident?.findings[0]?.reason).toBe('run_failed_to_start');
    expect((await now(scene, session)).released).not.toBeNull();
  });

  test('ends when a person cancels it, and the session is cancelled', async () => {
    const scene = await openScene();
    const session = await scene.accept('hang');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    await scene.truth.transitions.cancel(session.session_id, 'Cancelled at your request.');
    await done;
    expect(await now(scene, session)).toMatchObject({ status: 'cancelled', request: { delivery: 'queued' } });
    expect(await scene.truth.records.openIncidents()).toEqual([]);
  });

  // rule: nothing-of-a-run-is-left
  test.each(['deaf', 'stopped'])('whose agent is %s also ends when a person cancels it', async (kind) => {
    const scene = await openScene();
    const session = await scene.accept(kind === 'deaf' ? 'deaf' : 'hang');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    // The agent may speak before its process is in the record.
    const pid = await eventually(async () => (await now(scene, session)).run?.pid, { what: 'the process of the run' });
    if (kind === 'stopped') process.kill(pid, 'SIGSTOP');
    await scene.truth.transitions.cancel(session.session_id, 'Cancelled at your request.');
    await done;
    expect(await now(scene, session)).toMatchObject({ status: 'cancelled', released: { by: 'scan' } });
  });

  test('that is cancelled while it starts begins no agent, or ends it', async () => {
    let scene: Scene | null = null;
    const display = {
      begin: (session: AgentSession) => void scene?.truth.transitions.cancel(session.session_id, 'x'),
      update: () => undefined,
      end: async () => undefined,
      messageOf: () => null,
    };
    scene = await openScene({ changes: () => ({ display }) });
    const session = await scene.accept('hang');
    await scene.runner.execute(session.session_id, noRoom);
    expect((await now(scene, session)).status).toBe('cancelled');
  });

  test('does not make a duplicate job wait', async () => {
    const scene = await openScene();
    const session = await scene.accept('hang');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    await scene.runner.execute(session.session_id, noRoom);
    await scene.truth.transitions.cancel(session.session_id, 'x');
    await done;
    expect(scene.events.seen.filter((name) => name === 'started')).toHaveLength(1);
  });

  test('happens once although two jobs for it are taken at the same time, and an orderly stop finds it', async () => {
    const scene = await openScene();
    const session = await scene.accept('hang');
    const both = [1, 2].map(() => scene.runner.execute(session.session_id, noRoom));
    await scene.events.until('up');
    await scene.runner.stop();
    await Promise.all(both);
    expect(await now(scene, session)).toMatchObject({ status: 'pending', interruptions: 1 });
    expect(scene.events.seen.filter((name) => name === 'started')).toHaveLength(1);
  });

  // rule: a-stray-job-or-lane-is-mended
  test('does not start if its session is gone', async () => {
    const scene = await openScene();
    const session = await scene.accept('answer');
    const { redis, keys } = scene.truth;
    await redis.del(keys.session(session.session_id));
    await scene.runner.execute(session.session_id, noRoom);
    expect(scene.events.seen).toEqual([]);
  });

  test('keeps the order of its lane', async () => {
    const scene = await openScene();
    const first = await scene.accept('answer one', '1');
    const second = await scene.accept('answer two', '2');
    await scene.runner.execute(second.session_id, noRoom);
    expect((await now(scene, second)).status).toBe('pending');
    await scene.runner.execute(first.session_id, noRoom);
    await scene.runner.execute(second.session_id, noRoom);
    const [one, two] = [await now(scene, first), await now(scene, second)];
    expect([one.status, two.status]).toEqual(['completed', 'completed']);
    expect(must(one.ended_at)).toBeLessThanOrEqual(must(two.started_at));
  });

  // rule: a-lane-goes-on
  test('is followed by the next in its lane while there is room', async () => {
    const scene = await openScene();
    const all = [await scene.accept('answer one', '1'), await scene.accept('answer two', '2')];
    await scene.runner.execute(must(all[0]).session_id, () => true);
    const ended = await Promise.all(all.map((session) => now(scene, session)));
    expect(ended.map(({ answer }) => answer)).toEqual(['done: answer one', 'done: answer two']);
    expect(must(ended[0]?.ended_at)).toBeLessThanOrEqual(must(ended[1]?.started_at));
    expect(scene.events.seen).not.toContain('lane started');
  });

  test.each([
    ['there is no room', () => false, []],
    ['its time has not come', () => true, ['HSET', 'not_before', String(systemClock.now() + HOUR)]],
    ['it no longer waits', () => true, ['HSET', 'status', 'cancelled']],
    ['its record is gone', () => true, ['DEL']],
    ['its record cannot be read', () => true, ['HSET', 'rev', 'x']],
  ])('leaves the next in its lane to the job queue if %s', async (_, hasRoom, [command, ...args]) => {
    const asked: unknown[] = [];
    const scene = await openScene({
      changes: () => ({ lanes: { startNext: async (...place) => void asked.push(place) } }),
    });
    const [first, second] = [await scene.accept('answer one', '1'), await scene.accept('answer two', '2')];
    const { redis, keys } = scene.truth;
    if (command !== undefined) await redis.call(command, keys.session(second.session_id), ...args);
    await scene.runner.execute(first.session_id, hasRoom);
    expect(await now(scene, first)).toMatchObject({ status: 'completed' });
    expect(asked).toEqual([[first.lane, second.session_id]]);
    expect(await scene.truth.records.lane(first.lane)).toMatchObject({ head: second.session_id, holder: null });
  });
});

describeWithRedis('a disk that cannot take a journal', () => {
  // rule: a-full-disk-keeps-nobody-waiting
  test('ends no run: it is logged once, and the journal is marked as incomplete', async () => {
    const scene = await openScene();
    writeFileSync(join(scene.folder, 'sessions'), 'a file is in the way');
    const session = await scene.accept('hang');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    while ((await now(scene, session)).run?.journal_torn !== true)
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    expect((await now(scene, session)).run?.pid).toEqual(expect.any(Number));
    expect(scene.logged.filter((line) => line.includes('judged by its record alone'))).toHaveLength(1);
    await scene.runner.stop();
    await done;
  });

  test('is recorded later if the store is unreachable too: the agent still answers', async () => {
    const away = (learned: { journalTorn?: true }) => learned.journalTorn === true;
    const scene = await openScene({
      changes: ({ store }) => {
        const { transitions } = store;
        const recordRun: typeof transitions.recordRun = (sessionId, runId, learned) =>
          away(learned)
            ? Promise.reject(new Error('Connection is closed.'))
            : transitions.recordRun(sessionId, runId, learned);
        return { store: { ...store, transitions: standIn(transitions, { recordRun }) } };
      },
    });
    writeFileSync(join(scene.folder, 'sessions'), 'a file is in the way');
    const session = await scene.accept('answer me');
    await scene.runner.execute(session.session_id, noRoom);
    expect(await now(scene, session)).toMatchObject({ status: 'completed', answer: 'done: answer me' });
  });
});

describeWithRedis('an orderly stop', () => {
  test('puts active runs back at the head of their lane', async () => {
    const scene = await openScene();
    const first = await scene.accept('hang', '1');
    const second = await scene.accept('answer', '2');
    const done = scene.runner.execute(first.session_id, noRoom);
    await scene.events.until('up');
    expect((await now(scene, first)).run).toMatchObject({ logs_id: 'LOGS' });
    await scene.runner.stop();
    await done;
    expect(await now(scene, first)).toMatchObject({ status: 'pending', interruptions: 1, run: null });
    expect(await scene.truth.records.waitingIn(first.lane)).toEqual([first.session_id, second.session_id]);
    await scene.runner.execute(second.session_id, noRoom);
    expect((await now(scene, second)).status).toBe('pending');
  });
});

describeWithRedis('a bridge that was asked to stop', () => {
  test('starts nothing more, even before its orderly stop has reached the runs', async () => {
    const leaving = new AbortController();
    const scene = await openScene({ changes: () => ({ leaving: leaving.signal }) });
    const session = await scene.accept('answer');
    leaving.abort();
    await scene.runner.execute(session.session_id, noRoom);
    expect(await now(scene, session)).toMatchObject({ status: 'pending', run: null });
  });
});

describeWithRedis('an unreachable store', () => {
  test('at the start of a run: the run starts later', async () => {
    const scene = await openScene({
      changes: ({ reaper }) => ({
        reaper: {
          ...reaper,
          watch: async (runId, pid) => {
            if (pid === undefined) shut();
            await reaper.watch(runId, pid);
          },
        },
      }),
    });
    const shut = () => scene.gate.shut();
    const session = await scene.accept('answer');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('watched');
    await scene.gate.open();
    await done;
    expect((await now(scene, session)).status).toBe('completed');
  });

  test('between the start and the first output of the agent: not a failure of the agent', async () => {
    const scene = await openScene({
      changes: ({ display }) => ({
        display: {
          ...display,
          begin: (session) => {
            shut();
            display.begin(session);
          },
        },
      }),
    });
    const shut = () => scene.gate.shut();
    const session = await scene.accept('answer');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('begun');
    await awayLine(scene);
    await scene.gate.open();
    await done;
    expect(await now(scene, session)).toMatchObject({ status: 'completed' });
    expect(await scene.truth.records.openIncidents()).toEqual([]);
  });

  test('at the end of a run: its answer is stored later', async () => {
    const scene = await openScene();
    const session = await scene.accept('later');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    scene.gate.shut();
    await scene.events.until('ended');
    await awayLine(scene);
    await scene.gate.open();
    await done;
    expect(await now(scene, session)).toMatchObject({ status: 'completed', answer: 'done' });
  });

  // rule: a-forgotten-record-is-stored-once
  test('that forgot a run gets its record again: the run continues, and its answer is stored', async () => {
    const scene = await openScene({ leaseMs: 600 });
    const session = await scene.accept('hang');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    await forgetAll(scene.truth);
    await scene.events.until(`forgotten ${session.session_id}`);
    const { run } = await now(scene, session);
    expect(await scene.truth.records.lane(session.lane)).toMatchObject({ holder: run?.run_id, waiting: 0 });
    await scene.truth.transitions.cancel(session.session_id, 'x');
    await done;
    expect(await now(scene, session)).toMatchObject({ status: 'cancelled', request: { delivery: 'queued' } });
    expect(scene.events.seen.filter((name) => name === 'started')).toHaveLength(1);
  });

  // rule: a-cancellation-is-kept
  test('that forgets a cancellation gets it again: its job starts nothing', async () => {
    const scene = await openScene();
    const session = await scene.accept('hang');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    await scene.truth.transitions.cancel(session.session_id, 'x');
    await done;
    await forgetAll(scene.truth);
    await scene.truth.regain.waiting(session);
    await scene.runner.execute(session.session_id, noRoom);
    expect(await now(scene, session)).toMatchObject({ status: 'cancelled' });
    expect(scene.events.seen.filter((name) => name === 'started')).toHaveLength(1);
  });

  // rule: a-cancellation-is-kept
  test('that forgets the cancellation of a waiting message gets it again: its job starts nothing', async () => {
    const scene = await openScene();
    const session = await scene.accept('hang');
    await scene.truth.transitions.cancel(session.session_id, 'x');
    await until(() => scene.logged.join('').includes('its cancellation is remembered'));
    await forgetAll(scene.truth);
    await scene.truth.regain.waiting(session);
    await scene.runner.execute(session.session_id, noRoom);
    expect(await now(scene, session)).toMatchObject({ status: 'cancelled' });
    expect(scene.events.seen).not.toContain('started');
  });

  test('that forgets a message about to start gets it again as waiting', async () => {
    const scene = await openScene();
    const waiting = await scene.accept('answer me');
    scene.waiting.keep(waiting);
    await forgetAll(scene.truth);
    await scene.runner.execute(waiting.session_id, noRoom);
    expect(await now(scene, waiting)).toMatchObject({ status: 'pending', request: { message_text: 'answer me' } });
    expect(await scene.truth.records.waitingIn(waiting.lane)).toEqual([waiting.session_id]);
    expect(scene.events.seen).toContain('lane started');
  });

  test('whose reply to the start was lost: the run still starts, once', async () => {
    const scene = await openScene({ changes: ({ store }) => ({ store: losingFirstAnswer(store, 'start') }) });
    const session = await scene.accept('answer');
    await scene.runner.execute(session.session_id, noRoom);
    expect((await now(scene, session)).status).toBe('completed');
    expect(scene.events.seen.filter((name) => name === 'started')).toHaveLength(1);
  });

  // rule: a-lane-goes-on
  test('that has a newer record than the job: nothing starts, and the lane is checked again', async () => {
    const scene = await openScene();
    const stale = await scene.accept('answer');
    scene.waiting.keep(stale);
    const { redis, keys } = scene.truth;
    await redis.hincrby(keys.session(stale.session_id), 'rev', 1);
    await scene.runner.execute(stale.session_id, noRoom);
    expect(await now(scene, stale)).toMatchObject({ status: 'pending' });
    expect(scene.events.seen).toEqual(['watched', 'lane started', 'unwatched']);
    await scene.runner.execute(stale.session_id, noRoom);
    expect((await now(scene, stale)).status).toBe('completed');
  });

  test.each([
    ['is gone', ['DEL']],
    ['is unreadable', ['HSET', 'rev', 'x']],
  ] as const)('with a job whose record %s: nothing starts, and the lane is checked again', async (_, change) => {
    const scene = await openScene();
    const gone = await scene.accept('answer');
    scene.waiting.keep(gone);
    const { redis, keys } = scene.truth;
    const [command, ...args] = change;
    await redis.call(command, keys.session(gone.session_id), ...args);
    await scene.runner.execute(gone.session_id, noRoom);
    // What the store has no more is stored again before the lane is looked at.
    const again = command === 'DEL' ? [`forgotten ${gone.session_id}`] : [];
    expect(scene.events.seen).toEqual(['watched', ...again, 'lane started', 'unwatched']);
  });

  test('that replies about a run only after the run has ended: its answer is stored', async () => {
    let answer: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    let slowFor: string | null = null;
    const scene = await openScene({
      changes: ({ store, endProcesses }) => {
        const session = async (id: string) => {
          if (id === slowFor) {
            isAsked();
            await ended;
          }
          return store.records.session(id);
        };
        const records = standIn(store.records, { session });
        return {
          store: { ...store, records },
          endProcesses: (target) => {
            if (slowFor !== null) answer();
            return endProcesses(target);
          },
        };
      },
    });
    const [first, second] = [await scene.accept('answer', '1'), await scene.accept('later', '2')];
    await scene.runner.execute(first.session_id, noRoom);
    slowFor = first.session_id;
    const done = scene.runner.execute(second.session_id, noRoom);
    await scene.events.until('up');
    const again = scene.runner.execute(second.session_id, noRoom);
    await asked;
    await Promise.all([done, again]);
    expect(await now(scene, second)).toMatchObject({ status: 'completed', answer: 'done' });
  });

  test('whose reply to the end was lost: the next in the lane still starts', async () => {
    const scene = await openScene({ changes: ({ store }) => ({ store: losingFirstAnswer(store, 'complete') }) });
    const session = await scene.accept('answer');
    await scene.runner.execute(session.session_id, noRoom);
    expect((await now(scene, session)).status).toBe('completed');
    expect(scene.events.seen).toContain('lane started');
  });

  // rule: an-expired-lease-is-an-attempt
  test('for longer than a lease: the bridge ends the run itself, which was an attempt', async () => {
    const scene = await openScene({ leaseMs: 1_000 });
    const session = await scene.accept('hang');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    scene.gate.shut();
    await scene.events.until('ended');
    await scene.gate.open();
    await done;
    expect(await now(scene, session)).toMatchObject({ status: 'active', interruptions: 0, released: { by: 'scan' } });
    const [incident] = await scene.truth.records.openIncidents();
    expect(incident).toMatchObject({ attempt: 1, acting: true, not_revived_because: null });
    expect(incident?.findings).toMatchObject([{ rule: 'crash', reason: 'run_lease_expired' }]);
    expect(scene.logged.join('')).toContain('its lease could not be renewed in time');
  });

  // rule: an-expired-lease-is-an-attempt
  test('for longer than a lease and then forgets the run: it was an attempt nevertheless', async () => {
    const scene = await openScene({ leaseMs: 1_000 });
    const session = await scene.accept('hang');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('up');
    scene.gate.shut();
    await scene.events.until('ended');
    await forgetAll(scene.truth);
    await scene.truth.regain.waiting(session);
    await scene.gate.open();
    await done;
    const [incident] = await scene.truth.records.openIncidents();
    expect(incident?.findings).toMatchObject([{ rule: 'crash', reason: 'run_lease_expired' }]);
    expect(scene.events.seen.filter((name) => name === 'started')).toHaveLength(1);
  });
});

/** A store that makes the transition, and whose first answer about it never arrives. */
function losingFirstAnswer(store: Store, name: 'start' | 'complete'): Store {
  let losses = 0;
  const value = async (...args: unknown[]) => {
    const made: unknown = await Reflect.apply(store.transitions[name], store.transitions, args);
    losses += 1;
    if (losses === 1) throw new Error('Connection is closed.');
    return made;
  };
  return { ...store, transitions: standIn(store.transitions, { [name]: value }) };
}

/** Whether the answer in the session's journal counts as one that nobody can have sent. */
function isUnsent(logsFolder: string, sessionId: string): boolean {
  return existsSync(join(dirname(journalPath(logsFolder, sessionId)), 'unsent'));
}

/** Between two looks at what takes seconds. */
const LOOK_EVERY_MS = 10;

/** The run has found that Redis is unreachable. */
async function awayLine({ logged }: Scene): Promise<void> {
  while (!logged.some((line) => line.includes('Redis is unreachable'))) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

describeWithRedis('other failures', () => {
  test('the lease is not renewed forever', async () => {
    const timers: string[] = [];
    const after = (delayMs: number, task: () => void) => {
      const place = timers.push('waits') - 1;
      const timer = systemClock.after(delayMs, () => {
        timers[place] = 'is over';
        task();
      });
      const cancel = () => {
        timers[place] = 'is cancelled';
        timer.cancel();
      };
      return { cancel };
    };
    const clock = { ...systemClock, after };
    const scene = await openScene({
      changes: () => ({ clock, endProcesses: () => Promise.reject(new Error('no /proc')) }),
    });
    const session = await scene.accept('answer');
    await scene.runner.execute(session.session_id, noRoom);
    expect(timers[0]).toBe('is cancelled');
    expect(timers).not.toContain('waits');
    expect(scene.logged.join('')).toContain('no /proc');
    // What may still live stays the reaper's.
    expect(scene.events.seen).not.toContain('unwatched');
  });

  test('a session that was just put back is run again, not mistaken for the run that ends', async () => {
    let again: Promise<void> | null = null;
    let scene: Scene | null = null;
    scene = await openScene({
      leaseMs: 1_000,
      changes: ({ store }) => ({
        store: {
          ...store,
          transitions: standIn(store.transitions, {
            interrupt: async (...args: Parameters<Store['transitions']['interrupt']>) => {
              const pending = await store.transitions.interrupt(...args);
              again ??= must(scene).runner.execute(args[0], noRoom);
              return pending;
            },
          }),
        },
      }),
    });
    const session = await scene.accept('limit');
    const done = scene.runner.execute(session.session_id, noRoom);
    await scene.events.until('ended');
    const secondStart = scene.events.next('started');
    await done;
    await secondStart;
    await scene.truth.transitions.cancel(session.session_id, 'x');
    await again;
    expect((await now(scene, session)).status).toBe('cancelled');
  });

  test('an agent whose output can no longer be read is a lost run', async () => {
    const events = async function* (): AsyncGenerator<AgentEvent> {
      yield { type: 'note', text: 'up' };
      throw new Error('the stream broke');
    };
    const agent = { kind: 'broken', start: () => ({ pid: null, events: events() }) };
    const scene = await openScene({ changes: () => ({ agents: { get: () => agent } }) });
    const session = await scene.accept('answer');
    await scene.runner.execute(session.session_id, noRoom);
    const [incident] = await scene.truth.records.openIncidents();
    expect(incident?.findings[0]?.evidence).toEqual(['the agent could not be started']);
    expect(incident?.untrusted_excerpt).toContain('the stream broke');
    expect(existsSync(journalPath(scene.folder, session.session_id))).toBe(true);
  });
});

describeWithRedis('a lease whose store does not answer at all', () => {
  test('is given up after one lease, not after the limit of the store', async () => {
    const clock = new ManualClock();
    const lost: string[] = [];
    // A server that accepts and says nothing.
    const store = { transitions: { renewLease: () => new Promise(() => {}) } } as unknown as Store;
    const logger = createLogger({ level: 'silent', redact: (text) => text, clock, destinations: [] });
    const stop = keepRunLease(store, clock, logger, {
      session: { session_id: 's' } as AgentSession,
      leaseMs: 3_000,
      since: 0,
      lastActivity: () => 0,
      onLost: (cause) => void lost.push(`${cause} at ${clock.monotonic()}`),
      reclaim: async () => false,
      onStopRequest: () => undefined,
    });
    await clock.advance(6_000);
    stop();
    expect(lost).toEqual(['self_fenced at 3000']);
  });

  test('a late timer renews first', async () => {
    const clock = new ManualClock();
    const lost: string[] = [];
    const store = {
      transitions: { renewLease: async () => true },
      records: { session: async () => null },
    } as unknown as Store;
    const logger = createLogger({ level: 'silent', redact: (text) => text, clock, destinations: [] });
    const keeper = {
      session: { session_id: 's' } as AgentSession,
      leaseMs: 3_000,
      since: 0,
      lastActivity: () => 0,
      onLost: (cause: string) => void lost.push(cause),
      reclaim: async () => false,
      onStopRequest: () => undefined,
    };
    const stop = keepRunLease(store, clock, logger, keeper);
    await clock.untilWaiting();
    await clock.stall(60_000);
    await clock.advance(2_000);
    stop();
    expect(lost).toEqual([]);
  });
});
