/**
 * Finds the transcripts of one session. Claude Code keeps each sub-agent's in a separate file: in `SESSION/subagents/` (and
 * folders below), up to 2.0 next to the session's own. The names only say which files to read; their content decides.
 */

import { type BigIntStats, lstatSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { entriesIn, namesIn } from '../files/entries.js';
import { readPlainFileSync } from '../files/plainFile.js';
import { JOURNAL_SUFFIX } from '../journal/path.js';
import { JournalTail } from '../journal/reader.js';
import type { JournalRecord } from '../journal/record.js';
import { parseJson } from '../json.js';
import { SECOND, systemClock } from '../time.js';
import { asFields, textAt } from './draft/fields.js';
import type { TranscriptFiles } from './transcriptTail.js';

export const AGENT_FILE = /^agent-.*\.jsonl$/;
export const FOLDER = 'subagents';
/** A file next to a sub-agent's transcript that names the call that started it. */
const ABOUT_SUFFIX = '.meta.json';
const LONGEST_ABOUT_BYTES = 64 * 1024;

/**
 * @param paths transcripts and journals, all of one folder
 * @returns them, with each sub-agent's transcript added to its session's; without a session it is listed separately
 */
export function groupTranscripts(paths: readonly string[]): TranscriptFiles[] {
  const agents = paths.filter((path) => AGENT_FILE.test(basename(path)));
  const owners = new Map(agents.map((agent) => [agent, ownerOf(agent, paths)]));
  const listed = paths.filter((path) => (owners.get(path) ?? null) === null);
  return listed.map((path) =>
    withCompanions(
      path,
      agents.filter((agent) => owners.get(agent) === path),
    ),
  );
}

/** @returns a transcript or journal with the files that belong to it */
export function transcriptAt(path: string): TranscriptFiles {
  if (AGENT_FILE.test(basename(path))) return withCompanions(path, []);
  const siblings = siblingsIn(dirname(path));
  const below = agentFilesBelow(join(path.slice(0, path.length - JOURNAL_SUFFIX.length), FOLDER));
  const agents = [...siblings, ...below].filter((agent) => ownerOf(agent, [path]) === path).sort();
  return withCompanions(path, agents);
}

/** A folder may have the transcripts of thousands of sessions: only those of sub-agents are looked at. */
function siblingsIn(folder: string): string[] {
  return agentFilesIn(folder)
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());
}

/** The last folder that was listed: a list of sessions asks for each of them, and most are in one folder. */
let listed: { readonly folder: string; readonly at: string; readonly names: readonly string[] } | null = null;

function agentFilesIn(folder: string): readonly string[] {
  const stat = statOf(folder);
  if (stat === null) return [];
  const at = `${stat.dev} ${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}`;
  if (listed?.folder === folder && listed.at === at) return listed.names;
  const now = systemClock.now();
  const names = namesIn(folder).filter((name) => AGENT_FILE.test(name));
  // Two changes within one tick of the file system leave the same time behind.
  listed = now - Number(stat.ctimeMs) > SECOND ? { folder, at, names } : null;
  return names;
}

function statOf(folder: string): BigIntStats | null {
  try {
    return statSync(folder, { bigint: true });
  } catch {
    return null;
  }
}

/** Without `node:fs/promises`, which a hook would have to load. */
function agentFilesBelow(folder: string): string[] {
  return entriesIn(folder).flatMap((entry) => {
    if (entry.isDirectory()) return agentFilesBelow(join(folder, entry.name));
    return entry.isFile() && AGENT_FILE.test(entry.name) ? [join(folder, entry.name)] : [];
  });
}

/** The file among `paths` whose session the sub-agent names. */
function ownerOf(agent: string, paths: readonly string[]): string | null {
  const session = sessionOf(agent, true);
  if (session === null) return null;
  const at = agent.lastIndexOf(`${sep}${FOLDER}${sep}`);
  const places =
    at < 0 ? paths.filter((path) => dirname(path) === dirname(agent)) : [`${agent.slice(0, at)}${JOURNAL_SUFFIX}`];
  const others = places.filter((path) => paths.includes(path) && !AGENT_FILE.test(basename(path)));
  const named = others.filter((path) => basename(path, JOURNAL_SUFFIX) === session);
  return [...named, ...others].find((path) => sessionOf(path, false) === session) ?? null;
}

function sessionOf(path: string, ofAgent: boolean): string | null {
  return sessionIn(new Opening(path).read(), ofAgent);
}

/** The first record of a person or an agent, of a file that may be still without one. */
export class Opening {
  readonly #tail: JournalTail;
  #record: JournalRecord | null = null;

  constructor(path: string) {
    this.#tail = new JournalTail(path);
  }

  /** Reads on, as long as there is none. @returns null if there is none yet */
  read(): JournalRecord | null {
    for (let more = this.#record === null; more; ) {
      const batch = this.#tail.readBatch();
      this.#record =
        batch.records.find(({ type, sessionId }) => (type === 'user' || type === 'assistant') && sessionId) ?? null;
      more = batch.more && this.#record === null;
    }
    return this.#record;
  }
}

/** @returns the session that a transcript's first record names, if it is (not) a sub-agent's */
export function sessionIn(first: JournalRecord | null, ofAgent: boolean): string | null {
  if (first === null || (first.isSidechain === true) !== ofAgent) return null;
  return textAt(first, 'sessionId');
}

function withCompanions(path: string, companions: readonly string[]): TranscriptFiles {
  const parents = new Map<string, string>();
  for (const companion of companions) {
    const agent = agentIn(new Opening(companion).read());
    const call = startedBy(companion);
    if (agent !== null && call !== null) parents.set(agent, call);
  }
  return { path, companions, parents };
}

/** @returns the sub-agent that a transcript's first record names */
export function agentIn(first: JournalRecord | null): string | null {
  return first === null ? null : textAt(first, 'agentId');
}

/** @returns the call that started the sub-agent, by a file next to its transcript; null if there is none */
export function startedBy(companion: string): string | null {
  const about = `${companion.slice(0, companion.length - JOURNAL_SUFFIX.length)}${ABOUT_SUFFIX}`;
  try {
    return textAt(asFields(parseJson(readPlainFileSync(about, LONGEST_ABOUT_BYTES))) ?? {}, 'toolUseId');
  } catch {
    return null;
  }
}
