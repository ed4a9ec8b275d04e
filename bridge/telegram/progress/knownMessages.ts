/**
 * Which message shows a session's progress, as far as the store, this process or the disk knows. A message whose id is not in
 * the record gets no last line, so a store that is restored to an older state must not be the only one that knows it.
 */
import type { AgentSession } from '../../../src/jobs/model.js';
import { Newest } from '../../../src/newest.js';
import type { TelegramFoundation } from '../api.js';
import type { QuietProgress } from './progressEdits.js';
import type { ProgressMemory } from './progressMemory.js';

/** Sessions whose message is remembered after the end of their display. */
const MOST_REMEMBERED = 500;

export class KnownMessages {
  readonly #base: Pick<TelegramFoundation, 'store'>;
  readonly #memory: ProgressMemory;
  /** Remains of displays that have ended, oldest first. */
  readonly #left = new Newest<string, QuietProgress>(MOST_REMEMBERED);

  constructor(base: Pick<TelegramFoundation, 'store'>, memory: ProgressMemory) {
    this.#base = base;
    this.#memory = memory;
  }

  leave(sessionId: string, left: QuietProgress): void {
    this.#left.set(sessionId, left);
  }

  /** A run takes over a message that was sent before there was a run. Never throws. */
  async takeOver(session: AgentSession, messageId: string): Promise<void> {
    if (this.#memory.messageOf(session) === null) await this.#memory.remember(session, messageId);
  }

  /** @returns the remains of the session's display, which has ended */
  async leftOf(sessionId: string): Promise<QuietProgress> {
    const left = this.#left.get(sessionId) ?? { messageId: null, mayComeLate: false, clockMovedMs: 0 };
    if (left.messageId !== null) return left;
    const session = await this.#base.store.records.session(sessionId);
    return { ...left, messageId: session === null ? null : this.forgotten(session) };
  }

  /** @returns the message of the session or its first attempt, which the store may have forgotten */
  forgotten(session: AgentSession): string | null {
    const { session_id, revival_of } = session;
    const left = this.#left.get(session_id) ?? (revival_of === null ? undefined : this.#left.get(revival_of));
    return left?.messageId ?? this.#memory.messageOf(session);
  }

  /** The message of the session or its first attempt. @throws ioredis' error if Redis is unreachable */
  async messageOf(session: AgentSession): Promise<string | null> {
    const { request, revival_of } = session;
    const recorded = request.progress_message_id ?? null;
    if (recorded !== null) return recorded;
    const former = revival_of === null ? null : await this.#base.store.records.session(revival_of);
    return former?.request.progress_message_id ?? this.forgotten(session);
  }
}
