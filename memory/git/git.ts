/** What git says about a directory, without changing it. Every call has a time limit, and none takes a lock. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { isoTime, SECOND } from '../../src/time.js';

const LIMIT_MS = 10 * SECOND;
/** For calls at an agent's start, which may take two seconds in all. */
const LIMIT_AT_START_MS = SECOND;
const MOST_BYTES = 64 * 1024 * 1024;
const DIGEST_LENGTH = 16;
/** How a line of `git status` begins. */
const UNTRACKED = '??';

export interface GitState {
  /** The commit; null before the first one. */
  readonly head: string | null;
  /** Null if none is checked out. */
  readonly branch: string | null;
  /** Of the uncommitted changes; null if there are none. */
  readonly dirty_digest: string | null;
  /** Changed and untracked files, relative to the top level. */
  readonly dirty: readonly string[];
  /** Those of them whose contents are not in the digest: untracked files; before the first commit, all. */
  readonly undigested: readonly string[];
}

/** Of the caller: where git is, and its configuration. */
export interface GitVariables {
  readonly PATH?: string | undefined;
  readonly HOME?: string | undefined;
}

export class Git {
  readonly #directory: string;
  readonly #variables: GitVariables;

  /** @param directory in which it is asked */
  constructor(directory: string, { PATH, HOME }: GitVariables) {
    this.#directory = directory;
    this.#variables = { ...(PATH !== undefined && { PATH }), ...(HOME !== undefined && { HOME }) };
  }

  /** @returns null if the directory is in no worktree, or git is not installed */
  state(): GitState | null {
    const status = this.#ask('status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames');
    if (status === null) return null;
    const changes = status.split('\0').filter((entry) => entry !== '');
    const diff = changes.length === 0 ? '' : (this.#ask('diff', 'HEAD') ?? '');
    const head = this.#ask('rev-parse', '--verify', '-q', 'HEAD')?.trim() || null;
    return {
      head,
      branch: this.#ask('symbolic-ref', '--short', '-q', 'HEAD')?.trim() || null,
      dirty_digest: changes.length === 0 ? null : digestOf(`${status}\n${diff}`),
      dirty: changes.map(pathOf),
      undigested: changes.filter((entry) => head === null || entry.startsWith(UNTRACKED)).map(pathOf),
    };
  }

  /** @returns how many commits there are since `since`; null if that commit is unknown, or not among the present ones */
  commitsSince(since: string): number | null {
    if (this.#ask('merge-base', '--is-ancestor', since, 'HEAD') === null) return null;
    return Number(this.#ask('rev-list', '--count', `${since}..HEAD`));
  }

  /**
   * @param at UTC epoch milliseconds
   * @returns how many commits were made since; null as {@link state}, and if git takes longer than a second
   */
  commitsAfter(at: number): number | null {
    const count = this.#askWithin(LIMIT_AT_START_MS, ['rev-list', '--count', `--since=${isoTime(at)}`, 'HEAD']);
    return count === null ? null : Number(count);
  }

  /** @returns the files that git tracks or could add, relative to the directory, also deleted ones; null as {@link state} */
  files(): string[] | null {
    const listed = this.#ask('ls-files', '-z', '--cached', '--others', '--exclude-standard');
    return listed === null ? null : [...new Set(listed.split('\0').filter((path) => path !== ''))];
  }

  #ask(...args: readonly string[]): string | null {
    return this.#askWithin(LIMIT_MS, args);
  }

  #askWithin(limitMs: number, args: readonly string[]): string | null {
    try {
      return execFileSync('git', ['-C', this.#directory, ...args], {
        encoding: 'utf8',
        timeout: limitMs,
        killSignal: 'SIGKILL',
        maxBuffer: MOST_BYTES,
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...this.#variables, GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' },
      });
    } catch {
      return null;
    }
  }
}

function pathOf(entry: string): string {
  return entry.slice('XY '.length);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}
