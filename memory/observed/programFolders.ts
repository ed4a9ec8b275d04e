/** Where the programs of agents keep their transcripts. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramFolders, TranscriptPlace } from '../../src/agents/agentProgram.js';
import { programNamed } from '../../src/agents/programs.js';
import type { Conversation } from '../fold/worklog.js';

/** Codex packs rollouts that it has not needed for long. */
const PACKED = ['.zst', '.gz'];

/** @returns the transcript of a conversation: as it was recorded, or where its program keeps it; null if there is none */
export function transcriptOf(
  { provider, id, transcript }: Pick<Conversation, 'provider' | 'id' | 'transcript'>,
  folders: ProgramFolders,
): string | null {
  if (transcript !== null && existsSync(transcript)) return transcript;
  return find(provider, folders, (place) => (name) => place.isTranscriptOf(name, id));
}

/** @returns whether the program has packed the transcript, so that it cannot be read here */
export function isPacked({ provider, id, transcript }: Conversation, folders: ProgramFolders): boolean {
  if (transcript !== null && PACKED.some((suffix) => existsSync(`${transcript}${suffix}`))) return true;
  const isOne = (place: TranscriptPlace) => (name: string) =>
    PACKED.some((suffix) => name.endsWith(suffix) && place.isTranscriptOf(name.slice(0, -suffix.length), id));
  return find(provider, folders, isOne) !== null;
}

type Matching = (place: TranscriptPlace) => (name: string) => boolean;

function find(provider: string, folders: ProgramFolders, matching: Matching): string | null {
  const place = programNamed(provider)?.transcripts(folders);
  if (place === undefined) return null;
  const matches = matching(place);
  const found = findBelow(place.folder, place.levels, matches);
  return found ?? place.archives?.map((folder) => findBelow(folder, 0, matches)).find((path) => path !== null) ?? null;
}

/** @param levels of folders between `folder` and the file */
function findBelow(folder: string, levels: number, matches: (name: string) => boolean): string | null {
  let entries: ReturnType<typeof namesIn>;
  try {
    entries = namesIn(folder);
  } catch {
    return null;
  }
  if (levels === 0) {
    const found = entries.find(({ name, isFolder }) => !isFolder && matches(name));
    return found === undefined ? null : join(folder, found.name);
  }
  for (const { name, isFolder } of entries) {
    const found = isFolder ? findBelow(join(folder, name), levels - 1, matches) : null;
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
