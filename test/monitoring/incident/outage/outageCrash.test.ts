/** An outage whose watchdog dies anywhere: the next one does nothing twice and forgets nothing. */
import { expect, test } from '@jest/globals';
import type { IncidentSaga } from '../../../../monitoring/incident/saga/saga.js';
import type { SagaContext } from '../../../../monitoring/incident/sagaContext.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { isoTime, SECOND } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import { HERE, runOf } from '../../watchdogScene.js';
import { Mortal } from '../saga/mortal.js';
import {
  eventLines,
  findingOf,
  issueText,
  must,
  openIncident,
  openSagaScene,
  releaseRun,
  runIdOf,
  type SagaScene,
} from '../saga/sagaScene.js';

const SESSIONS = 4;
/** Far more than an outage of four takes. */
const MOST_ROUNDS = 60;
const SESSIONS_OF_THE_SCENE = { sessions: { active: () => SESSIONS, soonSilent: async () => 0 } };

/** @returns how many second attempts there are that nobody has answered */
async function moveWorld(scene: SagaScene, affected: readonly AgentSession[]): Promise<number> {
  const { records, transitions } = scene.store;
  for (const { session_id } of affected) {
    const session = must(await records.session(session_id));
    if (session.stop !== null && session.released === null) await releaseRun(scene, session);
  }
  const second = (await Promise.all((await records.sessionIds('pending')).map((id) => records.session(id)))).filter(
    (session) => session !== null,
  );
  for (const session of second) {
    const run = { run_id: runIdOf(session), owner: HERE, pid: 78, started_at: scene.clock.now() };
    must(await transitions.start(session, run, 60 * SECOND)).session;
    must(await transitions.complete(session.session_id, run.run_id, 'done'));
  }
  await scene.clock.advance(6 * SECOND);
  return second.length;
}

async function driveAll(scene: SagaScene, saga: IncidentSaga): Promise<void> {
  for (const { incident_id } of await scene.store.records.openIncidents()) {
    await saga.advance(incident_id).catch(() => null);
    await saga.settle();
  }
}

/** @returns how many second attempts waited at once at the most */
async function liveThrough(scene: SagaScene, mortal: Mortal): Promise<number> {
  const affected: AgentSession[] = [];
  for (let number = 1; number <= SESSIONS; number += 1) {
    const session = await runOf(scene, `${number}`);
    affected.push(session);
    await openIncident(scene, session, { findings: [{ ...findingOf(), since: isoTime(scene.clock.now()) }] });
  }
  const context: Partial<SagaContext> = { ...mortal.context(scene), ...SESSIONS_OF_THE_SCENE };
  const first = scene.saga(context);
  let successor: IncidentSaga | null = null;
  let most = 0;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    if (!mortal.dead) await driveAll(scene, first);
    if (mortal.dead) {
      successor ??= scene.saga(SESSIONS_OF_THE_SCENE);
      await driveAll(scene, successor);
    }
    if ((await scene.store.records.openIncidents()).length === 0) break;
    most = Math.max(most, await moveWorld(scene, affected));
  }
  return most;
}

async function checkEnd(scene: SagaScene, mostAtOnce: number, where: string): Promise<void> {
  const lines = eventLines(scene);
  const ids = [...new Set(lines.map(({ id }) => id))];
  const count = (step: string) => ids.filter((id) => id.endsWith(`.${step}`)).length;
  const open = (await scene.store.records.openIncidents()).map(({ rule, step, outcome }) => ({ rule, step, outcome }));
  expect({
    where,
    open,
    mostAtOnce,
    detected: count('detected'),
    revived: count('revived'),
    closed: count('closed'),
    outages: new Set(lines.filter(({ event }) => event === 'provider_outage').map((line) => line.incident_id)).size,
    sorry: scene.said.filter((text) => text.includes('Sorry')).length,
    issues: issueText(scene, 2) === '' ? 1 : 2,
    isOutage: issueText(scene).includes('provider_outage'),
  }).toEqual({
    where,
    open: [],
    mostAtOnce: 1,
    detected: SESSIONS + 1,
    revived: SESSIONS,
    closed: SESSIONS + 1,
    outages: 1,
    sorry: 0,
    issues: 1,
    isOutage: true,
  });
}

/** @returns the first and the last place at which one kind of effect follows another: the four sessions repeat each other */
function placesIn(done: readonly string[]): number[] {
  const places = new Map<string, [first: number, last: number]>();
  for (const [index, effect] of done.entries()) {
    const pair = `${effect} ${done[index + 1]}`;
    places.set(pair, [places.get(pair)?.[0] ?? index + 1, index + 1]);
  }
  return [...new Set([...places.values()].flat())].sort((one, other) => one - other);
}

async function dieAt(effect: number, when: 'before' | 'after'): Promise<Mortal> {
  const scene = await openSagaScene();
  const mortal = new Mortal(effect, when);
  await checkEnd(scene, await liveThrough(scene, mortal), `died ${when} effect ${effect}`);
  return mortal;
}

describeWithRedis('an outage whose watchdog dies at an effect', () => {
  // rule: an-outage-survives-its-watchdog
  test('is handled once by the next one: just after it', async () => {
    const { done, dead } = await dieAt(Number.POSITIVE_INFINITY, 'after');
    expect(dead).toBe(false);
    const places = placesIn(done);
    expect(places.length).toBeGreaterThan(2 * new Set(done).size);
    for (const place of places) await dieAt(place, 'after');
  }, 180_000);

  // Just before an effect is nearly the same as just after the one before it.
  // rule: an-outage-survives-its-watchdog
  test('is handled once by the next one: just before it', async () => {
    for (let place = 1; (await dieAt(place, 'before')).dead; place += 12);
  }, 180_000);
});
