/** Reads a transcript of a known program, or a journal, whole. */
import { batchesOf, type JournalDiagnostics } from '../../src/journal/reader.js';
import { textOf } from '../../src/journal/record.js';
import type { Redact } from '../../src/log/redact.js';
import { transcriptAt } from '../../src/transcripts/companions.js';
import { TranscriptTail } from '../../src/transcripts/transcriptTail.js';
import { Observed } from './observed.js';
import { observedTrimmer, saidWords } from './trimmer.js';
import { addUnread } from './unread.js';

export interface ReadTranscript {
  readonly observed: Observed;
  /** Null if nothing in it is known. */
  readonly format: TranscriptTail['format'];
  /** As the program named it. */
  readonly sessionId: string | null;
  /** The directory of the agent. Null if it is not known. */
  readonly directory: string | null;
  readonly diagnostics: JournalDiagnostics;
}

/** Longer texts of an agent are redacted and cut at once: the lines of a part of the file are in memory together. */
const LONGEST_KEPT_WHOLE = 2_000;

/**
 * Only the last words of an agent are shown. So only they are redacted, at the end.
 * @param path of a file; transcripts of its sub-agents are found next to it
 */
export async function readTranscript(path: string, redact: Redact): Promise<ReadTranscript> {
  const said = (text: string) => (text.length <= LONGEST_KEPT_WHOLE ? text : saidWords(text, redact));
  const tail = new TranscriptTail(transcriptAt(path), observedTrimmer(redact, said), 'file');
  const observed = new Observed();
  let sessionId: string | null = null;
  for await (const { records } of batchesOf(tail)) {
    for (const record of records) {
      sessionId ??= textOf(record.session_id);
      observed.take(record);
    }
  }
  if (observed.lastWords !== null) observed.lastWords = saidWords(observed.lastWords, redact);
  const { format, directory, diagnostics } = tail;
  addUnread(observed, diagnostics);
  return { observed, format, sessionId, directory, diagnostics };
}
