/** Where the programs of agents keep their transcripts. */
import { existsSync, fstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { HistoryPlace, ProgramFolders, TranscriptPlace } from '../../src/agents/agentProgram.js';
import { programNamed } from '../../src/agents/programs.js';
import { READ_NO_LINK, withFileSync } from '../../src/files/plainFile.js';
import { readAt } from '../../src/files/readAt.js';
import type { Conversation } from '../fold/worklog.js';

/** Codex packs rollouts that it has not needed for long. */
const PACKED = ['.zst', '.gz'];
/** Never reads more of a history. */
const HISTORY_BYTES = 256 * 1024;
const COMMAND_MARK = '/';

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

/**
 * A transcript may vanish. What a person typed stays in the program's history.
 * @returns whether something was asked in the conversation; the latest lines are looked at. A command of the program is no prompt
 */
export function isInHistory({ provider, id }: Pick<Conversation, 'provider' | 'id'>, folders: ProgramFolders): boolean {
  const place = programNamed(provider)?.history(folders);
  if (place === undefined) return false;
  const isPrompt = (line: string): boolean => {
    const { [place.conversation]: conversation, [place.typed]: typed } = line.includes(id) ? parsed(line) : {};
    return conversation === id && typeof typed === 'string' && !typed.startsWith(COMMAND_MARK);
  };
  return historyLines(place).some(isPrompt);
}

/**
 * A program begins a transcript with the first prompt, so a window that was killed before has none.
 * @param at when the conversation began, UTC epoch milliseconds
 * @returns whether the program's history reaches back to then, and has nothing that was typed in the conversation
 */
export function isMissingInHistory({ provider, id, at }: Conversation, folders: ProgramFolders): boolean {
  const place = programNamed(provider)?.history(folders);
  if (place?.at === undefined) return false;
  const { at: instant } = place;
  const lines = historyLines(place);
  const reachesBack = lines.some((line) => Number(parsed(line)[instant]) < at);
  return reachesBack && !lines.some((line) => line.includes(id));
}

/** @returns the latest lines. None if there is no history, or it cannot be read */
function historyLines({ path }: HistoryPlace): string[] {
  try {
    return withFileSync(path, READ_NO_LINK, (descriptor) => {
      const { size } = fstatSync(descriptor);
      const from = Math.max(size - HISTORY_BYTES, 0);
      return readAt(descriptor, from, size - from)
        .toString('utf8')
        .split('\n');
    });
  } catch {
    return [];
  }
}

/** @returns nothing for a line that is cut */
function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
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
