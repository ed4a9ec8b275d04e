/** The evidence of a finished demo, arranged for the questions that the claims and the page ask. Everything comes from files. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { type AgentRecord, Evidence } from '../e2e/evidence.js';
import type { FoundProcess } from '../e2e/processScan.js';
import type { PeerIssue } from '../peers/github/issues.js';
import type { SeenChat, SeenMessage } from '../peers/telegram/reader.js';
import type { TranscriptEntry } from '../peers/telegram/transcript.js';
import { SCANS, type Scan } from './act.js';
import { CHATS, type Project, STORIES, type Story } from './cast.js';

/** What had to be ended by force after the orderly stop. */
export const LEFT_PROCESSES = 'processes-after-the-stop.json';
/** The tokens of the stand-ins, which are good for nothing else: so that anybody can search for them. */
export const TOKENS = 'tokens-of-the-stand-ins.json';
/** The chats as the Telegram peer shows them in the end, with what every message said before. */
export const SEEN_CHATS = 'telegram-chats.json';
export const REVIEWS = join('logs', 'daydream');

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

/** What the transcript says about one message and what the bot made of it. */
export interface StoryReading {
  readonly asked: TranscriptEntry;
  /** What the bot wrote to it, in order; edits left out. */
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

  story(story: Story): StoryReading {
    const { project, asked: question } = STORIES[story];
    const chat = CHATS[project].id;
    const entries = this.evidence.transcript().filter((entry) => entry.chat === chat);
    const asked = entries.find(({ what, text }) => what === 'message' && text === question);
    if (asked === undefined) throw new Error(`the transcript holds no "${question}" in chat ${chat}`);
    const replies = entries.filter(({ who, reply_to }) => who === 'bot' && reply_to === asked.message_id);
    return {
      asked,
      messages: replies.filter(({ what }) => what === 'message'),
      edits: replies.filter(({ what }) => what === 'edit'),
      reactions: entries.filter(({ what, message_id }) => what === 'reaction' && message_id === asked.message_id),
    };
  }

  /** The message as it stands in the chat in the end. */
  seen(project: Project, text: string): SeenMessage | undefined {
    const chat = this.chats().find(({ chatId }) => chatId === CHATS[project].id);
    return chat?.messages.find((message) => message.byBot && message.text.includes(text));
  }

  chats(): SeenChat[] {
    return this.#json(SEEN_CHATS);
  }

  session(story: Story): string {
    const { project } = STORIES[story];
    return `tg_${project}_${CHATS[project].id}_${this.story(story).asked.message_id}`;
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

  /** The pages of the daily review, oldest day first; a demo at midnight has two. */
  reviews(): string[] {
    const folder = join(this.#folder, REVIEWS);
    return readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .sort()
      .map((page) => readFileSync(join(folder, page), 'utf8'));
  }

  leftProcesses(): LeftProcesses {
    return this.#json(LEFT_PROCESSES);
  }

  tokens(): Tokens {
    return this.#json(TOKENS);
  }

  /** @returns the files below the logs folder that hold a text, outside of the bridge's own Redis */
  filesWith(text: string): string[] {
    const logs = join(this.#folder, 'logs');
    return readdirSync(logs, { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.startsWith('redis') && statSync(join(logs, path)).isFile())
      .filter((path) => readFileSync(join(logs, path)).includes(text));
  }

  #json<T>(file: string): T {
    return JSON.parse(readFileSync(join(this.#folder, file), 'utf8')) as T;
  }
}
