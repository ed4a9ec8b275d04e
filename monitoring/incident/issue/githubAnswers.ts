/** GitHub's answer about an issue. Every field is checked, because a server's answer may lack it. */
import type { IssueSummary } from './issueSink.js';

/** The fields that are read. */
export interface IssueAnswer {
  readonly number?: unknown;
  readonly html_url?: unknown;
  readonly state?: unknown;
  readonly state_reason?: unknown;
  readonly closed_at?: unknown;
  readonly body?: unknown;
  readonly user?: unknown;
}

/** @returns the issue, without its ownership; null if the answer is no issue */
export function issueIn(answer: IssueAnswer): Omit<IssueSummary, 'isOwn'> | null {
  const { number, html_url: url, state, state_reason: reason, closed_at: closedAt, body } = answer;
  if (typeof number !== 'number' || typeof url !== 'string' || (state !== 'open' && state !== 'closed')) return null;
  const closed = state === 'closed';
  const unwanted = reason === 'not_planned' || reason === 'duplicate';
  return {
    number,
    url,
    state,
    closedAs: closed ? (unwanted ? 'not_planned' : 'completed') : null,
    closedAt: closed && typeof closedAt === 'string' ? Date.parse(closedAt) : null,
    body: typeof body === 'string' ? body : '',
  };
}

export function authorOf({ user }: IssueAnswer): { readonly id: number | null; readonly isBot: boolean } {
  const { id, type } = (user ?? {}) as { id?: unknown; type?: unknown };
  return { id: typeof id === 'number' ? id : null, isBot: type === 'Bot' };
}

export function hasLabel({ labels }: { readonly labels?: unknown }, name: string): boolean {
  return Array.isArray(labels) && labels.some((label) => nameOf(label) === name);
}

function nameOf(label: string | { name?: string }): string | undefined {
  return typeof label === 'string' ? label : label.name;
}
