/** Crashed is a question about one process, and about what was said of it. */
import { expect, test } from '@jest/globals';
import { Runs } from '../../../memory/fold/runs.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { DAY } from '../../../src/time.js';
import { WorklogScene } from '../worklogScene.js';

const here = readProcessIdentity('host');
/** A process of this host that is gone. */
const gone: ProcessIdentity = { ...here, pid: 2 ** 22 + 1, pid_start: 'never' };

function ranBy(process: ProcessIdentity): WorklogScene {
  const scene = new WorklogScene();
  scene.write('session_started', { session_id: 's', purpose: 'p' });
  scene.write('run_started', { process });
  return scene;
}

const verdict = ({ log }: WorklogScene) => {
  const { liveness, isLost } = new Runs(log, here);
  return [liveness, isLost];
};

test('a session whose agent lives is healthy, however long it is silent', () => {
  const scene = ranBy(here);
  scene.now += 90 * DAY;
  expect(verdict(scene)).toEqual(['alive', false]);
});

test.each([
  ['is gone', gone],
  ['has another start: its number belongs to another one now', { ...here, pid_start: 'earlier' }],
  ['was of an earlier boot of this host', { ...here, boot_id: 'of-an-earlier-boot' }],
])('a session whose process %s has crashed', (_, process) => expect(verdict(ranBy(process))).toEqual(['dead', true]));

test('of a process of another host nothing is known, and nobody is accused', () => {
  expect(verdict(ranBy({ ...gone, host: 'other', boot_id: 'other' }))).toEqual(['unknown', false]);
});

test('a session whose run has ended rests, one without a run has none, and one that has ended did not crash', () => {
  const rests = ranBy(gone);
  rests.write('run_ended', { process: gone });
  expect(verdict(rests)).toEqual(['dead', false]);
  const none = new WorklogScene();
  none.write('session_started', { session_id: 's', purpose: 'p' });
  expect(verdict(none)).toEqual(['none', false]);
  const ended = ranBy(gone);
  ended.write('session_ended', { reason: 'completed' });
  expect(verdict(ended)).toEqual(['dead', false]);
});

test('of two agents that work on a session, the end of one says nothing of the other', () => {
  const crashed = ranBy(gone);
  crashed.write('run_started', { process: here });
  crashed.write('run_ended', { process: here });
  expect(verdict(crashed)).toEqual(['dead', true]);
  const goesOn = ranBy(here);
  goesOn.write('run_started', { process: gone });
  expect(verdict(goesOn)).toEqual(['alive', false]);
  goesOn.write('run_ended', { process: gone });
  expect(verdict(goesOn)).toEqual(['alive', false]);
});

test('what one of two agents waits for, and a notice, stay until none of them is left, whoever ends first', () => {
  const other = { ...here, pid_start: 'other' };
  for (const order of [
    [here, other],
    [other, here],
  ]) {
    const scene = ranBy(here);
    scene.write('run_started', { process: other });
    scene.write('wait_start', { kind: 'permission' });
    scene.write('notice', { rule: 'silence', sentence: 'x' });
    const left = order.map((process) => {
      scene.write('run_ended', { process });
      return [scene.log.waits.size, scene.log.notices.length];
    });
    expect(left).toEqual([
      [1, 1],
      [0, 0],
    ]);
  }
});

test('the last run counts: an earlier one that died accuses nobody once another goes on', () => {
  const scene = ranBy(gone);
  scene.write('run_started', { process: here });
  expect(verdict(scene)).toEqual(['alive', false]);
});

test('each open run is going, dead or elsewhere, and the agent of the caller is no other', () => {
  const far: ProcessIdentity = { ...here, host: 'other', boot_id: 'other' };
  const scene = ranBy(gone);
  scene.write('run_started', { process: far });
  scene.write('run_started', { process: here });
  const ended = { ...here, pid_start: 'ended' };
  scene.write('run_started', { process: ended });
  scene.write('run_ended', { process: ended });
  const runs = new Runs(scene.log, here);
  const processes = (list: readonly { process: ProcessIdentity }[]) => list.map(({ process }) => process);
  expect(processes(runs.going)).toEqual([far, here]);
  expect(processes(runs.goingHere)).toEqual([here]);
  expect(processes(runs.alive)).toEqual([here]);
  expect(processes(runs.dead)).toEqual([gone]);
  expect([runs.present?.process, runs.elsewhere, runs.mayWork]).toEqual([here, null, true]);
  expect([processes(runs.others(null)), processes(runs.others(here))]).toEqual([[here], []]);
  scene.write('run_ended', { process: here });
  expect(new Runs(scene.log, here)).toMatchObject({ elsewhere: 'other', liveness: 'unknown', mayWork: true });
  scene.write('run_ended', { process: far });
  expect(new Runs(scene.log, here)).toMatchObject({ elsewhere: null, isLost: true, mayWork: false });
  scene.write('session_ended', { reason: 'completed' });
  expect(new Runs(scene.log, here).isLost).toBe(false);
});

test('an agent that is seen before its hook reports it begins once; another one begins, too', () => {
  const scene = ranBy(here);
  scene.write('run_started', { process: here, agent: 'claude' });
  expect(scene.log.recent.filter(({ event }) => event === 'run_started')).toHaveLength(1);
  scene.write('run_started', { process: gone });
  expect(scene.log.recent.filter(({ event }) => event === 'run_started')).toHaveLength(2);
});
