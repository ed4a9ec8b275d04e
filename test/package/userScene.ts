/** A user who has a package and nothing else: an empty home, an empty prefix of npm, an empty folder, and the system's programs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { packageRoot } from '../../src/host/program.js';
import { descendantsOf } from '../e2e/processScan.js';
import { afterThisTest } from '../harness/scope.js';
import { npmEnvironment, type Packed } from './packing.js';

/** No Redis is among them: the bridge starts the one in the package. */
const PROGRAMS = [
  'bash',
  'cat',
  'env',
  'git',
  'grep',
  'ls',
  'node',
  'npm',
  'prlimit',
  'ps',
  'readlink',
  'rm',
  'setsid',
  'sh',
];
export const NAME = '@watchkeeper/watchkeeper';

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class UserScene {
  readonly folder: string;
  readonly home: string;
  readonly work: string;
  /** The folder of the installed package. */
  readonly installed: string;
  readonly #environment: Record<string, string>;

  /** @param folder an empty one */
  constructor(folder: string) {
    this.folder = folder;
    const [home, prefix, work, tmp, system] = ['home', 'prefix', 'work', 'tmp', 'system'].map((name) => {
      mkdirSync(join(folder, name), { mode: 0o700 });
      return join(folder, name);
    }) as [string, string, string, string, string];
    for (const name of PROGRAMS) this.gets(name);
    this.home = home;
    this.work = work;
    this.installed = join(prefix, 'lib/node_modules', NAME);
    this.#environment = {
      ...npmEnvironment(folder),
      HOME: home,
      npm_config_cache: join(home, '.npm'),
      npm_config_prefix: prefix,
      PATH: [join(prefix, 'bin'), system].join(delimiter),
      TMPDIR: tmp,
    };
  }

  /** Gives the user one program more, if this machine has it. */
  gets(name: string): void {
    const place = (process.env.PATH ?? '').split(delimiter).find((each) => existsSync(join(each, name)));
    if (place !== undefined) symlinkSync(join(place, name), join(this.folder, 'system', name));
  }

  install({ tarball }: Packed): Promise<Said> {
    return this.run('npm', ['install', '--global', tarball]);
  }

  /** Not in one step: stand-ins of this process have to answer it. */
  async run(program: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Said> {
    const env = { ...this.#environment, ...more };
    const child = spawn(program, args, { cwd: this.work, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
    return { code, out, err };
  }

  /** @throws Error with what it said if it ends with another code, or prints something else than JSON */
  async json<T>(args: readonly string[], codes: readonly number[] = [0]): Promise<T> {
    const { code, out, err } = await this.run('watchkeeper', args);
    if (code === null || !codes.includes(code)) throw new Error(`watchkeeper ${args.join(' ')}: ${code}\n${out}${err}`);
    return JSON.parse(out) as T;
  }

  /** Starts a command, and ends it with the test. */
  start(args: readonly string[]): ChildProcess {
    const child = spawn('watchkeeper', args, { cwd: this.work, env: this.#environment, stdio: 'ignore' });
    const exited = once(child, 'exit');
    afterThisTest(async () => {
      if (child.exitCode === null) child.kill('SIGKILL');
      await exited;
    });
    return child;
  }

  /** @returns every file and link below the folder, relative to it, but the system's programs */
  files(): string[] {
    return readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.folder.length + 1))
      .filter((path) => !path.startsWith('system/'))
      .sort();
  }
}

/** @returns what a process, and those below it, have to do with the checkout that the tests run in */
export function tracesOfCheckout(pid: number): string[] {
  return [pid, ...descendantsOf(pid).map((each) => each.pid)].flatMap((each) => {
    const files = ['cmdline', 'maps', 'environ'].map((name) => readFileSync(`/proc/${each}/${name}`, 'latin1'));
    const places = ['cwd', 'exe'].map((name) => readlinkSync(`/proc/${each}/${name}`));
    return [...files, ...places].filter((found) => found.includes(packageRoot())).map((found) => `${each}: ${found}`);
  });
}
