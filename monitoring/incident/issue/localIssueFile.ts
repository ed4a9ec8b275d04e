/** The text of an issue's file: a head of JSON between two `---` lines, then the body. */
import { WATCHDOG_LABEL } from './issueSink.js';

interface Head {
  readonly number: number;
  readonly title: string;
  readonly labels: readonly string[];
  readonly state: 'open' | 'closed';
  /** `completed` or `not_planned`; null while it is open. */
  readonly state_reason: string | null;
  readonly created_at: string;
  readonly closed_at: string | null;
}

export interface LocalIssue {
  readonly head: Head;
  readonly body: string;
  /** When the file last changed; also the time of closing, if a person did not write that down. */
  readonly changedAt: number;
}

const ISSUE_FILE = /^(\d{1,9})\.md$/;
const DELIMITER = '---\n';

/** @returns the number in the name of an issue's file; null for another file */
export function issueNumber(fileName: string): number | null {
  const number = ISSUE_FILE.exec(fileName)?.[1];
  return number === undefined ? null : Number(number);
}

export function issueFileName(number: number): string {
  return `${number}.md`;
}

export function issueFileText({ head, body }: Pick<LocalIssue, 'head' | 'body'>): string {
  return `${DELIMITER}${JSON.stringify(head, null, 2)}\n${DELIMITER}${body}\n`;
}

/**
 * A person may have edited it: fields missing from the head count as open and ours.
 * @param changedAt when the file last changed, UTC epoch milliseconds
 * @throws Error if the text does not begin with a head
 */
export function parseIssueFile(text: string, path: string, number: number, changedAt: number): LocalIssue {
  const end = text.indexOf(`\n${DELIMITER}`);
  if (!text.startsWith(DELIMITER) || end === -1)
    throw new Error(`${path} does not begin with a head between --- lines`);
  const head = JSON.parse(text.slice(DELIMITER.length, end)) as Partial<Head>;
  return {
    head: {
      number,
      title: head.title ?? '',
      labels: Array.isArray(head.labels) ? head.labels : [WATCHDOG_LABEL],
      state: head.state === 'closed' ? 'closed' : 'open',
      state_reason: typeof head.state_reason === 'string' ? head.state_reason : null,
      created_at: head.created_at ?? '',
      closed_at: typeof head.closed_at === 'string' ? head.closed_at : null,
    },
    body: text.slice(end + 1 + DELIMITER.length).replace(/\n$/, ''),
    changedAt,
  };
}
