/** Checks whether agents can work in their directories, and whether the logs folder can be written. */
import { type ExecFileException, execFile } from 'node:child_process';
import { access, constants, realpath, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { placeLine } from '../../memory/git/gitLine.js';
import type { AgentUser } from '../../src/config/agentUser.js';
import { isDirectory, servedDirectories } from '../../src/config/servedPlaces.js';
import type { Settings } from '../../src/config/settings.js';
import { describeError, errorCode, UnreachableError } from '../../src/errors.js';
import { nearestExisting, probeFolder } from '../../src/files/probe.js';
import { describeDuration, SECOND } from '../../src/time.js';
import { lineOfUser } from '../agents/program/agentUser.js';
import { type CheckResult, fault, ok, unchecked, warning } from './checkResult.js';

const run = promisify(execFile);
const MEBIBYTE = 1024 * 1024;
const SPACE_WARNING_BYTES = 1024 * MEBIBYTE;
const SPACE_FAULT_BYTES = 100 * MEBIBYTE;
const ANSWER_WITHIN_MS = SECOND;
/** The exit code of `test` if what it is asked is not so. */
const REFUSED = 1;
const MAKE_ROOM = 'free some space: journals of ended sessions and rotated logs may be deleted, see logs/README.md';

/** @param mayWrite whether a test file may be written and removed */
export async function checkLogsFolder(logsFolder: string, mayWrite: boolean): Promise<CheckResult[]> {
  const name = 'logs folder';
  try {
    const there = await nearestExisting(logsFolder);
    await access(there, constants.W_OK | constants.X_OK);
    // The bridge creates the folder; this checks whether it can.
    if (mayWrite && there === logsFolder) await probeFolder(logsFolder);
  } catch (error) {
    return [
      fault(
        name,
        `${logsFolder} cannot be written by user ${userId()} (${errorCode(error) || describeError(error)}): no journal and no critical event can be stored`,
        remedyFor(errorCode(error), logsFolder),
      ),
    ];
  }
  const { bavail, bsize } = await statfs(await nearestExisting(logsFolder));
  return [ok(name, `${logsFolder} can be written`), judgeSpace(bavail * bsize)];
}

function remedyFor(code: string, logsFolder: string): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return MAKE_ROOM;
  if (code === 'EROFS')
    return `remount it read-write (\`mount -o remount,rw\`), and check the kernel log for the reason`;
  return `make it writable: \`chown -R ${userId()} ${logsFolder}\`, or set WATCHKEEPER_LOGS to another folder`;
}

export function judgeSpace(freeBytes: number): CheckResult {
  const name = 'disk space';
  const words = `${Math.round(freeBytes / MEBIBYTE)} MiB are free for the logs folder`;
  if (freeBytes >= SPACE_WARNING_BYTES) return ok(name, words);
  return freeBytes < SPACE_FAULT_BYTES ? fault(name, words, MAKE_ROOM) : warning(name, words, MAKE_ROOM);
}

export async function checkProjectDirectories({
  projects,
  agentEnvironment,
  agentUser,
}: Settings): Promise<CheckResult[]> {
  const directories = servedDirectories(projects);
  return Promise.all(
    directories.map(({ projectKey, path }) => checkDirectory(projectKey, path, agentEnvironment, agentUser)),
  );
}

export async function checkDirectory(
  key: string,
  path: string,
  environment: Settings['agentEnvironment'],
  user: AgentUser | null = null,
): Promise<CheckResult> {
  const userId = String(user?.uid ?? process.getuid?.() ?? 'of this process');
  const compose = user === null ? '' : ' (in compose: docs/configuration.md, "The agents\' user, changed later")';
  const give = `give it to that user: \`chown -R ${userId} ${path}\`${compose}`;
  const name = `directory of ${key}`;
  if (!(await isDirectory(path))) {
    return fault(
      name,
      `${path} is not a directory: the project is unavailable, and its messages wait`,
      'create it, mount it, or correct the path in watchkeeper.config.json; a running bridge continues when it is there',
    );
  }
  try {
    if (user === null) await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    else await accessAs(user, path);
  } catch (error) {
    if (error instanceof UnreachableError)
      return unchecked(name, `whether user ${userId} can write ${path}: ${error.message}`);
    return fault(
      name,
      `${path} cannot be written by user ${userId} (${errorCode(error)}): agents cannot change anything there`,
      `${give}; in a container, also check that it is not mounted read-only`,
    );
  }
  const state = await repositoryIn(path, environment, user);
  switch (state.kind) {
    case 'works':
      return ok(name, `${path} is a git checkout and can be written`);
    case 'foreign':
      return warning(
        name,
        `git refuses to work in ${path}, because its owner is not user ${userId}`,
        `${give}, or \`git config --global --add safe.directory ${path}\` as that user`,
      );
    case 'none':
      return warning(
        name,
        `${path} is not a git checkout: changes by agents cannot be reviewed or undone there`,
        `\`git init\` there, or clone the project and set \`directory\` to the clone's path`,
      );
    case 'unknown':
      return unchecked(name, `whether git works in ${path}: ${state.why}`);
  }
}

type RepositoryState =
  | { readonly kind: 'works' }
  /** Git refuses to work there because of the owner. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'none' }
  /** There is one, and git failed or did not answer; `why` is a clause. */
  | { readonly kind: 'unknown'; readonly why: string };

/** Git also fails for faults of the user's configuration; so what is there decides whether there is a repository. */
async function repositoryIn(
  path: string,
  environment: Settings['agentEnvironment'],
  user: AgentUser | null,
): Promise<RepositoryState> {
  const line = placeLine(path, environment);
  const { command, args } = lineOfUser(line, user);
  try {
    await run(command, [...args], { env: line.env, timeout: ANSWER_WITHIN_MS });
    return { kind: 'works' };
  } catch (error) {
    const { code, stderr } = failureOf(error);
    if (stderr.includes('dubious ownership')) return { kind: 'foreign' };
    if (!(await isBelowRepository(path))) return { kind: 'none' };
    // Git is not installed.
    return code === 'ENOENT' ? { kind: 'works' } : { kind: 'unknown', why: whyFailed(line.command, error) };
  }
}

/** @returns whether the directory or one above it has a repository, as git looks for one; true if that cannot be seen */
async function isBelowRepository(path: string): Promise<boolean> {
  for (let at = await realpath(path).catch(() => path); ; at = dirname(at)) {
    if (await isThere(join(at, '.git'))) return true;
    const above = dirname(at);
    // Git does not look beyond the file system.
    if (above === at || (await deviceOf(above)) !== (await deviceOf(at))) return false;
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  );
}

/** @returns null if it cannot be seen */
async function deviceOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ dev }) => dev,
    () => null,
  );
}

/** @throws UnreachableError if that cannot be said; an error with the code EACCES if that user may not work there */
async function accessAs(user: AgentUser, path: string): Promise<void> {
  const test = { command: 'test', args: ['-r', path, '-a', '-w', path, '-a', '-x', path] };
  const { command, args } = lineOfUser(test, user);
  await run(command, [...args], { cwd: '/', env: {}, timeout: ANSWER_WITHIN_MS }).catch((error: unknown) => {
    const { code, stderr } = failureOf(error);
    // Only so does `test` say no. With words, or another code, it was not asked at all.
    if (code === REFUSED && stderr === '') throw Object.assign(new Error('refused'), { code: 'EACCES' });
    throw new UnreachableError(whyFailed(test.command, error), { cause: error });
  });
}

/** @returns what the error of a program that failed or was ended says */
function failureOf(error: unknown) {
  const { code, killed, stderr = '' } = error as ExecFileException & { readonly stderr?: string };
  return { code: code as string | number | null | undefined, isLate: killed === true, stderr };
}

function whyFailed(program: string, error: unknown): string {
  const { code, isLate, stderr } = failureOf(error);
  if (isLate) return `\`${program}\` did not answer within ${describeDuration(ANSWER_WITHIN_MS)}`;
  if (typeof code !== 'number') return `\`${program}\` cannot be started (${code ?? describeError(error)})`;
  const words = stderr.split('\n').find((each) => each.trim() !== '') ?? 'it said nothing';
  return `\`${program}\` fails with exit code ${code}: ${words.trim()}`;
}

function userId(): string {
  return String(process.getuid?.() ?? 'of this process');
}
