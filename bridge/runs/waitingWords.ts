/**
 * Shows people the reason why their messages wait, if it is more than their turn: a directory that is missing or still held by a
 * run that could not be ended, or a message before theirs that waits for a provider or for this host. A waiting head of a lane was
 * notified by its own run.
 */
import { behindText } from '../../monitoring/incident/texts/chatTexts.js';
import type { Settings } from '../../src/config/settings.js';
import { CorruptRecordError } from '../../src/errors.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { LaneView } from '../../src/jobs/records.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import { RepeatedService } from '../../src/rounds.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { FirstWord, WaitingChat } from '../chat/chatRouter.js';
import type { WaitingSessions } from '../queue/pump.js';

/** In each round a chat gets one word at most, so that a long queue is no flood. */
const LOOK_EVERY_MS = 5 * SECOND;

export const DIRECTORY_MISSING_TEXT =
  "Received. This project's folder is missing at the moment; I'll start when it is back.";

export const DIRECTORY_HELD_TEXT =
  "Received. An earlier run in this project's folder could not be ended; I'll start when the folder is free.";

export interface WaitingWordsParts {
  readonly settings: Settings;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly chat: Pick<WaitingChat, 'showWaiting'>;
  readonly directories: { isMissing(path: string): boolean };
  /** The queue's copies of sessions that wait: a record that changes must change there, too. */
  readonly waiting: Pick<WaitingSessions, 'has' | 'keep'>;
}

interface Word {
  readonly session: AgentSession;
  readonly text: string;
}

export class WaitingWords extends RepeatedService {
  readonly name = 'words for those who wait';
  readonly #parts: WaitingWordsParts;
  /** The last words that this process has said, by session. */
  #said: ReadonlyMap<string, string> = new Map();

  constructor(parts: WaitingWordsParts) {
    super(parts.clock, LOOK_EVERY_MS);
    this.#parts = parts;
  }

  /** One round. Never throws: words that could not be sent are sent in a later one. */
  async runOnce(): Promise<void> {
    const { logger } = this.#parts;
    await this.#sayAll().catch((err: unknown) =>
      logger.warn({ err }, 'chats whose messages wait will be notified in the next round'),
    );
  }

  async #sayAll(): Promise<void> {
    const words = await this.#words();
    const said = new Map<string, string>();
    const chats = new Set<string>();
    for (const word of words) {
      const { session_id, request } = word.session;
      const before = this.#said.get(session_id);
      if (before !== undefined) said.set(session_id, before);
      if (before === word.text || chats.has(request.chat_id)) continue;
      chats.add(request.chat_id);
      if (await this.#say(word)) said.set(session_id, word.text);
    }
    this.#said = said;
  }

  async #words(): Promise<Word[]> {
    const { settings, store } = this.#parts;
    const lanes = await store.records.lanesWorthALook(settings.host);
    // A block that the watchdog has not reported yet may be over in a moment.
    const reported = (await store.blockedLanes.all()).filter(({ is_told }) => is_told);
    const held = new Set(reported.map(({ lane }) => lane));
    const words: Word[] = [];
    for (const lane of lanes) words.push(...(await this.#wordsIn(lane, held.has(lane.lane))));
    return words;
  }

  async #wordsIn({ lane, head: headId, holder }: LaneView, isHeld: boolean): Promise<Word[]> {
    const { records } = this.#parts.store;
    const [head] = headId === null ? [] : await records.sessions([headId]);
    if (head === undefined || head instanceof CorruptRecordError || head.status !== 'pending') return [];
    const isMissing = this.#parts.directories.isMissing(head.working_directory);
    const ofAll = isMissing ? DIRECTORY_MISSING_TEXT : isHeld ? DIRECTORY_HELD_TEXT : null;
    const text = ofAll ?? (holder === null ? this.#behind(head) : null);
    if (text === null) return [];
    const waiting = await records.sessions(await records.waitingIn(lane));
    return waiting.flatMap((session) => {
      if (session instanceof CorruptRecordError || session.status !== 'pending') return [];
      const isNotified = ofAll === null && session.session_id === headId;
      return isNotified ? [] : [{ session, text }];
    });
  }

  #behind(head: AgentSession): string | null {
    const { not_before: until } = head;
    return until === null || until <= this.#parts.clock.now() ? null : behindText(head, until);
  }

  async #say({ session, text }: Word): Promise<boolean> {
    const { chat, store, logger, waiting } = this.#parts;
    const { session_id } = session;
    try {
      const isSaid = await chat.showWaiting(session, text, this.#firstWord(session_id));
      const now = waiting.has(session_id) ? await store.records.session(session_id) : null;
      if (now?.status === 'pending' && waiting.has(session_id)) waiting.keep(now);
      return isSaid;
    } catch (err) {
      logger.warn({ err, session_id }, 'a chat could not be notified why its message waits');
      return false;
    }
  }

  /** Recorded before it is said: losing a word is better than repeating it at every start. */
  #firstWord(sessionId: string): FirstWord {
    const { chatMemory } = this.#parts.store;
    return {
      isOurs: () => chatMemory.isFirstWordOnWaiting(sessionId),
      giveBack: () => chatMemory.takeBackFirstWordOnWaiting(sessionId),
    };
  }
}
