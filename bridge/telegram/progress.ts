/**
 * One progress message per session, edited in place, and the typing indicator. Each session has one loop, so that never
 * two calls for it are under way; every call but the first message may be lost.
 */
import { failpoint } from '../../src/failpoints.js';
import type { Logger } from '../../src/logger.js';
import type { AgentSession } from '../../src/model.js';
import type { Redact } from '../../src/redact.js';
import { shorten } from '../../src/shorten.js';
import type { Store } from '../../src/store/store.js';
import { atMost, type Clock, SECOND } from '../../src/time.js';
import { type Activity, activityLine, type ProgressView } from '../chat/progressView.js';
import type { TelegramApi } from './api.js';
import { ChatError } from './chatError.js';

export interface ProgressParts {
  readonly store: Store;
  readonly api: TelegramApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  /** The least time between two edits of one message, in milliseconds. */
  readonly progressEveryMs: number;
}

interface Shown {
  readonly session: AgentSession;
  readonly ended: AbortController;
  /** Aborted when {@link ProgressDisplay.end} does not wait any longer. */
  readonly abandoned: AbortController;
  loop: Promise<void>;
  activity: Activity | null;
  messageId: string | null;
  /** The session's record names the message. */
  isRecorded: boolean;
  /** What stands in the message, as far as known. */
  text: string | null;
  lostSends: number;
  /** The chat said no: nothing more is tried. */
  isRefused: boolean;
  nextEditAt: number;
  nextTypingAt: number;
}

const WORKING = 'Working …';
const SECOND_ATTEMPT = 'Second attempt.';
/** Telegram shows it for five seconds. */
const TYPING_EVERY_MS = 4.5 * SECOND;
/** A lost answer may mean a message that nobody edits: one more is tried, not two. */
const MOST_LOST_SENDS = 2;
const END_LIMIT_MS = 5 * SECOND;
/** No lease is shorter. */
const MAY_HAVE_STOOD_MS = SECOND;
const LONGEST_NOTE = 400;

export class ProgressDisplay implements ProgressView {
  private readonly parts: ProgressParts;
  private readonly shown = new Map<string, Shown>();

  constructor(parts: ProgressParts) {
    this.parts = parts;
  }

  begin(session: AgentSession): void {
    const id = session.session_id;
    const former = this.shown.get(id);
    former?.ended.abort();
    const now = this.parts.clock.now();
    const shown: Shown = {
      session,
      ended: new AbortController(),
      abandoned: new AbortController(),
      loop: Promise.resolve(),
      activity: null,
      messageId: session.progress_message_id,
      isRecorded: session.progress_message_id !== null,
      text: null,
      lostSends: 0,
      isRefused: false,
      nextEditAt: now,
      nextTypingAt: now,
    };
    this.shown.set(id, shown);
    shown.loop = (former?.loop ?? Promise.resolve()).then(() => this.run(shown));
  }

  update(sessionId: string, activity: Activity): void {
    const shown = this.shown.get(sessionId);
    if (shown !== undefined) shown.activity = activity;
  }

  async end(sessionId: string): Promise<void> {
    const shown = this.shown.get(sessionId);
    if (shown === undefined) return;
    shown.ended.abort();
    await atMost(this.parts.clock, END_LIMIT_MS, shown.loop, undefined);
    shown.abandoned.abort();
    await shown.loop;
    if (this.shown.get(sessionId) === shown) this.shown.delete(sessionId);
  }

  describe(sessionId: string): string | null {
    const activity = this.shown.get(sessionId)?.activity ?? null;
    return activity === null ? null : this.parts.redact(activityLine(activity, this.parts.clock.now()));
  }

  /**
   * Puts `text` into the session's progress message, or into its predecessor's, and leaves it there. Never throws; where
   * there is no message, nothing is shown.
   */
  async showProgress(sessionId: string, text: string): Promise<void> {
    try {
      await this.end(sessionId);
      const { records } = this.parts.store;
      const session = await records.session(sessionId);
      if (session === null) return;
      const former = session.revival_of === null ? null : await records.session(session.revival_of);
      const messageId = session.progress_message_id ?? former?.progress_message_id ?? null;
      if (messageId === null) return;
      await this.parts.api.editMessageText(session.chat_id, messageId, this.plain(text));
    } catch (err) {
      this.parts.logger.warn({ err, session_id: sessionId }, 'the progress message could not be changed');
    }
  }

  /** Ends every display; resolves when no call is under way. */
  async stop(): Promise<void> {
    await Promise.all([...this.shown.keys()].map((sessionId) => this.end(sessionId)));
  }

  private async run(shown: Shown): Promise<void> {
    const { clock, logger } = this.parts;
    let isDoubtful = false;
    while (!shown.ended.signal.aborted && !shown.isRefused) {
      try {
        if (isDoubtful && !(await this.isStillIts(shown))) return;
        isDoubtful = false;
        if (clock.now() >= shown.nextEditAt) await this.show(shown);
        if (!shown.ended.signal.aborted && clock.now() >= shown.nextTypingAt) await this.type(shown);
      } catch (err) {
        logger.debug({ err, session_id: shown.session.session_id }, 'progress could not be shown or recorded');
      }
      const waitMs = Math.max(Math.min(shown.nextEditAt, shown.nextTypingAt) - clock.now(), 1);
      const wakeAt = clock.monotonic() + waitMs;
      await clock.sleep(waitMs, shown.ended.signal);
      isDoubtful ||= clock.monotonic() - wakeAt > MAY_HAVE_STOOD_MS;
    }
  }

  /** A process that stood may have lost its run meanwhile, and the message shows what others do by now. */
  private async isStillIts({ session }: Shown): Promise<boolean> {
    const found = await this.parts.store.records.session(session.session_id);
    const isItsRun = found?.run?.run_id === session.run?.run_id;
    return found?.status === 'active' && found.released === null && isItsRun;
  }

  private async show(shown: Shown): Promise<void> {
    const { clock } = this.parts;
    shown.nextEditAt = clock.now() + this.parts.progressEveryMs;
    const text = this.textOf(shown);
    try {
      if (shown.messageId === null) await this.send(shown, text ?? WORKING);
      else if (text !== null && text !== shown.text) await this.edit(shown, shown.messageId, text);
    } catch (error) {
      if (!(error instanceof ChatError)) throw error;
      this.learn(shown, error);
    }
    if (shown.messageId === null || shown.isRecorded) return;
    await this.record(shown, shown.messageId);
    shown.isRecorded = true;
  }

  private async send(shown: Shown, text: string): Promise<void> {
    const { session } = shown;
    const to = { chatId: session.chat_id, threadId: session.thread_id, replyTo: session.message_id };
    const signal = shown.abandoned.signal;
    failpoint('progress.send.before');
    const messageId = await this.parts.api.sendMessage(to, this.plain(text), { silent: true, signal });
    failpoint('progress.send.after');
    shown.messageId = messageId;
    shown.text = text;
  }

  private async record({ session }: Shown, progressMessageId: string): Promise<void> {
    if (session.run === null) return;
    await this.parts.store.transitions.recordRun(session.session_id, session.run.run_id, { progressMessageId });
  }

  private async edit(shown: Shown, messageId: string, text: string): Promise<void> {
    const { session, abandoned } = shown;
    failpoint('progress.edit.before');
    await this.parts.api.editMessageText(session.chat_id, messageId, this.plain(text), abandoned.signal);
    failpoint('progress.edit.after');
    shown.text = text;
  }

  private async type(shown: Shown): Promise<void> {
    const { clock, api } = this.parts;
    shown.nextTypingAt = clock.now() + TYPING_EVERY_MS;
    const { chat_id, thread_id } = shown.session;
    await api.showTyping(chat_id, thread_id, shown.abandoned.signal).catch((error: unknown) => {
      if (error instanceof ChatError && error.kind === 'limited') this.pause(shown, error);
    });
  }

  private learn(shown: Shown, failure: ChatError): void {
    if (shown.abandoned.signal.aborted) return;
    this.parts.logger.debug({ err: failure, session_id: shown.session.session_id }, 'a progress line was dropped');
    switch (failure.kind) {
      case 'limited':
        this.pause(shown, failure);
        return;
      case 'unknown':
        if (shown.messageId === null) shown.lostSends += 1;
        shown.isRefused = shown.lostSends >= MOST_LOST_SENDS;
        return;
      case 'not_reached':
        return;
      case 'refused':
        shown.isRefused = !/message is not modified/i.test(failure.description);
        return;
      case 'unauthorized':
        shown.isRefused = true;
        return;
      default:
        failure.kind satisfies never;
    }
  }

  private pause(shown: Shown, { retryAfterMs }: ChatError): void {
    const until = this.parts.clock.now() + (retryAfterMs ?? 0);
    shown.nextEditAt = Math.max(shown.nextEditAt, until);
    shown.nextTypingAt = Math.max(shown.nextTypingAt, until);
  }

  /** @returns null while there is nothing new to say: what an earlier run left stands until then */
  private textOf({ activity, session }: Shown): string | null {
    if (activity === null) return null;
    const lines = [
      ...(session.attempt === 2 ? [SECOND_ATTEMPT] : []),
      activityLine(activity, this.parts.clock.now()),
      ...(activity.note === null ? [] : [shorten(activity.note.trim(), LONGEST_NOTE)]),
    ];
    return lines.join('\n');
  }

  private plain(text: string) {
    return { plain: this.parts.redact(text), html: null };
  }
}
