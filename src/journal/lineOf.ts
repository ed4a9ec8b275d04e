/** One line of a journal: an event, redacted and cut, with digests taken before that. */
import { namesSecret, type Redact, redactMember } from '../log/redact.js';
import { headOf, shorten } from '../log/shorten.js';
import { isoTime } from '../time.js';
import { canonicalJson, contentDigest } from './digest.js';
import type { JournalEvent } from './schema.js';

/** A tool's input as JSON, in bytes. */
export const INPUT_LIMIT_BYTES = 4 * 1024;
/** A tool's output, in UTF-16 units as JavaScript counts them. */
export const PREVIEW_LIMIT = 2_000;
/** Names, ids and reasons. */
const WORD_LIMIT = 256;
/** The beginning of a prompt or of an answer. */
export const TEXT_OF_MESSAGE_LIMIT = 500;
/** Titles of tasks, and paths. */
const ITEM_LIMIT = 1_024;
/** Items of a plan, and files of a call. */
const MOST_ITEMS = 200;

/** Longer texts of an input are cut first. */
const TEXT_LIMIT = 8 * PREVIEW_LIMIT;
/** Limits for the strings of an input that is too long, tried in this order. */
const STRING_LIMITS = [2_048, 512, 128];
const DEEPEST_LEVEL = 32;
const CUT = '…';

/** @param event trimmed, see {@link trimEvent} @param time UTC epoch milliseconds @returns JSON, without a line end */
export function lineOf(event: JournalEvent, time: number, sessionId: string): string {
  const { event: name, ...rest } = event;
  return JSON.stringify({ v: 1, timestamp: isoTime(time), event: name, session_id: sessionId, ...rest });
}

/** @returns the event as it may be journaled; its preview may be the whole output. Trimming it again changes nothing */
export function trimEvent(event: JournalEvent, redact: Redact): JournalEvent {
  switch (event.event) {
    case 'pre_tool_use':
      return {
        ...trimWords(event, redact),
        tool_input: trimInput(event.tool_input, redact),
        input_digest: event.input_digest ?? contentDigest(canonicalJson(event.tool_input)),
      };
    case 'post_tool_use':
      return {
        ...trimWords(event, redact),
        ...(event.said !== undefined && { said: headOf(event.said, TEXT_OF_MESSAGE_LIMIT, redact) }),
        tool_output_preview: headOf(event.tool_output_preview, PREVIEW_LIMIT, redact),
        output_digest: event.output_digest ?? contentDigest(event.tool_output_preview),
      };
    case 'session_end': {
      const { answer, ...end } = event;
      // The only text that is not cut: it may have to be sent again.
      return { ...trimWords(end, redact), ...(answer !== undefined && { answer: redact(answer) }) };
    }
    case 'user_prompt':
    case 'order':
    case 'assistant_message': {
      const { text, ...words } = event;
      const head = text === undefined ? undefined : headOf(text, TEXT_OF_MESSAGE_LIMIT, redact);
      return { ...trimWords(words, redact), ...(head !== undefined && { text: head }) };
    }
    case 'plan':
    case 'files':
      return trimLists(trimWords(event, redact), redact);
    default:
      return trimWords(event, redact);
  }
}

export function trimItem(text: string, redact: Redact): string {
  return headOf(text, ITEM_LIMIT, redact);
}

/** Redacts the texts in lists, and leaves out all beyond the first ones of each. */
function trimLists<Event extends JournalEvent>(event: Event, redact: Redact): Event {
  const change: Change = (text) => trimItem(text, redact);
  const lists = Object.entries(event).filter(([, value]) => Array.isArray(value));
  const trimmed = lists.map(([key, list]) => [key, mapTexts(list.slice(0, MOST_ITEMS), change, 0)]);
  return { ...event, ...Object.fromEntries(trimmed) };
}

/** Every plain text of the event: an agent's own words reach names and reasons, too. */
function trimWords<Event extends JournalEvent>(event: Event, redact: Redact): Event {
  let trimmed = event;
  for (const [key, value] of Object.entries(event)) {
    if (typeof value !== 'string' || key === 'tool_output_preview' || key === 'said') continue;
    const word = headOf(value, WORD_LIMIT, redact);
    if (word !== value) trimmed = { ...trimmed, [key]: word };
  }
  return trimmed;
}

/** @returns the redacted input; beyond {@link INPUT_LIMIT_BYTES} with its texts cut, or `{"cut": the beginning of its JSON}` */
export function trimInput(input: unknown, redact: Redact): unknown {
  const change: Change = (text, name) => {
    const clean = headOf(text, TEXT_LIMIT, redact);
    return name !== null && clean === text && namesSecret(name) ? redactMember(redact, name, text) : clean;
  };
  const clean = mapTexts(input, change, 0);
  if (jsonBytes(clean) <= INPUT_LIMIT_BYTES) return clean;
  for (const limit of STRING_LIMITS) {
    const shorter = mapTexts(clean, (text) => shorten(text, limit), 0);
    if (jsonBytes(shorter) <= INPUT_LIMIT_BYTES) return shorter;
  }
  return { cut: shorten(JSON.stringify(clean), INPUT_LIMIT_BYTES / 8) };
}

/** @param name of the member that holds the text; null for an item of a list, and for a name itself */
type Change = (text: string, name: string | null) => string;

function mapTexts(value: unknown, change: Change, level: number, name: string | null = null): unknown {
  if (typeof value === 'string') return change(value, name);
  if (value === null || typeof value !== 'object') return value;
  if (level === DEEPEST_LEVEL) return CUT;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, level + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [change(key, null), mapTexts(member, change, level + 1, key)]),
  );
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
