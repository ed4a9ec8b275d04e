/**
 * Which texts were sent, or are being sent, kept on disk next to the logs. A Redis that loses its last second, or is restored to
 * an older state, forgets them, and every process that shares the folder would send again.
 *
 * A line is on the disk before its part is sent. All lines of a folder have one order: if two processes claim the same part,
 * the second one finds the first one's line before its own, and leaves the part to it.
 *
 * The memory is bounded: the newest messages, some thousand, however often each was tried in vain. A disk that accepts nothing
 * delays no message: then only this process remembers, until the disk accepts lines again.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describeError } from '../../src/errors.js';
import { isProcessAlive } from '../../src/host/identity.js';
import { firstAttemptId, revivalSessionId } from '../../src/ids.js';
import type { OutboxEntry } from '../../src/jobs/model.js';
import { Newest } from '../../src/newest.js';
import { isoTime, MINUTE, SECOND } from '../../src/time.js';
import type { ChatFoundation } from './foundation.js';
import { SendFile } from './sendFile.js';
import {
  type FinalText,
  isSaidBy,
  isSameText,
  isWhole,
  lineText,
  makesNeedless,
  partsOf,
  readLine,
  type SendLine,
} from './sendLine.js';

/**
 * - `ours`: no other process has sent it, or is about to. It may be sent.
 * - `elsewhere`: a process that may be alive is sending it right now.
 * - `in_doubt`: the process that was sending it did not finish: it may be in the chat.
 */
export type Claim = 'ours' | 'elsewhere' | 'in_doubt';

/** Longer than any call of the API takes. */
const SENT_WITHIN_MS = 2 * MINUTE;
const MOST_SESSIONS = 10_000;
const MOST_OWED = 1_000;
/** Refused lines are written again after this. A process that looks earlier may send the same text again. */
const OWED_AGAIN_MS = SECOND / 2;
const FOLDER = 'sends';

export class SendMemory {
  readonly #base: ChatFoundation;
  readonly #folder: string;
  readonly #file: SendFile;
  /** By session, the oldest session first. */
  readonly #lines = new Newest<string, SendLine[]>(MOST_SESSIONS);
  /** Claims of this process that have not ended yet, by session. */
  readonly #claims = new Map<string, SendLine>();
  /** Lines that the disk has refused; other processes see them once the disk accepts them. */
  #owed: SendLine[] = [];
  #isInTrouble = false;

  constructor(base: ChatFoundation, logsFolder: string) {
    this.#base = base;
    this.#folder = join(logsFolder, FOLDER);
    this.#file = new SendFile(this.#folder);
  }

  /** @returns how many parts of the text are in the chat; Infinity if another final text makes it obsolete */
  async partsSent(text: FinalText): Promise<number> {
    await this.#refresh();
    const sent = this.#sentFor(text.sessionId);
    const others = sent.filter((line) => !isSameText(line, text));
    const isNeedless = others.some((line) => isWhole(line, sent) && makesNeedless(line, text));
    return isNeedless ? Number.POSITIVE_INFINITY : partsOf(text, sent);
  }

  /** @returns which final text of the message accepted then (epoch ms) is completely in its chat, the last one; null if none is */
  async lastSent(sessionId: string, acceptedAt: number): Promise<OutboxEntry['kind'] | null> {
    await this.#refresh();
    const named = isoTime(acceptedAt);
    // A clock that was set back dates a send before its message.
    const sent = this.#sentFor(sessionId).filter(({ at, accepted_at }) => at >= acceptedAt || accepted_at === named);
    // Reading a file again brings old lines last.
    return sent.toSorted((one, other) => one.at - other.at).findLast((line) => isWhole(line, sent))?.kind ?? null;
  }

  async claim(text: FinalText, part: number): Promise<Claim> {
    const own = this.#lineOf(text, part, 'sending', randomUUID());
    await this.#add(own);
    await this.#refresh();
    const earlier = this.#openClaims(text, part, own);
    if (earlier.length === 0) {
      this.#claims.set(text.sessionId, own);
      return 'ours';
    }
    await this.#add({ ...own, did: 'not_sent' });
    return earlier.some((line) => this.#isSending(line)) ? 'elsewhere' : 'in_doubt';
  }

  async withdraw(text: FinalText, part: number): Promise<void> {
    const own = this.#claims.get(text.sessionId);
    this.#claims.delete(text.sessionId);
    if (own?.part === part) await this.#add({ ...own, did: 'not_sent', at: this.#base.clock.now() });
  }

  /** The part is in the chat, by a send or by an edit. */
  async arrived(text: FinalText, part: number): Promise<void> {
    this.#claims.delete(text.sessionId);
    await this.#add(this.#lineOf(text, part, 'sent', ''));
  }

  #lineOf(text: FinalText, part: number, did: SendLine['did'], claim: string): SendLine {
    return { ...text, part, did, claim, at: this.#base.clock.now(), by: this.#base.here };
  }

  /** @returns claims of the part, before `own` in file order, whose end is unknown */
  #openClaims(text: FinalText, part: number, own: SendLine): SendLine[] {
    const lines = this.#linesOf(text.sessionId).filter((line) => isSameText(line, text) && line.part === part);
    const ended = new Set(lines.filter(({ did }) => did === 'not_sent').map(({ claim }) => claim));
    const place = lines.findIndex(({ claim }) => claim === own.claim);
    const before = place < 0 ? lines : lines.slice(0, place);
    return before.filter(({ did, claim }) => did === 'sending' && !ended.has(claim));
  }

  #isSending({ by, at }: SendLine): boolean {
    const { here, clock } = this.#base;
    // This process delivers a session in one call at a time, so an open claim of ours was interrupted.
    const isOurs = by.pid === here.pid && by.pid_start === here.pid_start && isProcessAlive(by, here) !== null;
    if (isOurs || isProcessAlive(by, here) === false) return false;
    return clock.now() - at < SENT_WITHIN_MS;
  }

  /** A message has one end, whichever of its attempts reaches it. */
  #sentFor(sessionId: string): SendLine[] {
    const first = firstAttemptId(sessionId);
    const lines = [...this.#linesOf(first), ...this.#linesOf(revivalSessionId(first))];
    return lines.filter(({ did }) => did === 'sent');
  }

  #linesOf(sessionId: string): readonly SendLine[] {
    return this.#lines.get(sessionId) ?? [];
  }

  /** If the disk refuses it, this process still remembers it. */
  async #add(line: SendLine): Promise<void> {
    if (!(await this.#write([...this.#owed.splice(0), line]))) this.#keep(line);
  }

  /** @returns whether the disk has the lines; lines that it refuses are written again */
  async #write(lines: readonly SendLine[]): Promise<boolean> {
    try {
      await Promise.all(lines.map((line) => this.#file.append(lineText(line))));
      this.#isInTrouble = false;
      return true;
    } catch (err) {
      this.#complain(err, 'written');
      // The beginning of a send means nothing once the send has ended.
      const ends = lines.filter(({ did }) => did !== 'sending');
      if (this.#owed.length === 0 && ends.length > 0) this.#base.clock.after(OWED_AGAIN_MS, () => this.#writeOwed());
      this.#owed = [...ends, ...this.#owed].slice(-MOST_OWED);
      return false;
    }
  }

  #writeOwed(): void {
    if (this.#owed.length > 0) void this.#write(this.#owed.splice(0));
  }

  async #refresh(): Promise<void> {
    try {
      for (const text of await this.#file.unread()) {
        const line = readLine(text);
        if (line !== null) this.#keep(line);
      }
    } catch (err) {
      this.#complain(err, 'read');
    }
  }

  /** A line may be read again, after its file was folded with others. */
  #keep(line: SendLine): void {
    const lines = this.#linesOf(line.sessionId);
    if (line.did === 'sending' && lines.some(({ claim }) => claim === line.claim)) return;
    this.#lines.set(line.sessionId, [...lines.filter((other) => !isSaidBy(line, other)), line]);
  }

  /** Once, until it ends. */
  #complain(err: unknown, what: string): void {
    if (this.#isInTrouble) return;
    this.#isInTrouble = true;
    const why = describeError(err);
    this.#base.logger.warn({ err }, `the memory of sent messages in ${this.#folder} cannot be ${what} (${why})`);
  }
}
