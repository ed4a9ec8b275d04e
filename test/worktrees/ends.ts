/** Ends random worktrees in every way, killed at random effects, and looks for everything that they held. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { FAILPOINTS } from '../../src/failpoints.js';
import { type Said, watchkeeper } from '../bridge/cli/program.js';
import { called } from '../bridge/cli/worktree/called.js';
import { PlainGit } from '../memory/git/plainGit.js';
import { type Random, seededRandom } from '../src/journal/random.js';
import { differences, type Inventory, inventoryOf } from './inventory.js';
import { mess, prepare } from './recipes.js';

/** In one repository: each `end` looks at all of them. */
const IN_ONE = 12;
const MOST_KILLS = 3;
const OF_MERGES = /^worktree\.(?:commit|target)/;
const POINTS = FAILPOINTS.filter((name) => name.startsWith('worktree.') && !name.startsWith('worktree.remote'));

export interface Figures {
  worktrees: number;
  /** Ends that were tried. */
  ends: number;
  kills: number;
  /** By the reason of a refusal. */
  readonly refused: Map<string, number>;
  removed: number;
  merged: number;
  /** Worktrees that were brought back, and are as they were. */
  back: number;
  files: number;
  commits: number;
  readonly faults: string[];
}

interface Listed {
  readonly path?: string;
  readonly way_back: readonly string[];
}

interface Held {
  readonly path: string;
  readonly name: string;
  readonly steps: readonly string[];
  readonly before: Inventory;
  readonly wayBack: readonly string[] | null;
  isRemoved: boolean;
}

/** @param folder in which the repositories are made */
export async function endMany(folder: string, count: number, seed: number): Promise<Figures> {
  const figures: Figures = {
    ...{ worktrees: 0, ends: 0, kills: 0, refused: new Map(), removed: 0, merged: 0, back: 0, files: 0, commits: 0 },
    faults: [],
  };
  for (let first = 0; first < count; first += IN_ONE) {
    const batch = Math.min(IN_ONE, count - first);
    await new Ends(join(folder, `r${first}`), seededRandom(seed * 1_000_003 + first), figures).run(batch);
  }
  return figures;
}

class Ends {
  readonly #git: PlainGit;
  readonly #root: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #random: Random;
  readonly #figures: Figures;

  constructor(folder: string, random: Random, figures: Figures) {
    mkdirSync(folder, { recursive: true });
    this.#git = new PlainGit(folder);
    this.#root = this.#git.repository(join(folder, 'work'));
    this.#variables = { ...this.#git.variables, WATCHKEEPER_HOME: join(folder, 'memory') };
    this.#random = random;
    this.#figures = figures;
    prepare(this.#git, this.#root);
  }

  async run(count: number): Promise<void> {
    const all = Array.from({ length: count }, (_, at) => this.#make(at));
    for (const held of all) await this.#end(held);
    // No log of the repository's own checkout keeps a commit alive; those of removed worktrees are gone with them.
    this.#git.run(this.#root, 'reflog', 'expire', '--expire=now', '--expire-unreachable=now', 'HEAD', 'main');
    this.#git.run(this.#root, 'gc', '--quiet', '--prune=now');
    const { code, err } = this.#git.say(this.#root, ['fsck', '--no-dangling', '--no-progress']);
    if (code !== 0) this.#fault(null, `git fsck: ${err}`);
    for (const held of all) this.#find(held);
  }

  #make(at: number): Held {
    const word = `w${at}`;
    const name = `feature/${word}`;
    const path = join(`${this.#root}.worktrees`, `feature-${word}`);
    const add = ['worktree', 'add', '-q', '-b', name, path, 'main'];
    this.#git.run(this.#root, ...add);
    const steps = mess({ git: this.#git, root: path, word, random: this.#random });
    const before = inventoryOf(this.#git, path);
    this.#figures.worktrees += 1;
    this.#figures.files += Object.keys(before.files).length;
    this.#figures.commits += before.commits.length;
    return { path, name: before.branch ?? `feature-${word}`, steps, before, wayBack: null, isRemoved: false };
  }

  async #end(held: Held): Promise<void> {
    const discard = ['--discard', held.name];
    const ways = [
      ['--merge'],
      discard,
      ...(held.steps.length > 2 ? [discard] : []),
      ...(held.before.branch === null ? [] : [['--keep-branch']]),
    ];
    const way = this.#random.pick(ways);
    if (await this.#try(held, way)) return;
    if (!existsSync(held.path)) return;
    const after = inventoryOf(this.#git, held.path);
    for (const words of differences(held.before, after)) this.#fault(held, `refused, but ${words}`);
    if (way[0] !== '--discard' && this.#random.below(4) > 0) await this.#try(held, ['--discard', held.name]);
  }

  /** @returns whether it is gone */
  async #try(held: Held, way: readonly string[]): Promise<boolean> {
    const kills = this.#random.below(MOST_KILLS + 1);
    const points = POINTS.filter((name) => way[0] === '--merge' || !OF_MERGES.test(name));
    for (let count = 0; count < kills; count += 1) {
      const { code, err } = this.#killed(held, way, this.#random.pick(points));
      if (code === null) this.#figures.kills += 1;
      if (code === null && !err.includes('tripped: kill')) this.#fault(held, `killed by something else: ${err}`);
      if (code === null) await this.#said(held);
    }
    this.#figures.ends += 1;
    const { code, out, err } = await this.#call(['end', held.name, ...way, '--json']);
    const said = out === '' ? {} : JSON.parse(out);
    if (code !== 0 && said.reasons === undefined) this.#fault(held, `${way.join(' ')}: ${code} ${out}${err}`);
    for (const { reason } of said.reasons ?? [])
      this.#figures.refused.set(reason, (this.#figures.refused.get(reason) ?? 0) + 1);
    held.isRemoved = code === 0;
    if (held.isRemoved !== !existsSync(held.path)) this.#fault(held, `exit ${code}, and the folder says otherwise`);
    if (!held.isRemoved) return false;
    this.#figures.removed += 1;
    if (way[0] === '--merge') this.#figures.merged += 1;
    Object.assign(held, { wayBack: said.way_back });
    const isLeft = (await this.#listed()).unfinished.length > 0;
    if (isLeft) this.#fault(held, 'the list says that something is left to do');
    return true;
  }

  /** What is half done, and without its folder, must be in the list. */
  async #said({ path, ...held }: Held): Promise<void> {
    if (existsSync(path)) return;
    const { unfinished, removed } = await this.#listed();
    const isKnown = [...unfinished, ...removed].some(
      (each) => each.path === path || each.way_back.some((line) => line.includes(path)),
    );
    const isDone = this.#git.say(this.#root, ['worktree', 'list', '--porcelain']).out.includes(path) === false;
    if (!isKnown && !isDone) this.#fault({ path, ...held }, 'the list does not say what is left to do');
  }

  async #listed(): Promise<Readonly<Record<'unfinished' | 'removed', readonly Listed[]>>> {
    return JSON.parse((await this.#call(['list', '--json'])).out);
  }

  #call(args: readonly string[]): Promise<Said> {
    return called(args, { directory: this.#root, variables: this.#variables });
  }

  /** Only a process of its own can be killed. */
  #killed({ name }: Held, way: readonly string[], point: string): Said {
    this.#figures.ends += 1;
    const variables = { ...this.#variables, WATCHKEEPER_FAILPOINT: `${point}:kill:1` };
    return watchkeeper(this.#root, ['worktree', 'end', name, ...way, '--json'], variables);
  }

  /** Everything is where it was, or comes back by the printed way. */
  #find(held: Held): void {
    const { before, path } = held;
    for (const commit of before.commits)
      if (this.#git.say(this.#root, ['cat-file', '-e', `${commit}^{commit}`]).code !== 0)
        this.#fault(held, `the commit ${commit} is lost`);
    if (held.isRemoved) {
      const { status, stderr } = spawnSync('sh', ['-c', (held.wayBack ?? []).join('\n')], {
        encoding: 'utf8',
        env: { ...this.#git.variables, LC_ALL: 'C', GIT_PAGER: 'cat' },
      });
      if (status !== 0 || !existsSync(path)) {
        this.#fault(held, `the way back fails: ${stderr}`);
        return;
      }
    }
    const found = differences(before, inventoryOf(this.#git, path));
    for (const words of found) this.#fault(held, words);
    if (held.isRemoved && found.length === 0) this.#figures.back += 1;
  }

  #fault(held: Held | null, words: string): void {
    const what = held === null ? this.#root : `${held.path} (${held.steps.join(', ')})`;
    this.#figures.faults.push(`${what}: ${words}`);
  }
}
