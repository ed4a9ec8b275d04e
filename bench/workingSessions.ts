import { appendFileSync } from 'node:fs';
import type { AgentSession } from '../src/jobs/model.js';
import { journalPath } from '../src/journal/path.js';
import { systemClock } from '../src/time.js';
import { activityLine } from './journals.js';

const EVERY_MS = 100;

interface Working {
  readonly sessionId: string;
  lastActivity: number;
}

/** Sessions that go on: each writes a line whenever it has been quiet for a given time. */
export class WorkingSessions {
  readonly #logsFolder: string;
  readonly #quietMs: number;
  /** The one that was active first stands at `#oldest`; from there on in a circle. */
  readonly #sessions: Working[];
  #oldest = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param lastActivityOf when each was active last, UTC epoch milliseconds */
  constructor(
    sessions: readonly AgentSession[],
    lastActivityOf: (session: AgentSession) => number,
    logsFolder: string,
    quietMs: number,
  ) {
    this.#logsFolder = logsFolder;
    this.#quietMs = quietMs;
    this.#sessions = sessions
      .map((session) => ({ sessionId: session.session_id, lastActivity: lastActivityOf(session) }))
      .sort((left, right) => left.lastActivity - right.lastActivity);
  }

  start(): void {
    this.#timer = setInterval(() => this.#goOn(), EVERY_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #goOn(): void {
    const now = systemClock.now();
    for (
      let working = this.#sessions[this.#oldest];
      working !== undefined && working.lastActivity < now - this.#quietMs;
      working = this.#sessions[this.#oldest]
    ) {
      appendFileSync(journalPath(this.#logsFolder, working.sessionId), activityLine(working.sessionId, now));
      working.lastActivity = now;
      this.#oldest = (this.#oldest + 1) % this.#sessions.length;
    }
  }
}
