/** One line of a journal: an event, redacted and cut, with digests taken before that. */
import { isoTime } from '../time.js';
import { canonicalJson, contentDigest } from './digest.js';
import type { JournalEvent } from './schema.js';
import { PREVIEW_LIMIT, type Redact, trimInput, trimText, WORD_LIMIT } from './trim.js';

/**
 * @param event trimmed, see {@link trimEvent}
 * @param time UTC epoch milliseconds
 * @returns the line as JSON, without a line end
 */
export function lineOf(event: JournalEvent, time: number, sessionId: string): string {
  const { event: name, ...rest } = event;
  return JSON.stringify({ v: 1, timestamp: isoTime(time), event: name, session_id: sessionId, ...rest });
}

/**
 * @param event from an agent's stream or its transcript; `tool_output_preview` may be the whole output
 * @returns the event as it may be journaled. Trimming it again changes nothing
 */
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
        tool_output_preview: trimText(event.tool_output_preview, PREVIEW_LIMIT, redact),
        output_digest: event.output_digest ?? contentDigest(event.tool_output_preview),
      };
    case 'session_end': {
      const { answer, ...end } = event;
      // The only text that is not cut: it may have to be sent again.
      return { ...trimWords(end, redact), ...(answer !== undefined && { answer: redact(answer) }) };
    }
    default:
      return trimWords(event, redact);
  }
}

/** Every plain text of the event: an agent's own words reach names and reasons, too. */
function trimWords<Event extends JournalEvent>(event: Event, redact: Redact): Event {
  let trimmed = event;
  for (const [key, value] of Object.entries(event)) {
    if (typeof value !== 'string' || key === 'tool_output_preview') continue;
    const word = trimText(value, WORD_LIMIT, redact);
    if (word !== value) trimmed = { ...trimmed, [key]: word };
  }
  return trimmed;
}
