/** The rows of lifecycle and delegation: D1 to D11, X14, X15. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY, HOUR, MINUTE } from '../../src/time.js';
import type { RowCheck } from './row.js';
import { at, listAt, type RowScene } from './scene.js';

/** Time goes on between a line and the look at it. */
const SLACK = 5_000;

/** @returns what `track status` says of a session whose last activity is so long ago */
function freshnessAfter(scene: RowScene, ms: number): unknown {
  const id = scene.begin(`wk track init "after ${ms}" --concurrent`);
  scene.age(id, ms);
  return at(scene.json(`wk track status --session ${id}`), 'freshness');
}

const begin = (scene: RowScene, parent?: string) =>
  scene.sh(`wk work start --purpose p --concurrent${parent === undefined ? '' : ` --parent ${parent}`} --json`);
const idIn = (out: string) => String(at(JSON.parse(out), 'session_id'));

export const lifecycleRows: readonly RowCheck[] = [
  {
    row: 'D1',
    check: 'the half-open table of freshness, at both sides of each boundary, in the future and without a timestamp',
    prove(scene) {
      const boundaries = [
        [1, 'fresh', 'resumable'],
        [48, 'resumable', 'stale'],
        [168, 'stale', 'critical'],
        [720, 'critical', 'archivable'],
      ] as const;
      for (const [hours, before, after] of boundaries)
        assert.deepEqual(
          [freshnessAfter(scene, hours * HOUR - SLACK), freshnessAfter(scene, hours * HOUR)],
          [before, after],
          `${hours} h`,
        );
      assert.equal(freshnessAfter(scene, -HOUR), 'fresh');
    },
  },
  {
    row: 'D1',
    check: "the seed's word beside it: new, active, resumed, stale, compacted",
    prove(scene) {
      const wordAfter = (name: string | null, ms: number) => {
        const variables = name === null ? {} : scene.converse(name, ms);
        const id = scene.begin(`wk track init "${name} ${ms}" --concurrent`, { variables });
        scene.age(id, ms + DAY);
        return at(scene.json(`wk track status --session ${id}`), 'session_state');
      };
      assert.equal(wordAfter(null, 0), 'new');
      assert.equal(wordAfter('claude/deeds', MINUTE), 'active');
      assert.equal(wordAfter('claude/deeds', 2 * HOUR), 'resumed');
      assert.equal(wordAfter('claude/deeds', 3 * DAY), 'stale');
      assert.equal(wordAfter('claude/work', MINUTE), 'compacted');
    },
  },
  {
    row: 'D2',
    check: 'sub-agents of sub-agents: depths 1 and 2 with their parents',
    prove(scene) {
      const id = scene.begin('wk track init T', { variables: scene.converse('claude/deeds') });
      scene.age(id, DAY);
      const agents = listAt(scene.json(`wk work show ${id}`), 'agents');
      assert.deepEqual(
        agents.map((agent) => at(agent, 'depth')),
        [1, 2],
      );
      assert.deepEqual(
        agents.map((agent) => at(agent, 'parent')),
        ['main', at(agents[0], 'id')],
      );
    },
  },
  {
    row: 'D2',
    check: 'a child session at depth 5 and an eleventh one are refused; ten siblings are depth 1',
    prove(scene) {
      const root = idIn(begin(scene).out);
      let deepest = root;
      for (let depth = 1; depth <= 4; depth += 1) {
        const { code, out, err } = begin(scene, deepest);
        assert.equal(code, 0, `depth ${depth}: ${err}`);
        deepest = idIn(out);
      }
      assert.equal(begin(scene, deepest).code, 1, 'depth 5');
      for (let child = 2; child <= 10; child += 1) assert.equal(begin(scene, root).code, 0, `child ${child}`);
      assert.equal(begin(scene, root).code, 1, 'an eleventh child');
    },
  },
  {
    row: 'D2',
    check: 'of two racers for the tenth place one gets it',
    prove(scene) {
      const root = idIn(begin(scene).out);
      for (let child = 1; child <= 9; child += 1) begin(scene, root);
      const start = `wk work start --purpose p --concurrent --parent ${root} >/dev/null 2>&1`;
      const { out } = scene.do(`(${start}; echo $?) & (${start}; echo $?) & wait`);
      assert.deepEqual(out.trim().split('\n').sort(), ['0', '1']);
    },
  },
  {
    row: 'D3',
    check: '50 × `work show` leaves `last_activity` alone',
    prove(scene) {
      const id = scene.begin('wk track init T');
      scene.age(id, HOUR);
      const last = at(scene.json(`wk work show ${id}`), 'last_activity');
      scene.do(`for i in $(seq 50); do wk work show ${id} >/dev/null || exit 1; done`);
      assert.equal(at(scene.json(`wk work show ${id}`), 'last_activity'), last);
    },
  },
  {
    row: 'D4',
    check: '30 notes of 200 characters: critical first, within 4,000 characters, the rest is counted',
    prove(scene) {
      scene.do('wk track init T');
      const priorities = ['normal', 'high', 'critical'];
      for (let index = 0; index < 30; index += 1) {
        const words = `${index} `.padEnd(200, 'x');
        scene.do(`wk track note '${words}' --priority ${priorities[index % 3]}`);
      }
      const { out } = scene.do('wk track resume');
      assert.ok(out.trimEnd().length <= 4_000, `${out.length} characters`);
      const shown = [...out.matchAll(/^- (critical|high|normal): /gm)].map(([, priority]) => priority);
      const inOrder = shown.toSorted((left = '', right = '') => priorities.indexOf(right) - priorities.indexOf(left));
      assert.deepEqual(shown, inOrder);
      assert.ok(shown.filter((priority) => priority === 'critical').length === 10, 'all critical ones');
      assert.match(out, new RegExp(`… and ${30 - shown.length} more`));
    },
  },
  {
    row: 'D6',
    check: 'at 49 h a line; at 169 h `track resume` exit 1 until `--ack`',
    prove(scene) {
      const id = scene.begin('wk track init T --step a');
      scene.do('wk track step 1 --start');
      scene.age(id, 49 * HOUR);
      assert.match(scene.do(`wk track resume ${id}`).out, /2 days ago/);
      scene.age(id, 120 * HOUR);
      const refused = scene.sh(`wk track resume ${id}`);
      assert.equal(refused.code, 1);
      assert.match(refused.err, /for 169 hours.*--ack/);
      scene.do(`wk track resume ${id} --ack && wk track resume ${id}`);
    },
  },
  {
    row: 'D6',
    check: 'at 721 h only `archive --due` archives with `when_archivable:false`; unarchived it is whole',
    prove(scene) {
      const id = scene.begin('wk track init T');
      writeFileSync(join(scene.home, 'settings.json'), '{"auto_archive":{"when_archivable":false}}');
      scene.age(id, 721 * HOUR);
      scene.do('wk track init "Next" --concurrent && wk work list');
      assert.equal(at(scene.json(`wk work show ${id}`), 'archived'), false);
      scene.do('wk work archive --due');
      assert.equal(at(scene.json(`wk work show ${id}`), 'archived'), true);
      scene.do(`wk work unarchive ${id} && wk work verify ${id}`);
    },
  },
  {
    row: 'D6',
    check: 'at 721 h the next `keep` archives it, and the next start says so',
    prove(scene) {
      const id = scene.begin('wk track init Old');
      scene.age(id, 721 * HOUR);
      scene.do('wk work keep');
      assert.equal(at(scene.json(`wk work show ${id}`), 'archived'), true);
      assert.match(scene.do('wk track init Next').err, new RegExp(`${id}.*archive`));
    },
  },
  {
    row: 'D7',
    check: 'the count of pending steps is right for the five cases that a search in prose counts wrongly',
    prove(scene) {
      const id = scene.begin('wk track init T');
      const pendingAfter = (...items: readonly object[]) => {
        scene.sh('wk track sync -', { piped: JSON.stringify(items) });
        return at(scene.json(`wk work show ${id}`), 'progress', 'pending');
      };
      const item = (n: string, content: string, status: string) => ({ id: n, content, status });
      assert.equal(pendingAfter(item('1', 'a completed task', 'completed')), 0);
      assert.equal(pendingAfter(item('2', 'incomplete: still pending', 'completed')), 0);
      scene.do('wk track sync');
      assert.equal(at(scene.json(`wk work show ${id}`), 'progress', 'pending'), 0, 'a mere reading');
      assert.equal(pendingAfter(item('3', 'fails', 'failed')), 1);
      assert.equal(pendingAfter(item('4', 'twice', 'pending')), 2);
      assert.equal(pendingAfter(item('4', 'twice', 'in_progress')), 2);
    },
  },
  {
    row: 'D8',
    check: 'one call blocked, one rejected, one illegal move: {"blocked":1,"rejected":1,"refused":1}; `first_tool`',
    prove(scene) {
      const blocked = { variables: scene.converse('claude/hooked', HOUR) };
      const id = scene.begin('wk track init T --step a', blocked);
      scene.do(`wk work continue ${id}`, { variables: scene.converse('claude-2.1.330/dialog-denied') });
      scene.sh('wk track step 1 --done');
      scene.age(id, DAY);
      const shown = scene.json(`wk work show ${id}`);
      assert.deepEqual(at(shown, 'violations'), { blocked: 1, rejected: 1, refused: 1 });
      assert.equal(typeof at(shown, 'first_tool'), 'string');
    },
  },
  {
    row: 'D9',
    check: '`work set` is in `work show`; after a compaction `compacted_at`, `idle_at`, `context_tokens` are set',
    prove(scene) {
      const id = scene.begin('wk track init T', { variables: scene.converse('claude/deeds', HOUR) });
      scene.do(`wk work continue ${id}`, { variables: scene.converse('claude-2.1.330/compact') });
      scene.do('wk work set role=reviewer language.documents=de governance_level=strict');
      scene.age(id, DAY);
      const shown = scene.json(`wk work show ${id}`);
      assert.deepEqual(
        [at(shown, 'role'), at(shown, 'language', 'documents'), at(shown, 'governance_level')],
        ['reviewer', 'de', 'strict'],
      );
      for (const key of ['compacted_at', 'idle_at', 'context_tokens'])
        assert.equal(typeof at(shown, key), 'number', key);
    },
  },
  {
    row: 'D10',
    check: '`track status --json`, `.check`; a session without events is critical, its hours are null',
    prove(scene) {
      const id = scene.begin('wk track init T');
      scene.age(id, 50 * HOUR);
      const check = () => at(scene.json(`wk track status --session ${id}`), 'check');
      assert.deepEqual(check(), { stale: true, critical: false, hours: 50 });
      scene.rewrite(id, '');
      assert.deepEqual(check(), { stale: true, critical: true, hours: null });
    },
  },
  {
    row: 'D11',
    check: '`work export ID` re-read gives the equal state',
    prove(scene) {
      const id = scene.begin('wk track init "a - b" --step a');
      scene.do('wk track step 1 --start && wk track note x');
      const exported = scene.json(`wk work export ${id}`);
      const elsewhere = join(scene.folder, 'elsewhere');
      scene.do(`mkdir -p ${elsewhere}/sessions/${id}`);
      writeFileSync(join(elsewhere, 'sessions', id, 'worklog.jsonl'), String(at(exported, 'logs', 'worklog.jsonl')));
      const again = scene.json(`wk work export ${id} --dir ${elsewhere}`);
      assert.deepEqual(at(again, 'state'), at(exported, 'state'));
    },
  },
  {
    row: 'D11',
    check: 'each completed phase has a checkpoint; ids with `-` load',
    prove(scene) {
      const id = scene.begin('wk track init "a - b" --step a --step b');
      scene.do('wk track step 1 --start && wk track step 1 --done');
      scene.do(`wk work export ${id} --format idumb --out out`);
      const path = join(scene.repository, 'out/execution/1/checkpoint-phase-1.json');
      assert.ok(existsSync(path));
      assert.equal(at(JSON.parse(readFileSync(path, 'utf8')), 'phase'), '1');
    },
  },
  {
    row: 'X14',
    check: 'a note of the workspace is in the context of each of its sessions',
    prove(scene) {
      scene.do('wk track init "First"');
      scene.do('wk track anchor "never force-push" --workspace --priority critical && wk work end');
      const second = scene.begin('wk track init "Second"');
      assert.match(scene.do('wk track resume').out, /- critical: "never force-push"/);
      assert.match(scene.do(`wk track resume ${second}`).out, /- critical: "never force-push"/);
    },
  },
  {
    row: 'X15',
    check: 'decreasing thresholds: one error, exit 2, names the keys',
    prove(scene) {
      scene.do('wk track init T');
      writeFileSync(join(scene.home, 'settings.json'), '{"freshness":{"stale_h":500,"archivable_h":1}}');
      const { code, err } = scene.sh('wk track status');
      assert.equal(code, 2);
      assert.equal(err.match(/^watchkeeper: /gm)?.length, 1);
      for (const key of ['stale_h', 'critical_h', 'archivable_h']) assert.ok(err.includes(key), `${key}: ${err}`);
    },
  },
];
