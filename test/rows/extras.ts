/** What came to the task worklog later: X1 to X7, and X19. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { packageRoot } from '../../src/host/program.js';
import { DAY } from '../../src/time.js';
import type { RowCheck } from './row.js';
import { at, filesBelow, listAt } from './scene.js';

export const extraRows: readonly RowCheck[] = [
  {
    row: 'X1',
    check: 'the export writes `SESSION_ACTIVE` exactly while the session is active',
    prove(scene) {
      const id = scene.begin('wk track init T --step a');
      const out = join(scene.repository, 'out');
      const isMarked = () => {
        scene.do(`wk work export ${id} --format session-tracker --out out`);
        return existsSync(join(out, 'SESSION_ACTIVE'));
      };
      const seen = [isMarked()];
      scene.do('wk track step 1 --start');
      seen.push(isMarked());
      scene.do('wk track done --complete');
      seen.push(isMarked());
      assert.deepEqual(seen, [false, true, false]);
    },
  },
  {
    row: 'X2',
    check: "`files[p].step` and that step's title in `status --json`",
    prove(scene) {
      scene.do('wk track init T --step "Read it" && wk track step 1 --start --file src/a.ts');
      const status = scene.json('wk track status');
      assert.deepEqual(
        [at(status, 'files', 'src/a.ts', 'step'), at(status, 'steps', 0, 'id'), at(status, 'steps', 0, 'title')],
        ['1', '1', 'Read it'],
      );
    },
  },
  {
    row: 'X4',
    check: '`track sync` prints `[x] [~] [ ] [!] [-]` lines, reads nothing, exit 0',
    prove(scene) {
      scene.do('wk track init T --step a --step b --step c --step d --step e');
      scene.do('wk track step 1 --start && wk track step 1 --done && wk track step 2 --start');
      scene.do('wk track step 4 --start && wk track step 4 --fail why && wk track step 5 --skip why');
      const { out } = scene.do('wk track sync', { piped: 'no list' });
      assert.equal(out, '[x] 1 a\n[~] 2 b\n[ ] 3 c\n[!] 4 d (why)\n[-] 5 e\n');
    },
  },
  {
    row: 'X6',
    check: '`work archive --due`; `work purge ID` without `--yes`: exit 1, nothing gone',
    prove(scene) {
      const id = scene.begin('wk track init Old');
      scene.age(id, 31 * DAY);
      assert.match(scene.do('wk work archive --due').out, new RegExp(`^session ${id} is in the archive`));
      const before = filesBelow(scene.home);
      assert.equal(scene.sh(`wk work purge ${id}`).code, 1);
      assert.deepEqual(filesBelow(scene.home), before);
      scene.do(`wk work purge ${id} --yes`);
      assert.equal(scene.sh(`wk work show ${id}`).code, 2);
    },
  },
  {
    row: 'X6',
    check: 'after 91 days the kept copy is gone, the worklog is not',
    prove(scene) {
      const id = scene.begin('wk track init T', { variables: scene.converse('claude/deeds', 92 * DAY) });
      scene.age(id, 93 * DAY);
      scene.do(`wk work keep ${id}`);
      const kept = () => filesBelow(join(scene.home, 'sessions', id)).map((path) => basename(path));
      assert.ok(kept().includes('tool_use.jsonl'), `kept: ${kept()}`);
      scene.do('wk work end');
      scene.age(id, 93 * DAY);
      scene.do('wk work keep');
      const left = filesBelow(scene.home).filter((path) => path.includes(id));
      assert.deepEqual(
        left.filter((path) => /(?:tool_use|worklog)\.jsonl$/.test(path)).map((path) => basename(path)),
        ['worklog.jsonl'],
      );
    },
  },
  {
    row: 'X7',
    check: 'with `texts:false` no word of the prompt is below home',
    prove(scene) {
      const secret = 'do the work';
      const agent = { variables: scene.converse('claude/deeds') };
      const id = scene.begin('wk track init T --step a', agent);
      writeFileSync(join(scene.home, 'settings.json'), '{"texts":false}');
      scene.age(id, DAY);
      scene.do('wk track step 1 --start && wk track resume && wk track status && wk track done --complete');
      scene.do(`wk work keep ${id} && wk work show ${id} && wk work rebuild ${id}`);
      const found = filesBelow(scene.home).filter((path) => readFileSync(path, 'utf8').includes(secret));
      assert.deepEqual(found, []);
      // The agent's own transcript has it, so it could have been found.
      const transcripts = filesBelow(join(scene.folder, 'claude'));
      assert.ok(transcripts.some((path) => readFileSync(path, 'utf8').includes(secret)));
    },
  },
  {
    row: 'X7',
    check: "nothing outside home is written, git's own objects included",
    prove(scene) {
      scene.write('a', 'x');
      const state = () => filesBelow(scene.repository).map((path) => `${path} ${statSync(path).mtimeMs}`);
      const before = state();
      const id = scene.begin('wk track init T --step a');
      scene.do('wk track step 1 --start --file a && wk track scan && wk track checkpoint c && wk track status');
      scene.do('wk track checkpoint --verify c && wk track resume && wk track done --complete');
      scene.do(`wk work rebuild ${id} && wk work show ${id} && wk work archive ${id}`);
      assert.deepEqual(state(), before);
      const others = filesBelow(scene.folder).filter((path) => !path.startsWith(scene.home));
      assert.deepEqual(
        others.filter((path) => !path.startsWith(scene.repository)),
        [],
      );
    },
  },
  {
    row: 'X19',
    check: '`plugin status` and `doctor` say that an agent has skills without hooks (a stand-in for the agent)',
    prove(scene) {
      const agent = join(scene.folder, 'agent/claude');
      const skill = join(scene.folder, 'claude/skills/resume');
      for (const path of [dirname(agent), skill]) mkdirSync(path, { recursive: true });
      writeFileSync(agent, "#!/bin/sh\necho '[]'\n", { mode: 0o755 });
      cpSync(join(packageRoot(), 'plugin/skills/resume'), skill, { recursive: true });
      const variables = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
      const withAgent = (line: string) =>
        scene.json(`PATH=${dirname(agent)}:$PATH ${line}`, {
          variables: { ...variables, REDIS_URL: 'redis://127.0.0.1:1' },
        });
      const program = join(packageRoot(), 'bin/watchkeeper');
      const status = withAgent(`${program} plugin status --agent claude`);
      assert.deepEqual(
        listAt(status, 'agents').map((one) => [at(one, 'hooks'), at(one, 'skills')]),
        [['none', 'by hand']],
      );
      // This host may have other agents, with plugins of their own.
      const checks = listAt(withAgent(`${program} doctor`), 'checks').filter(
        (one) => at(one, 'name') === 'plugin' && String(at(one, 'found')).startsWith('Claude Code: '),
      );
      assert.deepEqual(
        checks.map((one) => at(one, 'verdict')),
        ['warning'],
      );
      assert.match(String(at(checks[0], 'found')), /without hooks/);
    },
  },
];
