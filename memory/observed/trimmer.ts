/**
 * The memory of a session shows little of a transcript: this reads 100 MB in half the time and memory that a journal of it would
 * take (`npm run bench -- transcript`).
 */
import { PREVIEW_LIMIT, TEXT_OF_MESSAGE_LIMIT, trimEvent, trimItem } from '../../src/journal/lineOf.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import type { Redact } from '../../src/log/redact.js';
import { cutText, headOf } from '../../src/log/shorten.js';
import type { Trimmer } from '../../src/transcripts/draft/trimmer.js';
import { SUBJECTS } from './calls.js';
import { mayNameCommit } from './commits.js';

const MOST_WORDS = 4_000;
/** Longer ones rarely come again. */
const LONGEST_WORD = 256;

/** @returns the beginning of an agent's message, as it may be shown */
export function saidWords(text: string, redact: Redact): string {
  return headOf(text, TEXT_OF_MESSAGE_LIMIT, redact);
}

/**
 * Keeps what {@link Observed} shows. Ids of calls and messages stay as they are: they are never shown.
 * @param said makes of an agent's message the part that is kept
 */
export function observedTrimmer(
  redact: Redact,
  said: (text: string) => string = (text) => saidWords(text, redact),
): Trimmer {
  const known = new Map<string, string>();
  /** Names of tools and agents, titles, paths and commands come again and again. */
  const word = (text: string): string => {
    if (text.length > LONGEST_WORD) return trimItem(text, redact);
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size === MOST_WORDS) known.clear();
    const clean = trimItem(text, redact);
    known.set(text, clean);
    return clean;
  };
  const trim = (event: JournalEvent): JournalEvent => {
    switch (event.event) {
      case 'pre_tool_use':
        return {
          ...event,
          tool_name: word(event.tool_name),
          tool_input: subjectsOf(event.tool_input, word),
          ...(event.directory !== undefined && { directory: word(event.directory) }),
        };
      case 'post_tool_use': {
        const isFault = event.is_error || event.outcome !== 'ok';
        const isKept = isFault || mayNameCommit(cutText(event.tool_output_preview, PREVIEW_LIMIT));
        const preview = isKept ? headOf(event.tool_output_preview, PREVIEW_LIMIT, redact) : '';
        const said = event.said === undefined ? {} : { said: headOf(event.said, TEXT_OF_MESSAGE_LIMIT, redact) };
        return { ...event, ...said, tool_name: word(event.tool_name), tool_output_preview: preview };
      }
      case 'assistant_message':
        return event.text === undefined ? event : { ...event, text: said(event.text) };
      case 'user_prompt':
      case 'order':
        return event.text === undefined ? event : { ...event, text: headOf(event.text, TEXT_OF_MESSAGE_LIMIT, redact) };
      case 'heartbeat':
      case 'compaction':
        return event;
      default:
        return trimEvent(event, redact);
    }
  };
  return {
    event: (event) => {
      const trimmed = trim(event);
      return trimmed.agent_id === undefined ? trimmed : { ...trimmed, agent_id: word(trimmed.agent_id) };
    },
    item: word,
    id: (text) => text,
  };
}

/** The fields that {@link callWords} and {@link pathOf} read. */
function subjectsOf(input: unknown, word: (text: string) => string): Record<string, unknown> {
  const fields: Record<string, unknown> = Object(input);
  const subjects: Record<string, unknown> = {};
  for (const name of SUBJECTS) {
    const text = fields[name];
    if (typeof text === 'string') subjects[name] = word(text);
  }
  const [first] = Array.isArray(fields.questions) ? fields.questions : [];
  const { question } = Object(first);
  if (typeof question === 'string') subjects.questions = [{ question: word(question) }];
  return subjects;
}
