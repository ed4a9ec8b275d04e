/**
 * The terminal as the place where people read: for sessions from the command line, and for everybody if no bot token is set. A
 * terminal cannot be asked what it shows, so a text whose printing is in doubt is not printed again; a line says where to find
 * it.
 */
import { describeError } from '../../src/errors.js';
import type { DeliveryState, OutboxEntry } from '../../src/jobs/model.js';
import type { Chat } from '../../src/jobs/ports.js';
import type { Records } from '../../src/jobs/records.js';
import { describeDuration, SECOND } from '../../src/time.js';
import type { AcceptanceClocks } from '../chat/acceptanceClocks.js';
import { deliveryState } from '../chat/chatRouter.js';
import { logDelivery, logUndelivered, waitedMs } from '../chat/deliveryReport.js';
import type { ChatFoundation } from '../chat/foundation.js';
import { printable, printTo, type TerminalWriter } from './terminalText.js';

/** Only one write comes between the claim and the note that it was printed. */
const CLAIM_MS = 10 * SECOND;
const HEADLINES = { answer: 'answer', failure: 'ended without an answer', cancelled: 'cancelled' } as const;

export class TerminalChat implements Chat {
  readonly #base: ChatFoundation;
  readonly #writer: TerminalWriter;
  readonly #clocks: Pick<AcceptanceClocks, 'movedMs'>;
  readonly #underWay = new Map<string, Promise<DeliveryState>>();

  constructor(base: ChatFoundation, writer: TerminalWriter, clocks: Pick<AcceptanceClocks, 'movedMs'>) {
    this.#base = base;
    this.#clocks = clocks;
    this.#writer = writer;
  }

  /** A second call waits for the first one's printing. @throws ConflictError without a final message; ioredis' error */
  deliver(sessionId: string): Promise<DeliveryState> {
    const inHand = this.#underWay.get(sessionId);
    if (inHand !== undefined) return inHand;
    const delivering = this.#deliver(sessionId).finally(() => this.#underWay.delete(sessionId));
    this.#underWay.set(sessionId, delivering);
    return delivering;
  }

  async #deliver(sessionId: string): Promise<DeliveryState> {
    const { store, here, logger, clock } = this.#base;
    const claimed = await store.outbox.claim(sessionId, CLAIM_MS, here);
    if (claimed === null) return deliveryState(store, sessionId);
    const { entry, before } = claimed;
    const session = await store.records.session(sessionId);
    const movedMs = session === null ? 0 : this.#clocks.movedMs(session);
    const { state, reason } = this.#print(
      entry,
      await waitedMs(store, entry, session, movedMs),
      before.state === 'sending',
    );
    if (state !== 'sent') await logUndelivered(this.#base, { ...entry, state, last_error: reason }, session);
    const patch = { state, claimed_until: null, last_error: reason, parts_done: state === 'sent' ? 1 : 0 };
    const saved = await store.outbox.save(entry, patch);
    if (saved !== null) logDelivery(logger, saved, clock.now());
    return saved?.state ?? state;
  }

  async showProgress(sessionId: string, text: string): Promise<void> {
    printTo(this.#writer, `[${sessionId}] ${this.#clean(text)}\n`);
  }

  #print(entry: OutboxEntry, waited: number | null, inDoubt: boolean) {
    try {
      if (entry.quiet === true) return { state: 'sent', reason: null } as const;
      if (inDoubt) {
        this.#writer.write(
          `[${entry.session_id}] its last words may have been printed before; read them with: watchkeeper session ${entry.session_id}\n`,
        );
        return { state: 'unknown', reason: 'the process that printed it ended before it could say so' } as const;
      }
      this.#writer.write(`[${entry.session_id}] ${headline(entry, waited)}\n${this.#clean(entry.text)}\n`);
      return { state: 'sent', reason: null } as const;
    } catch (error) {
      return { state: 'given_up', reason: `the terminal takes no more: ${describeError(error)}` } as const;
    }
  }

  #clean(text: string): string {
    return this.#base.redact(printable(text));
  }
}

/** @param waited for it, in milliseconds; null if unknown */
function headline({ kind }: OutboxEntry, waited: number | null): string {
  return `${HEADLINES[kind]}${waited === null ? '' : ` after ${describeDuration(waited)}`}:`;
}

/** The terminal of a process that has none, such as a standby: its messages stay due for the next bridge. */
export class AbsentTerminal implements Chat {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async deliver(sessionId: string): Promise<DeliveryState> {
    return (await this.#records.outboxEntry(sessionId))?.state ?? 'given_up';
  }

  async showProgress(): Promise<void> {}
}
