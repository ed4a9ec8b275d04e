/** The last line of a progress message, after the final message's delivery. It is due until some process has written it. */

import { type AgentSession, isDelivered, type OutboxEntry } from '../../../src/jobs/model.js';
import { Newest } from '../../../src/newest.js';
import { type Backoff, DAY, MINUTE, pauseAfter, SECOND, spokenDuration } from '../../../src/time.js';
import { waitedMs } from '../../chat/deliveryReport.js';
import type { ChatFoundation, Register } from '../../chat/foundation.js';
import { asChatError, type ChatError } from '../chatError.js';
import type { ProgressEdits } from '../progress/progressEdits.js';

/** If this process stands before it has closed them, another one takes over after this time; if it dies, at once. */
export const CLOSED_WITHIN_MS = 10 * SECOND;
/** After this an abandoned edit can no longer arrive. */
const LATE_EDITS_MS = 35 * SECOND;
/** A message this old is given up, and so is its last line. */
export const GIVEN_UP_AFTER_MS = DAY;
/** A clock is moved once, while few sessions run. */
const MOST_MOVED = 100;
export const BACKOFF: Backoff = { firstMs: SECOND, longestMs: MINUTE };

export class ClosingLines {
  readonly #base: ChatFoundation & Register;
  readonly #edits: ProgressEdits;
  readonly #ending: AbortSignal;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, number>();
  /** Sessions whose working line may still arrive after the last one. */
  readonly #mayComeLate = new Set<string>();
  /** Sessions during which the clock was moved, and by how much. */
  readonly #movedMs = new Newest<string, number>(MOST_MOVED);

  constructor(base: ChatFoundation & Register, edits: ProgressEdits, ending: AbortSignal) {
    this.#base = base;
    this.#edits = edits;
    this.#ending = ending;
  }

  /** An edit of the session's progress was abandoned, and may arrive later: the last line is written twice. */
  expectLateEdit(sessionId: string): void {
    this.#mayComeLate.add(sessionId);
  }

  /** The clock was moved while the session ran: the last line says how long people waited, not what the clock says. */
  expectMovedClock(sessionId: string, byMs: number): void {
    if (Math.abs(byMs) > SECOND) this.#movedMs.set(sessionId, byMs);
  }

  /** Writes the last line if it is due. Returns at once. */
  write(entry: OutboxEntry, session: AgentSession | null): void {
    const { session_id: id, progress_message_id: messageId } = entry;
    if (messageId === null || !isDelivered(entry.state) || this.#underWay.has(id)) return;
    const work = this.#close(entry, messageId, session)
      .catch((err: unknown) => this.#base.logger.debug({ err, session_id: id }, 'the last line is still to be written'))
      .finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, work);
  }

  /** @returns when nothing is in progress any more */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #close(entry: OutboxEntry, messageId: string, session: AgentSession | null): Promise<void> {
    const { store, clock } = this.#base;
    const message = { sessionId: entry.session_id, chatId: entry.chat_id, messageId };
    const waited = await waitedMs(store, entry, session, this.#movedMs.get(entry.session_id));
    const line = closingLine(entry, waited);
    const failure = await this.#edits.close(message, line, this.#ending).then(() => null, asChatError);
    const delayMs = this.#untilNext(entry, failure);
    const free = { claimed_until: null };
    if (delayMs !== null) await store.outbox.save(entry, { ...free, due_at: clock.now() + delayMs, waits_ms: delayMs });
    else {
      this.#base.accepted.ended(entry.session_id);
      await store.outbox.save(entry, { ...free, progress_message_id: null, closed_message_id: messageId });
    }
  }

  /** @returns milliseconds; null if nothing is left to be done */
  #untilNext(entry: OutboxEntry, failure: ChatError | null): number | null {
    const id = entry.session_id;
    // Refused: the line is there already, the message is gone, or the chat is closed to us.
    if (failure === null || failure.kind === 'refused') {
      this.#failures.delete(id);
      return this.#mayComeLate.delete(id) ? LATE_EDITS_MS : null;
    }
    if (this.#base.clock.now() - entry.created_at > GIVEN_UP_AFTER_MS) {
      this.#failures.delete(id);
      return null;
    }
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    return failure.kind === 'limited' ? failure.pauseMs : pauseAfter(failures, BACKOFF);
  }
}

/** @param waited for the final message, in milliseconds; null if unknown */
function closingLine(entry: OutboxEntry, waited: number | null): string {
  const worked = waited === null ? null : spokenDuration(waited);
  const after = worked === null ? '' : ` after ${worked}`;
  if (entry.kind === 'failure') return `Ended without an answer${after}.`;
  if (entry.kind === 'cancelled') return `Stopped${after}.`;
  const done = worked === null ? 'Done' : `Done in ${worked}`;
  return entry.state === 'sent' ? `${done}.` : `${done}, but the answer could not be delivered.`;
}
