/** Finds what was observed of a session: its journal or kept copy, or the transcripts of its conversations. */
import { existsSync } from 'node:fs';
import { batchesOf, JournalTail } from '../../src/journal/reader.js';
import type { Redact } from '../../src/log/redact.js';
import { journalTrimmer, type Trimmer } from '../../src/transcripts/draft/trimmer.js';
import type { Worklog } from '../fold/worklog.js';
import { journalIn } from '../home/places.js';
import { pathInWorkspace, type Workspace } from '../workspaces/workspace.js';
import { Observed } from './observed.js';
import type { ProgramFolders } from './programFolders.js';
import { recordsOf, type Share, sharesOf } from './shares.js';
import { observedTrimmer } from './trimmer.js';

/** A kept copy is redacted already. */
const AS_IT_IS = journalTrimmer((text) => text);

export interface Observation {
  /** `none`: only what was declared is known. */
  readonly observed: 'transcript' | 'journal' | 'none';
  /** Null if nothing was observed. */
  readonly fold: Observed | null;
}

/** A session's record, and where its files are. */
export interface ObservedSession {
  readonly log: Worklog;
  readonly folder: string;
  /** In which the paths of files are named; null if it is unknown: then they stay as the agent wrote them. */
  readonly workspace: Pick<Workspace, 'root'> | null;
}

/**
 * Folds what was observed of a session, each conversation's share of it: from its transcript while that exists, else from the kept
 * copy.
 * @param folders null: there are none, or they are not to be used
 * @param redact for the words that are kept
 */
export async function observe(
  session: ObservedSession,
  { folders, redact }: { readonly folders: ProgramFolders | null; readonly redact: Redact },
): Promise<Observation> {
  const { log, workspace } = session;
  if (folders === null) return observeKept(session);
  const shares = await sharesOf(log, journalIn(session.folder), folders);
  if (shares.every(({ transcript }) => transcript === null)) return observeKept(session);
  const fold = new Observed();
  await takeShares(shares, fold, { workspace, trimmer: observedTrimmer(redact) });
  return fold.lines > 0 ? { observed: 'transcript', fold } : observeKept(session);
}

/** Folds what lies in the session's own folder: its journal, or the kept copy of its transcripts. */
export async function observeKept({ log, folder, workspace }: ObservedSession): Promise<Observation> {
  const fold = new Observed();
  const journal = journalIn(folder);
  const shares = await sharesOf(log, journal, null);
  if (shares.length > 0) await takeShares(shares, fold, { workspace, trimmer: AS_IT_IS });
  else if (existsSync(journal)) {
    nameFilesIn(fold, workspace, log.facts?.cwd ?? log.conversations.at(-1)?.cwd ?? null);
    for await (const { records } of batchesOf(new JournalTail(journal)))
      for (const record of records) fold.take(record);
  }
  return fold.lines > 0 ? { observed: 'journal', fold } : { observed: 'none', fold: null };
}

interface Taking {
  readonly workspace: ObservedSession['workspace'];
  readonly trimmer: Trimmer;
}

async function takeShares(shares: readonly Share[], fold: Observed, { workspace, trimmer }: Taking): Promise<void> {
  for (const share of shares) {
    nameFilesIn(fold, workspace, share.conversation.cwd);
    for await (const { records } of recordsOf(share, trimmer)) for (const record of records) fold.take(record);
  }
}

/** @param cwd in which the agent means relative paths; null: the top of the workspace */
export function nameFilesIn(fold: Observed, workspace: ObservedSession['workspace'], cwd: string | null): void {
  if (workspace !== null) fold.nameOf = (path) => pathInWorkspace(path, cwd ?? workspace.root, workspace);
}
