/** Worktrees that are ended by the real command, in this process or in one of its own. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { put } from '../../../memory/git/plainGit.js';
import { Worktrees } from '../../../memory/worktrees/scene.js';
import { watchkeeperAgain } from '../manyCalls.js';
import { type Said, watchkeeper } from '../program.js';
import { called } from './called.js';

export interface Ended {
  readonly name: string;
  readonly removed: boolean;
  readonly fault: string | null;
  readonly commit: string | null;
  readonly kept: string | null;
  readonly ignored_files: number | null;
  readonly way_back: readonly string[];
  readonly reasons: readonly { readonly reason: string; readonly words: string; readonly remedy: string }[];
}

export interface Prepared {
  readonly name: string;
  readonly prepare: (made: Worktrees) => void;
}

interface Begun {
  /** For each there is a worktree, with a commit of its own. */
  readonly branches?: readonly string[];
  /** Of `git init`. */
  readonly options?: readonly string[];
  /** Does more in a new repository, once for all scenes of the same name. */
  readonly prepared?: Prepared;
}

export class Ends extends Worktrees {
  readonly memory = join(this.folder, 'memory');
  readonly variables = { ...this.git.variables, WATCHKEEPER_HOME: this.memory };

  constructor({ branches = [], options = [], prepared }: Begun = {}) {
    super(options, `ends ${branches} ${prepared?.name}`, (made) => {
      put(join(made.root, '.gitignore'), '*.ignored\n.env\n');
      made.git.commitAll(made.root, 'what is ignored');
      for (const branch of branches) begin(made, branch);
      prepared?.prepare(made);
    });
  }

  /** Makes a worktree with a commit of its own. */
  begun(branch: string): string {
    return begin(this, branch);
  }

  /** Calls `worktree end` in this process. */
  end(args: readonly string[], directory = this.root, typed?: string): Promise<Said> {
    return this.say(['end', ...args], directory, typed);
  }

  /** Calls a word of `worktree` in this process. */
  say(args: readonly string[], directory = this.root, typed?: string): Promise<Said> {
    return called(args, { directory, variables: this.variables, typed });
  }

  async ended(args: readonly string[], directory = this.root): Promise<Ended & { readonly code: number | null }> {
    const { code, out, err } = await this.end([...args, '--json'], directory);
    if (out === '') throw new Error(`end ${args.join(' ')}: ${code} ${err}`);
    return { code, ...JSON.parse(out) };
  }

  /** Calls a command in another process, which is its own if it is to be killed at a failpoint. */
  callIn(directory: string, args: readonly string[], failpoint: string | null = null): Said {
    if (failpoint === null) return watchkeeperAgain(directory, args, this.variables);
    return watchkeeper(directory, args, { ...this.variables, WATCHKEEPER_FAILPOINT: failpoint });
  }

  refs(): string {
    return this.git.run(this.root, 'for-each-ref', '--format=%(refname) %(objectname)');
  }

  has(ref: string): boolean {
    return this.git.say(this.root, ['rev-parse', '--verify', '-q', ref]).code === 0;
  }

  head(path = this.root): string {
    return this.git.run(path, 'rev-parse', 'HEAD').trim();
  }

  isGone(path: string): boolean {
    return !existsSync(path);
  }

  /** Types the printed commands into a shell. @throws if one of them fails */
  wayBack(commands: readonly string[]): void {
    const { status, stderr } = spawnSync('sh', ['-c', commands.join('\n')], {
      encoding: 'utf8',
      env: { ...this.git.variables, LC_ALL: 'C' },
    });
    if (status !== 0) throw new Error(`the way back fails: ${stderr}`);
  }

  /** @throws if an object is missing, or damaged */
  fsck(): string {
    return this.git.run(this.root, 'fsck', '--no-dangling', '--no-progress', '--strict');
  }
}

function begin(made: Worktrees, branch: string): string {
  const path = made.add(branch);
  put(join(path, `${branch.replace('/', '-')}.txt`), `${branch}\n`);
  made.git.commitAll(path, `work on ${branch}`);
  return path;
}

export { put };
