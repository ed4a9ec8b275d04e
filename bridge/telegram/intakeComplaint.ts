/** What keeps messages from being taken in: words for the operator, and a pause. */
import { HOUR, MINUTE, SECOND } from '../../src/time.js';
import type { ChatError } from './chatError.js';

export const FIRST_PAUSE_MS = SECOND;
/** A refused token needs a person. */
const UNAUTHORIZED_PAUSE_MS = MINUTE;

export interface Complaint {
  readonly about: string;
  readonly words: string;
  readonly err?: unknown;
  /** Milliseconds; if missing, by the number of failures. */
  readonly pauseMs?: number;
}

export function complaintAbout(error: ChatError): Complaint {
  const { description } = error;
  if (error.status === 409) {
    return {
      about: 'another poller',
      words: `another program fetches this bot's messages (${description}): only one bridge may run per bot token; stop the other one, or remove its webhook`,
    };
  }
  switch (error.kind) {
    case 'unauthorized':
      return {
        about: error.kind,
        words: `Telegram refuses the bot token (${description}): check TELEGRAM_BOT_TOKEN; no message can be read until then`,
        pauseMs: UNAUTHORIZED_PAUSE_MS,
      };
    case 'limited': {
      const pauseMs = Math.min(error.retryAfterMs ?? FIRST_PAUSE_MS, HOUR);
      return { about: error.kind, words: `Telegram asks to wait: ${description}`, pauseMs };
    }
    case 'refused':
    case 'not_reached':
    case 'unknown':
      return { about: error.kind, words: `Telegram cannot be asked for messages: ${description}` };
    default:
      return error.kind satisfies never;
  }
}
