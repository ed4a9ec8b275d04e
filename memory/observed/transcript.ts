/** Reads a transcript of a known program, or a journal, whole. */
import { batchesOf, type JournalDiagnostics } from '../../src/journal/reader.js';
import { textOf } from '../../src/journal/record.js';
import type { Redact } from '../../src/log/redact.js';
import { transcriptAt } from '../../src/transcripts/companions.js';
import { TranscriptTail } from '../../src/transcripts/transcriptTail.js';
import { Observed } from './observed.js';
import { observedTrimmer } from './trimmer.js';

export interface ReadTranscript {
  readonly observed: Observed;
  /** Null: nothing in it is known. */
  readonly format: TranscriptTail['format'];
  /** As the program named it. */
  readonly sessionId: string | null;
  /** In which the agent worked; null: it is not known. */
  readonly directory: string | null;
  readonly diagnostics: JournalDiagnostics;
}

/** @param path of a file; transcripts of its sub-agents are found beside it */
export async function readTranscript(path: string, redact: Redact): Promise<ReadTranscript> {
  const tail = new TranscriptTail(await transcriptAt(path), observedTrimmer(redact));
  const observed = new Observed();
  let sessionId: string | null = null;
  for await (const { records } of batchesOf(tail)) {
    for (const record of records) {
      sessionId ??= textOf(record.session_id);
      observed.take(record);
    }
  }
  return { observed, format: tail.format, sessionId, directory: tail.directory, diagnostics: tail.diagnostics };
}
