/** Processes that stand still and go on: all of them, as while a host sleeps, and some of them, which is another matter. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ensureLogsFolderId, readLogsFolderId } from '../../src/files/logsFolder.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { laneOf } from '../../src/jobs/names.js';
import { openStore } from '../../src/jobs/store.js';
import { JournalWriter } from '../../src/journal/writer.js';
import { HOUR, MINUTE, SECOND, systemClock } from '../../src/time.js';
import { afterThisTest } from '../harness/scope.js';
import { must } from '../monitoring/incident/saga/sagaScene.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, sayIn } from './testScene.js';

const TIMEOUT_MS = 120_000;
const SILENCE_MS = 6 * SECOND;
const STOPPED_MS = 10 * SECOND;
const HOST = 'scene-host';
const ENVIRONMENT = { WATCHDOG_SILENCE_MS: String(SILENCE_MS), WATCHKEEPER_HOST: HOST };
const REAL_AGENTS = 6;
const SESSIONS = 50;

const BUSY: Scenario = {
  steps: [
    { do: 'repeat', times: 16, steps: [{ do: 'call', tool: 'bash', input: { n: '{{index}}' }, takes_ms: 500 }] },
    { do: 'answer', text: 'awake again' },
  ],
};
/** Between two calls, so that no call in flight excuses it; and for so long that it does not answer when it is woken to be ended. */
const THINKING: Scenario = {
  steps: [
    { do: 'call', tool: 'bash', input: {} },
    { do: 'sleep', ms: 60_000 },
    { do: 'answer', text: 'at the first try' },
  ],
};
const AT_ONCE: Scenario = { when: { attempt: 2 }, steps: [{ do: 'answer', text: 'at the second try' }] };

describeScenes('bridge, reaper, standby and agents stopped together for longer than the silence limit', () => {
  // rule: a-standstill-accuses-nobody
  test(
    'accuse none of 50 active sessions; each watchdog reports its gap once, and every agent answers',
    async () => {
      const scene = await openFleet(REAL_AGENTS, [BUSY]);
      const bridge = await scene.startBridge();
      const standby = await startStandby(scene);
      const others = await Promise.all(
        Array.from({ length: SESSIONS - REAL_AGENTS }, (_, index) => leaveActive(scene, index)),
      );
      const asked = Array.from({ length: REAL_AGENTS }, (_, index) => new Conversation(scene, 'hull', index + 1, 'go'));
      const work = keepWorking(scene, others);
      await Promise.all(asked.map((each) => each.start()));
      await scene.until('calls of every agent', () =>
        asked.every(({ session }) => scene.evidence.journal(session).some(({ event }) => event === 'post_tool_use')),
      );
      expect((await scene.store.records.sessionIds('active')).length).toBe(SESSIONS);

      work.pause();
      // The bridge's descendants are its reaper, its agents, and their tools.
      const stopped = standStill([standby, ...descendantsOf(bridge.pid), bridge.pid].map(pidOf));
      await systemClock.sleep(STOPPED_MS);
      work.goOn();
      stopped.goOn();

      for (const each of asked) await each.answered('awake again', 60_000);
      const gaps = await scene.until('a gap of each watchdog', () => {
        const found = longGaps(scene);
        return found.length >= 2 ? found : null;
      });
      expect(gaps.map(({ details }) => details?.pid).sort()).toEqual([bridge.pid, standby.pid].sort());
      expect(gaps.map(({ details }) => details?.cause)).toEqual(['process_stood', 'process_stood']);
      const accused = scene.evidence.criticalEvents().filter(({ event }) => event !== 'watchdog_gap');
      expect(accused).toEqual([]);
      expect(scene.github.issues()).toEqual([]);
      for (const each of asked) expect(each.starts()).toHaveLength(1);
      expect((await scene.store.records.sessionIds('active')).length).toBe(others.length);
    },
    TIMEOUT_MS,
  );
});

describeScenes('agents stopped alone', () => {
  // rule: silence-of-agents-alone-counts
  test(
    'are silent, and accused of it: no watchdog was late',
    async () => {
      const scene = await openFleet(1, [AT_ONCE, THINKING]);
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'hull', 1, 'go');
      const { pid } = await asked.start();
      const hasCalled = () => scene.evidence.journal(asked.session).some(({ event }) => event === 'post_tool_use');
      await scene.until('a call', hasCalled);
      standStill([pid]);
      const detected = await asked.event(({ action_taken }) => action_taken === 'detected');
      expect(detected).toMatchObject({ rule: 'silence' });
      await asked.answered('at the second try');
      expect(longGaps(scene)).toEqual([]);
      expect(bridge.exit).toBeNull();
    },
    TIMEOUT_MS,
  );
});

describeScenes('a bridge stopped alone', () => {
  // rule: a-run-without-its-lane-writes-nothing
  test(
    'loses its run to its reaper and the standby, and does nothing twice when it continues',
    async () => {
      const scene = await openFleet(1, [AT_ONCE, BUSY]);
      const bridge = await scene.startBridge();
      const standby = await startStandby(scene);
      const asked = new Conversation(scene, 'hull', 1, 'go');
      await asked.start();
      // Of a run whose process nobody has noted, a living owner may be about to start it: that is never proven dead.
      await scene.until('the noted process of the agent', async () => {
        const session = await scene.store.records.session(asked.session);
        return typeof session?.run?.pid === 'number';
      });
      const stopped = standStill([bridge.pid]);
      const detected = await asked.event(({ action_taken }) => action_taken === 'detected');
      await standby.says('this watchdog acts now');
      expect(['orphan', 'silence']).toContain(detected.rule);
      await asked.event(({ action_taken }) => action_taken === 'revival_attempted');
      stopped.goOn();
      await asked.answered('at the second try', 40_000);
      await asked.closing();
      expect([asked.starts().length, asked.starts(asked.revival).length]).toEqual([1, 1]);
      expect(asked.events().filter(({ action_taken }) => action_taken === 'detected')).toHaveLength(1);
      await scene.until('the gap of the bridge', () =>
        longGaps(scene).some(({ details }) => details?.pid === bridge.pid),
      );
    },
    TIMEOUT_MS,
  );
});

describeScenes('a gap that a watchdog has recorded', () => {
  // rule: a-gap-is-known-to-others
  test(
    'is known to `session`; `watchdog --once` judges by the journals as they are',
    async () => {
      const scene = await openFleet(1, [BUSY]);
      const logsId = await ensureLogsFolderId(scene.logs, systemClock);
      const asleepSince = systemClock.now() - HOUR;
      // Longer than a command takes on any machine.
      const patient = { WATCHDOG_SILENCE_MS: String(10 * MINUTE) };
      const { session_id: sessionId } = await leaveActive(scene, 0, asleepSince);
      const clock = { ...systemClock, now: () => asleepSince };
      const journal = JournalWriter.open({ clock, logsFolder: scene.logs, sessionId, redact: (text) => text });
      journal.append({ event: 'user_prompt', origin: 'human' });
      journal.close();
      const judged = () => sayIn(scene, ['session', sessionId, '--json'], patient);
      const before = await judged();
      expect(JSON.parse(before.out).assessment).toMatchObject({ verdict: 'unhealthy' });
      await scene.store.gaps.add(logsId, {
        gap_id: 'gap-of-the-test',
        from: asleepSince,
        until: systemClock.now(),
        cause: 'host_slept',
        by: { ...readProcessIdentity(HOST), pid: 1 },
        acted: true,
      });
      const after = await judged();
      expect(JSON.parse(after.out).assessment).toMatchObject({ verdict: 'healthy', findings: [] });
      const once = await sayIn(scene, ['watchdog', '--once', '--dry-run', '--json'], patient);
      expect(JSON.parse(once.out)).toMatchObject({ unhealthy: [{ findings: [{ rule: 'silence' }] }] });
    },
    TIMEOUT_MS,
  );
});

async function openFleet(chats: number, scenarios: readonly Scenario[]): Promise<BridgeScene> {
  return openTestScene({
    projects: {
      hull: {
        chats: Array.from({ length: chats }, (_, index) => ({ id: index + 1, directory: `deck-${index + 1}` })),
        scenarios,
      },
    },
    environment: ENVIRONMENT,
    concurrency: chats,
  });
}

async function startStandby(scene: BridgeScene): Promise<Program> {
  const standby = scene.start(['watchdog']);
  await standby.says('this one is on standby');
  return standby;
}

/** An active session with a journal of its own whose owner lives: the test, which works for it. */
async function leaveActive(scene: BridgeScene, index: number, since = systemClock.now()): Promise<AgentSession> {
  const { transitions } = openStore(scene.store.redis, { ...systemClock, now: () => since });
  const directory = `/srv/deck-${index}`;
  const { session } = await transitions.accept({
    session_id: `tg_hull_1_9${index}`,
    project_key: 'hull',
    chat_id: '1',
    message_id: `9${index}`,
    thread_id: null,
    sender: { id: '1', name: 'Ada' },
    message_text: 'caulk the seams',
    conversation_key: `hull/1//${index}`,
    // Of no bridge: it would take the session before this test does.
    lane: laneOf('host-of-the-test', directory),
    working_directory: directory,
    agent: 'scripted',
  });
  const run = {
    run_id: `run-of-the-test-${index}`,
    owner: readProcessIdentity(HOST),
    pid: null,
    started_at: since,
    logs_id: must(readLogsFolderId(scene.logs)),
  };
  return must(await transitions.start(session, run, 2 * HOUR)).session;
}

/** Calls in every journal, twice a second, for as long as it is not paused. */
function keepWorking(scene: BridgeScene, sessions: readonly AgentSession[]): { pause(): void; goOn(): void } {
  const journals = sessions.map(({ session_id: sessionId }) =>
    JournalWriter.open({ clock: systemClock, logsFolder: scene.logs, sessionId, redact: (text) => text }),
  );
  for (const journal of journals) {
    journal.append({ event: 'session_start', source: 'startup' });
    journal.append({ event: 'user_prompt', origin: 'human' });
  }
  const work = () => {
    for (const journal of journals) journal.append({ event: 'assistant_message' });
  };
  let ticking = setInterval(work, 500);
  afterThisTest(() => {
    clearInterval(ticking);
    for (const journal of journals) journal.close();
  });
  return {
    pause: () => clearInterval(ticking),
    goOn() {
      ticking = setInterval(work, 500);
    },
  };
}

/** Stops processes; whatever becomes of the test, they go on at its end. */
function standStill(pids: readonly number[]): { goOn(): void } {
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended meanwhile.
      }
    }
  };
  signalAll('SIGSTOP');
  afterThisTest(() => signalAll('SIGCONT'));
  return { goOn: () => signalAll('SIGCONT') };
}

function pidOf(process: Program | number): number {
  return typeof process === 'number' ? process : process.pid;
}

function descendantsOf(pid: number): number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((each) => Number.isInteger(each) && parentOf(each) === pid);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return null;
  }
}

/** A busy machine may delay a process by seconds; what the test did is longer. */
function longGaps(scene: BridgeScene): CriticalEvent[] {
  return scene.evidence
    .criticalEvents()
    .filter(({ event, details }) => event === 'watchdog_gap' && Number(details?.gap_ms) > STOPPED_MS / 2);
}
