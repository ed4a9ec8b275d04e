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
import { constants, homedir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { AgentUser } from '../../../src/config/agentUser.js';
import { compiledProgram, packageRoot } from '../../../src/host/program.js';
import { lineOfUser } from './agentUser.js';
import type { AgentSurroundings } from './contract.js';
import { type CommandLine, systemProgram, tryOut } from './findProgram.js';
import { argumentsOf, inPlace, isWithin, type Mount, outerFirst, pinned, realOf, realPathOutside } from './mounts.js';
import { HOME_OF_THE_HOMELESS, homeInside, homeMounts } from './ownHome.js';
import { programsOnPath, wholeProgram } from './programFiles.js';

/** Sockets of services, of terminals and of other people's programs: reaching one of them is a way out of the sandbox. */
const EMPTIED = ['/run', '/tmp', '/var/tmp'];
/** Of this package, what an agent runs: its own program, and `watchkeeper` in its shell. */
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

/** By the user that agents run as; null: the bridge's own. */
const troubles = new Map<number | null, string | null>();

/**
 * @param user that agents run as; null: the bridge's own
 * @returns why bubblewrap cannot hold agents here, in a clause; null if it can. Tried once in this process
 */
export function whyNoSandbox(user: AgentUser | null = null): string | null {
  const uid = user?.uid ?? null;
  const known = troubles.get(uid);
  if (known !== undefined) return known;
  const trouble = findTrouble(user);
  troubles.set(uid, trouble);
  return trouble;
}

function findTrouble(user: AgentUser | null): string | null {
  // Files of the kernel, such as /proc/sys, obey whoever is root outside, whatever it may do inside.
  if (user === null && process.getuid?.() === 0) return 'no sandbox can hold an agent that runs as root';
  if (systemProgram('bwrap') === null) return 'bubblewrap is not installed';
  if (systemProgram('env') === null) return 'GNU env is not installed';
  const confinement = { directories: [], kept: [], masked: [], hidden: [], readable: [], home: null };
  const request = { confinement, workingDirectory: '/', environment: {} };
  const line = lineOfUser(sandboxedLine({ command: '/bin/sh', args: ['-c', 'exit 0'] }, request), user);
  const { status, stderr, error } = tryOut(line);
  if (status === 0) return null;
  const words = error?.message ?? stderr.split('\n').find((text) => text !== '') ?? `exit code ${status}`;
  return `bubblewrap cannot make a sandbox on this host (${words})`;
}

/**
 * Also prepares the folder that becomes the home of the sandbox.
 * @param line the program to start
 * @param request of the run; without a confinement the line is returned unchanged
 * @returns the line that starts it inside
 * @throws Error of the file system, if that folder cannot be prepared
 */
export function sandboxedLine(line: CommandLine, request: AgentSurroundings): CommandLine {
  const { confinement, workingDirectory, environment } = request;
  if (confinement == null) return line;
  const home = homeInside(environment);
  const emptied = EMPTIED.flatMap((path) => realOf(path) ?? []);
  const hidden = confinement.hidden.flatMap((path) => realOf(path) ?? []).filter(isFolder);
  const covered = [...emptied, ...hidden, ...(confinement.home === null ? [] : [home])];
  const given = inPlace('--bind', giftsIn(environment, emptied));
  const directories = inPlace('--bind', [...confinement.directories, workingDirectory]);
  const writable = directories.map(({ path }) => path);
  const shown = [...readable(line, request, { home, covered, writable }), ...directories];
  const isSeen = (path: string) => {
    const isCovered = covered.some((folder) => isWithin(folder, path));
    return !isCovered || [...given, ...shown].some((mount) => isWithin(mount.path, path));
  };
  const kept = [...confinement.kept, ...ownPackageIn(writable)].flatMap((path) => realOf(path) ?? []).filter(isSeen);
  const masked = confinement.masked.flatMap((path) => realOf(path) ?? []).filter(isSeen);
  const args = [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...emptied.flatMap((path) => ['--tmpfs', path]),
    ...argumentsOf(given),
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...homeMounts(confinement.home, home, shown),
    ...argumentsOf(shown),
    ...argumentsOf(pinned([...kept, ...masked], writable)),
    ...argumentsOf(inPlace('--ro-bind', kept)),
    ...masked.flatMap((path) => (isFolder(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path])),
    ...['--unshare-pid', '--unshare-ipc', '--die-with-parent', '--unsetenv', 'TMPDIR', '--chdir', workingDirectory],
    ...(home === HOME_OF_THE_HOMELESS ? ['--setenv', 'HOME', home] : []),
  ];
  const env = systemProgram('env') ?? 'env';
  const inside = ['--', env, '--default-signal=TERM', '--', line.command, ...line.args];
  // Otherwise the SIGTERM to the group would end the sandbox before the agent has handled it.
  return { command: env, args: ['--ignore-signal=TERM', '--', systemProgram('bwrap') ?? 'bwrap', ...args, ...inside] };
}

interface Layout {
  readonly home: string;
  /** Folders that the sandbox replaces by others: what lies there must be mounted, the rest of the host is visible. */
  readonly covered: readonly string[];
  /** In these the agent may have put a link to anything. */
  readonly writable: readonly string[];
}

/**
 * @returns mounts for what the operator, the agent's program and its search path name; of what lies in the operator's home, at
 *   the path that programs look at, also if that is a link
 */
function readable(
  line: CommandLine,
  { confinement, environment }: AgentSurroundings,
  { home, covered, writable }: Layout,
): Mount[] {
  const isCovered = (path: string) => covered.some((folder) => folder !== path && isWithin(folder, path));
  const realPath = (path: string) => realPathOutside(path, writable);
  const named = environment.HOME ?? homedir();
  const inHome = (path: string) => (isWithin(named, path) ? join(home, relative(named, path)) : null);
  const build = dirname(dirname(compiledProgram('bridge/main')));
  const programs = [...(confinement?.readable ?? []), line.command, process.execPath, build];
  const wanted = [
    ...programs.flatMap((path) => wholeProgram(path, realPath)),
    ...programsOnPath(environment.PATH, (path) => isCovered(inHome(path) ?? path), realPath),
    ...OWN_PARTS.map((part) => join(packageRoot(), part)),
    '/etc/resolv.conf',
  ];
  const mounts: Mount[] = [];
  for (const each of outerFirst(wanted)) {
    const source = realPath(each);
    const path = inHome(each) ?? source;
    if (source === null || path === null || !isCovered(path)) continue;
    if (!mounts.some((outer) => isWithin(outer.path, path))) mounts.push({ how: '--ro-bind', source, path });
  }
  return mounts;
}

/** @returns files below an emptied folder that the operator gives to agents by naming a variable, such as SSH_AUTH_SOCK */
function giftsIn(environment: Readonly<Record<string, string>>, emptied: readonly string[]): string[] {
  const named = Object.entries(environment).flatMap(([name, value]) => (NO_GIFTS.includes(name) ? [] : [value]));
  return named.filter(
    (path) => isAbsolute(path) && emptied.some((folder) => folder !== path && isWithin(folder, path)),
  );
}

/** @returns this package, if it is installed below a folder in which the agent may write; it is what the operator runs next */
function ownPackageIn(writable: readonly string[]): string[] {
  const own = realOf(packageRoot());
  return own !== null && writable.some((folder) => folder !== own && isWithin(folder, own)) ? [own] : [];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
