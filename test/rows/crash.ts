/** The row of crashes, T5, with an agent that records by hand. */
import assert from 'node:assert/strict';
import { DAY, MINUTE } from '../../src/time.js';
import type { RowCheck } from './row.js';
import { listAt, type RowScene } from './scene.js';

const TASK = `wk track init "Fix the login" --step "Find the cause" --step "Write the tests" --step "Ship it"
wk track step 1 --start && wk track step 1 --done
wk track log "the cause is found"
wk track step 2 --start --file src/a.ts
mkdir -p src && printf 'half' >src/a.ts`;

async function crash(scene: RowScene): Promise<void> {
  const agent = await scene.agent(TASK);
  await scene.kill(agent);
}

export const crashRows: readonly RowCheck[] = [
  {
    row: 'T5',
    check:
      "`crash-detect`: signature, task, times, steps, files, last entries, advice, in the seed's order; exit 1; `track resume` says how to go on",
    async prove(scene) {
      await crash(scene);
      const { code, out } = scene.sh('wk track crash-detect');
      assert.equal(code, 1);
      const parts = [
        /crashed: process \d+ is gone/,
        /^task: +Fix the login$/m,
        /^began: /m,
        /^last activity: /m,
        /\[x\] 1 Find the cause\n +\[~\] 2 Write the tests\n +\[ \] 3 Ship it/,
        /^ +src\/a\.ts: 4 bytes, changed since/m,
        /the last entries:[\s\S]*the cause is found/,
        /Step 2 was in progress/,
      ];
      const places = parts.map((part) => out.search(part));
      assert.ok(!places.includes(-1), `missing: ${parts[places.indexOf(-1)]}`);
      assert.deepEqual(
        places,
        places.toSorted((left, right) => left - right),
      );
      const { out: resumed } = scene.do('wk track resume');
      for (const part of [
        'Its agent crashed',
        '[~] 2 "Write the tests"',
        'Next: step 2, which was in progress',
        '"src/a.ts": 4 bytes',
      ])
        assert.ok(resumed.includes(part), `${part}: ${resumed}`);
    },
  },
  {
    row: 'T5',
    check:
      'a file that only the transcript shows, written in the turn that did not end, is named with size and "changed since"',
    async prove(scene) {
      const agent = await scene.agent(
        'wk track init T',
        scene.converse('claude-2.1.330/dialog-after-accepted-edits', MINUTE),
      );
      const [id = ''] = listAt(scene.json('wk work list --here')).map((session) => String(Object(session).session_id));
      scene.age(id, DAY);
      scene.write('notes.txt', 'half');
      await scene.kill(agent);
      const { code, out } = scene.sh('wk track crash-detect');
      assert.equal(code, 1);
      assert.match(out, /^ +notes\.txt: 4 bytes, changed since/m);
      assert.match(out, /Bash: git push origin main, without a result/);
    },
  },
  {
    row: 'T5',
    check: 'a healthy session is not accused, also beside a crashed one',
    async prove(scene) {
      const healthy = await scene.agent('wk track init "Healthy" --step a && wk track step 1 --start');
      assert.equal(scene.do('wk track crash-detect').out, 'no crashed session here\n');
      const other = await scene.agent('wk track init "Other" --step a --concurrent && wk track step 1 --start');
      await scene.kill(other);
      const crashed = listAt(scene.json('wk track crash-detect'));
      assert.deepEqual(
        crashed.map((report) => Object(report).purpose),
        ['Other'],
      );
      await scene.kill(healthy);
    },
  },
  {
    row: 'T5',
    check: 'a run of another boot is proven dead by the reboot',
    async prove(scene) {
      const agent = await scene.agent(TASK);
      const [id = ''] = listAt(scene.json('wk work list --here')).map((session) => String(Object(session).session_id));
      scene.do('wk track crash-detect');
      scene.rewrite(id, scene.worklog(id).replace(/"boot_id":"[^"]*"/g, '"boot_id":"of-an-earlier-boot"'));
      const { code, out } = scene.sh('wk track crash-detect');
      assert.equal(code, 1);
      assert.match(out, /ran before this host was started again/);
      await scene.kill(agent);
    },
  },
  {
    row: 'T5',
    check: '`init` over it: the report and exit 1; `--archive-existing` keeps both readable',
    async prove(scene) {
      await crash(scene);
      const [id = ''] = listAt(scene.json('wk work list --here')).map((session) => String(Object(session).session_id));
      const refused = scene.sh('wk track init "U"');
      assert.equal(refused.code, 1);
      assert.match(refused.err, /crashed: process \d+ is gone[\s\S]*--archive-existing/);
      const next = scene.begin('wk track init "U" --archive-existing');
      for (const session of [id, next]) scene.do(`wk work show ${session} && wk work verify ${session}`);
    },
  },
];
