/** Turns a transcript into the journal that we would have written: the same lines, redacted and cut in the same way. */
import { basename, dirname } from 'node:path';
import { isSessionId } from '../ids.js';
import { JOURNAL_NAME } from '../journal/path.js';
import type { JournalDiagnostics } from '../journal/reader.js';
import type { JournalRecord } from '../journal/record.js';
import type { Redact } from '../journal/trim.js';
import { cutText } from '../log/shorten.js';
import { giveWay } from '../time.js';
import { transcriptAt } from './companions.js';
import type { TranscriptFormat } from './draft/draft.js';
import { copyOf } from './journalCopy.js';
import { TranscriptTail } from './transcriptTail.js';

export interface ImportSummary {
  readonly format: TranscriptFormat | 'journal' | null;
  readonly session_id: string;
  readonly lines: number;
  /** The number of files read: the transcript, and those of its sub-agents. */
  readonly files: number;
  readonly diagnostics: JournalDiagnostics;
}

const SUFFIX = '.jsonl';
const NO_LETTER = /[^A-Za-z0-9_-]+/g;
const LONGEST_NAME = 160;

/**
 * @param path a transcript, whose sub-agents' transcripts are found beside it, or a journal of either shape
 * @param write takes the journal's lines, without line ends, in order; the same lines for the same files
 * @returns what was read; `format` is null if nothing in the file is known
 * @throws whatever `write` throws
 */
export async function importTranscript(
  path: string,
  redact: Redact,
  write: (line: string) => void,
): Promise<ImportSummary> {
  const files = await transcriptAt(path);
  const tail = new TranscriptTail(files, redact);
  const fallback = nameFor(path);
  let sessionId: string | null = null;
  let lines = 0;
  for (let more = true; more; ) {
    const batch = tail.readBatch();
    more = batch.more;
    if (tail.format === null) continue;
    for (const record of batch.records) {
      const line = tail.format === 'journal' ? copyOf(record, fallback, redact) : named(record, fallback);
      if (line === null) continue;
      sessionId ??= String(line.session_id);
      write(JSON.stringify(line));
      lines += 1;
    }
    if (more) await giveWay();
  }
  const { format, diagnostics } = tail;
  return { format, session_id: sessionId ?? fallback, lines, files: 1 + files.companions.length, diagnostics };
}

function named(record: JournalRecord, fallback: string): JournalRecord {
  const { v, timestamp, event, ...rest } = record;
  return { v, timestamp, event, session_id: fallback, ...rest };
}

/** For a transcript that does not name its session. */
function nameFor(path: string): string {
  const name = basename(path) === JOURNAL_NAME ? basename(dirname(path)) : basename(path, SUFFIX);
  const plain = cutText(name.replace(NO_LETTER, '-').replace(/^[^A-Za-z0-9]+/, ''), LONGEST_NAME);
  return isSessionId(plain) ? plain : 'transcript';
}
