import { expect, test } from '@jest/globals';
import type { Incident } from '../../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { laneOf } from '../../../../src/jobs/names.js';
import type { Presence } from '../../../../src/jobs/presence.js';
import { DAY, MINUTE, SECOND } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import {
  acceptMessage,
  eventLines,
  HOST,
  issueText,
  must,
  runIdOf,
  type SagaScene,
} from '../../incident/saga/sagaScene.js';
import {
  atRest,
  BACKLOG_MS,
  HERE,
  openWatchdogScene,
  runOf,
  startWatchdog,
  ticksIn,
  until,
  type WatchdogScene,
} from '../../watchdogScene.js';

/** What the bridge of the host says of itself, for as long as the test needs. */
async function bridgeSays({ store, clock }: SagaScene, changes: Partial<Presence> = {}): Promise<void> {
  const presence: Presence = {
    v: 1,
    owner: HERE,
    started_at: clock.now(),
    said_at: clock.now(),
    bot_id: null,
    polled_at: null,
    poll_trouble: null,
    took_job_at: clock.now(),
    is_full: false,
    ...changes,
  };
  await store.presences.say(presence, [], DAY);
}

/** Waits in a lane of its own, so that many may be at the head. */
async function waitingAlone(
  scene: SagaScene,
  messageId: string,
  project = 'popoto',
  host = HOST,
): Promise<AgentSession> {
  return (
    await scene.store.transitions.accept({
      session_id: `tg_${project}_-100_${messageId}`,
      project_key: project,
      chat_id: '-100',
      message_id: messageId,
      thread_id: null,
      sender: { id: '7', name: 'Ann' },
      message_text: `ask ${messageId}`,
      conversation_key: `${project}/-100//0`,
      lane: laneOf(host, `/srv/${project}/${messageId}`),
      working_directory: '/srv/popoto',
      agent: 'scripted',
    })
  ).session;
}

async function start({ store, clock }: SagaScene, session: AgentSession): Promise<AgentSession> {
  const run = { run_id: runIdOf(session), owner: HERE, pid: 77, started_at: clock.now() };
  return must(await store.transitions.start(session, run, DAY)).session;
}

function openIncidents({ store }: SagaScene): Promise<Incident[]> {
  return store.records.openIncidents();
}

/** Moves the clock to its instant, and waits for the one incident that comes of it. */
async function stalled(scene: WatchdogScene): Promise<Incident> {
  await scene.clock.advance(BACKLOG_MS + 1);
  await until(async () => (await openIncidents(scene)).some(({ step }) => step === 'detected'));
  await atRest(scene);
  const [incident, ...others] = await openIncidents(scene);
  expect(others).toEqual([]);
  return must(incident);
}

describeWithRedis('a head that waits', () => {
  test('for a folder that is missing is reported with that cause, and not with a worker that is free', async () => {
    const scene = await openWatchdogScene({ missingFolder: '/srv/popoto' });
    await acceptMessage(scene);
    await bridgeSays(scene, { took_job_at: scene.clock.now() + BACKLOG_MS });
    await startWatchdog(scene);
    const { findings } = await stalled(scene);
    const evidence = findings[0]?.evidence.join('; ');
    expect(evidence).toContain('that folder is missing on host-a: the message starts when it is back');
    expect(evidence).not.toContain('free');
  });

  // rule: a-backlog-is-found-in-time
  test('for more than ten minutes in a free lane is reported at that instant, and closed when it is taken', async () => {
    const scene = await openWatchdogScene();
    const session = await acceptMessage(scene);
    await bridgeSays(scene, { took_job_at: scene.clock.now() + BACKLOG_MS });
    await startWatchdog(scene);
    await scene.clock.advance(BACKLOG_MS);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    await scene.clock.advance(1);
    await until(async () => (await openIncidents(scene))[0]?.report.due_at === null);
    await atRest(scene);
    const incident = must((await openIncidents(scene))[0]);
    expect(incident).toMatchObject({
      rule: 'backlog',
      step: 'detected',
      acting: false,
      session_id: session.session_id,
    });
    expect(incident.subject).toEqual({ kind: 'lane', lane: session.lane });
    expect(incident.findings[0]?.evidence.join('; ')).toContain('a worker on host-a is free');
    expect(ticksIn(scene)).toBe(1);
    expect(issueText(scene)).toContain(
      'Finding: the next message for a folder has been waiting for 10 min since 10:00:00 UTC',
    );

    await start(scene, session);
    await until(async () => {
      await scene.clock.advance(SECOND);
      return (await openIncidents(scene)).length === 0;
    });
    await atRest(scene);
    const lines = eventLines(scene);
    expect(lines.map(({ id }) => id.split('.')[1])).toEqual(['detected', 'reported', 'closed']);
    expect(new Set(lines.map(({ event }) => event))).toEqual(new Set(['queue_stalled']));
    expect(lines[0]).toMatchObject({ reason: 'waiting_for_10_minutes', rule: 'backlog', action_taken: 'detected' });
    expect(lines.at(-1)).toMatchObject({ final: true, details: { outcome: 'recovered' } });
    expect(ticksIn(scene)).toBe(1);
  });

  // rule: a-backlog-is-found-in-time
  test('is reported at that instant even if its bridge accepted it without a wake', async () => {
    const scene = await openWatchdogScene();
    await bridgeSays(scene, { took_job_at: scene.clock.now() + 2 * BACKLOG_MS });
    await startWatchdog(scene);
    await scene.clock.advance(MINUTE);
    const session = await acceptMessage(scene, '1', true);
    for (const passed of [BACKLOG_MS - MINUTE + 1, MINUTE - 1]) {
      await scene.clock.advance(passed);
      await atRest(scene);
      expect(await openIncidents(scene)).toEqual([]);
    }
    await scene.clock.advance(1);
    await until(async () => (await openIncidents(scene)).length === 1);
    expect((await openIncidents(scene))[0]?.session_id).toBe(session.session_id);
    expect(ticksIn(scene)).toBe(1);
  });

  // rule: a-limit-is-waited-for
  test('for the end of a rate limit is fine; its clock starts there', async () => {
    const scene = await openWatchdogScene();
    const session = await start(scene, await acceptMessage(scene));
    const proof = { run_id: runIdOf(session), proven_at: scene.clock.now(), by: 'scan' } as const;
    const endsAt = scene.clock.now() + 60 * MINUTE;
    must(await scene.store.transitions.interrupt(session.session_id, runIdOf(session), proof, endsAt));
    await bridgeSays(scene, { took_job_at: endsAt + BACKLOG_MS });
    await startWatchdog(scene);
    await scene.clock.advance(60 * MINUTE + BACKLOG_MS);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    expect(await stalled(scene)).toMatchObject({ rule: 'backlog', session_id: session.session_id });
  });

  // rule: a-backlog-is-found-in-time
  test('behind a run is fine, however long; its clock starts when the lane is free', async () => {
    const scene = await openWatchdogScene({ actions: { silence: 'off', runaway: 'off' } });
    const running = await start(scene, await acceptMessage(scene, '1'));
    const next = await acceptMessage(scene, '2');
    await bridgeSays(scene, { is_full: true });
    await startWatchdog(scene);
    await scene.clock.advance(2 * 60 * MINUTE);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    await scene.store.transitions.complete(running.session_id, runIdOf(running), 'done');
    await atRest(scene);
    await scene.clock.advance(BACKLOG_MS);
    await atRest(scene);
    expect(await openIncidents(scene)).toEqual([]);
    await scene.clock.advance(1);
    await until(async () => (await openIncidents(scene)).length === 1);
    expect((await openIncidents(scene))[0]?.session_id).toBe(next.session_id);
  });

  test('behind a run is reported if nobody is alive who could end that run', async () => {
    const scene = await openWatchdogScene({ actions: { silence: 'off' } });
    await start(scene, await acceptMessage(scene, '1'));
    await acceptMessage(scene, '2');
    await scene.watchdogLease.start();
    await scene.clock.advance(BACKLOG_MS + 1);
    await scene.watchdog.checkAllSessions();
    await atRest(scene);
    const [incident] = await openIncidents(scene);
    expect(incident).toMatchObject({ rule: 'backlog', session_id: 'tg_popoto_-100_2' });
  });

  // rule: a-stopping-bridge-is-not-absent
  test('while its bridge is stopping is fine behind a run; in a free lane it is reported with that reason', async () => {
    const scene = await openWatchdogScene({ actions: { silence: 'off' } });
    await start(scene, await acceptMessage(scene, '1'));
    await acceptMessage(scene, '2');
    const alone = await waitingAlone(scene, '3');
    await bridgeSays(scene, { draining_since: scene.clock.now() });
    await scene.watchdogLease.start();
    await scene.clock.advance(BACKLOG_MS + 1);
    await scene.watchdog.checkAllSessions();
    await atRest(scene);
    const incidents = await openIncidents(scene);
    expect(incidents.map(({ session_id }) => session_id)).toEqual([alone.session_id]);
    expect(incidents[0]?.findings[0]?.evidence.join()).toContain('is shutting down: its runs may finish');
  });

  test('on another host whose bridge is stopping is reported from here', async () => {
    const scene = await openWatchdogScene();
    await waitingAlone(scene, '1', 'popoto', 'host-b');
    await bridgeSays(scene, { owner: { ...HERE, host: 'host-b' }, draining_since: scene.clock.now() });
    await startWatchdog(scene);
    const { findings } = await stalled(scene);
    expect(findings[0]?.evidence.join()).toContain('the bridge on host-b is shutting down');
  });

  // rule: a-backlog-is-found-in-time
  test('on a busy host is reported, with that reason', async () => {
    const scene = await openWatchdogScene();
    await waitingAlone(scene, '1');
    await bridgeSays(scene, { is_full: true });
    await startWatchdog(scene);
    const { findings } = await stalled(scene);
    expect(findings[0]?.evidence).toContain('all workers on host-a are busy: the maximum number of agents is running');
  });

  test('while the worker takes no jobs is reported, with the time since when', async () => {
    const scene = await openWatchdogScene();
    await waitingAlone(scene, '1');
    await bridgeSays(scene);
    await startWatchdog(scene);
    const { findings } = await stalled(scene);
    expect(findings[0]?.evidence).toContain(
      'the bridge on host-a is running, but its worker took its last job at 10:00:00 UTC',
    );
  });

  test('is not reported if the rule is off, and only listed if the check does not act', async () => {
    const off = await openWatchdogScene({ actions: { backlog: 'off' } });
    await acceptMessage(off);
    await off.watchdogLease.start();
    await off.clock.advance(BACKLOG_MS + 1);
    expect((await off.watchdog.checkAllSessions()).waiting.size).toBe(0);
    const scene = await openWatchdogScene();
    const session = await acceptMessage(scene);
    await scene.clock.advance(BACKLOG_MS + 1);
    const { waiting } = await scene.watchdog.checkAllSessions({ act: false });
    expect([...waiting.keys()]).toEqual([session.session_id]);
    expect(await openIncidents(scene)).toEqual([]);
  });

  test('is found by a successor that never saw it start: a restart excuses nothing', async () => {
    const scene = await openWatchdogScene();
    await acceptMessage(scene);
    await scene.clock.advance(BACKLOG_MS + 1);
    await startWatchdog(scene);
    await until(async () => (await openIncidents(scene)).length === 1);
  });
});

describeWithRedis('many heads that wait', () => {
  // rule: one-cause-makes-one-backlog
  test('for lack of a worker are one incident and one issue per project, closed when the last is taken', async () => {
    const scene = await openWatchdogScene();
    const waiting = await Promise.all(Array.from({ length: 60 }, (_, index) => waitingAlone(scene, `${index + 1}`)));
    await startWatchdog(scene);
    const incident = await stalled(scene);
    expect(incident.subject).toEqual({ kind: 'queue', host: HOST });
    expect(incident.findings[0]?.evidence).toContain('no worker is alive on host-a: no bridge has ever reported');
    expect(incident.findings[0]?.evidence).toContain('the next messages of 60 folders wait as well');
    expect(scene.logged.filter((line) => line.includes('the next message for a folder has been waiting'))).toHaveLength(
      1,
    );

    // A worker that comes back empties the lanes; that the cause has changed makes no second incident.
    await bridgeSays(scene, { took_job_at: scene.clock.now() + DAY });
    for (const session of waiting.slice(1)) await start(scene, session);
    await scene.watchdog.checkAllSessions();
    await atRest(scene);
    expect((await openIncidents(scene)).map(({ incident_id }) => incident_id)).toEqual([incident.incident_id]);
    await start(scene, must(waiting[0]));
    await scene.watchdog.checkAllSessions();
    await until(async () => (await openIncidents(scene)).length === 0);
    await atRest(scene);
    expect(eventLines(scene).filter(({ final }) => final)).toHaveLength(1);
    expect(issueText(scene, 2)).toBe('');
  });

  test('are reported by one of two watchdogs, once', async () => {
    const scene = await openWatchdogScene();
    await waitingAlone(scene, '1');
    await scene.clock.advance(BACKLOG_MS + 1);
    await scene.watchdogLease.start();
    await Promise.all([scene.watchdog.checkAllSessions(), scene.watchdog.checkAllSessions()]);
    await atRest(scene);
    expect(await openIncidents(scene)).toHaveLength(1);
    expect(eventLines(scene).filter(({ action_taken }) => action_taken === 'detected')).toHaveLength(1);
  });

  test('of two projects are one incident each', async () => {
    const scene = await openWatchdogScene();
    await waitingAlone(scene, '1');
    await waitingAlone(scene, '2');
    await waitingAlone(scene, '1', 'cetacea');
    await scene.clock.advance(BACKLOG_MS + 1);
    await scene.watchdogLease.start();
    await scene.watchdog.checkAllSessions();
    const projects = (await openIncidents(scene)).map(({ project_key }) => project_key);
    expect(projects.sort()).toEqual(['cetacea', 'popoto']);
  });

  test('do not affect the sessions: no record names the incident, and a run starts as usual', async () => {
    const scene = await openWatchdogScene();
    const session = await waitingAlone(scene, '1');
    await runOf(scene, '2');
    await startWatchdog(scene);
    await stalledBeside(scene, session);
    const started = await start(scene, must(await scene.store.records.session(session.session_id)));
    expect(started).toMatchObject({ status: 'active', incident_id: null });
  });
});

/** The silent neighbour has an incident of its own. */
async function stalledBeside(scene: WatchdogScene, session: AgentSession): Promise<void> {
  await scene.clock.advance(BACKLOG_MS + 1);
  await until(async () => (await openIncidents(scene)).some(({ session_id }) => session_id === session.session_id));
}
