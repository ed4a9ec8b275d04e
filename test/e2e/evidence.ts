/** What a scene leaves behind, read from its files: nothing here knows what happened, only what stands there. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Line } from '../../memory/logs/line.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import type { GithubState } from '../peers/github/githubPeer.js';
import type { SeenRequest } from '../peers/github/proxy.js';
import type { TranscriptEntry } from '../peers/telegram/transcript.js';

/** What the scripted agent writes of itself. */
export interface AgentRecord {
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly event: 'start' | 'stop';
  readonly session: string;
  readonly run: string;
  readonly pid: number;
  readonly attempt: number;
}

/** Names below the scene's folder. */
export const FILES = {
  transcript: 'telegram-transcript.jsonl',
  issueWrites: 'github-writes.jsonl',
  issueState: 'github-state.json',
  agents: 'agents.jsonl',
  criticalEvents: join('logs', 'critical_events.jsonl'),
  bridgeLog: join('logs', 'bridge.log'),
  journals: join('logs', 'sessions'),
} as const;

export class Evidence {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Everything that people could have seen in the chats. */
  transcript(): TranscriptEntry[] {
    return this.#lines(FILES.transcript);
  }

  /** When agents started and stopped; one that was killed has no stop. */
  agents(): AgentRecord[] {
    return this.#lines(FILES.agents);
  }

  /** In the order of the file. */
  criticalEvents(): CriticalEvent[] {
    return this.#lines(FILES.criticalEvents);
  }

  /** Without the gaps in which a busy machine let a process stand: it is right that they are reported, and no fault of a scene. */
  faults(): CriticalEvent[] {
    return this.criticalEvents().filter(({ details }) => details?.cause !== 'process_stood');
  }

  issueWrites(): SeenRequest[] {
    return this.#lines(FILES.issueWrites);
  }

  /** Written when the scene stops. */
  issueState(): GithubState {
    return JSON.parse(readFileSync(join(this.#folder, FILES.issueState), 'utf8'));
  }

  journal(sessionId: string): (JournalEvent & { readonly timestamp: string })[] {
    return this.#lines(join(FILES.journals, sessionId, 'tool_use.jsonl'));
  }

  worklog(sessionId: string): Line[] {
    return this.#lines(join(FILES.journals, sessionId, 'worklog.jsonl'));
  }

  /** Sessions that have a journal. */
  journaledSessions(): string[] {
    try {
      return readdirSync(join(this.#folder, FILES.journals)).sort();
    } catch {
      return [];
    }
  }

  /** The messages of the bridge's log. */
  logLines(): { readonly level: string; readonly msg: string }[] {
    return this.#lines(FILES.bridgeLog);
  }

  /** @returns the objects of a JSON Lines file; a line that is being written now is left out */
  #lines<T>(file: string): T[] {
    let text: string;
    try {
      text = readFileSync(join(this.#folder, file), 'utf8');
    } catch {
      return [];
    }
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  }
}
