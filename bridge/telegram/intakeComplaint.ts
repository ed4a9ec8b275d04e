/** What keeps messages from being taken in: words for the operator, and a pause. */
import type { ChatError } from './chatError.js';

export interface Complaint {
  readonly about: string;
  readonly words: string;
  readonly err?: unknown;
  /** Milliseconds; null: by the number of failures. */
  readonly pauseMs: number | null;
}

export function complaintAbout({ kind, status, description, pauseMs }: ChatError): Complaint {
  if (status === 409) {
    const words = `another program fetches this bot's messages (${description}): only one bridge may run per bot token; stop the other one, or remove its webhook`;
    return { about: 'another poller', words, pauseMs };
  }
  if (kind === 'unauthorized') {
    const words = `Telegram refuses the bot token (${description}): check TELEGRAM_BOT_TOKEN; no message can be read until then`;
    return { about: kind, words, pauseMs };
  }
  const trouble = kind === 'limited' ? 'Telegram asks to wait' : 'Telegram cannot be asked for messages';
  return { about: kind, words: `${trouble}: ${description}`, pauseMs };
}
