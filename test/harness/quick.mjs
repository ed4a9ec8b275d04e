// The settings of `npm run test:quick`: the test files that start no process and need no Redis, without the two corpora of secrets,
// which take an eighth of its time.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import settings from '../../jest.config.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TESTS = join(ROOT, 'test');
const STARTS_PROCESSES = /from 'node:child_process'|describeWithRedis|describeWhereInstalled/;
const CORPORA = /^secrets[/\\](?:keys|corpus)\./;
const known = new Map();
// As in globalSetup.mjs, which would start a Redis.
process.env.WATCHKEEPER_TEST_PATIENCE ??= '4';

/** Looks through what a test imports of the tests; the product starts nothing by being imported. */
function startsProcesses(path) {
  if (known.has(path)) return known.get(path);
  known.set(path, false);
  const text = readFileSync(path, 'utf8');
  const imported = [...text.matchAll(/from '(\.[^']+)\.js'/g)]
    .map(([, specifier]) => join(dirname(path), `${specifier}.ts`))
    .filter((each) => each.startsWith(`${TESTS}${sep}`) && existsSync(each));
  const found = STARTS_PROCESSES.test(text) || imported.some(startsProcesses);
  known.set(path, found);
  return found;
}

const { globalSetup: _, globalTeardown: __, ...rest } = settings;
const files = readdirSync(TESTS, { recursive: true }).filter(
  (path) => path.endsWith('.test.ts') && !CORPORA.test(path),
);
const quick = files.map((path) => join(TESTS, path)).filter((path) => !startsProcesses(path));

export default { ...rest, rootDir: ROOT, testMatch: quick };
