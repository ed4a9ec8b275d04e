/**
 * The long-polling loop: fetch, handle, only then advance. An update is confirmed to Telegram by the next poll's offset, and
 * that grows only after the update was handled and the offset stored.
 *
 * While Redis is unreachable the first update that needs it blocks the ones behind it. The polls go on with the same offset, so
 * that every chat with something waiting is notified once, and the bot does not look dead. While it is another bridge's turn to
 * poll, nothing is fetched at all.
 */

import type { Update } from 'grammy/types';
import { pauseAfter } from '../../src/backoff.js';
import { describeError, FencedError, UsageError } from '../../src/errors.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { isStoreTrouble } from '../../src/storeTrouble.js';
import { type Clock, SECOND } from '../../src/time.js';
import { STORE_AWAY_TEXT } from '../intake/acceptMessage.js';
import { COMMANDS } from '../intake/commands.js';
import type { TelegramApi } from './api.js';
import { ChatError } from './chatError.js';
import { Errands } from './errands.js';
import type { Bot } from './incoming.js';
import { type Complaint, complaintAbout, FIRST_PAUSE_MS } from './intakeComplaint.js';
import type { Turn } from './pollerTurn.js';
import { PollOffset } from './pollOffset.js';
import type { RejectedUpdates } from './rejectedUpdates.js';
import { UpdateHandler, type UpdateHandlerParts } from './updateHandler.js';

export interface IntakeParts extends UpdateHandlerParts {
  readonly store: Store;
  readonly api: TelegramApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rejected: RejectedUpdates;
  readonly turn: Turn;
  /** How long one poll waits for updates, in seconds; 30 by default. */
  readonly pollTimeoutS?: number;
}

const REJECTED_TEXT = 'I could not process this message, so nothing was started. The error has been logged.';
const POLL_TIMEOUT_S = 30;
const LONGEST_PAUSE_MS = 30 * SECOND;
/** Our own store is worth asking more often. */
const LONGEST_STORE_PAUSE_MS = 5 * SECOND;
const STORE = 'store';

export class TelegramIntake implements Service {
  readonly name = 'telegram intake';
  private readonly parts: IntakeParts;
  private readonly stopping = new AbortController();
  private readonly errands: Errands;
  private readonly handler: UpdateHandler;
  private readonly offset: PollOffset;
  private readonly toldChats = new Set<string>();
  private bot: Bot | null = null;
  private loop: Promise<void> | null = null;
  private failures = 0;
  private complaint: string | null = null;
  private completedPollAt: number | null = null;

  constructor(parts: IntakeParts) {
    this.parts = parts;
    this.errands = new Errands(parts.logger, parts.clock);
    this.handler = new UpdateHandler(parts, this.errands);
    this.offset = new PollOffset(parts.store, parts.clock, parts.api.botId);
  }

  /** Whether it is another bridge's turn to fetch messages. */
  get isStandingBy(): boolean {
    return !this.parts.turn.isOurs;
  }

  /** When the last poll completed, in epoch milliseconds; null before the first. Readiness is judged by it. */
  get lastPollAt(): number | null {
    return this.completedPollAt;
  }

  /** What keeps messages from being taken in, in a word or two: `another poller`; null if nothing does. */
  get trouble(): string | null {
    return this.complaint;
  }

  async start(): Promise<void> {
    this.loop ??= this.run();
  }

  /** Ends the long poll at once; the current update is still handled to its end. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
    await this.errands.stop();
  }

  /**
   * One poll, and its updates.
   * @returns how long to pause before the next, in milliseconds
   */
  async runOnce(): Promise<number> {
    const { turn } = this.parts;
    try {
      this.bot ??= await this.introduce();
      const ended = AbortSignal.any([this.stopping.signal, turn.over]);
      // The first poll returns at once, so that readiness is known early.
      const timeoutS = this.completedPollAt === null ? 0 : this.pollTimeoutS;
      const updates = await this.parts.api.getUpdates(this.offset.next, timeoutS, ended);
      this.completedPollAt = this.parts.clock.now();
      const trouble = await this.handleAll(updates, this.bot);
      if (trouble === null) return this.wellAgain();
      const words = `messages wait: the store does not answer (${describeError(trouble)})`;
      return Math.min(this.complain({ about: STORE, words, err: trouble }), LONGEST_STORE_PAUSE_MS);
    } catch (error) {
      if (this.stopping.signal.aborted || !turn.isOurs) return 0;
      const isThrownOut = error instanceof ChatError && error.status === 409 && !turn.isCertain;
      if (error instanceof FencedError || isThrownOut) {
        turn.giveWay();
        return 0;
      }
      if (!(error instanceof ChatError)) throw error;
      return this.complain(complaintAbout(error));
    }
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      if (!this.parts.turn.isOurs) {
        await this.standBy();
        continue;
      }
      const pauseMs = await this.runOnce().catch((err: unknown) => {
        this.parts.logger.error({ err }, 'the intake loop met a fault of its own and goes on');
        return LONGEST_PAUSE_MS;
      });
      if (pauseMs > 0) await this.parts.clock.sleep(pauseMs, this.stopping.signal);
    }
  }

  /** This process does not see what another one takes in meanwhile: afterwards the store says where to go on. */
  private async standBy(): Promise<void> {
    this.offset.forget();
    this.complaint = null;
    this.wellAgain();
    await this.parts.turn.untilOurs(this.stopping.signal);
  }

  private async introduce(): Promise<Bot> {
    const { id, username } = await this.parts.api.getMe(this.stopping.signal);
    this.parts.logger.info({ bot_id: id, username }, 'connected to Telegram');
    this.errands.run('commands', (signal) => this.parts.api.setMyCommands(COMMANDS, signal));
    return { id, username };
  }

  /** @returns the store's error if it stopped the work; null if every update was handled */
  private async handleAll(updates: readonly Update[], bot: Bot): Promise<unknown> {
    for (const [index, update] of updates.entries()) {
      if (this.stopping.signal.aborted) return null;
      try {
        await this.handleOne(update, bot);
      } catch (error) {
        if (!isStoreTrouble(error)) throw error;
        this.tellWaiting(updates.slice(index), bot);
        return error;
      }
    }
    return null;
  }

  private async handleOne(update: Update, bot: Bot): Promise<void> {
    const { store, turn } = this.parts;
    const fence = turn.fence();
    if (!Number.isSafeInteger(update.update_id)) throw new UsageError('Telegram sent an update without a number');
    await this.offset.read();
    if (!this.offset.isHandled(update.update_id)) {
      // A command makes no commit that would be refused, so the fence is checked here.
      await store.leases.require(fence);
      await this.handler
        .handle(update, bot, fence)
        .catch((error: unknown) => this.rejectUnlessTrouble(update, bot, error));
      this.offset.noteHandled(update.update_id);
    }
    await this.offset.advance(update.update_id, fence);
  }

  private async rejectUnlessTrouble(update: Update, bot: Bot, error: unknown): Promise<void> {
    if (isStoreTrouble(error) || error instanceof FencedError) throw error;
    await this.parts.rejected.add(update, error);
    const message = this.messageOf(update, bot);
    if (message !== null) this.handler.say(message, REJECTED_TEXT);
  }

  private tellWaiting(updates: readonly Update[], bot: Bot): void {
    for (const update of updates) {
      const message = this.offset.isReplay(update.update_id) ? null : this.messageOf(update, bot);
      if (message === null || this.toldChats.has(message.chatId)) continue;
      this.toldChats.add(message.chatId);
      this.handler.say(message, STORE_AWAY_TEXT);
    }
  }

  private messageOf(update: Update, bot: Bot) {
    try {
      return this.handler.wouldAccept(update, bot);
    } catch {
      // Malformed: it will be rejected when its turn comes.
      return null;
    }
  }

  private get pollTimeoutS(): number {
    return this.parts.pollTimeoutS ?? POLL_TIMEOUT_S;
  }

  private wellAgain(): number {
    // The connections log that the store is back.
    if (this.complaint !== null)
      this.parts.logger[this.complaint === STORE ? 'debug' : 'info']('messages are taken in again');
    this.complaint = null;
    this.failures = 0;
    this.toldChats.clear();
    return 0;
  }

  /** Logs each new trouble once, though its words may change. */
  private complain({ about, words, pauseMs, err }: Complaint): number {
    if (about !== this.complaint) this.parts.logger.error({ err }, words);
    this.complaint = about;
    this.failures += 1;
    return pauseMs ?? pauseAfter(this.failures, { firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS });
  }
}
