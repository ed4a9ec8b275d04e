/** The evidence of a finished demo, arranged for the questions that the claims ask. Everything comes from files. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CriticalEvent } from '../../src/incidents.js';
import { type AgentRecord, Evidence } from '../e2e/evidence.js';
import type { FoundProcess } from '../e2e/processScan.js';
import type { PeerIssue } from '../peers/github/issues.js';
import type { TranscriptEntry } from '../peers/telegram/transcript.js';
import { type Project, SCANS, type Scan } from './act.js';
import { ASKED, CHATS } from './cast.js';

/** What had to be ended by force after the orderly stop. */
export const LEFT_PROCESSES = 'processes-after-the-stop.json';
/** The tokens of the stand-ins, which are good for nothing else: so that anybody can search for them. */
export const TOKENS = 'tokens-of-the-stand-ins.json';

export interface LeftProcesses {
  readonly time: string;
  /** Which processes were looked for, in the words of the environment that they carry. */
  readonly looked_for: string;
  readonly found: readonly FoundProcess[];
}

export interface Tokens {
  readonly note: string;
  readonly tokens: readonly string[];
}

/** What the transcript says about one project's chat. */
export interface ChatReading {
  readonly asked: TranscriptEntry;
  /** What the bot wrote, in order; edits left out. */
  readonly messages: readonly TranscriptEntry[];
  readonly edits: readonly TranscriptEntry[];
  readonly reactions: readonly TranscriptEntry[];
}

export class Readings {
  readonly evidence: Evidence;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.evidence = new Evidence(folder);
  }

  chat(project: Project): ChatReading {
    const entries = this.evidence.transcript().filter(({ chat }) => chat === CHATS[project]);
    const asked = entries.find(({ what, text }) => what === 'message' && text === ASKED[project]);
    if (asked === undefined) throw new Error(`the transcript holds no question in chat ${CHATS[project]}`);
    const byBot = entries.filter(({ who }) => who === 'bot');
    const of = (what: TranscriptEntry['what']) => byBot.filter((entry) => entry.what === what);
    return { asked, messages: of('message'), edits: of('edit'), reactions: of('reaction') };
  }

  session(project: Project): string {
    return `tg_${project}_${CHATS[project]}_${this.chat(project).asked.message_id}`;
  }

  /** The lines of one session's incidents, in the order of the file. */
  events(session: string): CriticalEvent[] {
    return this.evidence.criticalEvents().filter(({ session_id }) => session_id === session);
  }

  starts(session: string): AgentRecord[] {
    return this.evidence.agents().filter((record) => record.session === session && record.event === 'start');
  }

  issues(project: Project): PeerIssue[] {
    return this.evidence.issueState().issues.filter(({ title }) => title.startsWith(`[Watchdog] ${project}: `));
  }

  scans(session: string): Scan[] {
    const lines = readFileSync(join(this.#folder, SCANS), 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Scan).filter((scan) => scan.session === session);
  }

  leftProcesses(): LeftProcesses {
    return this.#json(LEFT_PROCESSES);
  }

  tokens(): Tokens {
    return this.#json(TOKENS);
  }

  #json<T>(file: string): T {
    return JSON.parse(readFileSync(join(this.#folder, file), 'utf8')) as T;
  }

  /** @returns the files below the logs folder that hold a text, outside of the bridge's own Redis */
  filesWith(text: string): string[] {
    const logs = join(this.#folder, 'logs');
    return readdirSync(logs, { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.startsWith('redis') && statSync(join(logs, path)).isFile())
      .filter((path) => readFileSync(join(logs, path)).includes(text));
  }
}
