/** Finds what was observed of a session: its journal or kept copy, or the transcripts of its conversations. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { instantOf } from '../../src/journal/normalise.js';
import { batchesOf, type JournalSource, JournalTail } from '../../src/journal/reader.js';
import type { Redact } from '../../src/log/redact.js';
import { transcriptAt } from '../../src/transcripts/companions.js';
import { TranscriptTail } from '../../src/transcripts/transcriptTail.js';
import type { Conversation, Worklog } from '../fold/worklog.js';
import { journalIn } from '../home/places.js';
import { pathInWorkspace, type Workspace } from '../workspaces/workspace.js';
import { Observed } from './observed.js';

/** Where the programs keep their transcripts. */
export interface ProgramFolders {
  readonly HOME?: string | undefined;
  readonly CLAUDE_CONFIG_DIR?: string | undefined;
  readonly CODEX_HOME?: string | undefined;
}

export interface Observation {
  /** `none`: only what was declared is known. */
  readonly observed: 'transcript' | 'journal' | 'none';
  /** Null if nothing was observed. */
  readonly fold: Observed | null;
}

/** Codex' sessions lie in `sessions/YYYY/MM/DD/`. */
const CODEX_LEVELS = 3;

/** A session's record, and where its files are. */
export interface ObservedSession {
  readonly log: Worklog;
  readonly folder: string;
  /** In which the paths of files are named; null if it is unknown: then they stay as the agent wrote them. */
  readonly workspace: Pick<Workspace, 'root'> | null;
}

/**
 * Folds what was observed of a session, each conversation's share of it.
 * @param folders null: there are none, or they are not to be used
 * @param redact for the words that are kept
 */
export async function observe(
  session: ObservedSession,
  { folders, redact }: { readonly folders: ProgramFolders | null; readonly redact: Redact },
): Promise<Observation> {
  const { log, workspace } = session;
  if (folders === null) return observeKept(session);
  const fold = new Observed();
  for (const conversation of log.conversations) {
    const path = transcriptOf(conversation, folders);
    if (path === null) continue;
    nameFilesIn(fold, workspace, conversation.cwd);
    await take(new TranscriptTail(await transcriptAt(path), redact), fold, conversation);
  }
  return fold.lines > 0 ? { observed: 'transcript', fold } : observeKept(session);
}

/**
 * @param log of the session
 * @param folder of the session
 * @returns what its present conversation can be followed by: its transcript, else the journal; null if there is neither
 */
export async function presentSource(
  log: Pick<Worklog, 'conversations'>,
  folder: string,
  { folders, redact }: { readonly folders: ProgramFolders | null; readonly redact: Redact },
): Promise<JournalSource | null> {
  const present = log.conversations.findLast(({ moved_at }) => moved_at === null);
  const path = present === undefined || folders === null ? null : transcriptOf(present, folders);
  if (path !== null) return new TranscriptTail(await transcriptAt(path), redact);
  const journal = journalIn(folder);
  return existsSync(journal) ? new JournalTail(journal) : null;
}

/** Folds what lies in the session's own folder: its journal, or the kept copy of its transcripts. */
export async function observeKept({ log, folder, workspace }: ObservedSession): Promise<Observation> {
  const fold = new Observed();
  nameFilesIn(fold, workspace, log.facts?.cwd ?? log.conversations.at(-1)?.cwd ?? null);
  const journal = journalIn(folder);
  if (existsSync(journal)) await take(new JournalTail(journal), fold, null);
  return fold.lines > 0 ? { observed: 'journal', fold } : { observed: 'none', fold: null };
}

/** @returns the transcript of a conversation: as it was recorded, or where its program keeps it; null if there is none */
export function transcriptOf({ provider, id, transcript }: Conversation, folders: ProgramFolders): string | null {
  if (transcript !== null && existsSync(transcript)) return transcript;
  const { HOME = '/', CLAUDE_CONFIG_DIR, CODEX_HOME } = folders;
  // The id is foreign text: it is compared, and never made a part of a path.
  if (provider === 'claude') {
    const projects = join(CLAUDE_CONFIG_DIR || join(HOME, '.claude'), 'projects');
    return findBelow(projects, 1, (name) => name === `${id}.jsonl`);
  }
  if (provider !== 'codex') return null;
  return findBelow(join(CODEX_HOME || join(HOME, '.codex'), 'sessions'), CODEX_LEVELS, (name) =>
    name.endsWith(`-${id}.jsonl`),
  );
}

/** @param cwd in which the agent means relative paths; null: the top of the workspace */
function nameFilesIn(fold: Observed, workspace: ObservedSession['workspace'], cwd: string | null): void {
  if (workspace !== null) fold.nameOf = (path) => pathInWorkspace(path, cwd ?? workspace.root, workspace);
}

async function take(source: JournalSource, fold: Observed, conversation: Conversation | null): Promise<void> {
  const from = conversation?.since ?? Number.NEGATIVE_INFINITY;
  const until = conversation?.moved_at ?? Number.POSITIVE_INFINITY;
  for await (const { records } of batchesOf(source)) {
    for (const record of records) {
      const at = instantOf(record.timestamp);
      if (at !== null && at >= from && at < until) fold.take(record);
    }
  }
}

/** @param levels of folders between `folder` and the file */
function findBelow(folder: string, levels: number, isMeant: (name: string) => boolean): string | null {
  let entries: ReturnType<typeof namesIn>;
  try {
    entries = namesIn(folder);
  } catch {
    return null;
  }
  if (levels === 0) {
    const found = entries.find(({ name, isFolder }) => !isFolder && isMeant(name));
    return found === undefined ? null : join(folder, found.name);
  }
  for (const { name, isFolder } of entries) {
    const found = isFolder ? findBelow(join(folder, name), levels - 1, isMeant) : null;
    if (found !== null) return found;
  }
  return null;
}

function namesIn(folder: string): { readonly name: string; readonly isFolder: boolean }[] {
  return readdirSync(folder, { withFileTypes: true }).map((entry) => ({
    name: entry.name,
    isFolder: entry.isDirectory(),
  }));
}
