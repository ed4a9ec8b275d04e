/** What the older tracker's monitor did: idle checks, one alert, and who is left alone. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MINUTE } from '../../src/time.js';
import type { RowCheck } from './row.js';
import { at, type RowScene } from './scene.js';

const START = 'wk track monitor --start --interval 1 --checks 3';
const POLL = 'for i in $(seq 100); do';

/** Waits, ten seconds at most, until the worklog has so many lines of an event. */
function until(scene: RowScene, id: string, event: string, count: number): void {
  const worklog = join(scene.home, 'sessions', id, 'worklog.jsonl');
  scene.do(
    `${POLL} [ "$(grep -c '"event":"${event}"' '${worklog}')" -ge ${count} ] && exit 0; sleep 0.1; done; exit 1`,
  );
}

const isGone = (pid: unknown) => `${POLL} kill -0 ${pid} 2>/dev/null || exit 0; sleep 0.1; done; exit 1`;

export const monitorRows: readonly RowCheck[] = [
  {
    row: 'T3',
    check: '`monitor --check` before, during and after a ping; the minutes count from the last activity',
    prove(scene) {
      const id = scene.begin('wk track init T --step a');
      scene.age(id, 10 * MINUTE);
      const check = () => scene.sh('wk track monitor --check');
      assert.match(check().out, /^stuck: The agent said nothing for 10 minutes/);
      scene.do('wk track ping --for 1s');
      assert.equal(check().code, 0, 'excused');
      scene.sh('sleep 1.1');
      const { code, out } = check();
      assert.equal(code, 1, 'after its time');
      assert.match(out, /for 10 minutes/);
    },
  },
  {
    row: 'T4',
    check: 'one notice after 3 s of silence, closed by `track log`, then a second one',
    prove(scene) {
      const id = scene.begin('wk track init T');
      scene.do(START);
      until(scene, id, 'notice', 1);
      scene.do('wk track status; wk track scan; sleep 2');
      assert.equal(scene.worklog(id).match(/"event":"notice"/g)?.length, 1, 'one notice');
      scene.do('wk track log x');
      until(scene, id, 'notice_closed', 1);
      until(scene, id, 'notice', 2);
      assert.equal(scene.sh('wk track status').code, 1, 'it is shown');
      scene.do('wk track monitor --stop');
    },
  },
  {
    row: 'T7',
    check: 'the process of the monitor is gone after `done`',
    prove(scene) {
      scene.begin('wk track init T');
      const pid = at(scene.json(START), 'pid');
      scene.do(`kill -0 ${pid} && wk track done --complete`);
      scene.do(isGone(pid));
    },
  },
  {
    row: 'T8',
    check: '`monitor --check`: exit 1 exactly when silent for checks × interval',
    prove(scene) {
      const id = scene.begin('wk track init T');
      scene.age(id, 5 * MINUTE);
      const code = (limits: string) => scene.sh(`wk track monitor --check ${limits}`).code;
      assert.deepEqual(
        [code(''), code('--interval 99'), code('--checks 6'), code('--interval 60 --checks 4')],
        [1, 1, 0, 1],
      );
      assert.deepEqual([code('--interval 1.5'), code('--checks 0')], [2, 2]);
      assert.equal(scene.sh('wk track monitor').code, 2);
    },
  },
  {
    row: 'T8',
    check: 'files that were created, modified and deleted are logged as `fs_activity`, and clear the alert',
    prove(scene) {
      const id = scene.begin('wk track init T');
      scene.write('old', 'x');
      scene.do(START);
      until(scene, id, 'notice', 1);
      scene.write('src/deep/new', 'x');
      until(scene, id, 'fs_activity', 1);
      until(scene, id, 'notice_closed', 1);
      scene.do('rm old; wk track monitor --check --interval 60');
      until(scene, id, 'fs_activity', 2);
      const lines =
        scene
          .worklog(id)
          .match(/.*"fs_activity".*/g)
          ?.map((line) => JSON.parse(line)) ?? [];
      assert.deepEqual([lines[0].created, lines[1].deleted], [['src/deep/new'], ['old']]);
      scene.do('wk track monitor --stop');
    },
  },
  {
    row: 'X3',
    check: 'starting a step clears "stuck"; a notice\'s text names ping, smaller steps and resume',
    prove(scene) {
      const id = scene.begin('wk track init T --step a --step b');
      scene.age(id, 10 * MINUTE);
      const { code, out } = scene.sh('wk track monitor --check');
      assert.equal(code, 1);
      for (const words of [/track ping/, /smaller steps/, /track resume/]) assert.match(out, words);
      scene.do('wk track step 2 --start && wk track monitor --check');
    },
  },
  {
    row: 'X5',
    check: 'two starts of the monitor; stop; a foreign process with its pid gets no signal',
    prove(scene) {
      const id = scene.begin('wk track init T');
      const pid = at(scene.json('wk track monitor --start'), 'pid');
      const { out } = scene.do('wk track monitor --start');
      assert.match(out, /^a monitor runs already/);
      scene.do(`wk track monitor --stop; ${isGone(pid)}`);
      assert.match(scene.do('wk track monitor --stop').out, /^no monitor runs/);
      const record = join(scene.home, 'sessions', id, 'monitor.json');
      // Another process has the pid now: it is the same number with another start.
      const foreign = `sleep 30 & sed -i "s/"pid":[0-9]*/"pid":$!/" '${record}'; wk track monitor --stop; kill -0 $! && kill $!`;
      assert.match(scene.do(foreign).out, /^no monitor runs/);
      assert.match(readFileSync(record, 'utf8'), /"pid"/);
    },
  },
];
