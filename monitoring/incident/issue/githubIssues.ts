/**
 * Issues on GitHub. No plugin that retries or throttles: a create whose answer was lost must not be repeated here, and the
 * caller decides how to handle a limit.
 *
 * Pages are followed by hand: the paginate plugin takes a list whose body was cut off for an empty one.
 */
import * as z from 'zod';
import { failpoint } from '../../../src/failpoints.js';
import type { Clock } from '../../../src/time.js';
import { type GitHubAccess, GitHubRepository } from './githubRepository.js';
import { type IssueSink, type IssueSummary, SinkError, WATCHDOG_LABEL } from './issueSink.js';

const PAGE_SIZE = 100;
/** A list that does not end is not believed. */
const MOST_PAGES = 100;
const LABEL_COLOUR = 'b60205';

/** The author of our issues: a user by id; `an_app` until the answer to our first issue shows which one. */
type Author = number | 'an_app';

interface IssueChange {
  readonly title?: string;
  readonly body?: string;
  readonly state?: 'open' | 'closed';
  readonly state_reason?: 'completed' | 'not_planned';
}

/** The used part of GitHub's answer about an issue; a server's answer may lack any of it. */
const ISSUE = z.object({
  number: z.number(),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  state_reason: z.string().nullable().catch(null),
  closed_at: z.string().nullable().catch(null),
  title: z.string().catch(''),
  body: z.string().catch(''),
  user: z
    .object({ id: z.number(), type: z.string().catch('') })
    .nullable()
    .catch(null),
  labels: z.array(z.union([z.string(), z.object({ name: z.string().catch('') })])).catch([]),
});
type Issue = z.infer<typeof ISSUE>;

/** Tokens of an app's installation; GitHub does not say to whom such a token belongs. */
const INSTALLATION_TOKEN = /^ghs_/;

export class GitHubIssues implements IssueSink {
  readonly #repository: GitHubRepository;
  readonly #isInstallation: boolean;
  #self: Author | null = null;
  /** Whether our issues carry the label; without the right to set labels GitHub leaves them out silently. */
  #isLabelled = true;

  /** @param onRenamed called once if the repository has a new name, `owner/name` */
  constructor(
    access: GitHubAccess,
    clock: Clock,
    stopping: AbortSignal,
    onRenamed: (name: string) => void = () => undefined,
  ) {
    this.#repository = new GitHubRepository(access, clock, stopping, onRenamed);
    this.#isInstallation = INSTALLATION_TOKEN.test(access.token);
  }

  async visibility(): Promise<'public' | 'private'> {
    const { data } = await this.#repository.ask((rest, target) => rest.repos.get(target));
    if (typeof data.full_name === 'string') this.#repository.learnName(data.full_name);
    // `internal` repositories are read by one company. A repository that does not say that it is private counts as public.
    return data.private === true || data.visibility === 'internal' ? 'private' : 'public';
  }

  async list(): Promise<IssueSummary[]> {
    await this.#learnSelf();
    const found: IssueSummary[] = [];
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const { data, headers } = await this.#repository.ask((rest, target) =>
        rest.issues.listForRepo({
          ...target,
          state: 'all',
          ...(this.#isLabelled && { labels: WATCHDOG_LABEL }),
          sort: 'created',
          direction: 'desc',
          per_page: PAGE_SIZE,
          page,
        }),
      );
      if (!Array.isArray(data))
        throw new SinkError('not_reached', `The list of issues of ${this.#repository.name} came cut off`);
      for (const answer of data) {
        const issue = answer.pull_request ? null : this.#summaryOf(this.#read(answer, 'not_reached'));
        if (issue?.isOwn) found.push(issue);
      }
      if (!headers.link?.includes('rel="next"')) return found;
    }
    throw new SinkError(
      'refused',
      `${this.#repository.name} has over ${MOST_PAGES * PAGE_SIZE} issues with the label ${WATCHDOG_LABEL}, too many to look through: take the label off old ones`,
    );
  }

  async get(number: number): Promise<IssueSummary | null> {
    await this.#learnSelf();
    try {
      const { data } = await this.#repository.ask((rest, target) =>
        rest.issues.get({ ...target, issue_number: number }),
      );
      const summary = this.#summaryOf(this.#read(data, 'not_reached'));
      // A transferred issue answers from its new place, under another number.
      return summary.number === number ? summary : null;
    } catch (error) {
      if (error instanceof SinkError && (error.status === 404 || error.status === 410)) return null;
      throw error;
    }
  }

  async create(title: string, body: string): Promise<IssueSummary> {
    const labelExists = await this.#ensureLabel();
    try {
      return await this.#post(title, body, [WATCHDOG_LABEL]);
    } catch (error) {
      // 422 says that nothing was made. If the label may be the reason, an issue without one is better than none.
      if (labelExists || !(error instanceof SinkError) || error.status !== 422) throw error;
      return this.#post(title, body, []);
    }
  }

  async update(number: number, body: string, title?: string): Promise<void> {
    failpoint('issue.patch.before');
    await this.#change(number, { body, ...(title !== undefined && { title }) });
    failpoint('issue.patch.after');
  }

  async comment(number: number, body: string): Promise<void> {
    failpoint('issue.comment.before');
    await this.#repository.ask(
      (rest, target) => rest.issues.createComment({ ...target, issue_number: number, body }),
      'once',
    );
    failpoint('issue.comment.after');
  }

  async close(number: number, as: 'completed' | 'not_planned'): Promise<void> {
    await this.#change(number, { state: 'closed', state_reason: as });
  }

  async reopen(number: number): Promise<void> {
    await this.#change(number, { state: 'open' });
  }

  async #change(number: number, change: IssueChange): Promise<void> {
    await this.#repository.ask((rest, target) => rest.issues.update({ ...target, issue_number: number, ...change }));
  }

  async #post(title: string, body: string, labels: string[]): Promise<IssueSummary> {
    failpoint('issue.post.before');
    const { data } = await this.#repository.ask(
      (rest, target) => rest.issues.create({ ...target, title, body, labels }),
      'once',
    );
    failpoint('issue.post.after');
    const issue = this.#read(data, 'ambiguous');
    this.#self = issue.user?.id ?? this.#self;
    this.#isLabelled = issue.labels.some(
      (label) => (typeof label === 'string' ? label : label.name) === WATCHDOG_LABEL,
    );
    return { ...this.#summaryOf(issue), isOwn: true };
  }

  /** Everyone may file in a public repository, with any text: only the author distinguishes our issues from others. */
  async #learnSelf(): Promise<void> {
    if (this.#self !== null) return;
    try {
      const { data } = await this.#repository.ask((rest, { request }) => rest.users.getAuthenticated({ request }));
      if (typeof data.id !== 'number')
        throw new SinkError('not_reached', 'GitHub did not say whose token GITHUB_TOKEN is');
      this.#self = data.id;
    } catch (error) {
      if (!this.#isInstallation || !(error instanceof SinkError) || error.kind !== 'refused') throw error;
      this.#self = 'an_app';
    }
  }

  /** Only an app that a person with rights has installed can file as a bot. */
  #isOwn({ user }: Issue): boolean {
    return user !== null && (this.#self === 'an_app' ? user.type === 'Bot' : user.id === this.#self);
  }

  /** @returns whether the label is known to exist; if it cannot be made, the report continues without it */
  async #ensureLabel(): Promise<boolean> {
    const label = { name: WATCHDOG_LABEL, color: LABEL_COLOUR, description: 'Filed by Watchkeeper' };
    try {
      await this.#repository.ask((rest, target) => rest.issues.getLabel({ ...target, name: label.name }));
      return true;
    } catch (error) {
      if (!(error instanceof SinkError) || error.status !== 404) throw error;
    }
    try {
      await this.#repository.ask((rest, target) => rest.issues.createLabel({ ...target, ...label }));
      return true;
    } catch (error) {
      if (error instanceof SinkError && error.kind === 'refused') return false;
      throw error;
    }
  }

  #read(answer: unknown, otherwise: 'not_reached' | 'ambiguous'): Issue {
    const { data } = ISSUE.safeParse(answer);
    if (data === undefined) throw new SinkError(otherwise, `${this.#repository.name} gave an answer that is no issue`);
    return data;
  }

  #summaryOf(issue: Issue): IssueSummary {
    const { number, html_url: url, state, state_reason: reason, closed_at: closedAt, title, body } = issue;
    const isClosed = state === 'closed';
    const isUnwanted = reason === 'not_planned' || reason === 'duplicate';
    return {
      number,
      url,
      state,
      closedAs: isClosed ? (isUnwanted ? 'not_planned' : 'completed') : null,
      closedAt: isClosed && closedAt !== null ? Date.parse(closedAt) : null,
      title,
      body,
      isOwn: this.#isOwn(issue),
    };
  }
}
