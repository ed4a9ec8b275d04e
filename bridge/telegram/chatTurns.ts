/**
 * The turn to send to a chat that asked for a pause. Telegram lengthens its ban for a bot that does not wait, so during the ban
 * nothing is sent there. After it one final message is tried and the others wait for its outcome, whichever process delivers
 * them: tried together, each of them would only lengthen the ban of the others.
 */
import type { TelegramFoundation } from './api.js';

/** For one call of the API, should its process die. */
const TURN_MS = 90_000;
const LOOK_AGAIN_MS = 5_000;

/** `wait`: nothing is sent now. `first`: as the only one after a ban; its outcome must be noted. */
export type Turn =
  | { readonly kind: 'free' | 'first' }
  | { readonly kind: 'wait'; readonly delayMs: number; readonly reason: string };

export class ChatTurns {
  readonly #base: Pick<TelegramFoundation, 'store'>;

  constructor(base: Pick<TelegramFoundation, 'store'>) {
    this.#base = base;
  }

  /** Called again, a session still has its turn. @throws ioredis' error if Redis is unreachable */
  async take(chatId: string, sessionId: string): Promise<Turn> {
    const { chatMemory } = this.#base.store;
    const leftMs = await chatMemory.sendBanMs(chatId);
    if (leftMs === null) return { kind: 'free' };
    if (leftMs > 0) return { kind: 'wait', delayMs: leftMs, reason: 'the chat has asked for a pause' };
    if (await chatMemory.takeFirstSend(chatId, sessionId, TURN_MS)) return { kind: 'first' };
    return {
      kind: 'wait',
      delayMs: LOOK_AGAIN_MS,
      reason: 'after a pause of the chat, another message is tried first',
    };
  }

  /** @throws as {@link take}. @param pauseMs that the chat asked for; null if it took the message, or refused it for another reason */
  async note(chatId: string, turn: Turn, pauseMs: number | null): Promise<void> {
    const { chatMemory } = this.#base.store;
    if (pauseMs !== null) {
      await chatMemory.banSends(chatId, pauseMs);
      await chatMemory.banEdits(chatId, pauseMs);
    } else if (turn.kind === 'first') await chatMemory.endSendBan(chatId);
  }
}
