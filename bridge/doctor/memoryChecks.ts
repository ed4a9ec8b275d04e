/** Session memory of this user: whether its home can be used, its settings, and which of its logs cannot be read. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { damageOf } from '../../memory/condition/damage.js';
import { homeFolder, Places, WORKLOG, worklogIn } from '../../memory/home/places.js';
import { homeTrouble, settingsTrouble } from '../../memory/home/recordable.js';
import { SETTINGS_FILE } from '../../memory/home/settings.js';
import type { LogKind } from '../../memory/logs/kind.js';
import { lineMaker } from '../../memory/logs/line.js';
import { Log } from '../../memory/logs/log.js';
import { settledCounts } from '../../memory/logs/settledCounts.js';
import { Bindings } from '../../memory/sessions/bindings.js';
import { hasLostLines } from '../../memory/sessions/lostLines.js';
import type { Surroundings } from '../../memory/sessions/surroundings.js';
import { Claims } from '../../memory/workspaces/claims.js';
import type { AgentUser } from '../../src/config/agentUser.js';
import { counted } from '../../src/counted.js';
import { describeError, errorCode, UnreachableError, UsageError } from '../../src/errors.js';
import { NotOwnError } from '../../src/files/ownFile.js';
import { nearestExisting } from '../../src/files/probe.js';
import { seenFile } from '../../src/files/seenFile.js';
import { systemClock } from '../../src/time.js';
import { type CheckResult, fault, ok, warning } from './checkResult.js';
import { filesIn, strangersAmong, wayTo } from './ownershipChecks.js';

const HOME = 'memory home';
const OWNERS = 'memory files';
const SETTINGS = 'memory settings';
const LOGS = 'memory logs';
/** The remedy for a damaged log. */
const PUT_BACK = 'put them back if you have a copy';
const NEWER = 'newer memory';
/** The last logs of each kind by name are checked: ids of sessions begin with their day. */
const MOST_LOGS = 1_000;
const MOST_NAMED = 3;
/** Folders of logs that are no session's. */
const SHARED = ['workspaces', 'bindings', 'handoffs'];
/** To the files of a session in the archive. */
const LEVELS = 4;
/** Only whether lines can be read, and whether one of them begins a session. */
const ANY: LogKind<{ isBegun: boolean }> = {
  name: 'any',
  begin: () => ({ isBegun: false }),
  apply: (state, { event }) => {
    state.isBegun ||= event === 'session_started';
    return null;
  },
  line: lineMaker<never>(),
};

/** @param isQuick nothing is written, and the logs are not read @param agentUser if not this user */
export async function checkMemory(
  { variables }: Surroundings,
  isQuick: boolean,
  agentUser: AgentUser | null = null,
): Promise<CheckResult[]> {
  let places: Places;
  try {
    places = new Places(homeFolder(variables));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // A user who runs only the bridge needs no home.
    return [warning(HOME, error.message, 'correct that; until then no session of this user can be recorded')];
  }
  if (agentUser !== null && (await isHomeOf(agentUser, places))) return [foreignHome(agentUser, places)];
  const home = await checkHome(places, isQuick);
  if (home.verdict !== 'ok') return [home];
  if (isQuick) return [home, checkSettings(places)];
  return [home, ...(await checkOwners(places)), checkSettings(places), ...(await checkLogs(places))];
}

/** In a container the bridge has the home of its agents' user, so that they find their logins. */
async function isHomeOf({ uid }: AgentUser, { root }: Places): Promise<boolean> {
  if (process.getuid?.() === uid) return false;
  const { uid: owner } = await stat(await nearestExisting(root)).catch(() => ({ uid: null }));
  return owner === uid;
}

function foreignHome({ name, uid }: AgentUser, { root }: Places): CheckResult {
  const sessions = "the bridge's sessions are in the logs folder, and it records none of its own there";
  return ok(HOME, `${root} belongs to ${name ?? uid}, as whom agents run: ${sessions}`);
}

async function checkHome(places: Places, isQuick: boolean): Promise<CheckResult> {
  const { root } = places;
  const isThere = (await nearestExisting(root)) === root;
  const trouble = await homeTrouble(places, !isQuick);
  if (trouble !== null) return (isThere ? fault : warning)(HOME, trouble.found, trouble.remedy);
  if (!isThere) return ok(HOME, `${root} can be created: nothing is recorded yet`);
  return ok(HOME, isQuick ? `${root} may be written; --quick does not try` : `${root} can be written`);
}

/** @returns nothing if other users can change nothing of it */
async function checkOwners({ root }: Places): Promise<CheckResult[]> {
  // The check of the settings names them.
  const files = (await filesIn(root, LEVELS)).filter(({ path }) => path !== join(root, SETTINGS_FILE));
  const strangers = strangersAmong(files);
  const rest = strangers.length - MOST_NAMED;
  const way = seenFile(root) === undefined ? null : await wayTo(root);
  return [
    ...strangers.slice(0, MOST_NAMED).map(({ found, remedy }) => fault(OWNERS, `not used: ${found}`, remedy)),
    ...(rest > 0 ? [fault(OWNERS, `not used: ${counted(rest, 'more file')} like these`, 'correct these first')] : []),
    ...(way === null
      ? []
      : [warning(OWNERS, `another user can put another home in the place of ${root}: ${way.found}`, way.remedy)]),
  ];
}

function checkSettings(places: Places): CheckResult {
  const trouble = settingsTrouble(places);
  return trouble === null
    ? ok(SETTINGS, 'settings.json has no fault, or there is none')
    : fault(SETTINGS, trouble.found, trouble.remedy);
}

/** The faults of the logs, as paths or sentences about them. */
interface LogTrouble {
  readonly torn: string[];
  readonly newer: string[];
  readonly unreadable: string[];
  readonly lost: string[];
  readonly unbegun: string[];
}

async function checkLogs(places: Places): Promise<CheckResult[]> {
  const { torn, newer, unreadable, lost, unbegun } = await troubleOfLogs(places);
  const some = [
    ...named(fault, unreadable, 'cannot be read', 'put a plain file that this user can read in its place'),
    ...named(
      fault,
      lost,
      'worklogs of which no line is left that can be read',
      `${PUT_BACK}; otherwise \`watchkeeper work purge ID\` removes what is left of the session`,
    ),
    ...named(
      fault,
      unbegun,
      'worklogs whose first line, the beginning of the session, is lost',
      `${PUT_BACK}; otherwise what was recorded later counts, or \`watchkeeper work purge ID\` removes it`,
    ),
    ...named(
      warning,
      torn,
      'unreadable lines, cut off by a full disk or a crash, or changed by hand',
      'nothing has to be done: they are skipped, and the rest counts; `watchkeeper work show` and `learn` name them',
    ),
  ];
  const found = `lines of a newer version, which this one skips: ${firstOf(newer)}`;
  const remedy = 'update this one: until then it cannot change these records';
  return [
    ...(some.length === 0 ? [ok(LOGS, 'every line can be read')] : some),
    ...(newer.length === 0 ? [] : [warning(NEWER, found, remedy)]),
  ];
}

async function troubleOfLogs(places: Places): Promise<LogTrouble> {
  const trouble: LogTrouble = { torn: [], newer: [], unreadable: [], lost: [], unbegun: [] };
  const isLost = lostIn(places);
  const onTrouble = (error: unknown) => {
    // The check of the owners names it.
    if (!(error instanceof NotOwnError)) trouble.unreadable.push(describeError(error));
  };
  for (const path of await logsOf(places, onTrouble)) {
    try {
      const log = Log.read(path, ANY);
      if (log === null) continue;
      const counts = await settledCounts(log);
      const { unreadable: damaged, newer, hasLostBeginning } = damageOf(counts, log.state.isBegun);
      const { lines } = counts;
      if (lines === damaged && isLost(path, lines)) trouble.lost.push(path);
      else if (basename(path) === WORKLOG && hasLostBeginning) trouble.unbegun.push(path);
      else if (damaged > 0) trouble.torn.push(`${damaged} in ${path}`);
      if (newer > 0) trouble.newer.push(`${newer} in ${path}`);
    } catch (error) {
      onTrouble(error);
    }
  }
  return trouble;
}

function named(make: typeof fault, paths: readonly string[], found: string, remedy: string): CheckResult[] {
  return paths.length === 0 ? [] : [make(LOGS, `${found}: ${firstOf(paths)}`, remedy)];
}

/** @returns whether a log without a readable line has lost the record of a session; only a worklog has one */
function lostIn(places: Places): (path: string, lines: number) => boolean {
  const stamp = { clock: systemClock, redact: (text: string) => text, origin: 'watchkeeper' } as const;
  const shared = { claims: new Claims(places, stamp, () => true), bindings: new Bindings(places, stamp) };
  return (path, lines) => basename(path) === WORKLOG && (lines > 0 || hasLostLines(shared, dirname(path)));
}

async function logsOf(places: Places, onTrouble: (error: unknown) => void): Promise<string[]> {
  const folders = [
    () => places.archivedFolders(),
    () => places.sessionNames().map((name) => places.sessionFolder(name)),
  ].flatMap((list) => {
    try {
      return list();
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error;
      onTrouble(error);
      return [];
    }
  });
  const shared = await Promise.all(SHARED.map((name) => logsIn(join(places.root, name), onTrouble)));
  return [folders.sort().map(worklogIn), [places.learnings], ...shared].flatMap((paths) => paths.slice(-MOST_LOGS));
}

/** Those below a folder in the home. */
async function logsIn(folder: string, onTrouble: (error: unknown) => void): Promise<string[]> {
  try {
    const names = (await readdir(folder)).filter((file) => file.endsWith('.jsonl'));
    return names.sort().map((file) => join(folder, file));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') onTrouble(error);
    return [];
  }
}

function firstOf(all: readonly string[]): string {
  const rest = all.length - MOST_NAMED;
  return `${all.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${counted(rest, 'more file')}` : ''}`;
}
