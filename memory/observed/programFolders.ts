/** Where the programs of agents keep their transcripts. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Conversation } from '../fold/worklog.js';

export interface ProgramFolders {
  readonly HOME?: string | undefined;
  readonly CLAUDE_CONFIG_DIR?: string | undefined;
  readonly CODEX_HOME?: string | undefined;
}

/** Codex' sessions lie in `sessions/YYYY/MM/DD/`. */
const CODEX_LEVELS = 3;

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
