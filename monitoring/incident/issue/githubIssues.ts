/**
 * Issues on GitHub. No plugin that retries or throttles: a create whose answer was lost must not be repeated here, and
 * what to do about a limit is decided by the caller.
 *
 * Pages are followed by hand: the paginate plugin takes a list whose body was cut off for an empty one.
 */
import { Octokit } from '@octokit/rest';
import { failpoint } from '../../../src/failpoints.js';
import { type Clock, describeDuration, SECOND } from '../../../src/time.js';
import { asSinkError, type Effect } from './githubErrors.js';
import { type IssueSink, type IssueSummary, SinkError, twinComment, WATCHDOG_LABEL } from './issueSink.js';

export interface GitHubAccess {
  /** `https://api.github.com`, or that of a GitHub Enterprise server. */
  readonly apiUrl: string;
  readonly token: string;
  /** `owner/name`. */
  readonly repository: string;
}

const REQUEST_TIMEOUT_MS = 10 * SECOND;
const PAGE_SIZE = 100;
/** A list that does not end is not believed. */
const MOST_PAGES = 100;
const LABEL_COLOUR = 'b60205';
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** The fields that are read; the answer of a server is not trusted to hold them. */
interface IssueAnswer {
  readonly number?: unknown;
  readonly html_url?: unknown;
  readonly state?: unknown;
  readonly state_reason?: unknown;
  readonly closed_at?: unknown;
  readonly body?: unknown;
  readonly user?: unknown;
}

/** Whose issues are ours: a user by id; `an_app` until the answer to our first issue tells which one. */
type Author = number | 'an_app';

/** Tokens of an app's installation; such a token cannot be asked whose it is. */
const INSTALLATION_TOKEN = /^ghs_/;

type Limits = {
  readonly owner: string;
  readonly repo: string;
  readonly request: { readonly signal: AbortSignal };
};

export class GitHubIssues implements IssueSink {
  private readonly octokit: Octokit;
  private readonly clock: Clock;
  private readonly onRenamed: (name: string) => void;
  private repository: { readonly owner: string; readonly repo: string };
  private name: string;
  private readonly isInstallation: boolean;
  private self: Author | null = null;
  /** Whether our issues carry the label; without the right to set labels GitHub leaves them out silently. */
  private labelled = true;

  /** @param onRenamed called once where the repository has another name by now, `owner/name` */
  constructor(
    { apiUrl, token, repository }: GitHubAccess,
    clock: Clock,
    onRenamed: (name: string) => void = () => undefined,
  ) {
    this.octokit = new Octokit({ baseUrl: apiUrl, auth: token, userAgent: 'watchkeeper', log: SILENT });
    this.clock = clock;
    this.onRenamed = onRenamed;
    this.repository = placeOf(repository);
    this.name = repository;
    this.isInstallation = INSTALLATION_TOKEN.test(token);
  }

  async visibility(signal: AbortSignal): Promise<'public' | 'private'> {
    const { data } = await this.ask('repeatable', signal, (limits) => this.octokit.rest.repos.get(limits));
    if (typeof data.full_name === 'string') this.learnName(data.full_name);
    // `internal` repositories are read by one company. What does not say that it is private is taken for public.
    return data.private === true || data.visibility === 'internal' ? 'private' : 'public';
  }

  async list(state: 'open' | 'all', signal: AbortSignal): Promise<IssueSummary[]> {
    await this.learnSelf(signal);
    const found: IssueSummary[] = [];
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const { data, headers } = await this.ask('repeatable', signal, (limits) =>
        this.octokit.rest.issues.listForRepo({
          ...limits,
          state,
          ...(this.labelled && { labels: WATCHDOG_LABEL }),
          sort: 'created',
          direction: 'desc',
          per_page: PAGE_SIZE,
          page,
        }),
      );
      if (!Array.isArray(data)) throw new SinkError('not_reached', `The list of issues of ${this.name} came cut off`);
      for (const answer of data) {
        const issue = answer.pull_request ? null : this.summaryOf(answer, 'not_reached');
        if (issue?.isOwn) found.push(issue);
      }
      if (!headers.link?.includes('rel="next"')) return found;
    }
    throw new SinkError(
      'refused',
      `${this.name} has over ${MOST_PAGES * PAGE_SIZE} issues with the label ${WATCHDOG_LABEL}, too many to look through: take the label off old ones`,
    );
  }

  async get(number: number, signal: AbortSignal): Promise<IssueSummary | null> {
    await this.learnSelf(signal);
    try {
      const { data } = await this.ask('repeatable', signal, (limits) =>
        this.octokit.rest.issues.get({ ...limits, issue_number: number }),
      );
      const summary = this.summaryOf(data, 'not_reached');
      // One that was transferred answers from its new place, under another number.
      return summary.number === number ? summary : null;
    } catch (error) {
      if (error instanceof SinkError && (error.status === 404 || error.status === 410)) return null;
      throw error;
    }
  }

  async create(title: string, body: string, signal: AbortSignal): Promise<IssueSummary> {
    const labelExists = await this.ensureLabel(signal);
    try {
      return await this.post(title, body, [WATCHDOG_LABEL], signal);
    } catch (error) {
      // 422 says that nothing was made. Where it may be the label's fault, an issue without one is better than none.
      if (labelExists || !(error instanceof SinkError) || error.status !== 422) throw error;
      return this.post(title, body, [], signal);
    }
  }

  async update(number: number, body: string, signal: AbortSignal): Promise<void> {
    failpoint('issue.patch.before');
    await this.ask('repeatable', signal, (limits) =>
      this.octokit.rest.issues.update({ ...limits, issue_number: number, body }),
    );
    failpoint('issue.patch.after');
  }

  async comment(number: number, body: string, signal: AbortSignal): Promise<void> {
    failpoint('issue.comment.before');
    await this.ask('once', signal, (limits) =>
      this.octokit.rest.issues.createComment({ ...limits, issue_number: number, body }),
    );
    failpoint('issue.comment.after');
  }

  async close(number: number, signal: AbortSignal): Promise<void> {
    await this.closeAs(number, 'completed', signal);
  }

  async reopen(number: number, signal: AbortSignal): Promise<void> {
    await this.ask('repeatable', signal, (limits) =>
      this.octokit.rest.issues.update({ ...limits, issue_number: number, state: 'open' }),
    );
  }

  async closeTwin(number: number, keptNumber: number, signal: AbortSignal): Promise<void> {
    // Closed first: a comment that is lost on the way is not worth a second one each time.
    await this.closeAs(number, 'not_planned', signal);
    await this.comment(number, twinComment(keptNumber), signal);
  }

  private async closeAs(number: number, reason: 'completed' | 'not_planned', signal: AbortSignal): Promise<void> {
    await this.ask('repeatable', signal, (limits) =>
      this.octokit.rest.issues.update({ ...limits, issue_number: number, state: 'closed', state_reason: reason }),
    );
  }

  private async post(title: string, body: string, labels: string[], signal: AbortSignal): Promise<IssueSummary> {
    failpoint('issue.post.before');
    const { data } = await this.ask('once', signal, (limits) =>
      this.octokit.rest.issues.create({ ...limits, title, body, labels }),
    );
    failpoint('issue.post.after');
    const { id } = authorOf(data);
    if (id !== null) this.self = id;
    const summary = { ...this.summaryOf(data, 'ambiguous'), isOwn: true };
    this.labelled = Array.isArray(data.labels) && data.labels.some((label) => nameOf(label) === WATCHDOG_LABEL);
    return summary;
  }

  /** Anybody may file in a public repository, with any text: only the author tells our issues from others. */
  private async learnSelf(signal: AbortSignal): Promise<void> {
    if (this.self !== null) return;
    try {
      const { data } = await this.ask('repeatable', signal, ({ request }) =>
        this.octokit.rest.users.getAuthenticated({ request }),
      );
      if (typeof data.id !== 'number')
        throw new SinkError('not_reached', 'GitHub did not say whose token GITHUB_TOKEN is');
      this.self = data.id;
    } catch (error) {
      if (!this.isInstallation || !(error instanceof SinkError) || error.kind !== 'refused') throw error;
      this.self = 'an_app';
    }
  }

  /** Only an app that somebody with rights has installed can file as a bot. */
  private isOwn(answer: IssueAnswer): boolean {
    const { id, isBot } = authorOf(answer);
    return this.self === 'an_app' ? isBot : id !== null && id === this.self;
  }

  /** A redirect turns a POST into a GET, so nothing is created by the old name. */
  private learnName(name: string): void {
    if (name.toLowerCase() === this.name.toLowerCase()) return;
    this.name = name;
    this.repository = placeOf(name);
    this.onRenamed(name);
  }

  /** @returns whether the label is known to exist; that it cannot be made is no reason not to report */
  private async ensureLabel(signal: AbortSignal): Promise<boolean> {
    const label = { name: WATCHDOG_LABEL, color: LABEL_COLOUR, description: 'Filed by Watchkeeper' };
    try {
      await this.ask('repeatable', signal, (limits) =>
        this.octokit.rest.issues.getLabel({ ...limits, name: label.name }),
      );
      return true;
    } catch (error) {
      if (!(error instanceof SinkError) || error.status !== 404) throw error;
    }
    try {
      await this.ask('repeatable', signal, (limits) => this.octokit.rest.issues.createLabel({ ...limits, ...label }));
      return true;
    } catch (error) {
      if (error instanceof SinkError && error.kind === 'refused') return false;
      throw error;
    }
  }

  /** Sends one request, within its time. */
  private async ask<T>(effect: Effect, signal: AbortSignal, send: (limits: Limits) => Promise<T>): Promise<T> {
    if (signal.aborted) throw new SinkError('not_reached', `${this.name} was not asked: the process is stopping`);
    const timeout = new AbortController();
    const timer = this.clock.after(REQUEST_TIMEOUT_MS, () => {
      timeout.abort(new Error(`no answer within ${describeDuration(REQUEST_TIMEOUT_MS)}`));
    });
    try {
      return await send({ ...this.repository, request: { signal: AbortSignal.any([signal, timeout.signal]) } });
    } catch (error) {
      throw asSinkError(error, effect, this.name, this.clock.now());
    } finally {
      timer.cancel();
    }
  }

  /** @param otherwise what it means that the answer cannot be read */
  private summaryOf(answer: IssueAnswer, otherwise: 'not_reached' | 'ambiguous'): IssueSummary {
    const { number, html_url: url, state, state_reason: reason, closed_at: closedAt, body } = answer;
    if (typeof number !== 'number' || typeof url !== 'string' || (state !== 'open' && state !== 'closed')) {
      throw new SinkError(otherwise, `${this.name} gave an answer that is no issue`);
    }
    const closed = state === 'closed';
    const unwanted = reason === 'not_planned' || reason === 'duplicate';
    return {
      number,
      url,
      state,
      closedAs: closed ? (unwanted ? 'not_planned' : 'completed') : null,
      closedAt: closed && typeof closedAt === 'string' ? Date.parse(closedAt) : null,
      body: typeof body === 'string' ? body : '',
      isOwn: this.isOwn(answer),
    };
  }
}

function authorOf({ user }: IssueAnswer): { id: number | null; isBot: boolean } {
  const { id, type } = (user ?? {}) as { id?: unknown; type?: unknown };
  return { id: typeof id === 'number' ? id : null, isBot: type === 'Bot' };
}

function placeOf(repository: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}

function nameOf(label: string | { name?: string }): string | undefined {
  return typeof label === 'string' ? label : label.name;
}
