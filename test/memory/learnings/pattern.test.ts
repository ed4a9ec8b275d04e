// covers: memory/learnings/pattern.ts memory/observed/faultLine.ts
/** Which failures are the same, and which are not. */
import { describe, expect, test } from '@jest/globals';
import { commandPattern, errorPattern } from '../../../memory/learnings/pattern.js';
import { faultLine } from '../../../memory/observed/faultLine.js';

describe('commands are alike', () => {
  test.each([
    ['npm test', 'cd /home/me/app && npm test 2>&1 | tail -40'],
    ['npm test', 'NODE_ENV=test PORT=3001 npm test -- --runInBand src/a.test.ts'],
    ['npm run build', 'timeout 120 npm run build > /tmp/out.txt 2>&1; echo $?'],
    ['jest src/a.test.ts', './node_modules/.bin/jest src/b/c.test.ts -t "one case"'],
    ['git commit -m "one"', 'git commit -am "another; with a semicolon && more"'],
    ['git -C /srv/app push', 'git push origin feature/x'],
    ['docker compose -f a.yml up -d', 'docker compose up'],
    ['python3 -m pytest tests/a.py', 'python3 -m pytest -q tests/b.py::test_x'],
    ['curl -s http://localhost:3000/a', 'curl -sf http://127.0.0.1:4000/b?x=1'],
    ['python3 - <<EOF\nprint(1)\nEOF', "python3 - <<'PY'\nimport os\nPY"],
    ['set -e\nmake release', '# try again\nmake release VERSION=1.2'],
    ['sudo systemctl restart app', 'systemctl restart app'],
    ['psql -h localhost -p 5433 -c "select 1"', 'psql -p 5500 -c "\\dt"'],
    ['npx tsc --noEmit', 'npx tsc -p tsconfig.json'],
  ])('%j and %j', (one, other) => {
    expect(commandPattern(other)).toBe(commandPattern(one));
  });
});

describe('commands differ', () => {
  test.each([
    ['npm test', 'npm run build'],
    ['npm run build', 'npm run lint'],
    ['git push', 'git pull'],
    ['cargo build', 'cargo test'],
    ['docker compose up', 'docker compose down'],
    ['npx tsc', 'npx eslint .'],
    ['python3 -m pytest', 'python3 a.py'],
    ['npm run lint && npm test', 'npm test'],
    ['make test', 'make release'],
    ['kubectl get pods', 'kubectl apply -f a.yml'],
  ])('%j and %j', (one, other) => {
    expect(commandPattern(other)).not.toBe(commandPattern(one));
  });
});

describe('errors are alike', () => {
  test.each([
    [
      'Exit code 1\nError: connect ECONNREFUSED 127.0.0.1:6379',
      'Process exited with code 1\nError: connect ECONNREFUSED ::1:6380',
    ],
    [
      "src/a.ts(1,2): error TS2307: Cannot find module './x'.",
      "Exit code 2\nlib/deep/b.tsx(14,22): error TS2307: Cannot find module '../y/z.js'.",
    ],
    ['/bin/sh: 1: foo: not found', '/bin/sh: 12: foo: not found'],
    ['Error: connect ECONNREFUSED 127.0.0.1:7', 'Error: connect ECONNREFUSED localhost:65000'],
    ['Error: getaddrinfo ENOTFOUND db.internal:5432', 'Error: getaddrinfo ENOTFOUND cache.internal:6379'],
    ['error in a.ts:1:2 here', 'error in b.test.ts:12:34 here'],
    [
      'fatal: The current branch login has no upstream branch.',
      'fatal: The current branch fix/x has no upstream branch.',
    ],
    [
      "Error: ENOENT: no such file or directory, open '/tmp/a.1/x.json'",
      "Error: ENOENT: no such file or directory, open 'C:\\temp\\b\\y.json'",
    ],
    ['\u001b[31mFAIL\u001b[0m src/a.test.ts', 'FAIL  test/deep/b.test.ts'],
    [
      '2026-01-02T10:00:00.123Z ERROR: job 17 failed after 12ms',
      '2026-02-03T11:22:33Z ERROR: job 4711 failed after 1.5s',
    ],
    ['error: object 1a2b3c4d5e6f7a8b9c0d not found', 'error: object ffee0011223344556677 not found'],
    ['File has not been read yet.', '<tool_use_error>File has not been read yet.</tool_use_error>'],
    ['> app@1.0.0 test\n> jest\n\nError: boom', '> app@2.1.0 test\n> jest --ci\n\nError: boom'],
    [
      'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no',
      'Traceback (most recent call last):\n  File "b.py", line 9, in f\n    g()\nValueError: no',
    ],
    [
      'Error response from daemon: Bind for 0.0.0.0:5432 failed: port is already allocated',
      'Error response from daemon: Bind for 0.0.0.0:6000 failed: port is already allocated',
    ],
    [
      'ssh: connect to host 10.0.0.7 port 22: Connection refused',
      'ssh: connect to host 10.1.2.3 port 2222: Connection refused',
    ],
    [
      'session 5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11 not found',
      'session 0b6c5f6f-8a52-4f3e-9a59-5f0c1c0e2a22 not found',
    ],
    [
      'mkdir: cannot create directory ‘tmp.Ab12’: File exists',
      'mkdir: cannot create directory ‘tmp.Zz99’: File exists',
    ],
  ])('%j and %j', (one, other) => {
    expect(errorPattern(other)).toBe(errorPattern(one));
  });
});

describe('errors differ', () => {
  test.each([
    ["error TS2307: Cannot find module './x'", "error TS2345: Argument of type 'string'"],
    ["ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'requests'"],
    ['/bin/sh: 1: python: not found', '/bin/sh: 1: node: not found'],
    ["Cannot find module '@types/node'", "Cannot find module '@types/jest'"],
    ['Exit code 1', 'Exit code 137'],
    ['TypeError: a is undefined', 'TypeError: b is not a function'],
    ['error[E0433]: failed to resolve', 'error[E0308]: mismatched types'],
    ['unknown option --foo', 'unknown option --bar'],
    ['npm error code ENOENT', 'npm error code ERESOLVE'],
    ['HTTP 401 Unauthorized', 'HTTP 404 Not Found'],
    ['permission denied while trying to connect to the Docker daemon', 'Cannot connect to the Docker daemon'],
  ])('%j and %j', (one, other) => {
    expect(errorPattern(other)).not.toBe(errorPattern(one));
  });
});

describe('the line of an error that says most', () => {
  test.each([
    [
      'Exit code 101\n   Compiling a v0.1.0 (/srv/a)\nerror[E0433]: failed\n --> src/main.rs:3:5',
      'error[E0433]: failed',
    ],
    ['Exit code 1\n\n> a@1.0.0 test\n> jest\n\nPASS src/a.test.ts\nFAIL src/b.test.ts\n  ● b', 'FAIL src/b.test.ts'],
    ["Exit code 2\nsrc/a.ts:1:2 - error TS1005: ';' expected.", "src/a.ts:1:2 - error TS1005: ';' expected."],
    ['Exit code 1\n----\n====', 'exit code 1'],
    ['Traceback (most recent call last):\n  File "a.py"\nKeyError: 1', 'KeyError: 1'],
    ['Exit code 1\nsomething else went on\nand on', 'something else went on'],
    ['', ''],
  ])('of %j', (output, line) => {
    expect(faultLine(output)).toBe(line);
  });
});

test('a long text takes no long time', () => {
  const text = `${'a/'.repeat(50_000)} ${'1'.repeat(50_000)}`;
  const begin = performance.now();
  errorPattern(text);
  commandPattern(`npm test ${text}`);
  expect(performance.now() - begin).toBeLessThan(2_000);
});
