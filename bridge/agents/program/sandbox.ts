/**
 * Keeps an agent away from the bridge that starts it, and from the person whose user it shares. Under bubblewrap the host's files
 * are read-only; the home folder is replaced by a folder that the project's agents have for themselves; the bridge's logs,
 * secrets and sockets are hidden. The agent may write in its project, in that folder, and in a private `/tmp`. It has its own pid
 * and ipc namespaces, so it sees, signals and reads only processes of its run. When the first process of the namespace ends, all
 * others in it end, too.
 *
 * The network is not limited, and so neither are sockets with an abstract name. The processes inside are visible from outside,
 * with their marks, and are ended like any others.
 */
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import type { AgentUser } from '../../../src/config/agentUser.js';
import { homeOfUser } from '../../../src/host/homeOfUser.js';
import { buildOf, ownBuild, packageRoot } from '../../../src/host/program.js';
import { lineOfUser } from './agentUser.js';
import type { AgentSurroundings } from './contract.js';
import { type CommandLine, systemProgram, tryOut } from './findProgram.js';
import {
  argumentsOf,
  inPlace,
  isWithin,
  type Mount,
  outerFirst,
  outermost,
  pinned,
  realOf,
  realPathOutside,
} from './mounts.js';
import { emptyHome, homeInside, intoOwnHome, makeOwnHome, programsOnPath, wholeProgram } from './ownHome.js';

/** Sockets of services, of terminals and of other people's programs: reaching one of them is a way out of the sandbox. */
const EMPTIED = ['/run', '/tmp', '/var/tmp'];
/** The parts of this package that an agent runs: its own program, and `watchkeeper` in its shell. */
const OWN_PARTS = ['.claude-plugin', 'bin', 'dist', 'node_modules', 'package.json', 'plugin'];
/** They name no file that an agent is given: `/tmp` of the sandbox takes the place of TMPDIR. */
const NO_GIFTS = ['HOME', 'PATH', 'TMPDIR', 'WATCHKEEPER_MEMORY'];
const SIGNAL_EXIT = 128;

/** @returns bubblewrap's own words on why it could not make the sandbox; null if it did */
export function sandboxComplaint(lastWords: string): string | null {
  return /^bwrap: .*/.exec(lastWords)?.[0] ?? null;
}

/**
 * @returns the signal that ended the program inside, which bubblewrap reports by its exit code as a shell does; otherwise null
 */
export function signalInside(code: number | null): NodeJS.Signals | null {
  const found = Object.entries(constants.signals).find(([, number]) => code === SIGNAL_EXIT + number);
  return (found?.[0] as NodeJS.Signals | undefined) ?? null;
}

export interface Trouble {
  /** A clause. */
  readonly why: string;
  /** Whether bubblewrap is not there at all. Any other trouble could be an agent's doing, by using up a sandbox's resources. */
  readonly isMissing: boolean;
}

/** By the user that agents run as; null for the bridge's own. */
const troubles = new Map<number | null, Trouble | null>();

/** @returns why bubblewrap cannot hold agents of the user here; null if it can. Tried once in this process */
export function whyNoSandbox(user: AgentUser | null = null): Trouble | null {
  const uid = user?.uid ?? null;
  const known = troubles.get(uid);
  if (known !== undefined) return known;
  const trouble = findTrouble(user);
  troubles.set(uid, trouble);
  return trouble;
}

function findTrouble(user: AgentUser | null): Trouble | null {
  // Files of the kernel, such as /proc/sys, obey the user that is root outside, whatever it may do inside.
  if (user === null && process.getuid?.() === 0)
    return { why: 'no sandbox can hold an agent that runs as root', isMissing: false };
  if (systemProgram('bwrap') === null) return { why: 'bubblewrap is not installed', isMissing: true };
  if (systemProgram('env') === null) return { why: 'GNU env is not installed', isMissing: false };
  const confinement = { directories: [], repositories: [], kept: [], masked: [], hidden: [], readable: [], home: null };
  const request = { confinement, workingDirectory: '/', environment: {} };
  const line = lineOfUser(sandboxedLine({ command: '/bin/sh', args: ['-c', 'exit 0'] }, request), user);
  const { status, stderr, error } = tryOut(line);
  if (status === 0) return null;
  const words = error?.message ?? stderr.split('\n').find((text) => text !== '') ?? `exit code ${status}`;
  return { why: `bubblewrap cannot make a sandbox on this host (${words})`, isMissing: false };
}

/** Also makes the sandbox's home. @returns the same line without a confinement @throws Error if that folder cannot be made */
export function sandboxedLine(line: CommandLine, request: AgentSurroundings): CommandLine {
  const { confinement, workingDirectory, environment } = request;
  if (confinement == null) return line;
  // Made before the search for files to hide: the logs may not exist yet.
  if (confinement.home !== null) makeOwnHome(confinement.home);
  const home = homeInside(request);
  const emptied = EMPTIED.flatMap((path) => realOf(path) ?? []);
  const hidden = confinement.hidden.flatMap((path) => realOf(path) ?? []).filter(isFolder);
  const covered = [...emptied, ...hidden, ...(confinement.home === null ? [] : [home])];
  const others = [...hidden, ...(confinement.home === null ? [] : [dirname(realOf(confinement.home) ?? '/')])];
  const directories = projectMounts([...confinement.directories, workingDirectory], others);
  const writable = directories.map(({ path }) => path);
  const given = inPlace('--bind', giftsIn(environment, emptied, [...writable, ...others]));
  const strangers = [...writable, ...others, ...given.map(({ path }) => path)];
  const read = readable(line, request, { home, covered, strangers });
  const shown = [...read, ...directories, ...confinement.repositories];
  const isSeen = (path: string) => {
    const isCovered = covered.some((folder) => isWithin(folder, path));
    return !isCovered || [...given, ...shown].some((mount) => isWithin(mount.path, path));
  };
  const kept = [...confinement.kept, ...ownPackageIn(writable)].flatMap((path) => realOf(path) ?? []).filter(isSeen);
  const masked = [...confinement.masked, ...shownAgain(hidden, read)]
    .flatMap((path) => realOf(path) ?? [])
    .filter(isSeen);
  const outer = [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...emptied.flatMap((path) => ['--tmpfs', path]),
    ...argumentsOf(given),
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...(confinement.home === null ? argumentsOf(inPlace('--bind', [home])) : emptyHome(confinement.home, home)),
    ...argumentsOf(shown),
    ...argumentsOf(pinned([...kept, ...masked], writable)),
    ...argumentsOf(inPlace('--ro-bind', kept)),
    ...masked.flatMap((path) => (isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path])),
    ...['--unshare-pid', '--unshare-ipc', '--die-with-parent', '--unsetenv', 'TMPDIR'],
  ];
  const env = systemProgram('env') ?? 'env';
  const bwrap = systemProgram('bwrap') ?? 'bwrap';
  const there = ['--chdir', workingDirectory, '--'];
  const inner = confinement.home === null ? [] : [...intoOwnHome(bwrap, home, shown), ...there];
  const inside = [env, '--default-signal=TERM,INT', '--', line.command, ...line.args];
  // Otherwise a signal to the group would end the sandbox before the agent has handled it.
  return { command: env, args: ['--ignore-signal=TERM,INT', '--', bwrap, ...outer, ...there, ...inner, ...inside] };
}

/** @returns mounts of the outermost directories, without those behind a link in `others`: an agent may have put it there */
function projectMounts(directories: readonly string[], others: readonly string[]): Mount[] {
  const real = outermost(directories).flatMap((path) => realPathOutside(path, others) ?? []);
  return outermost(real).map((path) => ({ how: '--bind', source: path, path }));
}

interface Layout {
  readonly home: string;
  /** Folders that the sandbox replaces by others: their content must be mounted, the rest of the host is visible. */
  readonly covered: readonly string[];
  /** In these an agent may have put a link to anything. */
  readonly strangers: readonly string[];
}

/** Files in the operator's home appear at the path that programs look at, also if that is a link. */
function readable(
  line: CommandLine,
  { confinement, environment }: AgentSurroundings,
  { home, covered, strangers }: Layout,
): Mount[] {
  const isCovered = (path: string) => covered.some((folder) => folder !== path && isWithin(folder, path));
  const realPath = (path: string) => realPathOutside(path, strangers);
  const named = environment.HOME ?? homeOfUser() ?? '/';
  const inHome = (path: string) => (isWithin(named, path) ? join(home, relative(named, path)) : null);
  const programs = [...(confinement?.readable ?? []), line.command, process.execPath, ownBuild()];
  const wanted = [
    ...programs.flatMap((path) => wholeProgram(path, realPath)),
    ...programsOnPath(environment.PATH, (path) => isCovered(inHome(path) ?? path), realPath),
    ...OWN_PARTS.map((part) => join(packageRoot(), part)),
    // At the name that its launchers look for.
    buildOf(packageRoot(), 'bridge/cli/main.js'),
    realOf('/etc/resolv.conf') ?? '/',
  ];
  const mounts: Mount[] = [];
  for (const each of outerFirst(wanted)) {
    const source = realPath(each);
    const place = realPath(dirname(each));
    const path = inHome(each) ?? (place === null ? null : join(place, basename(each)));
    if (source === null || path === null || !isCovered(path)) continue;
    if (!mounts.some((outer) => isWithin(outer.path, path))) mounts.push({ how: '--ro-bind', source, path });
  }
  return mounts;
}

/** @returns files below an emptied folder that the operator gives to agents by naming a variable, such as SSH_AUTH_SOCK */
function giftsIn(
  environment: Readonly<Record<string, string>>,
  emptied: readonly string[],
  strangers: readonly string[],
): string[] {
  const named = Object.entries(environment).flatMap(([name, value]) => (NO_GIFTS.includes(name) ? [] : [value]));
  const isEmptied = (path: string) => emptied.some((folder) => folder !== path && isWithin(folder, path));
  return named.filter((path) => isAbsolute(path) && isEmptied(path) && realPathOutside(path, strangers) !== null);
}

/** @returns those hidden folders that lie in something shown: other projects, in a folder that the operator names */
function shownAgain(hidden: readonly string[], read: readonly Mount[]): string[] {
  return hidden.filter((path) => read.some((mount) => mount.path !== path && isWithin(mount.path, path)));
}

/** @returns this package, if it is installed below a folder where the agent may write; the operator runs it next */
function ownPackageIn(writable: readonly string[]): string[] {
  const own = realOf(packageRoot());
  return own !== null && writable.some((folder) => folder !== own && isWithin(folder, own)) ? [own] : [];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
