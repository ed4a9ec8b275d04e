/** Sends the words of a session to the chat that it came from. Without a bot token every chat is the terminal. */
import type { BridgeWorklogs } from '../../memory/sessions/bridgeWorklogs.js';
import { ConflictError, describeError, unreadable } from '../../src/errors.js';
import { type AgentSession, type DeliveryState, isDelivered } from '../../src/jobs/model.js';
import type { Chat } from '../../src/jobs/ports.js';
import type { Store } from '../../src/jobs/store.js';
import { makeJournalDurable } from '../../src/journal/durable.js';
import { atMost, SECOND } from '../../src/time.js';
import type { EnqueuedHandoffs } from '../handoffs/handoffs.js';
import type { ChatFoundation, Register } from './foundation.js';
import type { Activity, ProgressView } from './progressView.js';

/** The chat id of sessions that began at a terminal or on the command line. */
export const TERMINAL_CHAT = 'terminal';

/** Measured on ext4, it takes half a millisecond. */
const SYNC_WITHIN_MS = 5 * SECOND;

/** The right to say the first word on a message that waits: one process has it, once. */
export interface FirstWord {
  isOurs(): Promise<boolean>;
  /** It was certainly not said. */
  giveBack(): Promise<void>;
}

/** A chat that shows people the reason why their messages wait. */
export interface WaitingChat extends Chat {
  /** Shows without a sound what a pending session waits for. @returns false if it should be tried again later */
  showWaiting(session: AgentSession, text: string, word: FirstWord): Promise<boolean>;
}

interface RouterBase extends ChatFoundation, Register {
  readonly worklogs: BridgeWorklogs;
  readonly handoffs: Pick<EnqueuedHandoffs, 'has' | 'notifyAuthor'>;
}

export class ChatRouter implements WaitingChat {
  readonly #base: RouterBase;
  readonly #logsFolder: string;
  readonly #terminal: Chat;
  readonly #telegram: WaitingChat | null;
  /** Why a worklog could not be written, as last logged. */
  #trouble: string | null = null;

  /** @param logsFolder with the journals and worklogs of this host's runs */
  constructor(base: RouterBase, logsFolder: string, terminal: Chat, telegram: WaitingChat | null) {
    this.#base = base;
    this.#logsFolder = logsFolder;
    this.#terminal = terminal;
    this.#telegram = telegram;
  }

  /** The journal is on the disk first: Redis may lose its last second. @throws ConflictError if nothing is stored for it now */
  async deliver(sessionId: string): Promise<DeliveryState> {
    const isRepeated = this.#base.worklogs.isEndExpected(sessionId);
    // Not read if no chat needs it: the read costs as much as a tenth of a message's whole work.
    const isNeeded = !isRepeated || this.#telegram !== null || this.#base.handoffs.has(sessionId);
    const session = isNeeded ? await this.#sessionOf(sessionId) : null;
    const chat = await this.#chatOf(sessionId, session);
    if (chat === null) throw nothingToDeliver(sessionId);
    if (session !== null && !isRepeated) this.#repeatEnd(session);
    await this.#makeDurable(sessionId);
    const state = await chat.deliver(sessionId);
    // There is a final message. Its chat may refuse it for hours.
    if (session !== null) this.#base.handoffs.notifyAuthor(session);
    if (isDelivered(state) && !(await this.#owesLastLine(sessionId))) this.#base.accepted.ended(sessionId);
    return state;
  }

  /** The sender of the last line of a progress message notes its end. */
  async #owesLastLine(sessionId: string): Promise<boolean> {
    if (this.#telegram === null) return false;
    const entry = await this.#base.store.records.outboxEntry(sessionId).catch(unreadable);
    return entry !== null && entry !== 'unreadable' && entry.progress_message_id !== null;
  }

  /** Every end comes with a final message. Only the host of its runs has a worklog of the session; a run writes its own end. */
  #repeatEnd({ session_id, status }: AgentSession): void {
    if (status === 'pending' || status === 'active') return;
    const { worklogs, logger } = this.#base;
    try {
      worklogs.end(session_id, status);
      this.#trouble = null;
    } catch (err) {
      const why = describeError(err);
      const said = `session ${session_id}: its worklog lacks its end (${why}); its final message is sent anyway`;
      if (why !== this.#trouble) logger.warn({ err, session_id }, said);
      this.#trouble = why;
    }
  }

  async #makeDurable(sessionId: string): Promise<void> {
    const { clock, logger } = this.#base;
    try {
      await atMost(clock, SYNC_WITHIN_MS, makeJournalDurable(this.#logsFolder, sessionId), undefined);
    } catch (err) {
      const said = `session ${sessionId}: its journal could not be made durable (${describeError(err)}); its final message is sent anyway`;
      logger.error({ err, session_id: sessionId }, said);
    }
  }

  async showProgress(sessionId: string, text: string): Promise<void> {
    const session = this.#telegram === null ? null : await this.#base.store.records.session(sessionId);
    await (await this.#chatOf(sessionId, session))?.showProgress(sessionId, text);
  }

  async showWaiting(session: AgentSession, text: string, word: FirstWord): Promise<boolean> {
    const isInTelegram = this.#telegram !== null && session.request.chat_id !== TERMINAL_CHAT;
    if (isInTelegram) return this.#telegram.showWaiting(session, text, word);
    if (await word.isOurs()) await this.#terminal.showProgress(session.session_id, text);
    return true;
  }

  async #sessionOf(sessionId: string): Promise<AgentSession | null> {
    const session = await this.#base.store.records.session(sessionId).catch(unreadable);
    return session === 'unreadable' ? null : session;
  }

  async #chatOf(sessionId: string, session: AgentSession | null): Promise<Chat | null> {
    if (this.#telegram === null) return this.#terminal;
    const chatId = session?.request.chat_id ?? (await this.#base.store.records.outboxEntry(sessionId))?.chat_id;
    if (chatId === undefined) return null;
    return chatId === TERMINAL_CHAT ? this.#terminal : this.#telegram;
  }
}

/** A view that did not begin a session ignores it. */
export class ProgressRouter implements ProgressView {
  readonly #telegram: ProgressView | null;
  readonly #terminal: ProgressView;

  constructor(telegram: ProgressView | null, terminal: ProgressView) {
    this.#telegram = telegram;
    this.#terminal = terminal;
  }

  begin(session: AgentSession): void {
    const view = this.#telegram === null || session.request.chat_id === TERMINAL_CHAT ? this.#terminal : this.#telegram;
    view.begin(session);
  }

  update(sessionId: string, activity: Activity): void {
    this.#telegram?.update(sessionId, activity);
    this.#terminal.update(sessionId, activity);
  }

  async end(sessionId: string): Promise<void> {
    await Promise.all([this.#telegram?.end(sessionId), this.#terminal.end(sessionId)]);
  }

  messageOf(sessionId: string): string | null {
    return this.#telegram?.messageOf(sessionId) ?? null;
  }

  describe(sessionId: string): string | null {
    return this.#telegram?.describe(sessionId) ?? this.#terminal.describe(sessionId);
  }
}

/** @throws ConflictError if the session has no final message */
export async function deliveryState({ records }: Store, sessionId: string): Promise<DeliveryState> {
  const entry = await records.outboxEntry(sessionId);
  if (entry === null) throw nothingToDeliver(sessionId);
  return entry.state;
}

function nothingToDeliver(sessionId: string): ConflictError {
  return new ConflictError(`session ${sessionId} has no final message; there is nothing to deliver`);
}
