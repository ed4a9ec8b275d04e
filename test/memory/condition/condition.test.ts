/** How a session is, of what is known of it: the cases that no surface can set up. */
import { expect, test } from '@jest/globals';
import { conditionOf } from '../../../memory/condition/condition.js';
import { recordedOf } from '../../../memory/condition/recorded.js';
import type { Judged } from '../../../memory/condition/stuck.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { DAY, HOUR, isoTime, MINUTE } from '../../../src/time.js';
import { WorklogScene } from '../worklogScene.js';

const here = readProcessIdentity('host');
const hours = { resumable_h: 1, stale_h: 24, critical_h: 168, archivable_h: 720 };
const WORKS: Judged = { doing: 'working', broken: [], hasFound: false, lastActivity: null, leastActivity: null };

function ranBy(process: ProcessIdentity): WorklogScene {
  const scene = new WorklogScene();
  scene.write('session_started', { session_id: 's', purpose: 'p' });
  scene.write('run_started', { process });
  return scene;
}

function conditionIn({ log, now }: WorklogScene, judged: Judged | null = null) {
  const counts = { lines: 2, applied: 2, refused: 0, unreadable: 0, newer: 0 };
  return conditionOf(recordedOf(log, undefined, counts), { here, now, hours, judged });
}

const broken = (rule: string, since: number) => [{ rule, since: isoTime(since), sentence: 'It was silent.' }];

test.each([
  ['a judge sees it', here, WORKS, 'working'],
  ['a judge sees nothing of it', here, { ...WORKS, doing: null }, 'unknown'],
  ['there is no judge', here, null, 'unknown'],
  ['it is of another host', { ...here, host: 'other', boot_id: 'other' }, WORKS, 'elsewhere'],
  ['it is in another container', { ...here, pid_namespace: 'other' }, WORKS, 'working'],
  ['its process is gone', { ...here, pid_start: 'gone' }, WORKS, 'crashed'],
] as const)('the agent of an open run, where %s', (_, process, judged, agent) => {
  expect(conditionIn(ranBy(process), judged).agent).toBe(agent);
});

test.each([
  ['seen to be unasked', false, 'idle'],
  ['not seen at all', true, 'unknown'],
] as const)('an open window that is %s', (_, isUnseen, agent) => {
  const scene = new WorklogScene();
  scene.write('session_started', { session_id: 's' });
  scene.write('run_started', { process: here });
  const counts = { lines: 2, applied: 2, refused: 0, unreadable: 0, newer: 0 };
  const recorded = recordedOf(scene.log, null, counts, isUnseen);
  expect(conditionOf(recorded, { here, now: scene.now, hours, judged: null }).agent).toBe(agent);
});

test('a session without a run has no agent, unless its transcript shows one', () => {
  const scene = new WorklogScene();
  scene.write('session_started', { session_id: 's', purpose: 'p' });
  expect(conditionIn(scene)).toMatchObject({ agent: 'none', doing: 'idle', liveness: 'none' });
  scene.write('conversation', { provider: 'claude', conversation: 'c', source: 'bind' });
  expect(conditionIn(scene, WORKS).agent).toBe('working');
});

test('a broken rule of an agent that cannot be seen says nothing after a day: it may be gone', () => {
  const unseen = ranBy({ ...here, pid_namespace: 'other' });
  const since = unseen.now;
  for (const [scene, isStuck] of [
    [unseen, false],
    [ranBy(here), true],
  ] as const) {
    scene.now = since + DAY;
    const judged = { ...WORKS, broken: broken('silence', since) };
    expect(conditionIn(scene, judged).stuck).toMatchObject({ rule: 'silence', since, noticed_at: null });
    scene.now += MINUTE;
    const { stuck, broken: now } = conditionIn(scene, judged);
    expect([stuck !== null, now.length > 0]).toEqual([isStuck, isStuck]);
  }
});

test('a notice leads, and while it is excused, what is broken beside it', () => {
  const scene = ranBy(here);
  const since = scene.now;
  scene.write('notice', { rule: 'silence', sentence: 'It was silent.' });
  const judged = { ...WORKS, broken: broken('runaway', since) };
  expect(conditionIn(scene, judged).stuck).toMatchObject({ rule: 'silence', noticed_at: scene.now });
  scene.write('ping', { until: isoTime(since + HOUR) });
  expect(conditionIn(scene, judged)).toMatchObject({ stuck: { rule: 'runaway' }, excused_until: since + HOUR });
  expect(conditionIn(scene, WORKS).stuck).toBeNull();
  scene.now += HOUR + 1;
  expect(conditionIn(scene, WORKS)).toMatchObject({ stuck: { rule: 'silence' }, excused_until: null });
});

test('a notice is over once the agent owes nothing, or that agent which was silent has done something', () => {
  const scene = ranBy(here);
  const noticed = scene.now;
  scene.write('notice', { rule: 'silence', sentence: 'It was silent.' });
  const isStuck = (judged: Judged | null) => conditionIn(scene, judged).stuck !== null;
  const later = noticed + MINUTE;
  expect(isStuck(null)).toBe(true);
  expect(isStuck({ ...WORKS, doing: 'idle' })).toBe(false);
  // One of several agents is silent still.
  expect(isStuck({ ...WORKS, lastActivity: later, leastActivity: noticed })).toBe(true);
  expect(isStuck({ ...WORKS, lastActivity: later, leastActivity: later })).toBe(false);
  // A judge that has found it itself knows that it is over.
  expect(isStuck({ ...WORKS, hasFound: true, lastActivity: later, leastActivity: noticed })).toBe(false);
  expect(isStuck({ ...WORKS, doing: 'idle', broken: broken('loop', noticed) })).toBe(true);
});

test('an agent that fails does something all the time, which closes no notice of another judge', () => {
  const scene = ranBy(here);
  const noticed = scene.now;
  scene.write('notice', { rule: 'error_cascade', sentence: 'It fails.' });
  const judged = { ...WORKS, lastActivity: noticed + MINUTE, leastActivity: noticed + MINUTE };
  expect(conditionIn(scene, judged).stuck).toMatchObject({ rule: 'error_cascade' });
  expect(conditionIn(scene, { ...judged, hasFound: true }).stuck).toBeNull();
});
