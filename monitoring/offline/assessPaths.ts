/** Judges journals offline, and transcripts of known programs: files, and every `*.jsonl` below folders but worklogs. */

import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { WORKLOG } from '../../memory/home/places.js';
import type { Rule, Thresholds } from '../../src/config/rules.js';
import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import { JOURNAL_SUFFIX, journalName } from '../../src/journal/path.js';
import { batchesOf, type JournalSource } from '../../src/journal/reader.js';
import { isoTimeOrNull } from '../../src/time.js';
import { groupTranscripts, transcriptAt } from '../../src/transcripts/companions.js';
import type { TranscriptFormat } from '../../src/transcripts/draft/draft.js';
import { type TranscriptFiles, TranscriptTail } from '../../src/transcripts/transcriptTail.js';
import { type Assessment, assessSessionHealth } from '../verdict/assessSessionHealth.js';
import { tailFor } from '../verdict/timeline/callTail.js';
import { Timeline } from '../verdict/timeline/timeline.js';
import { type FollowDiagnostics, JournalFollower } from '../watch/journalFollower.js';
import { Replay } from './replay.js';

export interface AssessOptions {
  readonly thresholds: Thresholds;
  /** UTC epoch milliseconds; null for the instant of each journal's last event. */
  readonly now: number | null;
  /** Judge at every instant up to `now`. */
  readonly replay: boolean;
}

/** One journal's verdict. */
export interface AssessedSession extends Omit<Assessment, 'next_deadline'> {
  /** Relative to the given folder; a file exactly as it was given. */
  readonly file: string;
  readonly session_id: string;
  /** The file's format, by its content; null if nothing in it is recognised. */
  readonly format: TranscriptFormat | 'journal' | null;
  /** ISO 8601. */
  readonly next_deadline: string | null;
  readonly diagnostics: FollowDiagnostics;
  /** Only for a replay: then `verdict` and `findings` cover every rule that ever became true, `since` when it first did. */
  readonly replay?: {
    readonly from: string | null;
    readonly to: string | null;
    readonly judged_instants: number;
    /** Rules that are true at the last instant. */
    readonly still_true: readonly Rule[];
  };
}

export interface AssessedPaths {
  /** One entry per journal, in the order of the paths, sorted by name within a folder. */
  readonly sessions: readonly AssessedSession[];
  /** Sentences about files that cannot be read, or were named and hold no line of a journal. Their verdict is `unknown`. */
  readonly troubles: readonly string[];
}

/** @throws UsageError for a path that cannot be read, and for a folder without any journal */
export async function assessPaths(paths: readonly string[], options: AssessOptions): Promise<AssessedPaths> {
  const sessions: AssessedSession[] = [];
  const troubles: string[] = [];
  for (const path of paths) {
    for (const journal of await journalsAt(path)) {
      const { session, isBlank } = await assess(journal, options);
      sessions.push(session);
      const { refused, newer_lines: newer } = session.diagnostics;
      if (newer > 0) troubles.push(`${journal.name} ${describeNewer(newer)}`);
      if (refused !== null) troubles.push(`${journal.name} cannot be read: ${refused}`);
      else if (isBlank && newer === 0 && journal.isNamed) troubles.push(describeBlank(session));
    }
  }
  return { sessions, troubles };
}

function describeNewer(lines: number): string {
  return `has ${counted(lines, 'line')} of a newer version, so its verdict is unknown: judge it with that version`;
}

function describeBlank({ file, diagnostics }: AssessedSession): string {
  const lines = diagnostics.garbage_lines + diagnostics.oversized_lines;
  const what = lines === 0 ? '' : ` (${counted(lines, 'line')} of something else)`;
  return `${file} holds no line of a journal${what}: name a tool_use.jsonl, a transcript, or a folder of them`;
}

export interface JournalFile {
  readonly files: TranscriptFiles;
  readonly name: string;
  /** Named explicitly, not found in a folder. */
  readonly isNamed: boolean;
}

interface Judged {
  readonly assessment: Assessment;
  readonly sessionId: string | null;
  readonly diagnostics: FollowDiagnostics;
  readonly replay?: NonNullable<AssessedSession['replay']>;
  /** It holds no line of a journal, whenever it is judged. */
  readonly isBlank: boolean;
}

/** @throws UsageError for a path that cannot be read, and for a folder without any journal */
export async function journalsAt(given: string): Promise<JournalFile[]> {
  const found: string[] = [];
  let path: string;
  try {
    path = await realpath(given);
    if (!(await stat(path)).isDirectory()) return [{ files: transcriptAt(path), name: given, isNamed: true }];
    await collectJournals(path, found);
  } catch (cause) {
    throw new UsageError(`${given} cannot be read: name a journal, or a folder with journals in it`, { cause });
  }
  if (found.length === 0)
    throw new UsageError(`${given} holds no journal: there is no *${JOURNAL_SUFFIX} anywhere below it`);
  return groupTranscripts(found.sort()).map((files) => ({ files, name: relative(path, files.path), isNamed: false }));
}

/** Links are not followed: a folder may hold a link to itself. A worklog next to a journal is none. */
async function collectJournals(folder: string, found: string[]): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await collectJournals(path, found);
    else if (entry.isFile() && entry.name.endsWith(JOURNAL_SUFFIX) && entry.name !== WORKLOG) found.push(path);
  }
}

async function assess(journal: JournalFile, options: AssessOptions) {
  const tail = new TranscriptTail(journal.files);
  const judge = options.replay ? replayJournal : judgeJournal;
  const { assessment, sessionId, isBlank, ...rest } = await judge(tail, options);
  const { next_deadline: deadline } = assessment;
  const session: AssessedSession = {
    file: journal.name,
    session_id: sessionId ?? journalName(journal.files.path),
    format: tail.format,
    ...assessment,
    next_deadline: isoTimeOrNull(deadline),
    ...rest,
  };
  return { session, isBlank };
}

/** @param now UTC epoch milliseconds; null for the instant of the last event */
export async function judgeJournal(
  tail: JournalSource,
  { thresholds, now }: Pick<AssessOptions, 'thresholds' | 'now'>,
): Promise<Judged> {
  const follower = new JournalFollower(tail);
  follower.remember(tailFor(thresholds));
  await follower.look(now ?? Number.POSITIVE_INFINITY);
  const { timeline, diagnostics, sessionId } = follower;
  const last = timeline.lastInstant();
  // If this version cannot read a part of the story, it makes no accusation.
  const known = diagnostics.newer_lines === 0 ? timeline : new Timeline();
  const assessment = assessSessionHealth(known, thresholds, now ?? last ?? 0);
  return { assessment, sessionId, diagnostics, isBlank: last === null };
}

async function replayJournal(tail: TranscriptTail, { thresholds, now }: AssessOptions): Promise<Judged> {
  const replay = new Replay(thresholds, now ?? Number.POSITIVE_INFINITY);
  for await (const { records } of batchesOf(tail)) replay.add(records);
  const { first, last, judged, from, to, sessionId, isBlank, misplaced, untimed } = replay.finish();
  const diagnostics = { ...tail.diagnostics, untimed_lines: untimed, misplaced_lines: misplaced };
  const isReadable = diagnostics.newer_lines === 0;
  const verdict = first.length > 0 ? 'unhealthy' : last.verdict;
  return {
    assessment: { ...last, verdict: isReadable ? verdict : 'unknown', findings: isReadable ? first : [] },
    sessionId,
    diagnostics,
    isBlank,
    replay: {
      from: isoTimeOrNull(from),
      to: isoTimeOrNull(to),
      judged_instants: judged,
      still_true: last.findings.map((finding) => finding.rule),
    },
  };
}
