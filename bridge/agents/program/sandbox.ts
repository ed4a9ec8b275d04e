/**
 * Keeps an agent away from the bridge that starts it. Bubblewrap makes the host's files read-only, except for its project and
 * its home, and hides the bridge's logs, secrets and sockets. It also gives the agent its own pid and ipc namespaces, so that
 * it sees, signals and reads only processes of its run. When the first process of the namespace ends, all others in it end,
 * too.
 *
 * The network is not limited. The processes inside are visible from outside, with their marks, and are ended like any others.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { constants, homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { packageRoot } from '../../../src/host/program.js';
import type { AgentSurroundings } from './contract.js';
import { type CommandLine, systemProgram, tryOut } from './findProgram.js';

/** Sockets of services, of terminals and of other people's programs: reaching one of them is a way out of the sandbox. */
const EMPTIED = ['/run', '/tmp', '/var/tmp'];
/** In the home folder: what other programs start or trust. */
const KEPT_IN_HOME = [
  '.ssh',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.gitconfig',
  '.config/git',
  '.config/systemd',
  '.config/autostart',
  '.config/environment.d',
  '.config/fish',
  '.local/bin',
  'bin',
];
/** Root inside would be root outside, so it keeps only the capabilities it needs to work on files of any owner. */
const OF_ROOT = '--cap-drop ALL --cap-add CAP_CHOWN --cap-add CAP_DAC_OVERRIDE --cap-add CAP_FOWNER'.split(' ');
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

let trouble: string | null | undefined;

/** @returns why bubblewrap does not work here, in a clause; null if it does. Tried once in this process */
export function whyNoSandbox(): string | null {
  if (trouble === undefined) trouble = findTrouble();
  return trouble;
}

function findTrouble(): string | null {
  if (systemProgram('bwrap') === null) return 'bubblewrap is not installed';
  if (systemProgram('env') === null) return 'GNU env is not installed';
  const request = { confinement: { directories: [], kept: [], masked: [] }, workingDirectory: '/', environment: {} };
  const { status, stderr, error } = tryOut(sandboxedLine({ command: '/bin/sh', args: ['-c', 'exit 0'] }, request));
  if (status === 0) return null;
  const words = error?.message ?? stderr.split('\n').find((line) => line !== '') ?? `exit code ${status}`;
  return `bubblewrap cannot make a sandbox on this host (${words})`;
}

/**
 * @param line the program to start
 * @param request of the run; without a confinement the line is returned unchanged
 */
export function sandboxedLine(line: CommandLine, request: AgentSurroundings): CommandLine {
  const { confinement, workingDirectory, environment, user } = request;
  if (confinement == null) return line;
  const home = environment.HOME ?? homedir();
  const directories = [...confinement.directories, workingDirectory];
  const ofHome = [...KEPT_IN_HOME.map((name) => join(home, name)), packageRoot()];
  const ofBridge = [...confinement.kept, ...confinement.masked];
  const args = [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...EMPTIED.filter(existsSync).flatMap((path) => ['--tmpfs', realpathSync(path)]),
    ...readable([line.command, ...line.args, realOf('/etc/resolv.conf') ?? '']),
    ...bound('--bind', Object.values(environment).filter(isBelowEmptied)),
    ...(isAbsolute(home) && home !== '/' ? bound('--bind', [home]) : []),
    ...pinned([...ofHome, ...ofBridge], [home]),
    ...bound('--ro-bind', ofHome),
    ...bound('--bind', directories),
    ...pinned(ofBridge, directories),
    ...bound('--ro-bind', confinement.kept),
    ...confinement.masked.flatMap(masked),
    ...['--unshare-pid', '--unshare-ipc', '--die-with-parent', '--chdir', workingDirectory],
    ...(process.getuid?.() === 0 && user == null ? OF_ROOT : []),
  ];
  const env = systemProgram('env') ?? 'env';
  const inside = ['--', env, '--default-signal=TERM', '--', line.command, ...line.args];
  // Otherwise the SIGTERM to the group would end the sandbox before the agent has handled it.
  return { command: env, args: ['--ignore-signal=TERM', '--', systemProgram('bwrap') ?? 'bwrap', ...args, ...inside] };
}

/**
 * Makes each folder above, up to a root, a separate mount; otherwise the agent could rename one of them and put another in its
 * place. The outer ones come first: a mount hides earlier mounts below it.
 */
function pinned(paths: readonly string[], roots: readonly string[]): string[] {
  const folders = roots.flatMap((root) => realOf(root) ?? []);
  const above = new Set<string>();
  for (const path of paths.filter(existsSync)) {
    const isBelow = (folder: string) => folders.some((root) => folder.startsWith(`${root}/`));
    for (let at = dirname(realpathSync(path)); isBelow(at); at = dirname(at)) above.add(at);
  }
  const outerFirst = [...above].sort((left, right) => left.length - right.length);
  return bound('--bind', outerFirst);
}

function bound(how: '--bind' | '--ro-bind', paths: readonly string[]): string[] {
  return [...new Set(paths)].filter(existsSync).flatMap((path) => [how, realpathSync(path), realpathSync(path)]);
}

/** What the command line names inside an emptied folder: the program itself, or a script of it. */
function readable(words: readonly string[]): string[] {
  const files = words.map((word) => (/^--?[\w-]+=\//.test(word) ? word.slice(word.indexOf('=') + 1) : word));
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  return bound('--ro-bind', files.filter(isBelowEmptied).filter(isFile));
}

function isBelowEmptied(path: string): boolean {
  return isAbsolute(path) && EMPTIED.some((folder) => path.startsWith(`${folder}/`)) && existsSync(path);
}

function masked(path: string): string[] {
  const real = realOf(path);
  if (real === null) return [];
  return statSync(real).isDirectory() ? ['--tmpfs', real] : ['--ro-bind', '/dev/null', real];
}

function realOf(path: string): string | null {
  return existsSync(path) ? realpathSync(path) : null;
}
