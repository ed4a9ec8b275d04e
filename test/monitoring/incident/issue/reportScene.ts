/** A reporter, the GitHub that it writes to, and a clock that the test moves. */

import { GitHubIssues } from '../../../../monitoring/incident/issue/githubIssues.js';
import { fingerprintOf, IssueMarks } from '../../../../monitoring/incident/issue/issueMarker.js';
import type { IssueRecord, IssueRecords, Occurrence } from '../../../../monitoring/incident/issue/issueRecords.js';
import { ProjectIssues, type ProjectIssuesOptions } from '../../../../monitoring/incident/issue/projectIssues.js';
import type { Rule } from '../../../../src/config/rules.js';
import { createLogger, type Logger } from '../../../../src/log/logger.js';
import { createRedactor } from '../../../../src/log/redact.js';
import { MINUTE } from '../../../../src/time.js';
import { ManualClock } from '../../../harness/clock.js';
import { afterThisTest } from '../../../harness/scope.js';
import { type GithubPeer, startGithubPeer } from '../../../peers/github/githubPeer.js';

export const REPOSITORY = 'harbour/popoto';
export const OWN_SECRET = 'own-secret-1';
export const CREATE = { method: 'POST', path: /\/issues$/ } as const;

/** The process is not being stopped. */
export const GOING = new AbortController().signal;

const MARKER_KEY = 'f'.repeat(64);
export const MARKS = new IssueMarks(MARKER_KEY);

/** @returns the mark of former versions, which has no key */
export function formerMark(fingerprint: string): string {
  return `<!-- watchkeeper v1 ${fingerprint} -->`;
}

/** Keeps records as the store does, for as long as the test lives. */
export class InMemoryIssueRecords implements IssueRecords {
  readonly stored = new Map<string, IssueRecord>();
  readonly created = new Map<string, number>();
  /** Runs before the next `put` looks at the revision: somebody else is faster. */
  meanwhile: (() => Promise<void>) | null = null;

  async get(fingerprint: string): Promise<IssueRecord | null> {
    return structuredClone(this.stored.get(fingerprint) ?? null);
  }

  async put(fingerprint: string, record: IssueRecord, expectedRev: number): Promise<boolean> {
    const meanwhile = this.meanwhile;
    this.meanwhile = null;
    await meanwhile?.();
    if ((this.stored.get(fingerprint)?.rev ?? 0) !== expectedRev) return false;
    this.stored.set(fingerprint, structuredClone({ ...record, rev: expectedRev + 1 }));
    return true;
  }

  async markerKey(): Promise<string> {
    return MARKER_KEY;
  }

  async lastCreated(projectKey: string): Promise<number | null> {
    return this.created.get(projectKey) ?? null;
  }

  async noteCreated(projectKey: string, at: number): Promise<void> {
    this.created.set(projectKey, at);
  }
}

export interface Scene {
  readonly peer: GithubPeer;
  readonly clock: ManualClock;
  readonly records: InMemoryIssueRecords;
  readonly reporter: ProjectIssues;
  /** Another process: it shares the records only. */
  successor(more?: Partial<ProjectIssuesOptions>): ProjectIssues;
  /** Requests that create issues, as the server saw them. */
  posts(): number;
}

export function silentLogger(clock: ManualClock): Logger {
  return createLogger({ level: 'silent', redact: (text) => text, clock, destinations: [] });
}

export async function scene(
  more: Partial<ProjectIssuesOptions> = {},
  isPrivate = true,
  repository = REPOSITORY,
): Promise<Scene> {
  const peer = await startGithubPeer({ repository, isPrivate });
  afterThisTest(() => peer.stop());
  // The peer dates what people close by the real time.
  const clock = new ManualClock(Date.now());
  const records = new InMemoryIssueRecords();
  const successor = (changes: Partial<ProjectIssuesOptions> = {}) =>
    new ProjectIssues({
      projectKey: 'popoto',
      sink: new GitHubIssues({ apiUrl: peer.url, token: peer.token, repository: REPOSITORY }, clock, GOING),
      records,
      publicDetail: 'names_only',
      redact: createRedactor([OWN_SECRET]),
      clock,
      logger: silentLogger(clock),
      ...more,
      ...changes,
    });
  const posts = () => peer.writes.filter(({ method, path }) => method === 'POST' && path.endsWith('/issues')).length;
  return { peer, clock, records, reporter: successor(), successor, posts };
}

export function occurrence(id: string, rule: Rule = 'silence', more: Partial<Occurrence> = {}): Occurrence {
  return {
    incident_id: id,
    session_id: `tg_popoto_-5294327191_${id}`,
    project_key: 'popoto',
    rule,
    at: Date.now(),
    duration_ms: 25 * MINUTE,
    attempt: 1,
    finding: `Finding of ${id}.`,
    done: 'The message is tried once more.',
    needs: { who: 'nobody_yet', what: 'the message is tried once more.' },
    host: 'harbour-1',
    journal: `logs/sessions/tg_popoto_-5294327191_${id}/tool_use.jsonl`,
    excerpt: null,
    calls: [{ at: Date.now(), tool: 'Bash', outcome: 'ok', duration_ms: 5, input: `input-${id}`, output: OWN_SECRET }],
    ...more,
  };
}

/** The record names an issue that GitHub has not. */
export function pretendDeleted(records: InMemoryIssueRecords): void {
  const fingerprint = fingerprintOf('popoto', 'silence');
  const record = records.stored.get(fingerprint);
  if (record) records.stored.set(fingerprint, { ...record, issue: { number: 99, url: 'https://github.invalid/99' } });
}

/** @returns what is reported of the incident when it has ended well */
export function recovered(id: string, rule: Rule = 'silence'): Occurrence {
  const done = 'The message was run again, and that attempt answered it.';
  return occurrence(id, rule, { done, needs: { who: 'nobody', what: 'the second attempt answered the message.' } });
}

export function sessionsIn(body: string | undefined): string[] {
  return [...(body ?? '').matchAll(/^- Session: `tg_popoto_-5294327191_(\w+)`$/gm)].map(([, id]) => id ?? '');
}
