/**
 * Twelve sessions, and a list of the failures that came back in them. A person wrote the list by reading the sessions, before anything
 * was drawn from them.
 */
import { type Deed, day, fails, type MadeSession, run } from './madeSessions.js';

/** A failure that came back, as its reader named it. */
export interface Repeat {
  /** Words of the command, or the tool. */
  readonly call: RegExp;
  readonly error: RegExp;
  /** By their numbers, from 1. */
  readonly sessions: readonly number[];
  readonly count: number;
  /** A part of what worked next. */
  readonly worked?: RegExp;
}

export const REPEATS: readonly Repeat[] = [
  { call: /npm test/, error: /ECONNREFUSED/, sessions: [1, 2, 5, 9], count: 5, worked: /docker compose up/ },
  { call: /^shell: python\b/, error: /command not found/, sessions: [1, 3, 7], count: 3, worked: /^python3 / },
  { call: /^Edit$/, error: /has not been read yet/, sessions: [2, 4, 6, 8], count: 4, worked: /Read: / },
  {
    call: /git push/,
    error: /no upstream branch/,
    sessions: [3, 5, 11],
    count: 3,
    worked: /git push (-u|--set-upstream)/,
  },
  { call: /tsc/, error: /TS2307/, sessions: [4, 6, 10], count: 4 },
  { call: /tsc/, error: /TS2345/, sessions: [4, 8], count: 2 },
  { call: /cargo build/, error: /E0433/, sessions: [9, 12], count: 2, worked: /cargo add/ },
  { call: /psql/, error: /refused/, sessions: [5, 7, 9], count: 3 },
  { call: /^apply_patch$/, error: /Failed to find expected lines/, sessions: [7, 9, 11], count: 3 },
  { call: /docker compose up/, error: /already allocated/, sessions: [2, 10], count: 2 },
  { call: /pytest/, error: /No module named 'yaml'/, sessions: [3, 12], count: 2, worked: /pip install/ },
  { call: /curl/, error: /connect to server/, sessions: [6, 8, 12], count: 3 },
  { call: /^Edit$/, error: /String to replace not found/, sessions: [6, 10], count: 2 },
  { call: /npm run build/, error: /heap/, sessions: [8, 10], count: 2, worked: /NODE_OPTIONS/ },
];

/** Calls that a person refused with words. */
export const REFUSED = [
  { call: /git push --force/, said: 'never force-push, open a pull request' },
  { call: /rm -rf/, said: 'keep the fixtures' },
] as const;

const refused = (port: number) =>
  `\n> popoto@1.0.0 test\n> jest\n\nError: connect ECONNREFUSED 127.0.0.1:${port}\n    at TCPConnectWrap.afterConnect`;
const noPython = (line: number) => `/bin/bash: line ${line}: python: command not found`;
const UNREAD = 'File has not been read yet. Read it first before writing to it.';
const noUpstream = (branch: string) =>
  `fatal: The current branch ${branch} has no upstream branch.\nTo push the current branch and set the remote as upstream, use`;
const tsc = (file: string, at: string, code: string) => `${file}(${at}): error ${code}`;
const noModule = (name: string) => `TS2307: Cannot find module '${name}' or its corresponding type declarations.`;
const psql = (port: number) =>
  `psql: error: connection to server at "localhost" (::1), port ${port} failed: Connection refused\n\tIs the server running on that host?`;
const curl = (port: number, ms: number) =>
  `curl: (7) Failed to connect to localhost port ${port} after ${ms} ms: Couldn't connect to server`;
const allocated = (port: number) =>
  `Error response from daemon: driver failed programming external connectivity: Bind for 0.0.0.0:${port} failed: port is already allocated`;
const YAML = "ImportError while loading conftest.\nE   ModuleNotFoundError: No module named 'yaml'";
const HEAP = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory';

const edit = (file_path: string, ending?: Deed['ending']): Deed => ({
  tool: 'Edit',
  input: { file_path, old_string: 'a', new_string: 'b' },
  ending: ending ?? { how: 'ok' },
});
const read = (file_path: string): Deed => ({
  tool: 'Read',
  input: { file_path },
  ending: { how: 'ok', output: '1\ta' },
});
const patch = (file: string, isFound = false): Deed => ({
  tool: 'apply_patch',
  input: { patch: `*** Begin Patch\n*** Update File: ${file}\n@@\n-a\n+b\n*** End Patch` },
  ending: isFound
    ? { how: 'ok', output: 'Success. Updated the following files:' }
    : {
        how: 'error',
        output: `apply_patch verification failed: Failed to find expected lines in /home/me/popoto/${file}:\na`,
      },
});
const push = (branch: string) => [fails('git push', noUpstream(branch), 128), run(`git push -u origin ${branch}`)];

/** What the command had to say, and what people and programs stopped: nothing of it is a failure. */
const ANSWERS: readonly Deed[] = [
  fails('rg "noSuchName" src', ''),
  fails('grep -rn noSuchName src', ''),
  fails('cd src && diff a.ts b.ts', '1c1\n< a\n---\n> b'),
  fails('gh pr checks 17', 'build\tfail\t1m2s\thttps://github.com/o/r/actions/1', 8),
  fails('npx prettier --check .', '[warn] src/a.ts'),
  fails('git diff --exit-code', 'diff --git a/x b/x'),
  fails('test -f dist/main.js', ''),
  run('npm publish', { how: 'denied' }),
  run('npm test', { how: 'interrupted' }),
  run('npm run lint', { how: 'cancelled' }),
];
const blocked = run('git commit --no-verify', { how: 'blocked', output: 'PreToolUse:Bash hook error: no' });

const DEEDS: readonly (readonly Deed[])[] = [
  [
    fails('npm test', refused(6379)),
    run('docker compose up -d redis'),
    run('npm test'),
    fails('python scripts/seed.py', noPython(1), 127),
    run('python3 scripts/seed.py'),
    ...ANSWERS,
  ],
  [
    fails('cd /home/me/popoto && npm test 2>&1 | tail -40', refused(6380)),
    fails('npm test', refused(6380)),
    run('docker compose up -d redis'),
    run('npm test'),
    edit('/home/me/popoto/src/a.ts', { how: 'error', output: UNREAD }),
    read('/home/me/popoto/src/a.ts'),
    edit('/home/me/popoto/src/a.ts'),
    fails('docker compose up -d db', allocated(5432)),
    run('git push --force origin main', { how: 'denied', said: REFUSED[0].said }),
    ...ANSWERS,
  ],
  [
    fails('python tools/gen.py --out /tmp/x.1234', noPython(3), 127),
    run('python3 tools/gen.py --out /tmp/x.1234'),
    ...push('feature/login'),
    fails('pytest tests/test_api.py', YAML, 4),
    run('pip install pyyaml'),
    run('pytest tests/test_api.py'),
    fails('pytest tests/test_one.py', 'E   AssertionError: 1 != 2'),
    blocked,
  ],
  [
    edit('/home/me/popoto/src/b.ts', { how: 'error', output: UNREAD }),
    read('/home/me/popoto/src/b.ts'),
    edit('/home/me/popoto/src/b.ts'),
    fails('npx tsc --noEmit', tsc('src/b.ts', '12,5', noModule('./login')), 2),
    fails(
      'npx tsc --noEmit',
      tsc('src/b.ts', '40,11', "TS2345: Argument of type 'string' is not assignable to parameter of type 'number'."),
      2,
    ),
    run('npx tsc --noEmit'),
    ...ANSWERS,
  ],
  [
    fails('PORT=3001 npm test', refused(6379)),
    run('docker compose up -d redis'),
    run('PORT=3001 npm test'),
    ...push('fix/tokens'),
    fails(
      'git push',
      'To github.com:o/r.git\n ! [rejected] main -> main (fetch first)\nerror: failed to push some refs',
      1,
    ),
    fails('psql -h localhost -p 5433 -c "select 1"', psql(5433), 2),
  ],
  [
    edit('/home/me/popoto/docs/c.md', { how: 'error', output: UNREAD }),
    read('/home/me/popoto/docs/c.md'),
    edit('/home/me/popoto/docs/c.md', { how: 'error', output: 'String to replace not found in file.\nString: a' }),
    fails('npx tsc --noEmit -p .', tsc('src/c.ts', '1,22', noModule('../lib/time.js')), 2),
    fails('npx tsc --noEmit', tsc('src/c.ts', '1,22', noModule('../lib/time.js')), 2),
    fails('curl -sf http://localhost:3000/health', curl(3000, 0), 7),
  ],
  [
    fails('python scripts/report.py', noPython(1), 127),
    run('python3 scripts/report.py'),
    patch('src/d.ts'),
    patch('src/d.ts', true),
    fails('psql -h localhost -p 5500 -c "select count(*) from jobs"', psql(5500), 2),
    ...ANSWERS,
  ],
  [
    edit('/home/me/popoto/src/e.ts', { how: 'error', output: UNREAD }),
    read('/home/me/popoto/src/e.ts'),
    edit('/home/me/popoto/src/e.ts'),
    fails(
      'npx tsc --noEmit',
      tsc('src/e.ts', '7,1', "TS2345: Argument of type 'string' is not assignable to parameter of type 'number'."),
      2,
    ),
    fails('curl -sf http://localhost:4000/health', curl(4000, 2), 7),
    fails('npm run build', `\n> popoto@1.0.0 build\n> vite build\n\n${HEAP}`, 134),
    run('NODE_OPTIONS=--max-old-space-size=4096 npm run build'),
    run('rm -rf test/fixtures', { how: 'denied', said: REFUSED[1].said }),
  ],
  [
    fails('npm test', refused(6390)),
    run('docker compose up -d redis'),
    run('npm test'),
    fails(
      'cargo build',
      'error[E0433]: failed to resolve: use of undeclared crate or module `serde_yaml`\n --> src/main.rs:3:5',
      101,
    ),
    run('cargo add serde_yaml'),
    run('cargo build'),
    fails('psql -h localhost -p 5433 -c "\\dt"', psql(5433), 2),
    patch('src/f.ts'),
    patch('src/f.ts', true),
  ],
  [
    fails('npx tsc --noEmit', tsc('src/g.ts', '3,9', noModule('@/store')), 2),
    edit('/home/me/popoto/src/g.ts', { how: 'error', output: 'String to replace not found in file.\nString: const a' }),
    fails('npm run build', `\n> popoto@1.0.1 build\n> vite build\n\n${HEAP}`, 134),
    run('NODE_OPTIONS=--max-old-space-size=4096 npm run build'),
    fails('docker compose up -d db', allocated(5433)),
    fails('npm test', '\n> popoto@1.0.1 test\n> jest\n\nTypeError: Cannot read properties of undefined'),
  ],
  [
    ...push('login'),
    patch('src/h.ts'),
    fails('make release', 'make: *** No rule to make target `release`.  Stop.', 2),
    ...ANSWERS,
  ],
  [
    fails(
      'cargo build',
      'error[E0433]: failed to resolve: use of undeclared crate or module `serde_yaml`\n --> src/lib.rs:1:5',
      101,
    ),
    run('cargo add serde_yaml'),
    run('cargo build'),
    fails('pytest tests/unit/test_jobs.py -q', YAML, 4),
    run('pip install pyyaml'),
    run('pytest tests/unit/test_jobs.py -q'),
    fails('curl -sf http://localhost:3000/health', curl(3000, 1), 7),
    ...ANSWERS,
  ],
];

/** Those with patches are of Codex; so is another one. */
const OF_CODEX = [5, 7, 9, 11];

export const SESSIONS: readonly MadeSession[] = DEEDS.map((deeds, index) => {
  const number = index + 1;
  return {
    provider: OF_CODEX.includes(number) ? ('codex' as const) : ('claude' as const),
    conversation: `5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a${String(number).padStart(2, '0')}`,
    at: day(number),
    deeds,
  };
});
