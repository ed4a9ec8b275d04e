/** The shares that a session has of its conversations, and where each is read: in its transcript, or in the kept copy. */
import { statSync } from 'node:fs';
import type { ProgramFolders } from '../../src/agents/agentProgram.js';
import { instantOf } from '../../src/journal/normalise.js';
import { batchesOf, type JournalDiagnostics, JournalTail } from '../../src/journal/reader.js';
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { transcriptAt } from '../../src/transcripts/companions.js';
import type { Trimmer } from '../../src/transcripts/draft/trimmer.js';
import { type TranscriptFiles, TranscriptTail } from '../../src/transcripts/transcriptTail.js';
import type { Conversation, Worklog } from '../fold/worklog.js';
import { readSeal, type Seal, type Source } from './keptCopy.js';
import { transcriptOf } from './programFolders.js';

export interface Share {
  readonly conversation: Conversation;
  /** The end of the session, UTC epoch milliseconds. Null if it has not ended. */
  readonly endedAt: number | null;
  /** Null if it is gone, or holds less than the copy was made from. */
  readonly transcript: TranscriptFiles | null;
  /** Size of the transcript and those of its sub-agents, or their size when the copy was made. */
  readonly bytes: number;
  /** Its lines in the copy. Null if there are none. */
  readonly kept: {
    readonly copy: string;
    readonly first: number;
    readonly count: number;
    /** As in {@link bytes}, when the copy was made. */
    readonly bytes: number;
    /** SHA-256 of the whole copy, without its seal. */
    readonly digest: string;
  } | null;
}

/**
 * @param log of the session
 * @param copy its kept copy, which need not exist
 * @param folders null if transcripts are not to be used
 * @param seal of the copy; read from it if missing
 * @returns the shares that can be read
 * @throws UnreachableError if the seal cannot be read: without it, shares would be missing that only the copy still has
 */
export function sharesOf(
  { conversations, end }: Pick<Worklog, 'conversations' | 'end'>,
  copy: string,
  folders: ProgramFolders | null,
  seal: Seal | null = readSeal(copy),
): Share[] {
  const left = placed(seal?.sources ?? []);
  const shares: Share[] = [];
  for (const conversation of conversations) {
    const at = left.findIndex(({ source }) => isOf(source, conversation));
    const [before] = at < 0 ? [] : left.splice(at, 1);
    const path = folders === null ? null : transcriptOf(conversation, folders);
    const files = path === null ? null : transcriptAt(path);
    const bytes = files === null ? 0 : bytesOf(files);
    const isMore = files !== null && bytes >= (before?.source.bytes ?? 0);
    if (!isMore && before === undefined) continue;
    const kept =
      before === undefined || seal === null
        ? null
        : {
            ...{ copy, first: before.first, count: before.source.lines },
            ...{ bytes: before.source.bytes, digest: seal.digest },
          };
    shares.push({
      conversation,
      endedAt: end?.at ?? null,
      transcript: isMore ? files : null,
      bytes: isMore ? bytes : Number(before?.source.bytes),
      kept,
    });
  }
  return shares;
}

export interface ShareBatch {
  readonly records: readonly JournalRecord[];
  /** The format of the transcript; `copy` if they are lines of the kept copy. */
  readonly format: TranscriptTail['format'] | 'copy';
  /** The counts of the transcript, with its last batch; null before it, and for the copy. */
  readonly diagnostics: JournalDiagnostics | null;
}

/** @returns the share as lines of a journal, batch by batch */
export async function* recordsOf(share: Share, trimmer: Trimmer): AsyncGenerator<ShareBatch> {
  const { transcript, kept } = share;
  const isShared = isIn(share);
  if (transcript !== null) {
    const tail = new TranscriptTail(transcript, trimmer, 'file');
    for await (const { records, more } of batchesOf(tail))
      yield {
        records: records.filter(isShared),
        format: tail.format,
        diagnostics: more ? null : tail.diagnostics,
      };
  } else if (kept !== null) {
    let at = 0;
    for await (const { records } of batchesOf(new JournalTail(kept.copy))) {
      const [first, end] = [kept.first - at, kept.first + kept.count - at];
      const own = records.slice(Math.max(first, 0), Math.max(end, 0)).filter(isShared);
      yield { records: own, format: 'copy', diagnostics: null };
      at += records.length;
    }
  }
}

/**
 * A prompt after the session's end is not its work any more; the rest of the turn that was open at its end is.
 * @returns whether a line belongs to the session's share of a conversation; to be asked of each in turn
 */
function isIn({ conversation, endedAt }: Pick<Share, 'conversation' | 'endedAt'>): (line: JournalRecord) => boolean {
  const from = conversation.since ?? Number.NEGATIVE_INFINITY;
  // A fork's transcript begins with a copy of older records. After a prompt of its own, a clock that is set back does not lead out
  // of the share.
  let isBegun = false;
  let until = conversation.moved_at ?? Number.POSITIVE_INFINITY;
  return ({ timestamp, event, agent_id }) => {
    const at = instantOf(timestamp);
    if (at === null) return false;
    const isAsked = event === 'user_prompt' && textOf(agent_id) === null;
    if (isAsked && endedAt !== null && at > endedAt) until = Math.min(until, at);
    isBegun ||= isAsked && at >= from;
    return (isBegun || at >= from) && at < until;
  };
}

function placed(sources: readonly Source[]): { readonly source: Source; readonly first: number }[] {
  let next = 0;
  return sources.map((source) => {
    const first = next;
    next += source.lines;
    return { source, first };
  });
}

function isOf({ provider, conversation }: Source, { provider: wanted, id }: Conversation): boolean {
  return provider === wanted && conversation === id;
}

function bytesOf({ path, companions }: TranscriptFiles): number {
  return [path, ...companions].reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}
