/** The lines of the memory of sent messages: each says what happened to one part of a final text. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { OutboxEntry } from '../../src/jobs/model.js';
import { contentDigest } from '../../src/journal/digest.js';
import { parseObject } from '../../src/json.js';
import { isoTime } from '../../src/time.js';

/** A final message as the memory knows it: its text only by a digest. */
export interface FinalText {
  readonly sessionId: string;
  readonly kind: OutboxEntry['kind'];
  readonly digest: string;
  /** Number of messages that the text takes. Its file comes after them, as part number `of`. */
  readonly of: number;
  /** When the session's message was accepted, ISO 8601: it names the message. Missing if that is unknown. */
  readonly accepted_at?: string;
}

export interface SendLine extends FinalText {
  readonly part: number;
  /** `not_sent`: the claim is withdrawn, nothing was sent. */
  readonly did: 'sending' | 'sent' | 'not_sent';
  readonly claim: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly by: ProcessIdentity;
}

const DID: readonly string[] = ['sending', 'sent', 'not_sent'];

/** @param acceptedAt of its message, epoch ms; null if it is unknown */
export function finalTextOf({ session_id, kind, text }: OutboxEntry, parts: number, acceptedAt: number | null) {
  const named = { sessionId: session_id, kind, digest: contentDigest(text), of: parts } satisfies FinalText;
  return acceptedAt === null ? named : ({ ...named, accepted_at: isoTime(acceptedAt) } satisfies FinalText);
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
export function makesNeedless(sent: FinalText, text: FinalText): boolean {
  return sent.kind === text.kind || sent.kind === 'answer';
}

export function lineText({ sessionId: session_id, at, ...rest }: SendLine): string {
  return JSON.stringify({ v: 1, timestamp: isoTime(at), session_id, ...rest });
}

/** @returns null for a line that is not ours: torn, or of another version */
export function readLine(text: string): SendLine | null {
  const { session_id, timestamp, ...rest } = parseObject<SendLine & Record<string, unknown>>(text) ?? {};
  const at = Date.parse(String(timestamp));
  const isText = typeof session_id === 'string' && typeof rest.kind === 'string' && typeof rest.digest === 'string';
  const isPart = Number.isInteger(rest.part) && Number.isInteger(rest.of) && DID.includes(String(rest.did));
  if (!isText || !isPart || typeof rest.by !== 'object' || Number.isNaN(at)) return null;
  return { ...(rest as Omit<SendLine, 'sessionId' | 'at'>), sessionId: session_id, at };
}

/**
 * Folds older files of the memory into one, without the tries that were certainly not sent: a chat outage of hours makes many of
 * those, and they must not push out the lines of sent texts.
 * @param removed lines of the files that are removed once the new one is there, oldest first
 * @param replaced lines of the file that the new one replaces
 * @param later lines of newer files, which stay
 * @returns the lines of the new file. If a crash leaves some of the removed files next to it, all of them together still mean
 *   the same
 */
export function foldedLines(
  removed: readonly string[],
  replaced: readonly string[],
  later: readonly string[],
): string[] {
  const withdrawn = claimsOf([...removed, ...replaced, ...later], 'not_sent');
  // Until the removed file is gone, its claim needs the end that is in another one.
  const removedClaims = claimsOf(removed, 'sending');
  return [...new Set([...removed, ...replaced])].filter((text) => {
    const line = readLine(text);
    if (line?.did === 'sending') return !withdrawn.has(line.claim);
    return line?.did !== 'not_sent' || removedClaims.has(line.claim);
  });
}

/** @returns the newest of the lines that fit into `mostBytes` with their line ends */
export function newestLines(lines: readonly string[], mostBytes: number): readonly string[] {
  let bytes = 0;
  const tooOld = lines.findLastIndex((line) => {
    bytes += Buffer.byteLength(line) + 1;
    return bytes > mostBytes;
  });
  return lines.slice(tooOld + 1);
}

function claimsOf(texts: readonly string[], did: SendLine['did']): ReadonlySet<string> {
  return new Set(texts.map(readLine).flatMap((line) => (line?.did === did ? [line.claim] : [])));
}
