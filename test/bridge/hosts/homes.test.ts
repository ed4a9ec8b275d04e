/** To which host a message goes, and who takes over what waits on a lost one. */
import { expect, test } from '@jest/globals';
import { LostHosts } from '../../../bridge/hosts/lostHosts.js';
import { acceptForOthers, MessageAcceptor } from '../../../bridge/intake/acceptMessage.js';
import { type ServedPlace, servedPlaces } from '../../../src/config/servedPlaces.js';
import type { Project } from '../../../src/config/settings.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Presence } from '../../../src/jobs/presence.js';
import { DAY, SECOND } from '../../../src/time.js';
import { describeWithRedis } from '../../harness/redis.js';
import { CHAT, openScene, project, type Scene, testSettings } from '../telegram/scene.js';

const LEASE_MS = 6 * SECOND;
const LOOK_MS = 2 * SECOND;
const AT_HOME: readonly ServedPlace[] = [
  { project_key: 'popoto', chat_id: null, thread_id: null, directory: '/home-of/popoto' },
];

describeWithRedis('a message of a project with a home', () => {
  test('goes there, into the directory that its bridge has reported', async () => {
    const scene = await openScene();
    await speak(scene, 'harbour');
    const session = await accepted(scene, { host: 'harbour' });
    expect(session).toMatchObject({ lane: 'harbour:/home-of/popoto', working_directory: '/home-of/popoto' });
  });

  test('stays here if its home is lost, or has never been up', async () => {
    const scene = await openScene();
    expect(await accepted(scene, { host: 'harbour' })).toMatchObject({ lane: 'testhost:/srv/popoto' });
    await speak(scene, 'harbour');
    expect(await accepted(scene, { host: 'harbour' }, () => true)).toMatchObject({ lane: 'testhost:/srv/popoto' });
  });

  // rule: a-project-runs-at-home
  test('waits for a lost home if nobody here serves the project; is refused if that home has never been up', async () => {
    const scene = await openScene();
    const elsewhere = { host: 'harbour', isServedHere: false };
    await expect(accepted(scene, elsewhere)).rejects.toThrow('its host harbour has never had a bridge');
    await speak(scene, 'harbour');
    expect(await accepted(scene, elsewhere, () => true)).toMatchObject({ lane: 'harbour:/home-of/popoto' });
  });
});

describeWithRedis('messages that wait on a host whose bridge has been silent for two leases', () => {
  // rule: a-lost-host-is-replaced
  test('are taken over by one of two bridges, in order', async () => {
    const scene = await openScene();
    const waiting = await threeWaiting(scene);
    const both = [lostHosts(scene, 'one'), lostHosts(scene, 'two')];
    await pass(scene, 2 * LEASE_MS - LOOK_MS, both);
    expect(await scene.store.records.waitingIn('harbour:/home-of/popoto')).toEqual(waiting);
    await pass(scene, LOOK_MS, both);
    const lanes = ['one:/srv/popoto', 'two:/srv/popoto'];
    const moved = await Promise.all(lanes.map((lane) => scene.store.records.waitingIn(lane)));
    expect(moved.flat().sort()).toEqual([...waiting].sort());
    for (const inLane of moved) expect(inLane).toEqual(waiting.filter((id) => inLane.includes(id)));
    expect(await scene.store.records.waitingIn('harbour:/home-of/popoto')).toEqual([]);
  });

  // rule: a-lost-host-is-replaced
  test('stay if its bridge reports again at the moment they are taken', async () => {
    const scene = await openScene();
    const waiting = await threeWaiting(scene);
    const { presences } = scene.store;
    const word = await presences.lastSeen('harbour');
    await scene.clock.advance(SECOND);
    await speak(scene, 'harbour');
    const [first] = await scene.store.records.sessions(waiting);
    const fence = [presences.isSilentSince('harbour', word)];
    expect(await scene.store.lanes.moveTo(first as AgentSession, 'one:/x', '/x', fence)).toBeNull();
    expect(await scene.store.records.waitingIn('harbour:/home-of/popoto')).toEqual(waiting);
  });

  test('stay if a run of that host still holds its lane, or if nobody here has the directory', async () => {
    const scene = await openScene();
    const waiting = await threeWaiting(scene);
    const { store } = scene;
    await store.redis.set(store.keys.laneHolder('harbour:/home-of/popoto'), 'its run');
    const one = lostHosts(scene, 'one');
    await pass(scene, 3 * LEASE_MS, [one]);
    expect(one.isLost('harbour')).toBe(true);
    expect(await store.records.waitingIn('harbour:/home-of/popoto')).toEqual(waiting);
    await store.redis.del(store.keys.laneHolder('harbour:/home-of/popoto'));
    await pass(scene, 3 * LEASE_MS, [lostHosts(scene, 'two', [])]);
    expect(await store.records.waitingIn('harbour:/home-of/popoto')).toEqual(waiting);
  });

  test('stay if the bridge that checks was away as well', async () => {
    const scene = await openScene();
    await threeWaiting(scene);
    const one = lostHosts(scene, 'one');
    await pass(scene, LEASE_MS, [one]);
    await scene.clock.advance(3 * LEASE_MS);
    await pass(scene, LEASE_MS, [one]);
    expect(one.isLost('harbour')).toBe(false);
  });
});

async function speak({ store, clock, here }: Scene, host: string): Promise<void> {
  const presence: Presence = {
    v: 1,
    owner: { ...here, host },
    started_at: clock.now(),
    said_at: clock.now(),
    bot_id: null,
    polled_at: null,
    poll_trouble: null,
    took_job_at: null,
    is_full: false,
  };
  await store.presences.say(presence, AT_HOME, DAY);
}

let orders = 0;

async function accepted(
  { store, logger }: Scene,
  changes: Partial<Project>,
  isHostLost: (host: string) => boolean = () => false,
): Promise<AgentSession> {
  const settings = testSettings([{ ...project('popoto', '/srv/popoto', [CHAT]), ...changes }]);
  const accept = acceptForOthers(store);
  const acceptor = new MessageAcceptor({
    store,
    accept,
    settings,
    logger,
    isHostLost,
  });
  orders += 1;
  const id = `01ARZ3NDEKTSV4RRFFQ69G5F${String(orders).padStart(2, '0')}`;
  const order = { id, projectKey: 'popoto', chatId: null, sender: { id: '1', name: 'Ada' }, text: 'do it' };
  return (await acceptor.acceptOrder(order)).session;
}

/** @returns the sessions that wait at home, the first one first */
async function threeWaiting(scene: Scene): Promise<string[]> {
  await speak(scene, 'harbour');
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) ids.push((await accepted(scene, { host: 'harbour' })).session_id);
  return ids;
}

function lostHosts({ store, clock, logger }: Scene, host: string, projects = [project('popoto', '/srv/popoto', [])]) {
  const places = servedPlaces(testSettings(projects));
  return new LostHosts({ store, clock, logger, host, runLeaseMs: LEASE_MS, places, homes: [] });
}

/** Everybody looks as often as they do by themselves. */
async function pass({ clock }: Scene, timeMs: number, all: readonly LostHosts[]): Promise<void> {
  await Promise.all(all.map((each) => each.runOnce()));
  for (let passed = 0; passed < timeMs; passed += LOOK_MS) {
    await clock.advance(LOOK_MS);
    await Promise.all(all.map((each) => each.runOnce()));
  }
}
