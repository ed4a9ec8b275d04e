// covers: src/agents/programs.ts
/** Which program is an agent's is said by its name, and by nothing else in its command line. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { codex } from '../../../src/agents/codex.js';
import { programOfProcess } from '../../../src/agents/programs.js';
import { compiledProgram } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';

test.each([
  ['claude', 'claude'],
  ['/home/me/.local/bin/claude --resume', 'claude'],
  ['node /usr/local/bin/codex', 'codex'],
  ['/usr/bin/node --no-warnings --enable-source-maps /usr/local/bin/claude -p', 'claude'],
  ['node --max-old-space-size=8192 /usr/bin/gemini', 'gemini'],
  ['bun /opt/opencode.js', 'opencode'],
  ['python3.12 /venv/bin/aider', 'aider'],
  ['sh /home/me/bin/claude', 'claude'],
  ['/opt/codex-x86_64-unknown-linux-musl app-server', 'codex'],
  ['/srv/codex-tools/bin/claude.cjs', 'claude'],
  ['/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe -p', 'claude'],
])('%s is %s', (line, name) => {
  expect(programOfProcess(line.split(' '))).toBe(name);
});

// rule: a-daemon-is-no-agent
test.each([
  [['claude bg-spare --bg-spare /tmp/cc-daemon-0/2df48051/spare/69f8da88.claim.sock'], 'claude'],
  [['claude bg-pty-host --bg-pty-host /tmp/a.pty.sock 200 50 -- /opt/claude --bg-spare /tmp/a.claim.sock'], null],
  [['/opt/claude', 'daemon', 'run', '--origin', 'transient', '--spawned-by', '{"label":"claude --bg"}'], null],
  [['/opt/claude.exe', '--bg-pty-host', '/tmp/a.pty.sock'], null],
  [['/opt/claude', 'explain daemon'], 'claude'],
])('%j, as the processes of background sessions are called, is %j', (words, name) => {
  expect(programOfProcess(words)).toBe(name);
});

test.each([
  'make codex',
  'vim claude',
  'git commit claude',
  '/srv/claude/server',
  'node /srv/codex/server.js',
  'node server.js claude',
  'node -e claude',
  'bash -c claude',
  'codex-linux-sandbox ls',
  '',
])('%j is no agent', (line) => {
  expect(programOfProcess(line.split(' '))).toBeNull();
});

test.each([
  ['make', false],
  ['node', true],
])('a command that %s runs, whose argument has the name of an agent: a run of it, %j', (program, isRun) => {
  const folder = testFolder();
  const [home, work] = [join(folder, 'home'), join(folder, 'work')];
  mkdirSync(work);
  // As `make codex` has a recipe that calls the command.
  writeFileSync(
    join(work, 'codex'),
    `const [main] = process.argv.slice(2);
const { stdout } = require('node:child_process').spawnSync(process.execPath, [main, 'track', 'init', 'T', '--json']);
const { session_id } = JSON.parse(stdout);
const lines = require('node:fs').readFileSync(\`\${process.env.WATCHKEEPER_HOME}/sessions/\${session_id}/worklog.jsonl\`, 'utf8');
const runs = lines.trim().split('\\n').map((line) => JSON.parse(line)).filter(({ event }) => event === 'run_started');
console.log(runs.some((run) => run.process.pid === process.pid));`,
  );
  const { stdout } = spawnSync(process.execPath, ['codex', compiledProgram('bridge/cli/main')], {
    ...{ argv0: program, cwd: work, encoding: 'utf8' },
    env: { PATH: process.env.PATH, WATCHKEEPER_HOME: home },
  });
  expect(stdout.trim()).toBe(String(isRun));
});

test.each([
  [true, 'codex exec fix it'],
  [true, 'codex e'],
  [true, 'codex --search -c model="o3" -C /work --profile fast exec'],
  [true, 'node /opt/codex.js review'],
  [false, 'codex'],
  [false, 'codex --profile review'],
  [false, 'codex -m exec resume'],
  [false, 'codex resume exec'],
])('is headless: %j, as `%s`', (isIt, line) => {
  expect(codex.isHeadless(line.split(' '))).toBe(isIt);
});
