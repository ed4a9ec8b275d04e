/**
 * Delivers a session's final message to a Telegram chat: at most one send of each part's text, and at least one send or edit
 * that holds it, or a recorded give-up.
 *
 * queued ──claim──▶ sending ──all parts placed─▶ sent
 * ▲                 │ not reached, limited: certainly nothing happened
 * └─────────────────┤
 * ├── refused for good, or a day old ──▶ given_up (unknown, if a part is in doubt)
 * └── the outcome of a part's send is unknown: the part is *in doubt*
 *
 * A part in doubt is never sent again. It is put by an edit into a placeholder, which may be repeated because it is not the
 * text. The progress message never holds it, because another process may still edit that and must not overwrite the part.
 *
 * An entry was interrupted if it is found `sending` and its claim has expired, or belongs to a process that is proven dead or
 * was interrupted by the store: its next part is in doubt as well. In the record, `sending` without `edit_into` and without a
 * claim means "in doubt, place still to be found". An entry whose delivery has ended is due until its progress message has its
 * last line. A file, the last part of a long text, needs no place: in doubt, refused or a day old, it is left out, and the log
 * says so.
 */

import { ConflictError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { DeliveryState, OutboxEntry } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import type { Redact } from '../../src/log/redact.js';
import { type Clock, SECOND, type Timer } from '../../src/time.js';
import { finalTextOf } from '../chat/sendLine.js';
import type { SendMemory } from '../chat/sendMemory.js';
import type { Undelivered } from '../chat/undelivered.js';
import { answerParts, isFile } from './answerParts.js';
import type { TelegramApi } from './api.js';
import { ClosingLines } from './closingLines.js';
import { DeliveryRecord } from './deliveryRecord.js';
import { PartPlacer } from './partPlacer.js';
import { type Outcome, PartSender } from './partSender.js';
import type { ProgressEdits, QuietProgress } from './progressEdits.js';

export interface DeliveryParts {
  readonly store: Store;
  readonly api: TelegramApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  readonly edits: ProgressEdits;
  /** What was sent: Redis may forget it. */
  readonly memory: SendMemory;
  /** Resolves when nothing else in this process edits the session's progress message any more. */
  readonly quietProgress: (sessionId: string) => Promise<QuietProgress>;
  /** The identity of this process. */
  readonly here: ProcessIdentity;
  /** How long current sends may take once the bridge stops, in milliseconds. */
  readonly drainMs: number;
  /** Receives an event for a message that did not arrive. */
  readonly events: Undelivered['events'];
  /** Longer than any call of the API may take, in milliseconds. */
  readonly claimMs?: number;
}

const CLAIM_MS = 90 * SECOND;
const FILE_TOO_LATE: Outcome = { kind: 'left_out', reason: 'a day has passed' };

export class TelegramDelivery {
  private readonly parts: DeliveryParts;
  private readonly placer: PartPlacer;
  private readonly claimMs: number;
  /** Sessions that this object is working on. */
  private readonly inHand = new Set<string>();
  /** Interrupted by the store: a claim of ours may be left, with nobody working on it. */
  private readonly brokenOff = new Set<string>();
  private readonly record: DeliveryRecord;
  private readonly closing: ClosingLines;
  /** Aborted when current sends are abandoned: their outcome is then unknown, and settled at the next start. */
  private readonly ending = new AbortController();
  private deadline: Timer | null = null;
  private isStopping = false;

  constructor(parts: DeliveryParts) {
    this.parts = parts;
    this.placer = new PartPlacer(new PartSender(parts.api, this.ending.signal), parts.memory);
    this.closing = new ClosingLines(parts, this.ending.signal);
    this.claimMs = parts.claimMs ?? CLAIM_MS;
    this.record = new DeliveryRecord(parts, this.closing, this.claimMs);
  }

  /**
   * @returns the entry's state afterwards
   * @throws ConflictError if the session has no final message; ioredis' error if Redis is unreachable
   */
  async deliver(sessionId: string): Promise<DeliveryState> {
    if (this.inHand.has(sessionId)) return this.stateOf(sessionId);
    this.inHand.add(sessionId);
    try {
      const state = await this.bring(sessionId);
      this.brokenOff.delete(sessionId);
      return state;
    } catch (error) {
      this.brokenOff.add(sessionId);
      throw error;
    } finally {
      this.inHand.delete(sessionId);
    }
  }

  /** The bridge stops: after `drainMs` nothing more is sent. What is not settled then waits for the next start. */
  hurry(): void {
    this.deadline ??= this.parts.clock.after(this.parts.drainMs, () => {
      this.isStopping = true;
      this.ending.abort();
    });
  }

  /** Ends after the current part; the rest stays for the next start. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.hurry();
    await this.closing.settled();
  }

  private async bring(sessionId: string): Promise<DeliveryState> {
    const { store, here } = this.parts;
    const claimed = await store.outbox.claim(sessionId, this.claimMs, here, this.brokenOff.has(sessionId));
    if (claimed === null) return this.closeIfDue(sessionId);
    const session = await this.parts.store.records.session(sessionId);
    const progress = await this.parts.quietProgress(sessionId);
    if (progress.mayComeLate) this.closing.expectLateEdit(sessionId);
    const parts = answerParts(claimed.entry.text, this.parts.redact, session?.project_key ?? null);
    const hasMoved = session !== null && session.request.chat_id !== claimed.entry.chat_id;
    const progressId = claimed.entry.progress_message_id ?? (hasMoved ? null : progress.messageId);
    let entry: OutboxEntry | null = { ...claimed.entry, progress_message_id: progressId };
    let inDoubt = claimed.before.state === 'sending' && entry.edit_into === null;
    const text = finalTextOf(entry, parts.filter((part) => !isFile(part)).length);
    const standing = Math.min(await this.parts.memory.standing(text), parts.length);
    if (standing > entry.parts_done) {
      entry = await this.record.save(entry, { parts_done: standing, edit_into: null });
      inDoubt = false;
    }
    let held = entry;
    let hasArrived = false;
    while (entry !== null && entry.state === 'sending' && entry.claimed_until !== null) {
      held = entry;
      const part = parts[entry.parts_done];
      if (part === undefined) {
        hasArrived = true;
        entry = await this.record.finish(entry, session, 'sent', null);
      } else if (isFile(part) && this.record.isTooOld(entry)) {
        entry = await this.record.note(entry, session, FILE_TOO_LATE);
      } else if (this.isStopping) {
        const later = { inDoubt, delayMs: 0, reason: 'the bridge was stopped' };
        entry = await this.record.postpone(entry, session, later);
      } else {
        const mayMove = session === null || session.request.chat_id === entry.chat_id;
        const outcome: Outcome = await this.placer.place({ entry, text, part, inDoubt, mayMove });
        inDoubt = outcome.kind === 'again' && outcome.inDoubt;
        hasArrived = outcome.kind === 'placed' && entry.parts_done + 1 === parts.length;
        const isTooLate = isFile(part) && outcome.kind === 'later' && this.record.isTooOld(entry);
        entry = await this.record.note(entry, session, isTooLate ? FILE_TOO_LATE : outcome);
      }
    }
    if (entry === null && hasArrived && held !== null && (await store.records.outboxEntry(sessionId)) === null) {
      // Redis has forgotten the entry: no other process knows of a progress message that still shows work.
      this.closing.write({ ...held, state: 'sent' }, session);
      return 'sent';
    }
    return entry?.state ?? this.stateOf(sessionId);
  }

  /** The message has arrived, or another process delivers it: perhaps its progress message still needs its last line. */
  private async closeIfDue(sessionId: string): Promise<DeliveryState> {
    const { store, clock } = this.parts;
    const entry = await store.records.outboxEntry(sessionId);
    const isDue = entry !== null && entry.progress_message_id !== null && entry.due_at <= clock.now();
    if (isDue && !this.isStopping) this.closing.write(entry, await store.records.session(sessionId));
    return this.stateOf(sessionId);
  }

  private async stateOf(sessionId: string): Promise<DeliveryState> {
    const entry = await this.parts.store.records.outboxEntry(sessionId);
    if (entry === null)
      throw new ConflictError(`session ${sessionId} has no final message; there is nothing to deliver`);
    return entry.state;
  }
}
