/** Reads what was observed of a session line by line, for readers that need another fold of it. */
import { existsSync } from 'node:fs';
import type { ProgramFolders } from '../../src/agents/agentProgram.js';
import { batchesOf, JournalTail } from '../../src/journal/reader.js';
import type { JournalRecord } from '../../src/journal/record.js';
import type { Redact } from '../../src/log/redact.js';
import { transcriptAt } from '../../src/transcripts/companions.js';
import type { Trimmer } from '../../src/transcripts/draft/trimmer.js';
import { TranscriptTail } from '../../src/transcripts/transcriptTail.js';
import type { Worklog } from '../fold/worklog.js';
import { journalIn } from '../home/places.js';
import { recordsOf, sharesOf } from './shares.js';
import { observedTrimmer } from './trimmer.js';

type Batches = AsyncGenerator<readonly JournalRecord[]>;

/** An agent's words are not read here. */
const UNSAID = () => '';

interface Reading {
  /** Null if there are none, or they are not to be used. */
  readonly folders: ProgramFolders | null;
  readonly redact: Redact;
  /** Decides how much of each line of a transcript is kept; commands and errors if it is missing. */
  readonly trimmer?: Trimmer;
  /** The id of a conversation, if only that one is to be read. */
  readonly conversation?: string;
}

/** @returns the lines of the session's shares of its conversations, or of its journal, batch by batch */
export async function* recordsOfSession(
  { log, folder }: { readonly log: Pick<Worklog, 'conversations' | 'end'>; readonly folder: string },
  { folders, redact, conversation, trimmer = observedTrimmer(redact, UNSAID) }: Reading,
): Batches {
  const journal = journalIn(folder);
  const all = sharesOf(log, journal, folders);
  const shares = all.filter((share) => conversation === undefined || share.conversation.id === conversation);
  for (const share of shares) for await (const { records } of recordsOf(share, trimmer)) yield records;
  if (all.length > 0 || conversation !== undefined || !existsSync(journal)) return;
  for await (const { records } of batchesOf(new JournalTail(journal))) yield records;
}

/** @param path of a transcript or a journal. @returns its lines batch by batch */
export async function* recordsOfFile(path: string, redact: Redact): Batches {
  const tail = new TranscriptTail(transcriptAt(path), observedTrimmer(redact, UNSAID), 'file');
  for await (const { records } of batchesOf(tail)) yield records;
}
