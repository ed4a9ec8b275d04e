/** Telegram says how long a chat must be left alone (`retry_after`), and lengthens that for a bot that does not. */
import { type ClockShift, wasSet } from './clocks.js';
import { isForgottenBan, type Loss } from './losses.js';

/** A call of the Bot API that puts a text into a chat, as the server saw it. */
export interface TextCall {
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly outcome: string;
}

const TEXT_METHODS = new Set(['sendMessage', 'editMessageText']);
const BANNED = /^429 .*retry after (\d+)/;
/** Timers of Node may be early by a millisecond, and the ban begins with the answer. */
const EARLY_MS = 20;
const LONGEST_SHOWN = 40;

export function isTextCall({ method }: { readonly method: string }): boolean {
  return TEXT_METHODS.has(method);
}

/** @returns sends of a text, and edits of a message, that came before a ban of the same was over */
export function banViolations(
  calls: readonly TextCall[],
  losses: readonly Loss[],
  clocks: readonly ClockShift[],
): string[] {
  return calls.flatMap((banned, index) => {
    const seconds = Number(BANNED.exec(banned.outcome)?.[1] ?? 0);
    const until = banned.at + 1_000 * seconds - EARLY_MS;
    const early = calls.slice(index + 1).find((call) => call.at < until && isSame(call, banned));
    if (seconds === 0 || early === undefined) return [];
    if (isForgottenBan(banned.at, early.at, losses) || wasSet(banned.at, early.at, clocks)) return [];
    const after = ((early.at - banned.at) / 1_000).toFixed(1);
    return [`${describe(banned)} was tried again after ${after} s of a ban of ${seconds} s`];
  });
}

/** The same text in answer to the same message, or an edit of the same message. */
function isSame(one: TextCall, other: TextCall): boolean {
  return one.method === other.method && whatOf(one) === whatOf(other);
}

function whatOf({ method, parameters }: TextCall): string {
  const { chat_id, message_id, text, reply_parameters } = parameters;
  return JSON.stringify(method === 'editMessageText' ? [chat_id, message_id] : [chat_id, text, reply_parameters]);
}

function describe({ method, parameters }: TextCall): string {
  const { chat_id, message_id, text } = parameters;
  if (method === 'editMessageText') return `an edit of message ${message_id} in chat ${chat_id}`;
  return `a send of "${String(text).slice(0, LONGEST_SHOWN)}" to chat ${chat_id}`;
}
