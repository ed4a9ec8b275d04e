/** One repository on GitHub: sends each request with a time limit, and learns the repository's new name. */
import { Octokit } from '@octokit/rest';
import { type Clock, describeDuration, SECOND } from '../../../src/time.js';
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
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

export class GitHubRepository {
  private readonly octokit: Octokit;
  private readonly clock: Clock;
  private readonly onRenamed: (name: string) => void;
  private currentName: string;

  /** @param onRenamed called once if the repository has a new name, `owner/name` */
  constructor({ apiUrl, token, repository }: GitHubAccess, clock: Clock, onRenamed: (name: string) => void) {
    this.octokit = new Octokit({ baseUrl: apiUrl, auth: token, userAgent: 'watchkeeper', log: SILENT });
    this.clock = clock;
    this.onRenamed = onRenamed;
    this.currentName = repository;
  }

  /** `owner/name`. */
  get name(): string {
    return this.currentName;
  }

  /** A redirect turns a POST into a GET, so nothing can be created under the old name. */
  learnName(name: string): void {
    if (name.toLowerCase() === this.currentName.toLowerCase()) return;
    this.currentName = name;
    this.onRenamed(name);
  }

  /**
   * Sends one request.
   * @param effect whether it may be sent again if its answer is lost
   * @throws SinkError if there is no answer in time, or it is an error
   */
  async ask<T>(
    effect: Effect,
    signal: AbortSignal,
    send: (rest: Octokit['rest'], target: Target) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) throw new SinkError('not_reached', `${this.name} was not asked: the process is stopping`);
    const timeout = new AbortController();
    const timer = this.clock.after(REQUEST_TIMEOUT_MS, () => {
      timeout.abort(new Error(`no answer within ${describeDuration(REQUEST_TIMEOUT_MS)}`));
    });
    const [owner = '', repo = ''] = this.name.split('/');
    try {
      return await send(this.octokit.rest, {
        owner,
        repo,
        request: { signal: AbortSignal.any([signal, timeout.signal]) },
      });
    } catch (error) {
      throw asSinkError(error, effect, this.name, this.clock.now());
    } finally {
      timer.cancel();
    }
  }
}
