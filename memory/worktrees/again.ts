/** Finds commits that make a change again, which another commit has made. */
import type { Repository } from '../git/repository.js';
import { type Change, changesOf, isIdentical, type Patch, patchesOf } from './changes.js';

/** The changes of commits, each read once. */
export class Changes {
  readonly #repository: Repository;
  readonly #known = new Map<string, Change>();

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  /** @returns false if git cannot read one of them */
  read(commits: readonly string[]): boolean {
    const read = changesOf(
      this.#repository,
      commits.filter((commit) => !this.#known.has(commit)),
    );
    for (const [commit, change] of read ?? []) this.#known.set(commit, change);
    return read !== null;
  }

  /** @returns whether a commit, which has been read and is no merge, changes nothing */
  isEmpty(commit: string): boolean {
    return this.#shape(commit) === '';
  }

  /**
   * @param commits have been read, as have `others`
   * @returns for each commit, which of the others may make its change again; null if their lines cannot be read
   */
  candidates(commits: readonly string[], others: readonly string[]): Candidates[] | null {
    const alike = commits.map((commit) => ({ commit, alike: this.#alike(commit, others) }));
    const found = alike.map((each) => ({
      ...each,
      exact: each.alike.find((other) => this.#isIdentical(each.commit, other)),
    }));
    const unclear = found.filter(({ exact, alike }) => exact === undefined && alike.length > 0);
    const asked = new Set(unclear.flatMap(({ commit, alike }) => [commit, ...alike]));
    const patches = asked.size === 0 ? new Map<string, Patch>() : patchesOf(this.#repository, [...asked]);
    if (patches === null) return null;
    return found.map(({ commit, exact, alike }) => {
      const like = (part: keyof Patch) =>
        alike.filter((other) => patches.has(other) && patches.get(other)?.[part] === patches.get(commit)?.[part]);
      if (exact !== undefined) return { again: exact, sameLines: [] };
      return { again: like('whole')[0] ?? null, sameLines: like('changed') };
    });
  }

  /** @returns those that change the same files and modes; none for a commit that changes nothing */
  #alike(commit: string, others: readonly string[]): string[] {
    const shape = this.#shape(commit);
    return shape === '' ? [] : others.filter((other) => this.#shape(other) === shape);
  }

  #shape(commit: string): string {
    return this.#known.get(commit)?.shape ?? '';
  }

  #isIdentical(commit: string, other: string): boolean {
    const [one, two] = [this.#known.get(commit), this.#known.get(other)];
    return one !== undefined && two !== undefined && isIdentical(one, two);
  }
}

export interface Candidates {
  /** The first that makes the same change between the same lines; null if none does. */
  readonly again: string | null;
  /** Those that change the same lines, perhaps at another place of the file. */
  readonly sameLines: readonly string[];
}
