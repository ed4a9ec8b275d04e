/** The rows of what sessions have taught, and of what is said of one: C8, C12, C13, X18. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Deed, fails, run, writeSession } from '../memory/learnings/madeSessions.js';
import type { RowCheck } from './row.js';
import { at, listAt, type RowScene } from './scene.js';

const refused = (port: number) => `Error: connect ECONNREFUSED 127.0.0.1:${port}`;
const isNone: readonly Deed[] = [
  ...['rg x', 'grep x a', 'diff a b', 'cmp a b', 'test -f a', 'git diff --exit-code'].map((line) => fails(line, '')),
  fails('gh pr checks', 'build\tfail', 8),
  fails('npx prettier --check .', '[warn] a.ts'),
  ...(['denied', 'interrupted', 'cancelled'] as const).map((how) => run('npm test', { how })),
];

/** Lets an agent have worked in a session of its own. @returns its id */
function work(scene: RowScene, number: number, deeds: readonly Deed[], purpose = `task ${number}`): string {
  const conversation = `5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2f0${number}`;
  const path = join(scene.folder, 'claude/projects/p', `${conversation}.jsonl`);
  const variables = { CLAUDE_CODE_SESSION_ID: conversation, CLAUDECODE: '1' };
  const id = scene.begin(`wk work start --purpose "${purpose}" --concurrent`, { variables });
  // Its share of the conversation begins with it.
  writeSession(path, { provider: 'claude', conversation, at: Date.now(), deeds });
  return id;
}

export const learningRows: readonly RowCheck[] = [
  {
    row: 'C8',
    check: 'three sessions with `npm test` failing alike (other paths, ports): one group, 3 ×, what worked next',
    prove(scene) {
      work(scene, 1, [fails('npm test', refused(6379)), run('docker compose up -d'), run('npm test'), ...isNone]);
      work(scene, 2, [
        fails(`cd ${scene.repository} && npm test`, refused(6380)),
        run('docker compose up -d'),
        run('npm test'),
      ]);
      work(scene, 3, [fails('PORT=7 npm test', refused(7)), run('docker compose up -d'), run('npm test')]);
      const [group, ...others] = listAt(scene.json('wk learn draw'), 'failures');
      assert.deepEqual(others, []);
      const { command, count, sessions, worked } = Object(group);
      assert.deepEqual([command, count, sessions], ['npm test', 3, 3]);
      assert.equal(at(worked, 0, 'after', 0, 'call'), 'docker compose up -d');
      assert.match(scene.do('wk learn draw').out, /worked next: .*docker compose up -d/);
      assert.equal(existsSync(join(scene.home, 'learnings.jsonl')), false);
    },
  },
  {
    row: 'C13',
    check:
      '`learn draw --conversation UUID` on an ended session; `add --action`, `done`, `drop`; no other file is changed',
    prove(scene) {
      scene.write('CLAUDE.md', 'mine');
      const id = work(scene, 1, [fails('make', 'make: *** No targets.  Stop.', 2)]);
      scene.do(`wk work end ${id}`);
      const conversation = at(scene.json(`wk work show ${id}`), 'conversations', 0, 'id');
      assert.equal(listAt(scene.json(`wk learn draw --conversation ${conversation}`), 'failures').length, 1);
      const added = scene.json('wk learn add "there is no Makefile" --action "write one"');
      const [action] = listAt(added, 'actions');
      assert.match(scene.do('wk learn').out, /^Open actions:\n.*write one.*\nLearnings:\n.*there is no Makefile/);
      scene.do(`wk learn done ${action}`);
      assert.doesNotMatch(scene.do('wk learn').out, /Open actions/);
      scene.do(`wk learn drop ${at(added, 'learning')}`);
      assert.match(scene.do('wk learn').out, /^nothing was added here; /);
      assert.equal(readFileSync(join(scene.repository, 'CLAUDE.md'), 'utf8'), 'mine');
    },
  },
  {
    row: 'C13',
    check: '`work summary --pr`: what and why, files, how it was checked, what is open',
    prove(scene) {
      const edit = { tool: 'Edit', input: { file_path: `${scene.repository}/a.ts`, old_string: 'a', new_string: 'b' } };
      const id = work(scene, 1, [{ ...edit, ending: { how: 'ok' } }, run('npm test')], 'Fix the login');
      scene.do(`wk track step --add "Tell people" --session ${id}`);
      scene.do(`wk work end ${id} --summary "The clock was in local time."`);
      const { out } = scene.do(`wk work summary ${id} --pr`);
      assert.match(out, /^# Fix the login\n\nThe clock was in local time\.\n/);
      for (const line of ['- `a.ts` (modified)', '- `npm test` passed', '- Tell people (pending)'])
        assert.ok(out.includes(`${line}\n`), `${line} is not in ${out}`);
    },
  },
  {
    row: 'C12',
    check: '`--verify start` compares with the baseline',
    prove(scene) {
      const id = scene.begin('wk work start --purpose T');
      assert.equal(scene.do(`wk track checkpoint --verify start --session ${id}`).out, 'nothing has changed since\n');
      scene.do('git -c user.name=n -c user.email=e@example.com commit -q --allow-empty -m second');
      const { code, out } = scene.sh(`wk track checkpoint --verify start --session ${id}`);
      assert.deepEqual([code, out], [1, '1 commit since\n']);
    },
  },
  {
    row: 'X18',
    check: 'the last line of `work end` after repeated errors',
    prove(scene) {
      const id = work(scene, 1, [fails('npm test', refused(1)), fails('npm test', refused(2))]);
      const { out } = scene.do(`wk work end ${id}`);
      assert.match(out, new RegExp(`1 failure came back in it: npm test \\(2 ×\\).* watchkeeper learn draw ${id}\n$`));
    },
  },
];
