/**
 * The long-polling loop: fetch, handle, only then advance. An update is confirmed to Telegram by the next poll's offset, and
 * that grows only after the update was handled and the offset stored.
 *
 * While Redis is unreachable the first update that needs it blocks the ones behind it. The polls continue with the same offset,
 * so that every chat with something waiting is notified once, and the bot does not look dead. A paste that may not be complete
 * blocks them in the same way for a moment: its first pieces are not confirmed before the last is stored with them. While it is
 * another bridge's turn to poll, nothing is fetched at all.
 */
import type { Update } from 'grammy/types';
import { describeError, FencedError, UsageError } from '../../../src/errors.js';
import type { Service } from '../../../src/service.js';
import { isStoreTrouble } from '../../../src/storeTrouble.js';
import { pauseAfter, SECOND } from '../../../src/time.js';
import { STORE_AWAY_TEXT } from '../../intake/acceptMessage.js';
import { COMMANDS } from '../../intake/commands/commandText.js';
import { ChatError, type Complaint, complaintAbout } from '../chatError.js';
import { Errands } from '../errands.js';
import type { BotWatch } from './botWatch.js';
import type { Bot } from './incoming.js';
import { NextPiece } from './pastes.js';
import type { Turn } from './pollerTurn.js';
import { PollOffset } from './pollOffset.js';
import type { RejectedUpdates } from './rejectedUpdates.js';
import { UpdateHandler, type UpdateHandlerParts } from './updateHandler.js';

interface IntakeParts extends UpdateHandlerParts {
  readonly rejected: RejectedUpdates;
  readonly turn: Turn;
  readonly watch: Pick<BotWatch, 'refused' | 'accepted'>;
}

const REJECTED_TEXT = 'I could not process this message, so nothing was started. The error has been logged.';
const POLL_TIMEOUT_S = 30;
const FIRST_PAUSE_MS = SECOND;
const LONGEST_PAUSE_MS = 30 * SECOND;
/** Our own store is worth asking more often. */
const LONGEST_STORE_PAUSE_MS = 5 * SECOND;
const STORE = 'store';

export class TelegramIntake implements Service {
  readonly name = 'telegram intake';
  readonly #parts: IntakeParts;
  readonly #stopping = new AbortController();
  readonly #errands: Errands;
  readonly #handler: UpdateHandler;
  readonly #offset: PollOffset;
  readonly #nextPiece: NextPiece;
  /** Chats that know that their messages wait for the store. */
  readonly #notifiedChats = new Set<string>();
  #bot: Bot | null = null;
  #loop: Promise<void> | null = null;
  #failures = 0;
  #complaint: string | null = null;
  #completedPollAt: number | null = null;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#errands = new Errands(parts.logger, parts.clock, parts.api.spending);
    this.#handler = new UpdateHandler(parts, this.#errands);
    this.#offset = new PollOffset(parts);
    this.#nextPiece = new NextPiece(parts.clock);
  }

  get isStandingBy(): boolean {
    return !this.#parts.turn.isOurs;
  }

  /** When the last poll completed, in epoch milliseconds; null before the first. Readiness is judged by it. */
  get lastPollAt(): number | null {
    return this.#completedPollAt;
  }

  /** The trouble that keeps messages from being taken in, in a word or two: `another poller`; null if there is none. */
  get trouble(): string | null {
    return this.#complaint;
  }

  async start(): Promise<void> {
    this.#loop ??= this.#run();
  }

  /** Ends the long poll at once; the current update is still handled to its end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.#errands.stop();
  }

  /** @returns how long to pause before the next poll, in milliseconds */
  async runOnce(): Promise<number> {
    const { turn } = this.#parts;
    try {
      this.#bot ??= await this.#introduce();
      const ended = AbortSignal.any([this.#stopping.signal, turn.over]);
      // The first poll returns at once, so that readiness is known early.
      const timeoutS = this.#completedPollAt === null ? 0 : POLL_TIMEOUT_S;
      const updates = await this.#parts.api.getUpdates(this.#offset.next, timeoutS, ended);
      this.#completedPollAt = this.#parts.clock.now();
      await this.#parts.watch.accepted();
      const trouble = await this.#handleAll(updates, this.#bot);
      if (trouble === null) return this.#wellAgain() + this.#nextPiece.pauseMs;
      const words = `messages wait: Redis does not answer (${describeError(trouble)})`;
      return Math.min(this.#complain({ about: STORE, words, err: trouble, pauseMs: null }), LONGEST_STORE_PAUSE_MS);
    } catch (error) {
      if (this.#stopping.signal.aborted || !turn.isOurs) return 0;
      const isThrownOut = error instanceof ChatError && error.status === 409 && !turn.isCertain;
      if (error instanceof FencedError || isThrownOut) {
        turn.giveWay();
        return 0;
      }
      if (!(error instanceof ChatError)) throw error;
      const complaint = complaintAbout(error);
      if (error.kind === 'unauthorized') await this.#parts.watch.refused(complaint.words);
      return this.#complain(complaint);
    }
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      if (!this.#parts.turn.isOurs) {
        await this.#standBy();
        continue;
      }
      const pauseMs = await this.runOnce().catch((err: unknown) => {
        this.#parts.logger.error({ err }, 'the intake loop failed unexpectedly and continues');
        return LONGEST_PAUSE_MS;
      });
      if (pauseMs > 0) await this.#parts.clock.sleep(pauseMs, this.#stopping.signal);
    }
  }

  /** Another process takes messages in for a while, unseen by this one. Afterwards the store says where to continue. */
  async #standBy(): Promise<void> {
    this.#offset.forget();
    this.#complaint = null;
    this.#wellAgain();
    await this.#parts.turn.untilOurs(this.#stopping.signal);
  }

  async #introduce(): Promise<Bot> {
    const {
      id,
      username,
      can_read_all_group_messages: readsGroups,
    } = await this.#parts.api.getMe(this.#stopping.signal);
    this.#parts.logger.info({ bot_id: id, username }, 'connected to Telegram');
    this.#errands.run({ name: 'commands', chatId: null }, (signal) => this.#parts.api.setMyCommands(COMMANDS, signal));
    return { id, username, readsGroups };
  }

  /** @returns the store's error if it stopped the work; null if every update was handled, or waits for the next piece */
  async #handleAll(updates: readonly Update[], bot: Bot): Promise<unknown> {
    const joined = new Set<Update>();
    for (const [index, update] of updates.entries()) {
      if (this.#stopping.signal.aborted) return null;
      const later = updates.slice(index + 1);
      if (!joined.has(update) && this.#waitsForMore(update, later, bot)) return null;
      try {
        for (const piece of await this.#handleOne(update, later, bot, joined.has(update))) joined.add(piece);
      } catch (error) {
        if (!isStoreTrouble(error)) throw error;
        this.#notifyWaiting(updates.slice(index), bot);
        return error;
      }
    }
    return null;
  }

  async #handleOne(update: Update, later: readonly Update[], bot: Bot, isJoined: boolean): Promise<readonly Update[]> {
    const { store, turn } = this.#parts;
    const fence = turn.fence();
    if (!Number.isSafeInteger(update.update_id)) throw new UsageError('Telegram sent an update without a number');
    await this.#offset.read();
    let joined: readonly Update[] = [];
    if (!isJoined && !this.#offset.isHandled(update.update_id)) {
      // A command makes no commit that would be refused, so the fence is checked here.
      await store.leases.require(fence);
      const reject = (error: unknown) => this.#rejectUnlessTrouble(update, bot, error);
      joined = (await this.#handler.handle(update, bot, fence, later).catch(reject)) ?? [];
      this.#offset.noteHandled(update.update_id);
      this.#nextPiece.forget();
    }
    await this.#offset.advance(update.update_id, fence);
    return joined;
  }

  #waitsForMore(update: Update, later: readonly Update[], bot: Bot): boolean {
    if (this.#offset.isReplay(update.update_id)) return false;
    const last = this.#handler.unfinishedPaste(update, later, bot);
    return last !== null && this.#nextPiece.mayCome(last.update_id);
  }

  async #rejectUnlessTrouble(update: Update, bot: Bot, error: unknown): Promise<void> {
    if (isStoreTrouble(error) || error instanceof FencedError) throw error;
    await this.#parts.rejected.add(update, error);
    const message = this.#messageOf(update, bot);
    if (message !== null) this.#handler.say(message, REJECTED_TEXT);
  }

  #notifyWaiting(updates: readonly Update[], bot: Bot): void {
    for (const update of updates) {
      const message = this.#offset.isReplay(update.update_id) ? null : this.#messageOf(update, bot);
      if (message === null || this.#notifiedChats.has(message.chatId)) continue;
      this.#notifiedChats.add(message.chatId);
      this.#handler.say(message, STORE_AWAY_TEXT);
    }
  }

  #messageOf(update: Update, bot: Bot) {
    try {
      return this.#handler.wouldAccept(update, bot);
    } catch {
      // Malformed: it will be rejected when its turn comes.
      return null;
    }
  }

  #wellAgain(): number {
    // The connections log that the store is back.
    if (this.#complaint !== null)
      this.#parts.logger[this.#complaint === STORE ? 'debug' : 'info']('messages are received again');
    this.#complaint = null;
    this.#failures = 0;
    this.#notifiedChats.clear();
    return 0;
  }

  /** Logs each new trouble once, though its words may change. */
  #complain({ about, words, pauseMs, err }: Complaint): number {
    if (about !== this.#complaint) this.#parts.logger.error({ err }, words);
    this.#complaint = about;
    this.#failures += 1;
    return pauseMs ?? pauseAfter(this.#failures, { firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS });
  }
}
