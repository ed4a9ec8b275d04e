/** Finds what was observed of a session: its journal or kept copy, or the transcripts of its conversations. */
import { existsSync } from 'node:fs';
import type { ProgramFolders } from '../../src/agents/agentProgram.js';
import { batchesOf, JournalTail } from '../../src/journal/reader.js';
import type { Redact } from '../../src/log/redact.js';
import { journalTrimmer, type Trimmer } from '../../src/transcripts/draft/trimmer.js';
import type { Worklog } from '../fold/worklog.js';
import { journalIn } from '../home/places.js';
import { pathInWorkspace, type Workspace } from '../workspaces/workspace.js';
import { Observed } from './observed.js';
import { isMissingInHistory } from './programFolders.js';
import { readFirstPrompt } from './purpose.js';
import { recordsOf, type Share, sharesOf } from './shares.js';
import { recallFold } from './storedFold.js';
import { observedTrimmer } from './trimmer.js';
import { addUnread } from './unread.js';

const MOST_NAMES = 4_000;
/** A kept copy is redacted already. */
const AS_IT_IS = journalTrimmer((text) => text);

export interface Observation {
  /** `none`: only what was declared is known. */
  readonly observed: 'transcript' | 'journal' | 'none';
  /** Null if nothing was observed. */
  readonly fold: Observed | null;
  /** Neither a transcript nor a journal exists. */
  readonly isUnseen: boolean;
}

/** A session's record, and where its files are. */
export interface ObservedSession {
  readonly log: Worklog;
  readonly folder: string;
  /** The paths of files are relative to it. Null if it is unknown: then they stay as the agent wrote them. */
  readonly workspace: Pick<Workspace, 'root'> | null;
}

/**
 * Folds what was observed of a session, each conversation's share of it: from its transcript while that exists and has more than
 * the kept copy, else from the copy.
 * @param folders null if there are none, or they are not to be used
 * @param redact for the words that are kept
 */
export async function observe(
  session: ObservedSession,
  { folders, redact }: { readonly folders: ProgramFolders | null; readonly redact: Redact },
): Promise<Observation> {
  const { log, workspace } = session;
  if (folders === null) return observeKept(session);
  const shares = sharesOf(log, journalIn(session.folder), folders);
  if (shares.every(({ transcript }) => transcript === null)) {
    const kept = await observeKept(session);
    return { ...kept, isUnseen: kept.isUnseen && !isSeenUnasked(log, folders) };
  }
  const orKept = async (fold: Observed): Promise<Observation> =>
    fold.lines > 0
      ? { observed: 'transcript', fold, isUnseen: false }
      : { ...(await observeKept(session)), isUnseen: false };
  const fold = new Observed();
  // The copy says the same, and is shorter.
  if (shares.every(isUnchanged)) {
    const recalled = recallFold(session, shares);
    const copies = shares.map((share) => ({ ...share, transcript: null }));
    if (recalled === null) await takeShares(copies, fold, { workspace, trimmer: AS_IT_IS });
    const known = recalled ?? fold;
    // Without `texts`, the copy has no words. The first prompt is at the beginning of the transcript, so it is found quickly.
    if (known.prompts > 0) known.firstPrompt ??= await readFirstPrompt(log, folders, redact);
    return orKept(known);
  }
  await takeShares(shares, fold, { workspace, trimmer: observedTrimmer(redact) });
  return orKept(fold);
}

/** Whether a person typed nothing in it, as the history of its program shows. */
function isSeenUnasked(log: Worklog, folders: ProgramFolders): boolean {
  const { conversations, kept, wasAsked } = log;
  if (wasAsked || kept !== null || conversations.length === 0) return false;
  return conversations.every((one) => one.unrecorded !== true && isMissingInHistory(one, folders));
}

/** Nothing was written to its transcripts since the copy was made. */
function isUnchanged({ bytes, kept }: Share): boolean {
  return kept !== null && kept.bytes === bytes;
}

/**
 * Folds what lies in the session's own folder: its journal, or the kept copy of its transcripts.
 * @param isAnew whether the copy itself is read, also if what was folded of it is stored
 */
export async function observeKept(session: ObservedSession, isAnew = false): Promise<Observation> {
  const { log, folder, workspace } = session;
  const journal = journalIn(folder);
  const shares = sharesOf(log, journal, null);
  const recalled = isAnew ? null : recallFold(session, shares);
  if (recalled !== null) return { observed: 'journal', fold: recalled, isUnseen: false };
  const fold = new Observed();
  if (shares.length > 0) await takeShares(shares, fold, { workspace, trimmer: AS_IT_IS });
  else if (existsSync(journal)) {
    nameFilesOnce(fold, workspace, log.facts?.cwd ?? log.conversations.at(-1)?.cwd ?? null);
    for await (const { records } of batchesOf(new JournalTail(journal)))
      for (const record of records) fold.take(record);
  }
  if (fold.lines > 0) return { observed: 'journal', fold, isUnseen: false };
  return { observed: 'none', fold: null, isUnseen: shares.length === 0 && !existsSync(journal) };
}

interface Taking {
  readonly workspace: ObservedSession['workspace'];
  readonly trimmer: Trimmer;
}

async function takeShares(shares: readonly Share[], fold: Observed, { workspace, trimmer }: Taking): Promise<void> {
  for (const share of shares) {
    nameFilesOnce(fold, workspace, share.conversation.cwd);
    for await (const { records, diagnostics } of recordsOf(share, trimmer)) {
      for (const record of records) fold.take(record);
      if (diagnostics !== null) addUnread(fold, diagnostics);
    }
  }
}

/** @param cwd the directory of relative paths. Null if it is the top of the workspace */
export function nameFilesIn(fold: Observed, workspace: ObservedSession['workspace'], cwd: string | null): void {
  if (workspace !== null) fold.nameOf = (path) => pathInWorkspace(path, cwd ?? workspace.root, workspace);
}

/** As {@link nameFilesIn}, for one reading: an agent names each file again and again, and finding its links takes long. */
function nameFilesOnce(fold: Observed, workspace: ObservedSession['workspace'], cwd: string | null): void {
  if (workspace === null) return;
  const [names, folders] = [new Map<string, string>(), new Map<string, string>()];
  fold.nameOf = (path) => {
    const name = names.get(path) ?? pathInWorkspace(path, cwd ?? workspace.root, workspace, folders);
    if (names.size === MOST_NAMES) names.clear();
    names.set(path, name);
    return name;
  };
}
