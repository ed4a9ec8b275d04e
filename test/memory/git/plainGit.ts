/** Git as people use it, for tests: with a home of the test's own. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filled, isEmpty } from './copies.js';

const LIMIT_MS = 30_000;
const USER =
  '[user]\n\tname = a\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n';

export interface GitSaid {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export class PlainGit {
  readonly home: string;
  readonly variables: { readonly PATH: string; readonly HOME: string };

  /** @param folder in which the home is made */
  constructor(folder: string) {
    this.home = join(folder, 'home');
    this.variables = { PATH: process.env.PATH ?? '', HOME: this.home };
    put(join(this.home, '.gitconfig'), USER);
  }

  /** Runs git, whatever becomes of it. */
  say(directory: string, args: readonly string[], input = ''): GitSaid {
    const { status, stdout, stderr } = spawnSync('git', ['-C', directory, ...args], {
      encoding: 'utf8',
      input,
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
      env: { ...this.variables, LC_ALL: 'C' },
    });
    return { code: status, out: stdout, err: stderr };
  }

  /** As {@link say}, with a terminal to print to. */
  sayInTerminal(directory: string, args: readonly string[]): void {
    const line = ['git', '-C', directory, ...args].map((word) => `'${word}'`).join(' ');
    const env = { ...this.variables, LC_ALL: 'C', TERM: 'xterm' };
    spawnSync('script', ['-qec', line, '/dev/null'], { input: '', timeout: LIMIT_MS, killSignal: 'SIGKILL', env });
  }

  /** @throws if git fails */
  run(directory: string, ...args: string[]): string {
    const { code, out, err } = this.say(directory, args);
    if (code !== 0) throw new Error(`git ${args.join(' ')} exits with ${code}: ${err}`);
    return out;
  }

  /** Makes a repository with two commits of the files `a.txt`, `b.txt` and `sub/c.txt`. */
  repository(root: string, ...options: string[]): string {
    const make = () => this.#make(root, options);
    const isUsual = options.length === 0 && isEmpty(root) && this.isUsual();
    if (isUsual) filled('repository', root, make);
    else make();
    return root;
  }

  /** Whether its user has no settings but those of all tests: then what git makes is always the same. */
  isUsual(): boolean {
    return readFileSync(join(this.home, '.gitconfig'), 'utf8') === USER;
  }

  #make(root: string, options: readonly string[]): void {
    mkdirSync(root, { recursive: true });
    this.run(root, 'init', '-q', ...options);
    for (const name of ['a.txt', 'b.txt', 'sub/c.txt']) put(join(root, name), `${name}\none\ntwo\nthree\n`);
    this.commitAll(root, 'first');
    put(join(root, 'b.txt'), 'other\n');
    this.commitAll(root, 'second');
  }

  commitAll(root: string, message: string): void {
    this.run(root, 'add', '-A');
    this.run(root, 'commit', '-q', '--allow-empty', '-m', message);
  }
}

/** Writes a file, and the folders above it. */
export function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}
