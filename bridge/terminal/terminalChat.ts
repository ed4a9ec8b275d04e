/**
 * The terminal as the place where people read: for sessions from the command line, and for everybody if no bot token is set. A
 * terminal cannot be asked what it shows, so a text whose printing is in doubt is not printed again; a line says where to find
 * it.
 */

import { ConflictError, describeError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { DeliveryState, OutboxEntry } from '../../src/jobs/model.js';
import type { Chat } from '../../src/jobs/ports.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import type { Redact } from '../../src/log/redact.js';
import { type Clock, describeDuration, SECOND } from '../../src/time.js';
import { askedAt } from '../chat/askedAt.js';
import { logDelivery } from '../chat/deliveryLog.js';
import { logUndelivered, type Undelivered } from '../chat/undelivered.js';
import { printable, type TerminalWriter } from './terminalText.js';

export interface TerminalChatParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  readonly writer: TerminalWriter;
  /** The identity of this process. */
  readonly here: ProcessIdentity;
  /** Receives an event for a message that did not arrive. */
  readonly events: Undelivered['events'];
}

/** Only one write comes between the claim and the note that it was printed. */
const CLAIM_MS = 10 * SECOND;

export class TerminalChat implements Chat {
  readonly #parts: TerminalChatParts;
  readonly #inHand = new Map<string, Promise<DeliveryState>>();

  constructor(parts: TerminalChatParts) {
    this.#parts = parts;
  }

  /**
   * A second call meanwhile waits for the same printing.
   * @throws ConflictError if the session has no final message; ioredis' error if Redis is unreachable
   */
  deliver(sessionId: string): Promise<DeliveryState> {
    const inHand = this.#inHand.get(sessionId);
    if (inHand !== undefined) return inHand;
    const delivering = this.#deliver(sessionId).finally(() => this.#inHand.delete(sessionId));
    this.#inHand.set(sessionId, delivering);
    return delivering;
  }

  async #deliver(sessionId: string): Promise<DeliveryState> {
    const { outbox, records } = this.#parts.store;
    const claimed = await outbox.claim(sessionId, CLAIM_MS, this.#parts.here);
    if (claimed === null) {
      const entry = await records.outboxEntry(sessionId);
      if (entry === null)
        throw new ConflictError(`session ${sessionId} has no final message; there is nothing to deliver`);
      return entry.state;
    }
    const session = await records.session(sessionId);
    const asked = session === null ? null : await askedAt(this.#parts.store, session);
    const { state, reason } = this.#print(claimed.entry, asked, claimed.before.state === 'sending');
    if (state !== 'sent') await logUndelivered(this.#parts, { ...claimed.entry, state, last_error: reason }, session);
    const patch = { state, claimed_until: null, last_error: reason, parts_done: state === 'sent' ? 1 : 0 };
    const saved = await outbox.save(claimed.entry, patch);
    if (saved !== null) logDelivery(this.#parts.logger, saved, this.#parts.clock.now());
    return saved?.state ?? state;
  }

  async showProgress(sessionId: string, text: string): Promise<void> {
    try {
      this.#parts.writer.write(`[${sessionId}] ${this.#clean(text)}\n`);
    } catch {
      // Nobody reads any more; the final message will say so in its record.
    }
  }

  #print(entry: OutboxEntry, asked: number | null, inDoubt: boolean) {
    try {
      if (inDoubt) {
        this.#parts.writer.write(
          `[${entry.session_id}] its last words may have been printed before; read them with: watchkeeper session ${entry.session_id}\n`,
        );
        return { state: 'unknown', reason: 'the process that printed it ended before it could say so' } as const;
      }
      this.#parts.writer.write(`[${entry.session_id}] ${headline(entry, asked)}\n${this.#clean(entry.text)}\n`);
      return { state: 'sent', reason: null } as const;
    } catch (error) {
      return { state: 'given_up', reason: `the terminal takes no more: ${describeError(error)}` } as const;
    }
  }

  #clean(text: string): string {
    return this.#parts.redact(printable(text));
  }
}

/** @param asked when the message came, epoch milliseconds; null if unknown */
function headline({ kind, created_at: at }: OutboxEntry, asked: number | null): string {
  const after = asked === null ? '' : ` after ${describeDuration(Math.max(at - asked, 0))}`;
  switch (kind) {
    case 'answer':
      return `answer${after}:`;
    case 'failure':
      return `ended without an answer${after}:`;
    case 'cancelled':
      return `cancelled${after}:`;
    default:
      return kind satisfies never;
  }
}
