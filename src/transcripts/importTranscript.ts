/** Turns a transcript into the journal that we would have written: the same lines, redacted and cut in the same way. */
import { isSessionId } from '../ids.js';
import { canonicalJson, contentDigest } from '../journal/digest.js';
import { PREVIEW_LIMIT, trimInput } from '../journal/lineOf.js';
import { eventOf, timeOf } from '../journal/normalise.js';
import { journalName } from '../journal/path.js';
import { batchesOf, type JournalDiagnostics } from '../journal/reader.js';
import { type JournalRecord, textOf } from '../journal/record.js';
import type { Redact } from '../log/redact.js';
import { cutText, headOf } from '../log/shorten.js';
import { isoTime } from '../time.js';
import { transcriptAt } from './companions.js';
import type { TranscriptFormat } from './draft/draft.js';
import { contentText, textAt } from './draft/fields.js';
import { journalTrimmer } from './draft/trimmer.js';
import { TranscriptTail } from './transcriptTail.js';

export interface ImportSummary {
  readonly format: TranscriptFormat | 'journal' | null;
  readonly session_id: string;
  readonly lines: number;
  /** The number of files read: the transcript, and those of its sub-agents. */
  readonly files: number;
  readonly diagnostics: JournalDiagnostics;
}

const NO_LETTER = /[^A-Za-z0-9_-]+/g;
const LONGEST_NAME = 160;

/**
 * @param path a transcript, whose sub-agents' transcripts are found next to it, or a journal of either shape
 * @param write takes the journal's lines, without line ends, in order; the same lines for the same files
 * @returns the facts of the reading; `format` is null if nothing in the file is known
 * @throws the errors of `write`
 */
export async function importTranscript(
  path: string,
  redact: Redact,
  write: (line: string) => void,
): Promise<ImportSummary> {
  const files = transcriptAt(path);
  const tail = new TranscriptTail(files, journalTrimmer(redact), 'file');
  const fallback = nameFor(path);
  let sessionId: string | null = null;
  let lines = 0;
  for await (const { records } of batchesOf(tail)) {
    for (const record of records) {
      const line = importedLine(record, tail.format, fallback, redact);
      if (line === null) continue;
      sessionId ??= String(line.session_id);
      write(JSON.stringify(line));
      lines += 1;
    }
  }
  const { format, diagnostics } = tail;
  return { format, session_id: sessionId ?? fallback, lines, files: 1 + files.companions.length, diagnostics };
}

/**
 * @param format of the file that the record is from
 * @param fallbackSession the session of records that name none
 * @returns the line of a journal; null for a record that makes none
 */
export function importedLine(
  record: JournalRecord,
  format: TranscriptTail['format'],
  fallbackSession: string,
  redact: Redact,
): JournalRecord | null {
  if (format === null) return null;
  return format === 'journal' ? copyOf(record, fallbackSession, redact) : named(record, fallbackSession);
}

function named(record: JournalRecord, fallback: string): JournalRecord {
  const { v, timestamp, event, ...rest } = record;
  return { v, timestamp, event, session_id: fallback, ...rest };
}

/** For a transcript that does not name its session. */
function nameFor(path: string): string {
  const plain = cutText(
    journalName(path)
      .replace(NO_LETTER, '-')
      .replace(/^[^A-Za-z0-9]+/, ''),
    LONGEST_NAME,
  );
  return isSessionId(plain) ? plain : 'transcript';
}

/**
 * Turns a line of a journal of either shape into one of the newest: one name for the time, an event, nothing secret or long.
 * @param fallbackSession the session of lines that name none
 * @returns null for a line without an event or a time
 */
function copyOf(record: JournalRecord, fallbackSession: string, redact: Redact): JournalRecord | null {
  const event = eventOf(record);
  const time = event === null ? null : timeOf(record, event);
  if (event === null || time === null) return null;
  const { v: _v, timestamp: _t, start_time: _s, end_time: _e, event: _n, session_id, ...rest } = record;
  const { tool_input, tool_output_preview, ...others } = rest;
  return {
    v: 1,
    timestamp: isoTime(time),
    event: trimInput(event, redact),
    session_id: trimInput(textOf(session_id) ?? fallbackSession, redact),
    ...Object.fromEntries(Object.entries(others).map(([key, value]) => [key, trimInput(value, redact)])),
    ...(tool_input !== undefined && {
      tool_input: trimInput(tool_input, redact),
      input_digest: textAt(record, 'input_digest') ?? contentDigest(canonicalJson(tool_input)),
    }),
    ...(tool_output_preview !== undefined && {
      tool_output_preview: headOf(contentText(tool_output_preview), PREVIEW_LIMIT, redact),
      output_digest: textAt(record, 'output_digest') ?? contentDigest(contentText(tool_output_preview)),
    }),
  };
}
