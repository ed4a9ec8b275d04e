/** A checkout in which an agent has left a program, and named it to git. */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PlainGit, put } from './plainGit.js';

const SIGNATURE = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n c2lnbmVk\n -----END PGP SIGNATURE-----\n';

/** A command of git, to be tried in the checkout. */
export interface Command {
  readonly args: readonly string[];
  /** Standard input. */
  readonly input?: string;
  /** Git pages only what it prints to a terminal. */
  readonly inTerminal?: boolean;
}

/** Two commits, and a file that is changed. */
export class Site {
  readonly git: PlainGit;
  readonly root: string;
  /** In it is the checkout, and what is beside it. */
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    this.git = new PlainGit(folder);
    this.root = this.git.repository(join(folder, 'work'));
    appendFileSync(this.in('a.txt'), 'changed\n');
    appendFileSync(this.in('.git/info/exclude'), '.evil\n');
  }

  in(path: string): string {
    return join(this.root, path);
  }

  /**
   * Writes a program of the agent's, which leaves its mark when it is run.
   * @returns its path
   */
  program(mark: string, path = join('.evil', mark.replaceAll(/[^A-Za-z]+/g, '-'))): string {
    put(this.in(path), `#!/bin/sh\necho "${mark}" >>'${this.#marks}'\n`, 0o755);
    return this.in(path);
  }

  /** @returns the marks of the programs that were run, and forgets them */
  marks(): string[] {
    const marks = existsSync(this.#marks) ? readFileSync(this.#marks, 'utf8').split('\n').filter(Boolean) : [];
    rmSync(this.#marks, { force: true });
    return [...new Set(marks)].sort();
  }

  /** Adds settings, to those of the checkout if it is not said where. */
  config(settings: Readonly<Record<string, string>>, ...where: string[]): void {
    if (where.length === 0) appendFileSync(this.in('.git/config'), Object.entries(settings).map(asWritten).join(''));
    else
      for (const [key, value] of Object.entries(settings))
        this.git.run(this.root, 'config', ...where, '--add', key, value);
  }

  /** Gives a changed file an attribute. */
  attribute(file: string, attribute: string): void {
    put(this.in(file), 'committed\n');
    this.git.run(this.root, 'add', file);
    this.#commit(file, file);
    appendFileSync(this.in('.gitattributes'), `${file} ${attribute}\n`);
    put(this.in(file), 'changed, and longer\n');
  }

  /** @returns a repository beside the checkout */
  other(): string {
    const other = join(this.folder, 'other');
    return existsSync(other) ? other : this.git.repository(other);
  }

  /** @returns a submodule with a changed file, as another user's project may bring it along */
  submodule(): string {
    if (!existsSync(this.in('module'))) {
      this.git.run(this.root, 'submodule', '--quiet', 'add', this.other(), 'module');
      this.#commit('with a module');
    }
    appendFileSync(this.in('module/a.txt'), 'changed\n');
    return this.in('module');
  }

  /** Makes a branch `side` that changes `b.txt` otherwise. */
  branch(): void {
    this.git.run(this.root, 'stash', '-q');
    this.git.run(this.root, 'checkout', '-q', '-b', 'side', 'HEAD~1');
    put(this.in('b.txt'), 'side\n');
    this.git.commitAll(this.root, 'side');
    this.git.run(this.root, 'checkout', '-q', 'main');
    this.git.run(this.root, 'stash', 'pop', '-q');
  }

  /** Removes an object, as if it had not been fetched. */
  lose(object: string): void {
    const name = this.git.run(this.root, 'rev-parse', object).trim();
    rmSync(this.in(`.git/objects/${name.slice(0, 2)}/${name.slice(2)}`));
  }

  /** Runs a command of git in the checkout, whatever becomes of it. */
  try({ args, input = '', inTerminal = false }: Command): void {
    if (inTerminal) this.git.sayInTerminal(this.root, args);
    else this.git.say(this.root, args, input);
  }

  /** Puts a signature into the last commit. */
  sign(): void {
    const commit = this.git.run(this.root, 'cat-file', 'commit', 'HEAD').replace('\n\n', `\n${SIGNATURE}\n`);
    const { out } = this.git.say(this.root, ['hash-object', '-t', 'commit', '-w', '--stdin'], commit);
    this.git.run(this.root, 'update-ref', 'HEAD', out.trim());
  }

  /** Also where another plant has signatures made by its program. */
  #commit(message: string, ...files: string[]): void {
    this.git.run(this.root, '-c', 'commit.gpgSign=false', 'commit', '-q', '-m', message, ...files);
  }

  get #marks(): string {
    return join(this.folder, 'marks');
  }
}

/** @returns a setting as git writes it into a file, for which it would need a process each */
function asWritten([key, value]: readonly [string, string]): string {
  const [section, name] = [key.slice(0, key.indexOf('.')), key.slice(key.lastIndexOf('.') + 1)];
  const below = key.slice(section.length + 1, -name.length - 1);
  return `[${section}${below === '' ? '' : ` ${quoted(below)}`}]\n\t${name} = ${quoted(value)}\n`;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
