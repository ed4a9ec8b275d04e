import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { WatchedSessions } from '../../monitoring/watch/watchedSessions.js';
import { ensureLogsFolderId } from '../../src/files/logsFolder.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { publishWake } from '../../src/jobs/wakes.js';
import { journalPath } from '../../src/journal/path.js';
import { applyCommit } from '../../src/redis/commit.js';
import { MINUTE, SECOND } from '../../src/time.js';
import { describeWithRedis } from '../harness/redis.js';
import { standIn } from '../harness/standIn.js';
import {
  acceptMessage,
  eventLines,
  incidentNow,
  LANE,
  LEASE_MS,
  must,
  openIncident,
  releaseRun,
  runIdOf,
  type SagaScene,
  sessionNow,
  settle,
} from './incident/saga/sagaScene.js';
import {
  atRest,
  BEGINNING,
  deadProcess,
  everything,
  failingBatches,
  HERE,
  journalOf,
  openWatchdogScene,
  runOf,
  SILENCE_MS,
  startWatchdog,
  ticksIn,
  until,
} from './watchdogScene.js';

async function openIncidents({ store }: SagaScene) {
  return store.records.openIncidents();
}

/** @returns the same, noting each session that a method is called with */
function noting(watched: WatchedSessions, method: 'assess' | 'refreshOne', sessionIds: string[]): WatchedSessions {
  const call = watched[method].bind(watched) as (...args: unknown[]) => unknown;
  const value = (...args: unknown[]) => {
    sessionIds.push(String(args[0]));
    return call(...args);
  };
  return standIn(watched, { [method]: value });
}

describeWithRedis('silence', () => {
  test('is found at the instant at which it becomes true, not at a tick', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    const journal = journalOf(scene, session);
    for (const line of BEGINNING) journal.append(line);
    await startWatchdog(scene);
    await scene.clock.advance(SILENCE_MS);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    await scene.clock.advance(1);
    await until(async () => (await openIncidents(scene)).length === 1);
    await atRest(scene);
    expect((await openIncidents(scene))[0]).toMatchObject({ rule: 'silence', step: 'stopping' });
    expect(ticksIn(scene)).toBe(1);
  });

  test('is judged from the last activity, even if no check saw it when it came', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    const journal = journalOf(scene, session);
    for (const line of BEGINNING) journal.append(line);
    await startWatchdog(scene);
    expect(scene.logged.some((line) => line.includes('watchdog: 1 session, 1 healthy, '))).toBe(true);
    await scene.clock.advance(7 * MINUTE);
    journal.append({ event: 'assistant_message' });
    await scene.clock.advance(3 * MINUTE + 1);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    await scene.clock.advance(7 * MINUTE - 1);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    await scene.clock.advance(1);
    await until(async () => (await openIncidents(scene)).length === 1);
  });

  test('and runaway at once are one incident with both findings, led by silence', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    const journal = journalOf(scene, session);
    for (const line of BEGINNING) journal.append(line);
    await scene.clock.advance(3 * 60 * MINUTE);
    await scene.watchdogLease.start();
    await scene.watchdog.checkAllSessions();
    const [incident, ...others] = await openIncidents(scene);
    expect(others).toEqual([]);
    expect(incident?.rule).toBe('silence');
    expect(incident?.findings.map(({ rule }) => rule).sort()).toEqual(['runaway', 'silence']);
  });

  test('is found although Redis fails briefly at its instant', async () => {
    let broken = false;
    const scene = await openWatchdogScene({
      changes: ({ watched }) => ({
        watched: standIn(watched, {
          refreshOne: async (id: string) => {
            if (broken) throw new Error('Redis is away');
            return watched.refreshOne(id);
          },
        }),
      }),
    });
    const session = await runOf(scene);
    const journal = journalOf(scene, session);
    for (const line of BEGINNING) journal.append(line);
    await startWatchdog(scene);
    broken = true;
    await scene.clock.advance(SILENCE_MS + 1);
    await until(() => scene.logged.some((line) => line.includes('Redis is away')));
    broken = false;
    await scene.clock.untilWaiting(2);
    await scene.clock.advance(10 * SECOND);
    await until(async () => (await openIncidents(scene)).length === 1);
    expect(ticksIn(scene)).toBe(1);
  });

  test('is found although the record changes at the same instant', async () => {
    let changes = 0;
    const scene = await openWatchdogScene({
      changes: ({ saga, store }) => ({
        saga: standIn(saga, {
          accuse: async (...args: Parameters<typeof saga.accuse>) => {
            changes += 1;
            const learned = { progressMessageId: '9' };
            if (changes === 1) await store.transitions.recordRun(args[0].session_id, runIdOf(args[0]), learned);
            return saga.accuse(...args);
          },
        }),
      }),
    });
    const session = await runOf(scene);
    const journal = journalOf(scene, session);
    for (const line of BEGINNING) journal.append(line);
    await startWatchdog(scene);
    await scene.clock.advance(SILENCE_MS + 1);
    await until(() => changes === 1);
    await scene.clock.untilWaiting(2);
    await scene.clock.advance(10 * SECOND);
    await until(async () => (await openIncidents(scene)).length === 1);
  });
});

describeWithRedis('waiting messages', () => {
  test('are checked a little later if Redis fails briefly at their instant', async () => {
    let isAway = false;
    let looks = 0;
    const scene = await openWatchdogScene({
      changes: ({ backlog }) => ({
        backlog: standIn(backlog, {
          look: async (...given: Parameters<typeof backlog.look>) => {
            if (isAway) throw new Error('Redis is away');
            looks += 1;
            return backlog.look(...given);
          },
        }),
      }),
    });
    await startWatchdog(scene);
    const [before, ticks] = [looks, ticksIn(scene)];
    isAway = true;
    scene.agenda.lookAtLanes(scene.clock.now());
    await until(() => scene.logged.some((line) => line.includes('waiting messages will be checked a little later')));
    isAway = false;
    await scene.clock.untilWaiting(2);
    await scene.clock.advance(10 * SECOND);
    await until(() => looks > before);
    expect(ticksIn(scene)).toBe(ticks);
  });
});

describeWithRedis('an action', () => {
  test('off: the rule is not judged; report: the run continues', async () => {
    const off = await openWatchdogScene({ actions: { silence: 'off' } });
    await runOf(off);
    await off.clock.advance(SILENCE_MS + 1);
    await off.watchdogLease.start();
    expect((await off.watchdog.checkAllSessions()).accused.size).toBe(0);

    const report = await openWatchdogScene({ actions: { silence: 'report' } });
    const session = await runOf(report);
    await report.clock.advance(SILENCE_MS + 1);
    await report.watchdogLease.start();
    await report.watchdog.checkAllSessions();
    await report.sagaOfIt.settle();
    expect((await openIncidents(report))[0]).toMatchObject({ step: 'detected', acting: false });
    expect(await sessionNow(report, session)).toMatchObject({ status: 'active', stop: null });
  });

  // rule: a-report-changes-no-end
  test('report: the incident closes as recovered if the agent works on, but not if its run only ends', async () => {
    for (const [event, outcome] of [
      [{ event: 'assistant_message' }, 'recovered'],
      [{ event: 'session_end', reason: 'stopped' }, null],
    ] as const) {
      const scene = await openWatchdogScene({ actions: { silence: 'report' } });
      const session = await runOf(scene);
      const journal = journalOf(scene, session);
      for (const line of BEGINNING) journal.append(line);
      await scene.watchdogLease.start();
      await scene.clock.advance(SILENCE_MS + 1);
      await scene.watchdog.checkAllSessions();
      await scene.sagaOfIt.settle();
      const incident = must((await openIncidents(scene))[0]);
      journal.append(event);
      await scene.watchdog.checkAllSessions();
      await scene.sagaOfIt.settle();
      expect(await incidentNow(scene, incident)).toMatchObject({ acting: false, outcome });
    }
  });

  test('of a project that is no longer configured is the default one', async () => {
    const scene = await openWatchdogScene({ isConfigured: false });
    await runOf(scene);
    await scene.clock.advance(SILENCE_MS + 1);
    await scene.watchdogLease.start();
    expect((await scene.watchdog.checkAllSessions()).accused.size).toBe(1);
  });
});

describeWithRedis('a run of a bridge with another logs folder', () => {
  test('is accused by no rule that needs its journal; a run of this folder or of an older version is', async () => {
    const scene = await openWatchdogScene();
    await runOf(scene, '1', HERE, undefined, 'ELSEWHERE');
    const own = await runOf(scene, '2', HERE, undefined, await ensureLogsFolderId(scene.folder, scene.clock));
    const former = await runOf(scene, '3');
    await scene.watchdogLease.start();
    await scene.clock.advance(SILENCE_MS + 1);
    const { accused, sessions } = await scene.watchdog.checkAllSessions();
    expect(sessions).toBe(3);
    expect([...accused.keys()].sort()).toEqual([own.session_id, former.session_id].sort());
  });

  test('is an orphan when its bridge is proven dead', async () => {
    const scene = await openWatchdogScene();
    const lost = await runOf(scene, '1', deadProcess(), undefined, 'ELSEWHERE');
    await scene.watchdogLease.start();
    const { accused } = await scene.watchdog.checkAllSessions();
    expect(accused.get(lost.session_id)?.map(({ rule }) => rule)).toEqual(['orphan']);
  });

  test('keeps the incident that its own watchdog opened', async () => {
    const scene = await openWatchdogScene({ actions: { silence: 'report' } });
    const session = await runOf(scene, '1', HERE);
    await scene.clock.advance(SILENCE_MS + 1);
    await scene.watchdogLease.start();
    await scene.watchdog.checkAllSessions();
    await atRest(scene);
    const { incident_id, run } = await sessionNow(scene, session);
    expect(incident_id).not.toBeNull();
    const elsewhere = JSON.stringify({ ...run, logs_id: 'ELSEWHERE' });
    await scene.store.redis.hset(scene.store.keys.session(session.session_id), 'run', elsewhere);
    await scene.store.redis.hincrby(scene.store.keys.session(session.session_id), 'rev', 1);
    await scene.store.redis.zincrby(scene.store.keys.status('active'), 1, session.session_id);
    await scene.watchdog.checkAllSessions();
    await atRest(scene);
    expect(await sessionNow(scene, session)).toMatchObject({ incident_id });
  });
});

describeWithRedis('an unreadable record', () => {
  // rule: an-unreadable-record-is-set-aside
  test('of a session frees its lane when its run has ended: kept whole, an event, the chat notified once', async () => {
    let hasProcesses = true;
    const scene = await openWatchdogScene({ mayHaveProcesses: () => hasProcesses });
    const { store, clock } = scene;
    const session = await runOf(scene, '1', HERE, LEASE_MS);
    const key = store.keys.session(session.session_id);
    await store.redis.hset(key, 'run', '{"run_id":');
    const bytes = await store.redis.hgetall(key);
    await scene.watchdogLease.start();
    await scene.watchdog.checkAllSessions();
    await clock.advance(2 * LEASE_MS + 1);
    await scene.watchdog.checkAllSessions();
    // Its lease is long over, and a process of it is left.
    expect(await store.redis.hgetall(key)).toEqual(bytes);
    expect((await store.records.lane(session.lane)).holder).toBe(runIdOf(session));
    hasProcesses = false;
    await scene.watchdog.checkAllSessions();
    expect(await store.redis.hgetall(store.keys.quarantine('session', session.session_id))).toEqual(bytes);
    expect((await store.records.lane(session.lane)).holder).toBeNull();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'failed', end_reason: 'record_unreadable' });
    expect(await scene.chat.deliver(session.session_id)).toBe('sent');
    expect(scene.said.join()).toContain("Sorry, I ran into an issue and couldn't recover.");
    await scene.watchdog.checkAllSessions();
    const events = eventLines(scene).filter(({ reason }) => reason === 'record_unreadable');
    expect(events).toMatchObject([{ event: 'session_unrecoverable', session_id: session.session_id, final: true }]);
  });

  test('of a session waits for the lease of its run', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene, '1', HERE, LEASE_MS);
    await scene.store.redis.hset(scene.store.keys.session(session.session_id), 'run', '{');
    await scene.watchdogLease.start();
    await scene.clock.advance(2 * LEASE_MS);
    await scene.watchdog.checkAllSessions();
    expect((await scene.store.records.lane(session.lane)).holder).toBe(runIdOf(session));
  });

  // rule: an-unreadable-record-is-set-aside
  test.each([
    ['a status of a newer version', 'status', 'pondering'],
    ['torn JSON', 'sender', '{"id":'],
    ['a torn number', 'created_at', ''],
  ])(
    'of a waiting message (%s) is reported in the event log and in its chat before the next one starts',
    async (_, field, value) => {
      const scene = await openWatchdogScene();
      const { store } = scene;
      const [torn, next] = [await acceptMessage(scene, '1'), await acceptMessage(scene, '2')];
      const key = store.keys.session(torn.session_id);
      await store.redis.hset(key, field, value);
      const bytes = await store.redis.hgetall(key);
      await scene.queue.pump();
      expect(await store.records.waitingIn(LANE)).toEqual([torn.session_id, next.session_id]);
      await scene.watchdogLease.start();
      await scene.watchdog.checkAllSessions();
      expect(await store.redis.hgetall(store.keys.quarantine('session', torn.session_id))).toEqual(bytes);
      expect(await store.quarantine.kept()).toEqual([store.keys.quarantine('session', torn.session_id)]);
      expect(await store.records.waitingIn(LANE)).toEqual([next.session_id]);
      expect(await store.records.sessionIds('pending')).toEqual([next.session_id]);
      expect(await sessionNow(scene, torn)).toMatchObject({ status: 'failed', end_reason: 'record_unreadable' });
      expect(await scene.chat.deliver(torn.session_id)).toBe('sent');
      expect(scene.said.join()).toContain("Sorry, I ran into an issue and couldn't recover.");
      await scene.watchdog.checkAllSessions();
      const events = eventLines(scene).filter(({ reason }) => reason === 'record_unreadable');
      expect(events).toMatchObject([{ event: 'session_unrecoverable', session_id: torn.session_id, final: true }]);
    },
  );

  test.each([
    ['torn', '{"incident_id":'],
    [
      'of a newer version',
      '{"incident_id":"X","session_id":"s","step":"pondering","findings":[],"report":{"due_at":null}}',
    ],
  ])('of an incident (%s) is kept whole, and its session is judged again', async (_, doc) => {
    const scene = await openWatchdogScene();
    const { store } = scene;
    const session = await runOf(scene, '1', HERE);
    await scene.clock.advance(SILENCE_MS + 1);
    await scene.watchdogLease.start();
    await scene.watchdog.checkAllSessions();
    await atRest(scene);
    const first = must((await sessionNow(scene, session)).incident_id);
    await store.redis.hset(store.keys.incident(first), 'doc', doc);
    await scene.watchdog.checkAllSessions();
    await scene.watchdog.checkAllSessions();
    await atRest(scene);
    expect(await store.redis.hget(store.keys.quarantine('incident', first), 'doc')).toBe(doc);
    const second = must((await sessionNow(scene, session)).incident_id);
    expect(second).not.toBe(first);
    expect((await store.records.openIncidents()).map(({ incident_id }) => incident_id)).toEqual([second]);
    const last = eventLines(scene)
      .filter(({ incident_id }) => incident_id === first)
      .at(-1);
    expect(last).toMatchObject({ final: true, reason: 'record_unreadable', session_id: session.session_id });
  });
});

describeWithRedis('an orphan', () => {
  test('is a session whose bridge is proven dead', async () => {
    const scene = await openWatchdogScene();
    const lost = await runOf(scene, '1', deadProcess());
    await runOf(scene, '2', HERE);
    await runOf(scene, '3', { ...HERE, host: 'another' });
    await scene.watchdogLease.start();
    const { accused } = await scene.watchdog.checkAllSessions();
    expect([...accused.keys()]).toEqual([lost.session_id]);
    expect(accused.get(lost.session_id)?.[0]).toMatchObject({ rule: 'orphan', reason: 'run_lost' });
  });

  test('is a session whose lease expired a whole lease ago, at a tick and in between', async () => {
    const scene = await openWatchdogScene({ actions: { silence: 'off' } });
    const session = await runOf(scene, '1', { ...HERE, host: 'another' }, LEASE_MS);
    await scene.watchdogLease.start();
    await scene.clock.advance(2 * LEASE_MS);
    expect((await scene.watchdog.checkAllSessions()).accused.size).toBe(0);
    await scene.clock.advance(5 * MINUTE);
    const { accused } = await scene.watchdog.checkAllSessions();
    expect(accused.get(session.session_id)?.[0]?.evidence.join()).toContain('8 min');
  });

  test('with a report-only rule is failed and reported, not revived, because its lane would be held forever', async () => {
    const scene = await openWatchdogScene({ actions: { orphan: 'report', silence: 'report' } });
    const session = await runOf(scene, '1', deadProcess());
    await releaseRun(scene, session);
    await scene.watchdogLease.start();
    await scene.watchdog.checkAllSessions();
    const incident = must((await openIncidents(scene))[0]);
    await settle(scene.sagaOfIt, incident.incident_id);
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'failed', revived_by: null });
    expect(scene.said.join('')).toContain('such failures only reported');
  });

  test('is not a session that its own incident released', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene, '1', deadProcess());
    await openIncident(scene, session);
    await releaseRun(scene, session);
    await scene.watchdogLease.start();
    await scene.watchdog.checkAllSessions();
    const [incident] = await openIncidents(scene);
    expect(incident?.findings.map(({ rule }) => rule)).toEqual(['silence']);
  });

  test('is a released session whose incident only reports', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene, '1', deadProcess());
    await openIncident(scene, session, { reportOnly: true });
    await releaseRun(scene, session);
    await scene.watchdogLease.start();
    await scene.watchdog.checkAllSessions();
    await scene.sagaOfIt.settle();
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'failed' });
    expect(await scene.store.records.session(`${session.session_id}_r1`)).toMatchObject({ status: 'pending' });
  });
});

describeWithRedis('one broken record', () => {
  test('of a session, an incident, the head of a lane or a journal stops nothing else and is reported once', async () => {
    const scene = await openWatchdogScene();
    const { redis, keys } = scene.store;
    const broken = await runOf(scene, '1');
    await redis.hset(keys.session(broken.session_id), 'created_at', 'yesterday');
    await redis.hset(keys.incident('broken'), 'rev', '1', 'doc', '{"incident_id":"bro');
    await redis.zadd(keys.openIncidents, 1, 'broken');
    const waiting = await acceptMessage(scene, '2');
    await redis.hset(keys.session(waiting.session_id), 'sender', 'Ann');
    await acceptMessage(scene, '6');
    const unreadable = await runOf(scene, '3');
    const path = journalPath(scene.folder, unreadable.session_id);
    mkdirSync(path, { recursive: true });
    const linked = await runOf(scene, '4');
    mkdirSync(dirname(journalPath(scene.folder, linked.session_id)), { recursive: true });
    symlinkSync('/dev/zero', journalPath(scene.folder, linked.session_id));
    const silent = await runOf(scene, '5');
    for (const line of BEGINNING) journalOf(scene, silent).append(line);
    await scene.clock.advance(SILENCE_MS + 1);
    await scene.watchdogLease.start();
    for (let ticks = 1; ticks <= 3; ticks += 1) {
      const { accused } = await scene.watchdog.checkAllSessions();
      expect([...accused.keys()]).toContain(silent.session_id);
    }
    await scene.sagaOfIt.settle();
    const saying = (words: string) => scene.logged.filter((line) => line.includes(words));
    expect(saying(`session ${broken.session_id}: the field`)).toHaveLength(1);
    expect(saying('incident broken: the record is not JSON')).toHaveLength(1);
    expect(saying('is not a plain file')).toHaveLength(2);
    expect(saying(`session ${waiting.session_id}: the field`)).toHaveLength(1);
    expect(await scene.store.records.waitingIn(waiting.lane)).toEqual(['tg_popoto_-100_6']);
    expect(ticksIn(scene)).toBe(3);
  });

  test('an incident whose session cannot be read is logged once, and not every five seconds', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    await openIncident(scene, session);
    await scene.store.redis.hset(scene.store.keys.session(session.session_id), 'rev', 'x');
    await startWatchdog(scene);
    await until(() => scene.logged.some((line) => line.includes('waits')));
    for (let round = 0; round < 5; round += 1) {
      await scene.clock.advance(10 * SECOND);
      await atRest(scene);
    }
    expect(scene.logged.filter((line) => line.includes('waits'))).toHaveLength(1);
  });

  test('an invalid message on the wake channel ends no process', async () => {
    const scene = await openWatchdogScene();
    const heard: unknown[] = [];
    scene.wakes.listen((wake) => void heard.push(wake));
    for (const text of ['', '{"session":', 'null', '42']) {
      await scene.store.redis.publish(scene.store.keys.wakeChannel, text);
    }
    await publishWake(scene.store, { session: 'the last one' });
    await until(() => heard.length > 0);
    expect(heard).toEqual([{ session: 'the last one' }]);
  });
});

describeWithRedis('the schedule', () => {
  test('of a standby counts as kept: it leaves its rounds to the acting watchdog, and is not late when it takes over', async () => {
    const scene = await openWatchdogScene();
    await scene.watchdog.start();
    await until(() => scene.watchdog.lastTickAt !== null);
    expect(scene.watchdog.lastTickAt).toBe(scene.clock.now());
    expect(ticksIn(scene)).toBe(0);
  });

  test('forgets no wake that arrived during a full check', async () => {
    let during: () => Promise<void> = async () => undefined;
    const scene = await openWatchdogScene({
      changes: ({ queue }) => ({
        queue: {
          pump: async () => {
            await during();
            return queue.pump();
          },
        },
      }),
    });
    await startWatchdog(scene);
    // A session begins, and the owner of another one opens a crash, just before the tick ends.
    const heard: unknown[] = [];
    scene.wakes.listen((wake) => void heard.push(wake));
    let crashed = '';
    during = async () => {
      during = async () => undefined;
      const session = await runOf(scene);
      for (const line of BEGINNING) journalOf(scene, session).append(line);
      const other = await runOf(scene, '2');
      crashed = (await openIncident(scene, other)).incident_id;
      await until(() => heard.some((wake) => (wake as { incident?: string }).incident === crashed));
    };
    scene.agenda.tick();
    await until(() => ticksIn(scene) === 2);
    await until(async () => (await scene.store.records.incident(crashed))?.step === 'stopping');
    await atRest(scene);
    await scene.clock.advance(SILENCE_MS + 1);
    const detected = eventLines(scene).filter(({ action_taken }) => action_taken === 'detected');
    expect(new Set(detected.map(({ session_id }) => session_id))).toEqual(
      new Set(['tg_popoto_-100_1', 'tg_popoto_-100_2']),
    );
    expect(ticksIn(scene)).toBe(2);
  });

  // rule: only-what-changed-is-judged
  test('judges again only if journal or record changed, a deadline came, or the owner is gone', async () => {
    const judged: string[] = [];
    const scene = await openWatchdogScene({
      changes: ({ watched }) => ({ watched: noting(watched, 'assess', judged) }),
    });
    const owner = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    const [grows, changes] = [await runOf(scene, '1'), await runOf(scene, '2')];
    const lost = await runOf(scene, '3', readProcessIdentity(HERE.host, must(owner.pid)));
    await startWatchdog(scene);
    const judgedInATick = async () => {
      judged.length = 0;
      await scene.watchdog.checkAllSessions();
      return [...judged];
    };
    expect(await judgedInATick()).toEqual([]);
    journalOf(scene, grows).append({ event: 'user_prompt', origin: 'human' });
    expect(await judgedInATick()).toEqual([grows.session_id]);
    await scene.store.transitions.recordRun(changes.session_id, runIdOf(changes), { progressMessageId: '9' });
    expect(await judgedInATick()).toEqual([changes.session_id]);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(await judgedInATick()).toEqual([lost.session_id]);
    scene.clock.moveWallClock(SILENCE_MS);
    expect(await judgedInATick()).toEqual(expect.arrayContaining([grows.session_id, changes.session_id]));
  });

  // rule: only-what-changed-is-judged
  test('does not query the store about active sessions, and checks those due within seconds together', async () => {
    const asked: string[] = [];
    const judged: string[] = [];
    const scene = await openWatchdogScene({
      changes: ({ watched }) => ({ watched: noting(noting(watched, 'assess', judged), 'refreshOne', asked) }),
    });
    const begin = async (messageId: string) => {
      const session = await runOf(scene, messageId);
      const journal = journalOf(scene, session);
      for (const line of BEGINNING) journal.append(line);
      await scene.clock.advance(SECOND);
      return { id: session.session_id, journal };
    };
    const [first, silent, last] = [await begin('1'), await begin('2'), await begin('3')];
    await startWatchdog(scene);
    await scene.clock.advance(MINUTE);
    for (const { journal } of [first, last]) journal.append({ event: 'assistant_message' });
    judged.length = 0;
    asked.length = 0;
    const startedAt = scene.clock.now() - MINUTE - 3 * SECOND;
    const advanceTo = async (instant: number) => {
      await scene.clock.advance(instant - scene.clock.now());
      await atRest(scene);
    };
    await advanceTo(startedAt + SILENCE_MS + 1);
    expect({ judged, asked }).toEqual({ judged: [first.id, silent.id, last.id], asked: [] });
    await advanceTo(startedAt + SECOND + SILENCE_MS);
    expect(await openIncidents(scene)).toEqual([]);
    await advanceTo(startedAt + SECOND + SILENCE_MS + 1);
    await until(async () => (await openIncidents(scene)).length === 1);
    expect([...new Set(asked)]).toEqual([silent.id]);
    expect((await openIncidents(scene))[0]?.session_id).toBe(silent.id);
  });

  test('continues after a tick that hangs, and that tick has no further effect', async () => {
    let release: () => void = () => undefined;
    let hangs = false;
    const looked: string[] = [];
    const scene = await openWatchdogScene({
      changes: ({ watched }) => ({
        watched: standIn(watched, {
          assess: async (...args: Parameters<typeof watched.assess>) => {
            looked.push(args[0]);
            if (hangs) {
              hangs = false;
              await new Promise<void>((resolve) => {
                release = resolve;
              });
            }
            return watched.assess(...args);
          },
        }),
      }),
    });
    const sessions = [await runOf(scene, '1'), await runOf(scene, '2')];
    await startWatchdog(scene);
    for (const session of sessions) journalOf(scene, session).append({ event: 'assistant_message' });
    hangs = true;
    looked.length = 0;
    scene.agenda.tick();
    await until(() => looked.length === 1);
    await scene.clock.advance(2 * MINUTE);
    await until(() => scene.logged.some((line) => line.includes('took more than')));
    scene.agenda.tick();
    await until(() => ticksIn(scene) === 2);
    const before = looked.length;
    release();
    await atRest(scene);
    expect(looked).toHaveLength(before);
  });

  test('starts and stops once, however often it is called, even during a tick that hangs', async () => {
    let hangs = false;
    let isHanging = false;
    const scene = await openWatchdogScene({
      changes: ({ watched }) => ({
        watched: standIn(watched, {
          assess: (...args: Parameters<typeof watched.assess>) => {
            isHanging = hangs;
            return hangs ? new Promise(() => undefined) : watched.assess(...args);
          },
        }),
      }),
    });
    const session = await runOf(scene);
    await startWatchdog(scene);
    await scene.watchdog.start();
    await atRest(scene);
    expect(ticksIn(scene)).toBe(1);
    journalOf(scene, session).append({ event: 'assistant_message' });
    hangs = true;
    scene.agenda.tick();
    await until(() => isHanging);
    await Promise.all([scene.watchdog.stop(), scene.watchdog.stop()]);
    await scene.watchdog.stop();
  });

  test('checks once for many wakes', async () => {
    let looks = 0;
    const scene = await openWatchdogScene({
      changes: ({ watched }) => ({
        watched: standIn(watched, {
          refreshOne: (id: string) => {
            looks += 1;
            return watched.refreshOne(id);
          },
        }),
      }),
    });
    const session = await runOf(scene);
    await startWatchdog(scene);
    looks = 0;
    const wake = ['PUBLISH', scene.store.keys.wakeChannel, JSON.stringify({ session: session.session_id })] as const;
    await applyCommit(scene.store.redis, { checks: [], writes: Array.from({ length: 100 }, () => wake) });
    await atRest(scene);
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThan(10);
  });
});

describeWithRedis('a check without acting', () => {
  test('writes nothing at all', async () => {
    const scene = await openWatchdogScene();
    const silent = await runOf(scene, '1');
    const journal = journalOf(scene, silent);
    for (const line of [...BEGINNING, ...failingBatches(7)]) journal.append(line);
    await runOf(scene, '2', deadProcess());
    const incident = await openIncident(scene, await runOf(scene, '3'));
    await scene.clock.advance(SILENCE_MS + 1);
    const before = await everything(scene);
    expect(Object.keys(before).length).toBeGreaterThan(10);
    const summary = await scene.watchdog.checkAllSessions({ act: false });
    await atRest(scene);
    expect(
      [...summary.accused.values()]
        .flat()
        .map(({ rule }) => rule)
        .sort(),
    ).toEqual(expect.arrayContaining(['error_cascade', 'orphan', 'silence']));
    expect(await everything(scene)).toEqual(before);
    expect(await scene.store.records.incident(incident.incident_id)).toEqual(incident);
  });
});

describeWithRedis('a single look', () => {
  test('also drives what is due soon, and leaves what is due later', async () => {
    const driven: string[] = [];
    const scene = await openWatchdogScene({
      changes: ({ saga, agenda, clock }) => ({
        saga: standIn(saga, {
          drive: (id: string) => void driven.push(id),
          settle: async () => {
            if (driven.length > 0) return;
            agenda.driveAt('soon', clock.now() + 5 * SECOND);
            agenda.driveAt('later', clock.now() + 20 * SECOND);
          },
        }),
      }),
    });
    await scene.watchdogLease.start();
    const looked = scene.watchdog.lookAndAct(10 * SECOND);
    await until(() => scene.clock.nextInMs === 5 * SECOND);
    await scene.clock.advance(5 * SECOND);
    await looked;
    expect(driven).toEqual(['soon']);
  });
});

describeWithRedis('a watchdog that loses its lease', () => {
  test('stops acting at once', async () => {
    const scene = await openWatchdogScene();
    const session = await runOf(scene);
    for (const line of BEGINNING) journalOf(scene, session).append(line);
    await startWatchdog(scene);
    const id = readFileSync(join(scene.folder, 'watchdog.id'), 'utf8').trim();
    await scene.store.redis.hset(
      scene.store.keys.lease(`watchdog:${id}`),
      'fence',
      '99',
      'owner',
      'another',
      'until',
      String(scene.clock.now() + 9e9),
    );
    await scene.clock.advance(SILENCE_MS + 1);
    await atRest(scene);
    scene.agenda.tick();
    await until(() => ticksIn(scene) === 2);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    expect(eventLines(scene)).toEqual([]);
  });
});
