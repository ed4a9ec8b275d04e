/**
 * One repository on GitHub: sends each request with a time limit, and learns the repository's new name. After GitHub asked for
 * a pause, or could not be reached, it sends no request for a while: the other reports fail at once instead of each running
 * into the same limit or the same silence.
 */
import { Octokit } from '@octokit/rest';
import { describeError, wasNeverConnected } from '../../../src/errors.js';
import { redactShapes } from '../../../src/log/redact.js';
import { headOf } from '../../../src/log/shorten.js';
import { type Clock, describeDuration, HOUR, MINUTE, SECOND } from '../../../src/time.js';
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

  get name(): string {
    return this.#name;
  }

  /** A redirect turns a POST into a GET, so nothing can be created under the old name. */
  learnName(name: string): void {
    if (name.toLowerCase() === this.#name.toLowerCase()) return;
    this.#name = name;
    this.#onRenamed(name);
  }

  /** @param effect whether it may be sent again @throws SinkError without an answer in time, for an error, and in a pause */
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

/** `once`: a second time would write a second thing. */
type Effect = 'repeatable' | 'once';

const LONGEST_WORDS = 300;
const REMEDIES: Readonly<Partial<Record<number, string>>> = {
  401: 'check GITHUB_TOKEN, which is wrong, expired or revoked',
  404: "check the repository's name, and whether GITHUB_TOKEN may see it",
  410: 'issues are disabled in the repository: switch them on, or name another one',
};
/** GitHub's words with its 403: "Repository was archived so is read-only." */
export const ARCHIVED = /\brepository (?:was|is|has been) archived\b/i;
const ARCHIVED_REMEDY = 'the repository is archived: unarchive it, or name another one';
const OTHER_REMEDY = "check GITHUB_TOKEN, its right to write issues, and the repository's name";

/** The parts of Octokit's `RequestError` that decide; absent if there was no response. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** @param repository for the sentence @param now UTC epoch milliseconds */
export function asSinkError(thrown: unknown, effect: Effect, repository: string, now: number): SinkError {
  const answer = answerOf(thrown);
  // A gateway answers with a whole page.
  const words = headOf(describeError(thrown), LONGEST_WORDS, redactShapes);
  if (answer === null) {
    const sent = effect === 'once' && !wasNeverConnected(thrown);
    const said = `GitHub did not answer for ${repository} (${words})`;
    return new SinkError(sent ? 'ambiguous' : 'not_reached', said, { cause: thrown });
  }
  const { status } = answer;
  const options = { cause: thrown, status };
  if (isLimit(answer, words)) {
    const said = `GitHub limits the requests for ${repository} (${status} ${words})`;
    return new SinkError('limited', said, { ...options, retryAfterMs: retryAfterMs(answer, now) });
  }
  if (status >= 500 || status === 408) {
    const kind = effect === 'once' ? 'ambiguous' : 'not_reached';
    return new SinkError(kind, `GitHub failed for ${repository} (${status} ${words})`, options);
  }
  const remedy = ARCHIVED.test(words) ? ARCHIVED_REMEDY : (REMEDIES[status] ?? OTHER_REMEDY);
  const said = `GitHub refused for ${repository} (${status} ${words}): ${remedy}`;
  return new SinkError('refused', said, options);
}

function answerOf(thrown: unknown): Answer | null {
  if (typeof thrown !== 'object' || thrown === null || !('response' in thrown)) return null;
  const { response } = thrown as { response?: Partial<Answer> };
  return typeof response?.status === 'number' ? { status: response.status, headers: response.headers ?? {} } : null;
}

function isLimit({ status, headers }: Answer, words: string): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(words);
}

/** Source: docs.github.com, "Rate limits for the REST API", "Exceeding the rate limit". */
function retryAfterMs({ headers }: Answer, now: number): number | null {
  const seconds = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(seconds)) return Math.max(0, seconds * SECOND);
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) return Math.max(0, reset * SECOND - now);
  return null;
}
