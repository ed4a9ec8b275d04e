/**
 * Turns a line of a journal of either shape into one of the newest: one name for the time, an event, nothing secret or long.
 */
import { canonicalJson, contentDigest } from '../journal/digest.js';
import { eventOf, timeOf } from '../journal/normalise.js';
import type { JournalRecord } from '../journal/record.js';
import { PREVIEW_LIMIT, type Redact, trimInput, trimText } from '../journal/trim.js';
import { isoTime } from '../time.js';
import { contentText, textAt } from './draft/fields.js';

/**
 * @param fallbackSession the session of lines that name none
 * @returns null for a line without an event or a time
 */
export function copyOf(record: JournalRecord, fallbackSession: string, redact: Redact): JournalRecord | null {
  const event = eventOf(record);
  const time = event === null ? null : timeOf(record, event);
  if (event === null || time === null) return null;
  const { v: _v, timestamp: _t, start_time: _s, end_time: _e, event: _n, session_id, ...rest } = record;
  const { tool_input, tool_output_preview, ...others } = rest;
  return {
    v: 1,
    timestamp: isoTime(time),
    event: clean(event, redact),
    session_id: clean(typeof session_id === 'string' && session_id !== '' ? session_id : fallbackSession, redact),
    ...Object.fromEntries(Object.entries(others).map(([key, value]) => [key, clean(value, redact)])),
    ...(tool_input !== undefined && {
      tool_input: clean(tool_input, redact),
      input_digest: textAt(record, 'input_digest') ?? contentDigest(canonicalJson(tool_input)),
    }),
    ...(tool_output_preview !== undefined && {
      tool_output_preview: trimText(contentText(tool_output_preview), PREVIEW_LIMIT, redact),
      output_digest: textAt(record, 'output_digest') ?? contentDigest(contentText(tool_output_preview)),
    }),
  };
}

function clean(value: unknown, redact: Redact): unknown {
  return trimInput(value, redact);
}
