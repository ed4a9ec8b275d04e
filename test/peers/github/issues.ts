/** The repository's issues as they stand at GitHub now, read back from it. */
import type { Upstream } from './upstream.js';

export interface PeerIssue {
  readonly number: number;
  readonly url: string;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly state: 'open' | 'closed';
  readonly stateReason: string | null;
  readonly author: string;
  /** Oldest first. */
  readonly comments: readonly { readonly author: string; readonly body: string }[];
}

/** The parts of GitHub's answers that are looked at. */
interface WireIssue {
  readonly number: number;
  readonly html_url: string;
  readonly title: string;
  readonly body: string | null;
  readonly labels: readonly { readonly name: string }[];
  readonly state: 'open' | 'closed';
  readonly state_reason: string | null;
  readonly user: { readonly login: string };
  readonly comments: number;
}

interface WireComment {
  readonly body: string;
  readonly user: { readonly login: string };
}

const PAGE = 100;

/** @returns all issues by number */
export async function readIssues(upstream: Upstream, repository: string): Promise<PeerIssue[]> {
  const list = `/repos/${repository}/issues`;
  const issues = await readPages<WireIssue>(upstream, `${list}?state=all&sort=created&direction=asc`);
  const read = issues.map(async (issue) => ({
    number: issue.number,
    url: issue.html_url,
    title: issue.title,
    body: issue.body ?? '',
    labels: issue.labels.map((label) => label.name),
    state: issue.state,
    stateReason: issue.state_reason,
    author: issue.user.login,
    comments: issue.comments === 0 ? [] : await readComments(upstream, `${list}/${issue.number}/comments`),
  }));
  return (await Promise.all(read)).sort((a, b) => a.number - b.number);
}

/** Issue by issue: the list of all comments at once is one of the pages that `emulate` cannot find. */
async function readComments(upstream: Upstream, path: string): Promise<PeerIssue['comments']> {
  const comments = await readPages<WireComment>(upstream, `${path}?sort=created`);
  return comments.map((comment) => ({ author: comment.user.login, body: comment.body }));
}

async function readPages<T>(upstream: Upstream, path: string): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await upstream.request(
      { method: 'GET', path: `${path}&per_page=${PAGE}&page=${page}` },
      'maintainer',
    );
    if (answer.status !== 200) throw new Error(`reading ${path} back: ${answer.status} ${answer.text}`);
    const items: T[] = JSON.parse(answer.text);
    all.push(...items);
    if (items.length < PAGE) return all;
  }
}
