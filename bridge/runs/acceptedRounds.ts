/**
 * Keeps the register of accepted messages (`bridge/accepted/`) true while Redis works. Messages whose answers other processes
 * delivered are closed in it. Messages of this host that other processes accepted, or whose lines the disk refused, are noted.
 * A message that Redis has lost although this bridge lived, and that no process stores again, gets its end here.
 */
import { CorruptRecordError, describeError, unreadable } from '../../src/errors.js';
import { firstAttemptId, revivalSessionId } from '../../src/ids.js';
import { type AgentSession, isDelivered } from '../../src/jobs/model.js';
import { hostOfLane } from '../../src/jobs/names.js';
import { RepeatedService } from '../../src/rounds.js';
import { type Clock, MINUTE, SECOND } from '../../src/time.js';
import type { OpenMessage } from '../accepted/acceptedLine.js';
import type { AcceptedMessages } from '../accepted/acceptedMessages.js';
import type { LostMessages, LostMessagesParts } from './lostMessages.js';

const EVERY_MS = 30 * SECOND;
/** A bridge that lives stores its messages again within seconds. The bridge of another host may have to start first. */
const STORED_AGAIN_WITHIN_MS = MINUTE;
const STORED_AGAIN_ELSEWHERE_WITHIN_MS = 10 * MINUTE;

export interface AcceptedRoundsParts extends Pick<LostMessagesParts, 'store' | 'settings' | 'logger'> {
  readonly clock: Clock;
  readonly accepted: Pick<AcceptedMessages, 'open' | 'note' | 'ended' | 'beginAgain' | 'close'>;
  readonly lost: Pick<LostMessages, 'missing' | 'end'>;
  /** @returns whether this process runs the session, or knows that it waits or how it ended */
  isKnown(sessionId: string): boolean;
}

export class AcceptedRounds extends RepeatedService {
  readonly name = 'register of accepted messages';
  readonly #parts: AcceptedRoundsParts;
  /** When each was first found missing, on the monotonic clock. */
  #missingSince: ReadonlyMap<string, number> = new Map();

  constructor(parts: AcceptedRoundsParts) {
    super(parts.clock, EVERY_MS);
    this.#parts = parts;
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.#parts.accepted.close();
  }

  /** @throws ioredis' error if Redis is unavailable */
  async runOnce(): Promise<void> {
    const { store, accepted } = this.#parts;
    const [pending, active] = [await store.records.sessionIds('pending'), await store.records.sessionIds('active')];
    const present = new Set([...pending, ...active].map(firstAttemptId));
    // Read after that: a message accepted since then is open, and not among those ids.
    const open = await accepted.open();
    const gone = open.filter(({ session }) => !present.has(session.session_id));
    await this.#closeEnded(gone);
    await this.#endMissing(gone);
    await this.#noteOthers([...pending, ...active], open);
    await accepted.beginAgain(open.filter(({ session }) => present.has(session.session_id)));
  }

  protected override async round(): Promise<void> {
    try {
      await this.runOnce();
    } catch (err) {
      this.#parts.logger.debug({ err }, `the register of accepted messages waits for Redis: ${describeError(err)}`);
    }
  }

  async #closeEnded(gone: readonly OpenMessage[]): Promise<void> {
    const { store, accepted } = this.#parts;
    for (const { session, seenAt } of gone) {
      const ids = [revivalSessionId(session.session_id), session.session_id];
      const [last] = await store.records.sessions(ids);
      const isOver = last === undefined ? this.#isForgettable(seenAt) : await this.#hasItsEnd(last);
      if (isOver) accepted.ended(session.session_id);
    }
  }

  /** Nothing is owed to its chat: neither its final message nor the last line of its progress message. */
  async #hasItsEnd(session: AgentSession | CorruptRecordError): Promise<boolean> {
    if (session instanceof CorruptRecordError || session.ended_at === null) return false;
    const { delivery } = session.request;
    if (delivery === null || !isDelivered(delivery)) return false;
    const entry = await this.#parts.store.records.outboxEntry(session.session_id).catch(unreadable);
    return entry === null || entry === 'unreadable' || entry.progress_message_id === null;
  }

  /** Redis no longer keeps the end that it may have had. */
  #isForgettable(seenAt: number): boolean {
    const { clock, settings } = this.#parts;
    return clock.now() - seenAt >= settings.retention.keptMs;
  }

  async #endMissing(gone: readonly OpenMessage[]): Promise<void> {
    const { lost, clock } = this.#parts;
    const missing = (await lost.missing(gone)).filter(({ session }) => !this.#isKnownHere(session));
    const now = clock.monotonic();
    const since = new Map(
      missing.map(({ session: { session_id } }) => [session_id, this.#missingSince.get(session_id) ?? now]),
    );
    this.#missingSince = since;
    await lost.end(
      missing.filter(({ session }) => now - (since.get(session.session_id) ?? now) >= this.#graceMs(session)),
    );
  }

  #isKnownHere({ session_id }: AgentSession): boolean {
    return [session_id, revivalSessionId(session_id)].some((id) => this.#parts.isKnown(id));
  }

  #graceMs({ lane }: AgentSession): number {
    const isHere = hostOfLane(lane) === this.#parts.settings.host;
    return isHere ? STORED_AGAIN_WITHIN_MS : STORED_AGAIN_ELSEWHERE_WITHIN_MS;
  }

  async #noteOthers(ids: readonly string[], open: readonly OpenMessage[]): Promise<void> {
    const { store, accepted, settings } = this.#parts;
    const noted = new Set(open.map(({ session }) => session.session_id));
    const others = ids.filter((id) => !noted.has(firstAttemptId(id)));
    for (const session of await store.records.sessions(others)) {
      if (session instanceof CorruptRecordError || hostOfLane(session.lane) !== settings.host) continue;
      accepted.note(await this.#firstOf(session));
    }
  }

  /** Its message was accepted with the first attempt: an answer in its journal is never older. */
  async #firstOf(session: AgentSession): Promise<AgentSession> {
    if (session.revival_of === null) return session;
    const [first] = await this.#parts.store.records.sessions([session.revival_of]);
    return first === undefined || first instanceof CorruptRecordError ? session : first;
  }
}
