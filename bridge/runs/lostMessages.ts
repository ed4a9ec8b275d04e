/**
 * Gives messages an end if Redis has lost them together with the bridge that knew them. The register next to the logs
 * (`bridge/accepted/`) lists each accepted message; one that Redis does not know is forgotten. If an answer is on disk, it is
 * delivered, and the other chats are notified. No message runs again: its text is lost, and how far its run got is unknown.
 *
 * A record may also be missing for a reason that is no loss: the messages were accepted over another Redis or by another bot,
 * or so long ago that Redis no longer keeps their ends. Those are left alone.
 *
 * If a start is killed midway, the next one continues it: messages stored by then are not missing any more, and for the others
 * the event is repeated.
 */

import { LOST_TEXT } from '../../monitoring/incident/texts/chatTexts.js';
import { answerInJournal } from '../../monitoring/rounds/answeredLocally.js';
import type { Settings } from '../../src/config/settings.js';
import { UnreachableError } from '../../src/errors.js';
import { firstAttemptId, revivalSessionId } from '../../src/ids.js';
import type { AgentSession, DeathProof } from '../../src/jobs/model.js';
import { hostOfLane } from '../../src/jobs/names.js';
import { revivalOf } from '../../src/jobs/newRecords.js';
import type { KnownEnd } from '../../src/jobs/sessionEnds.js';
import type { Store } from '../../src/jobs/store.js';
import { isOfMessage } from '../../src/journal/owner.js';
import { journalPath } from '../../src/journal/path.js';
import type { Logger } from '../../src/log/logger.js';
import type { Clock } from '../../src/time.js';
import type { OpenMessage, Origin } from '../accepted/acceptedLine.js';
import { TERMINAL_CHAT } from '../chat/chatRouter.js';
import type { RunTarget } from './runProcesses.js';
import { SweptLanes } from './sweptLanes.js';

export interface LostMessagesParts {
  readonly store: Store;
  readonly settings: Pick<Settings, 'host' | 'logsFolder' | 'retention'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly logsId: string;
  readonly accepted: { readonly origin: Origin; open(): Promise<OpenMessage[]> };
  readonly forgotten: { noteLost(...sessionIds: readonly string[]): Promise<void> };
  /** As in {@link SagaContext}. */
  endOnDisk(session: AgentSession): Promise<KnownEnd | null>;
  endProcesses(target: RunTarget): Promise<DeathProof | null>;
}

export class LostMessages {
  readonly #parts: LostMessagesParts;

  constructor(parts: LostMessagesParts) {
    this.#parts = parts;
  }

  /** Before this bridge takes any job: no other process knows a message that is missing here. @throws ioredis' error */
  async endHere(): Promise<string[]> {
    const { accepted, settings } = this.#parts;
    const here = (await accepted.open()).filter(({ session }) => hostOfLane(session.lane) === settings.host);
    return this.end(await this.missing(here));
  }

  /** @returns those that Redis should know and does not @throws ioredis' error if Redis is unavailable */
  async missing(open: readonly OpenMessage[]): Promise<OpenMessage[]> {
    const missing: OpenMessage[] = [];
    for (const message of open) {
      if (this.#isExpected(message) && (await this.#isMissing(message.session))) missing.push(message);
    }
    return missing;
  }

  /**
   * The event comes first, and names all of them. A message whose journal cannot be read gets no end yet: its answer may be there.
   * @returns those that have got their end
   * @throws ioredis' error
   */
  async end(lost: readonly OpenMessage[]): Promise<string[]> {
    if (lost.length === 0) return [];
    const { store, forgotten } = this.#parts;
    await this.#sweep(lost);
    const attempts: AgentSession[] = [];
    for (const { session } of lost) attempts.push(...(await this.#readAttempt(session)));
    if (attempts.length === 0) return [];
    await forgotten.noteLost(...attempts.map(({ session_id }) => firstAttemptId(session_id)));
    const ended: string[] = [];
    for (const attempt of attempts) {
      const end = await this.#endOf(attempt);
      if (await store.regain.ended(attempt, end)) ended.push(attempt.session_id);
    }
    return ended;
  }

  #isExpected({ session, store, bot, seenAt }: OpenMessage): boolean {
    const { accepted, clock, settings } = this.#parts;
    const { origin } = accepted;
    const isOurs = session.request.chat_id === TERMINAL_CHAT || bot === origin.bot;
    return isOurs && store === origin.store && clock.now() - seenAt < settings.retention.keptMs;
  }

  /** @returns whether Redis has neither attempt */
  async #isMissing({ session_id }: AgentSession): Promise<boolean> {
    const { regain } = this.#parts.store;
    return (await regain.isMissing(session_id)) && (await regain.isMissing(revivalSessionId(session_id)));
  }

  /** No process of a lost run may still work when its chat reads that it has ended. The runner sweeps each lane before a run. */
  async #sweep(lost: readonly OpenMessage[]): Promise<void> {
    const { settings } = this.#parts;
    const swept = new SweptLanes(this.#parts);
    const lanes = new Set(lost.map(({ session }) => session.lane).filter((lane) => hostOfLane(lane) === settings.host));
    await Promise.all([...lanes].map((lane) => swept.sweep(lane, () => false)));
  }

  async #endOf(attempt: AgentSession): Promise<KnownEnd> {
    return (await this.#parts.endOnDisk(attempt)) ?? { kind: 'failure', text: LOST_TEXT, mayBeInChat: false };
  }

  /** @returns the last attempt; none if its journals cannot be read now, which the next round tries again */
  async #readAttempt(first: AgentSession): Promise<AgentSession[]> {
    try {
      return [await this.#lastAttempt(first)];
    } catch (err) {
      if (!(err instanceof UnreachableError)) throw err;
      const { session_id } = first;
      const said = `session ${session_id}: whether it was answered is unknown, so its chat is told nothing yet: ${err.message}`;
      this.#parts.logger.error({ err, session_id }, said);
      return [];
    }
  }

  /**
   * Redis no longer says which attempt was the last one: it is the one that has answered, else a second one that has begun. A
   * second attempt whose record is stored gets its line among the critical events, too (`monitoring/rounds/strayRound.ts`).
   */
  async #lastAttempt(first: AgentSession): Promise<AgentSession> {
    const { store, settings } = this.#parts;
    const { logsFolder } = settings;
    const second = revivalOf(first, first.created_at);
    for (const attempt of [second, first])
      if ((await answerInJournal(store.records, logsFolder, attempt)) !== null) return attempt;
    return isOfMessage(journalPath(logsFolder, second.session_id), first.created_at) ? second : first;
  }
}
