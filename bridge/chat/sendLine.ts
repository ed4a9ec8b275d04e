/** One line of the memory of sent messages: what happened to one part of a final text, and what several lines together mean. */
import { createHash } from 'node:crypto';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { OutboxEntry } from '../../src/jobs/model.js';
import { isoTime } from '../../src/time.js';

/** A final message as the memory knows it: its text only by a digest. */
export interface FinalText {
  readonly sessionId: string;
  readonly kind: OutboxEntry['kind'];
  readonly digest: string;
  /** Number of messages that the text takes. Its file comes after them, as part number `of`. */
  readonly of: number;
}

/** What happened to one part of a text. */
export interface SendLine extends FinalText {
  readonly part: number;
  /** `not_sent`: the claim is withdrawn, nothing was sent. */
  readonly did: 'sending' | 'sent' | 'not_sent';
  readonly claim: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly by: ProcessIdentity;
}

const DIGEST_LENGTH = 16;
const DID: readonly string[] = ['sending', 'sent', 'not_sent'];

/** @returns the name of an outbox entry's text */
export function finalTextOf({ session_id, kind, text }: OutboxEntry, parts: number): FinalText {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
  return { sessionId: session_id, kind, digest, of: parts };
}

export function isSameText(one: FinalText, other: FinalText): boolean {
  return one.kind === other.kind && one.digest === other.digest && one.of === other.of;
}

/** @returns whether an end makes the part's other line obsolete: its claim, or another end of the same kind */
export function isSaidBy(end: SendLine, other: SendLine): boolean {
  if (end.did === 'sending' || end.part !== other.part || !isSameText(end, other)) return false;
  return end.did === other.did || end.claim === other.claim;
}

export function isWhole(text: FinalText, sent: readonly SendLine[]): boolean {
  return partsOf(text, sent) >= text.of;
}

/** @returns how many parts were sent, counted from the first one without a gap */
export function partsOf(text: FinalText, sent: readonly SendLine[]): number {
  const parts = new Set(sent.filter((line) => isSameText(line, text)).map(({ part }) => part));
  let count = 0;
  while (parts.has(count)) count += 1;
  return count;
}

/** A second wording of the same end, or anything after the answer. An answer is worth sending after a failure. */
export function makesNeedless(told: FinalText, text: FinalText): boolean {
  return told.kind === text.kind || told.kind === 'answer';
}

export function lineText({ sessionId: session_id, at, ...rest }: SendLine): string {
  return JSON.stringify({ v: 1, timestamp: isoTime(at), session_id, ...rest });
}

/** @returns null for a line that is not ours: torn, or of another version */
export function readLine(text: string): SendLine | null {
  try {
    const { session_id, timestamp, ...rest } = JSON.parse(text) as Partial<SendLine> & Record<string, unknown>;
    const at = Date.parse(String(timestamp));
    const isText = typeof session_id === 'string' && typeof rest.kind === 'string' && typeof rest.digest === 'string';
    const isPart = Number.isInteger(rest.part) && Number.isInteger(rest.of) && DID.includes(String(rest.did));
    if (!isText || !isPart || typeof rest.by !== 'object' || Number.isNaN(at)) return null;
    return { ...(rest as Omit<SendLine, 'sessionId' | 'at'>), sessionId: session_id, at };
  } catch {
    return null;
  }
}
