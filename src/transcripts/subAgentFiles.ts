/**
 * Finds the transcripts of a session's sub-agents as they appear, by the rules of `companions.ts`. A folder is read only if it has
 * changed; a file, only until its first record says whose it is.
 */
import { basename, dirname, join } from 'node:path';
import { entriesIn } from '../files/entries.js';
import { seenFile } from '../files/seenFile.js';
import { JOURNAL_SUFFIX } from '../journal/path.js';
import type { JournalRecord } from '../journal/record.js';
import { type Clock, SECOND } from '../time.js';
import { AGENT_FILE, agentIn, FOLDER, Opening, sessionIn, startedBy } from './companions.js';

/** All changes within one tick of the file system's clock have one time, so a folder that has just changed is read again. */
const SURELY_LATER_MS = SECOND;

interface Folder {
  readonly path: string;
  /** Its folders are looked into, too. */
  readonly isDeep: boolean;
  /** Its time of change when it was read; null if it must be read again. */
  readAs: number | null;
}

export class SubAgentFiles {
  readonly #session: Opening;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #folders: Folder[];
  readonly #seen = new Set<string>();
  /** Files whose agent is not known yet. */
  readonly #undecided = new Map<string, Opening>();
  readonly #found: string[] = [];
  /** Sub-agents whose starting call is not known yet, by file. */
  readonly #orphans = new Map<string, string>();
  readonly #parents = new Map<string, string>();

  /**
   * @param path of a session's transcript, or of a sub-agent's, which has no others
   * @param clock whose time is about that of the file system
   */
  constructor(path: string, clock: Pick<Clock, 'now'>) {
    this.#session = new Opening(path);
    this.#clock = clock;
    const below = join(path.slice(0, path.length - JOURNAL_SUFFIX.length), FOLDER);
    this.#folders = AGENT_FILE.test(basename(path))
      ? []
      : [
          { path: dirname(path), isDeep: false, readAs: null },
          { path: below, isDeep: true, readAs: null },
        ];
  }

  /** By name. */
  get found(): readonly string[] {
    return this.#found;
  }

  /** The calls that started sub-agents, by agent, as far as known; it grows. */
  get parents(): ReadonlyMap<string, string> {
    return this.#parents;
  }

  /** The first record of the session's own transcript; null if there is none yet. */
  get opening(): JournalRecord | null {
    return this.#session.read();
  }

  /** Looks for new files. @returns the agents whose calls are known since now */
  look(): string[] {
    const session = sessionIn(this.#session.read(), false);
    if (session === null) return [];
    // The list grows while it is gone through.
    for (const folder of this.#folders) this.#lookInto(folder);
    for (const [path, opening] of this.#undecided) this.#decide(path, opening, session);
    return [...this.#orphans].flatMap(([path, agent]) => this.#findCall(path, agent));
  }

  #lookInto(folder: Folder): void {
    const changed = seenFile(folder.path)?.mtimeMs ?? null;
    if (changed === null || changed === folder.readAs) return;
    folder.readAs = this.#clock.now() - changed > SURELY_LATER_MS ? changed : null;
    for (const entry of entriesIn(folder.path)) {
      const isFolder = entry.isDirectory() && folder.isDeep;
      if (!isFolder && !(entry.isFile() && AGENT_FILE.test(entry.name))) continue;
      const path = join(folder.path, entry.name);
      if (this.#seen.has(path)) continue;
      this.#seen.add(path);
      if (isFolder) this.#folders.push({ path, isDeep: true, readAs: null });
      else this.#undecided.set(path, new Opening(path));
    }
  }

  #decide(path: string, opening: Opening, session: string): void {
    const first = opening.read();
    if (first === null) return;
    this.#undecided.delete(path);
    if (sessionIn(first, true) !== session) return;
    this.#found.push(path);
    this.#found.sort();
    const agent = agentIn(first);
    if (agent !== null) this.#orphans.set(path, agent);
  }

  #findCall(path: string, agent: string): string[] {
    const call = startedBy(path);
    if (call === null) return [];
    this.#orphans.delete(path);
    this.#parents.set(agent, call);
    return [agent];
  }
}
