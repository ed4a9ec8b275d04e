/** The rows of the task worklog: T1 to T9. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/host/program.js';
import { DAY, HOUR, MINUTE } from '../../src/time.js';
import type { RowCheck } from './row.js';
import { at, listAt, type RowScene } from './scene.js';

const WRITERS = 16;
const KILLED = 8;
/** Of each writer. Each is a command of its own; `npm run prove -- memory-races` has as many as the row, in fewer processes. */
const LINES = 8;
const LOOKS = 100;

export const trackerRows: readonly RowCheck[] = [
  {
    row: 'T1',
    check: 'two steps with their titles, one file entry b.ts (done, step 1), exit 0',
    prove(scene) {
      const title = 'say "x"\ny 🙂';
      scene.write('src/a.ts', 'a');
      scene.do(
        `wk track init "T" --step "Read A, B and C" --step '${title}' && wk track step 1 --start --file src/a.ts && wk track file ./src/../src/a.ts --done && wk track file src/a.ts --rename b.ts`,
      );
      const status = scene.json('wk track status');
      assert.deepEqual(
        listAt(status, 'steps').map((step) => at(step, 'title')),
        ['Read A, B and C', title],
      );
      assert.deepEqual(Object.keys(Object(at(status, 'files'))), ['b.ts']);
      assert.deepEqual([at(status, 'files', 'b.ts', 'status'), at(status, 'files', 'b.ts', 'step')], ['done', '1']);
    },
  },
  {
    row: 'T1',
    check: '`file OLD --rename NEW` and `file --rename OLD NEW` both move OLD to NEW',
    prove(scene) {
      scene.do('wk track init T');
      for (const line of ['file one --working', 'file one --rename two', 'file --rename two three'])
        scene.do(`wk track ${line}`);
      assert.deepEqual(Object.keys(Object(at(scene.json('wk track status'), 'files'))), ['three']);
    },
  },
  {
    row: 'T2',
    check: `${WRITERS} shells × ${LINES} \`track log\`, ${KILLED} of them killed with SIGKILL: every acknowledged line is there, 0 unreadable`,
    prove: acknowledgedLines,
  },
  {
    row: 'T2',
    check: 'each command adds exactly one line of its kind',
    prove(scene) {
      const id = scene.begin('wk track init T --step a --step b');
      for (const [line, event] of [
        ['step 1 --start', 'step'],
        ['file a --working', 'file'],
        ['file a --rename b', 'file'],
        ['file b --done', 'file'],
        ['log x', 'log'],
        ['note x', 'note'],
        ['ping', 'ping'],
        ['checkpoint c', 'checkpoint'],
        ['step 1 --done', 'step'],
        ['step --add c', 'step_added'],
      ] as const) {
        const before = eventsOf(scene, id);
        scene.do(`wk track ${line}`);
        assert.deepEqual(eventsOf(scene, id).slice(before.length), [event], line);
      }
    },
  },
  {
    row: 'T3',
    check: 'a ping is no activity, and excuses an agent that looks stuck until its time',
    prove(scene) {
      const agent = { variables: scene.converse('claude/hang', 30 * MINUTE) };
      const id = scene.begin('wk track init T --step a', agent);
      scene.age(id, DAY);
      scene.do('wk track step 1 --start', agent);
      scene.age(id, HOUR);
      assert.equal(scene.sh('wk track status').code, 1, 'it is stuck');
      const before = at(scene.json('wk track status'), 'last_activity');
      scene.do('wk track ping --for 1s');
      const { code } = scene.sh('wk track status');
      assert.equal(at(scene.json('wk track status'), 'last_activity'), before);
      assert.equal(code, 0, 'excused');
      scene.sh('sleep 1.1');
      assert.equal(scene.sh('wk track status').code, 1, 'after its time');
    },
  },
  {
    row: 'T3',
    check: 'a list from standard input twice: one step, the merged list printed, exit 0',
    prove(scene) {
      scene.do('wk track init T');
      const item = '[{"id":"x9","content":"B2","status":"completed"}]';
      for (let round = 0; round < 2; round += 1) {
        const { out } = scene.do(`echo '${item}' | wk track sync -`);
        assert.equal(out, '[x] 1 B2\n');
      }
      assert.equal(listAt(scene.json('wk track status'), 'steps').length, 1);
    },
  },
  {
    row: 'T3',
    check: 'ids that are no numbers, reworded and removed items keep their step',
    prove(scene) {
      scene.do('wk track init T');
      const sync = (...items: readonly object[]) => scene.do('wk track sync -', { piped: JSON.stringify(items) });
      const item = (id: string, content: string, status = 'pending') => ({ id, content, status });
      sync(item('a-1', 'Read'), item('b-2', 'Write'), item('c-3', 'Test'));
      sync(item('b-2', 'Write it all', 'in_progress'), item('c-3', 'Test'));
      const steps = listAt(scene.json('wk track status'), 'steps').map((step) => [at(step, 'id'), at(step, 'title')]);
      assert.deepEqual(steps, [
        ['1', 'Read'],
        ['2', 'Write it all'],
        ['3', 'Test'],
      ]);
    },
  },
  {
    row: 'T3',
    check: '`watchkeeper track sync` leaves an inherited pipe alone; `session-tracker sync` reads it',
    prove(scene) {
      scene.do('wk track init T');
      const list = '[{"id":"1","content":"Step","status":"pending"}]';
      assert.equal(
        scene.do(`printf '%s\\nnext\\n' '${list}' | (wk track sync >/dev/null; cat)`).out,
        `${list}\nnext\n`,
      );
      assert.equal(scene.do(`echo '${list}' | session-tracker sync`).out, '[ ] 1 Step\n');
    },
  },
  {
    row: 'T4',
    check: `our own writes never count: ${LOOKS} × \`track status\` and \`scan\` move no clock`,
    prove(scene) {
      const id = scene.begin('wk track init T --step a');
      scene.do('wk track step 1 --start');
      const before = [scene.worklog(id), at(scene.json('wk track status'), 'last_activity')];
      const loop = (word: string) => `for i in $(seq ${LOOKS}); do wk track ${word} >/dev/null || exit 1; done`;
      scene.do(`(${loop('status')}) & (${loop('scan')}); wait $!`);
      assert.deepEqual([scene.worklog(id), at(scene.json('wk track status'), 'last_activity')], before);
    },
  },
  {
    row: 'T6',
    check: 'task, lifecycle, liveness, attention, freshness, 1 of 3, current step, files, changes since the scan',
    prove(scene) {
      const agent = { variables: scene.converse('claude/work') };
      const id = scene.begin('wk track init "Fix the login" --step a --step b --step c', agent);
      scene.age(id, DAY);
      scene.do('wk track scan');
      scene.write('src/new.ts', 'x');
      scene.do('wk track step 1 --start && wk track step 1 --done && wk track step 2 --start --file src/a.ts');
      const { out } = scene.do('wk track status');
      for (const part of [
        /^\S+: Fix the login$/m,
        /^resting; .*agent.*; last activity /m,
        /^1 of 3 steps, now step 2: b$/m,
        /^files in progress:\n {2}src\/a\.ts$/m,
        /^changes since the scan of .*:\n {2}created {3}src\/new\.ts$/m,
      ])
        assert.match(out, part);
    },
  },
  {
    row: 'T6',
    check: 'exit 1 only when stuck',
    prove(scene) {
      const agent = { variables: scene.converse('claude/hang', 30 * MINUTE) };
      const id = scene.begin('wk track init T --step a', agent);
      scene.do('wk track step 1 --start', agent);
      scene.age(id, DAY);
      const { code, out } = scene.sh('wk track status');
      assert.equal(code, 1);
      assert.match(out, /^seems stuck: /m);
      scene.do('wk work end');
      scene.do(`wk track status --session ${id}`);
    },
  },
  {
    row: 'T7',
    check: 'with open steps `done` is refused and names both ways; `--complete` marks them as assumed and skipped',
    prove(scene) {
      const id = scene.begin('wk track init T --step a --step b --step c');
      scene.do('wk track step 1 --start');
      const refused = scene.sh('wk track done');
      assert.equal(refused.code, 1);
      assert.match(refused.err, /--complete[\s\S]*--as failed/);
      scene.do('wk track done --complete');
      const shown = scene.json(`wk work show ${id}`);
      const steps = listAt(shown, 'steps').map((step) => [at(step, 'status'), at(step, 'assumed')]);
      assert.deepEqual(steps, [
        ['completed', true],
        ['skipped', true],
        ['skipped', true],
      ]);
      assert.equal(at(shown, 'lifecycle'), 'ended');
    },
  },
  {
    row: 'T8',
    check: 'nested, renamed and deleted files in a folder of 600 show in `track scan`',
    prove(scene) {
      for (let index = 0; index < 600; index += 1) scene.write(`many/${index % 7}/f${index}`, 'x');
      scene.do('wk track init T && wk track scan');
      const place = (path: string) => join(scene.repository, 'many', path);
      mkdirSync(place('deep/er'), { recursive: true });
      writeFileSync(place('deep/er/new'), 'x');
      writeFileSync(place('3/f3'), 'longer');
      renameSync(place('1/f1'), place('1/renamed'));
      rmSync(place('2/f2'));
      const scan = scene.json('wk track scan');
      assert.deepEqual(at(scan, 'created', 'paths'), ['many/1/renamed', 'many/deep/er/new']);
      assert.deepEqual(at(scan, 'modified', 'paths'), ['many/3/f3']);
      assert.deepEqual(at(scan, 'deleted', 'paths'), ['many/1/f1', 'many/2/f2']);
    },
  },
  {
    row: 'T8',
    check: "what was read comes from the agent's Read calls",
    prove(scene) {
      const agent = { variables: scene.converse('claude/work') };
      const id = scene.begin('wk track init T', agent);
      scene.age(id, DAY);
      const files = Object.entries(Object(at(scene.json(`wk work show ${id}`), 'files')));
      const read = files.filter(([, file]) => at(file, 'change') === 'read');
      assert.ok(read.length > 0, `read: ${JSON.stringify(files)}`);
    },
  },
  {
    row: 'T9',
    check: '`--help` lists `--dir`; a priority given by sync is in `state.json`',
    prove(scene) {
      for (const line of ['wk --help', 'wk track --help', 'wk work --help', 'session-tracker --help'])
        assert.match(scene.do(line).out, /--dir FOLDER/, line);
      const id = scene.begin('session-tracker --dir ./elsewhere init T');
      const list = '[{"id":"1","content":"Step","status":"pending","priority":"high"}]';
      scene.do(`echo '${list}' | session-tracker --dir ./elsewhere sync && wk work rebuild ${id} --dir ./elsewhere`);
      const state = readFileSync(join(scene.repository, 'elsewhere/sessions', id, 'state.json'), 'utf8');
      assert.equal(at(JSON.parse(state), 'steps', 0, 'priority'), 'high');
    },
  },
  {
    row: 'T9',
    check: "the skill with the seed's workflow",
    prove() {
      const skill = readFileSync(join(packageRoot(), 'plugin/skills/session-tracker/SKILL.md'), 'utf8');
      const [workflow = '', afterwards = ''] = skill.split('## After an interruption');
      const places = WORKFLOW.map((words) => workflow.search(new RegExp(`^ *watchkeeper track ${words}`, 'm')));
      assert.ok(!places.includes(-1), `${places} of ${WORKFLOW}`);
      assert.deepEqual(
        places,
        [...places].sort((left, right) => left - right),
      );
      assert.match(afterwards, /^watchkeeper track resume ID$/m);
    },
  },
];

/** In the seed's order, as patterns. */
const WORKFLOW = [
  ...['crash-detect', 'init ', 'step .* --start', 'file .* --reading', 'file .* --working', 'ping', 'log '],
  ...['file .* --rename', 'file .* --done', 'step .* --done', 'sync', 'done'],
];

/** @returns the events of a worklog, in order */
function eventsOf(scene: RowScene, id: string): unknown[] {
  return scene
    .worklog(id)
    .trimEnd()
    .split('\n')
    .map((line) => at(JSON.parse(line), 'event'));
}

/** Half of the shells are killed together with what they run; the others go on. */
function acknowledgedLines(scene: RowScene): void {
  const id = scene.begin('wk track init T');
  const writer = (index: number) =>
    `for i in $(seq ${LINES}); do wk track log "w${index}-$i" >/dev/null && echo "w${index}-$i" >>acknowledged; done`;
  const shells = Array.from({ length: WRITERS }, (_, index) => `setsid sh -c '${writer(index)}' & p${index}=$!`);
  const killed = Array.from({ length: KILLED }, (_, index) => `sleep 0.4; kill -9 -$p${index * 2} 2>/dev/null`);
  scene.do(`touch acknowledged\n${shells.join('\n')}\nsleep 1\n${killed.join('\n')}\nwait || true`);
  const acknowledged = readFileSync(join(scene.repository, 'acknowledged'), 'utf8').trim().split('\n');
  const whole = WRITERS * LINES;
  assert.ok(acknowledged.length >= (WRITERS - KILLED) * LINES && acknowledged.length <= whole, 'writers worked');
  const shown = scene.json(`wk work show ${id}`);
  assert.equal(at(shown, 'log', 'unreadable'), 0);
  const messages = scene.worklog(id);
  const lost = acknowledged.filter((message) => !messages.includes(`"${message}"`));
  assert.deepEqual(lost, []);
  assert.ok(Number(at(shown, 'log', 'applied')) > acknowledged.length, 'every acknowledged line counts');
}
