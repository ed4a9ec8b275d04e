/**
 * One repository on GitHub: sends each request with a time limit, and learns the repository's new name. After GitHub asked for
 * a pause, or could not be reached, it sends no request for a while: the other reports fail at once instead of each running
 * into the same limit or the same silence.
 */
import { Octokit } from '@octokit/rest';
import { type Clock, describeDuration, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { asSinkError, type Effect } from './githubErrors.js';
import { SinkError } from './issueSink.js';

export interface GitHubAccess {
  /** `https://api.github.com`, or that of a GitHub Enterprise server. */
  readonly apiUrl: string;
  readonly token: string;
  /** `owner/name`. */
  readonly repository: string;
}

/** Parameters of every request. A type, because an interface lacks the index signature that Octokit requires. */
type Target = {
  readonly owner: string;
  readonly repo: string;
  readonly request: { readonly signal: AbortSignal };
};

const REQUEST_TIMEOUT_MS = 10 * SECOND;
const PAUSE_UNREACHED_MS = 10 * SECOND;
/** If the limit has no stated duration; GitHub recommends at least this. */
const PAUSE_LIMITED_MS = MINUTE;
/** GitHub's windows are an hour long. */
const LONGEST_PAUSE_MS = HOUR;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

export class GitHubRepository {
  readonly #octokit: Octokit;
  readonly #clock: Clock;
  readonly #stopping: AbortSignal;
  readonly #onRenamed: (name: string) => void;
  #name: string;
  /** Why there is a pause, and until when, epoch milliseconds. */
  #pause = { until: 0, because: '' };

  /** The parameters are those of {@link GitHubIssues}. */
  constructor(access: GitHubAccess, clock: Clock, stopping: AbortSignal, onRenamed: (name: string) => void) {
    const { apiUrl, token, repository } = access;
    this.#octokit = new Octokit({ baseUrl: apiUrl, auth: token, userAgent: 'watchkeeper', log: SILENT });
    this.#clock = clock;
    this.#stopping = stopping;
    this.#onRenamed = onRenamed;
    this.#name = repository;
  }

  /** `owner/name`. */
  get name(): string {
    return this.#name;
  }

  /** A redirect turns a POST into a GET, so nothing can be created under the old name. */
  learnName(name: string): void {
    if (name.toLowerCase() === this.#name.toLowerCase()) return;
    this.#name = name;
    this.#onRenamed(name);
  }

  /**
   * Sends one request.
   * @param effect whether it may be sent again if its answer is lost
   * @throws SinkError if there is no answer in time, it is an error, or there is a pause
   */
  async ask<T>(send: (rest: Octokit['rest'], target: Target) => Promise<T>, effect: Effect = 'repeatable'): Promise<T> {
    if (this.#stopping.aborted)
      throw new SinkError('not_reached', `${this.name} was not asked: the process is stopping`);
    const left = this.#pause.until - this.#clock.now();
    if (left > 0) throw new SinkError('limited', this.#pause.because, { retryAfterMs: left });
    const timeout = new AbortController();
    const timer = this.#clock.after(REQUEST_TIMEOUT_MS, () => {
      timeout.abort(new Error(`no answer within ${describeDuration(REQUEST_TIMEOUT_MS)}`));
    });
    const [owner = '', repo = ''] = this.name.split('/');
    const request = { signal: AbortSignal.any([this.#stopping, timeout.signal]) };
    try {
      return await send(this.#octokit.rest, { owner, repo, request });
    } catch (thrown) {
      const error = asSinkError(thrown, effect, this.name, this.#clock.now());
      this.#pauseAfter(error);
      throw error;
    } finally {
      timer.cancel();
    }
  }

  #pauseAfter({ kind, retryAfterMs, message }: SinkError): void {
    if (kind !== 'limited' && kind !== 'not_reached') return;
    const limitedMs = Math.min(retryAfterMs ?? PAUSE_LIMITED_MS, LONGEST_PAUSE_MS);
    const pauseMs = kind === 'limited' ? limitedMs : PAUSE_UNREACHED_MS;
    this.#pause = { until: this.#clock.now() + pauseMs, because: message };
  }
}
