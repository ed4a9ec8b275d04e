import type { AgentSession } from '../../src/model.js';
import type { Redact } from '../../src/redact.js';
import type { Clock } from '../../src/time.js';
import { type Activity, activityLine, type ProgressView } from '../chat/progressView.js';
import { printable, type TerminalWriter } from './terminalText.js';

export interface TerminalProgressParts {
  readonly writer: TerminalWriter;
  readonly clock: Clock;
  readonly redact: Redact;
  /** The least time between two lines of one session, in milliseconds. */
  readonly progressEveryMs: number;
}

interface Shown {
  activity: Activity | null;
  tool: string | null;
  nextLineAt: number;
}

/** Progress as lines: a terminal that may be a file is not edited, so only what is new is printed. */
export class TerminalProgress implements ProgressView {
  readonly #parts: TerminalProgressParts;
  readonly #shown = new Map<string, Shown>();

  constructor(parts: TerminalProgressParts) {
    this.#parts = parts;
  }

  begin(session: AgentSession): void {
    this.#shown.set(session.session_id, { activity: null, tool: null, nextLineAt: this.#parts.clock.now() });
    this.#print(session.session_id, session.attempt === 2 ? 'working, second attempt …' : 'working …');
  }

  update(sessionId: string, activity: Activity): void {
    const shown = this.#shown.get(sessionId);
    if (shown === undefined) return;
    shown.activity = activity;
    const now = this.#parts.clock.now();
    if (activity.tool === null || activity.tool === shown.tool || now < shown.nextLineAt) return;
    shown.tool = activity.tool;
    shown.nextLineAt = now + this.#parts.progressEveryMs;
    this.#print(sessionId, activityLine(activity, now));
  }

  async end(sessionId: string): Promise<void> {
    this.#shown.delete(sessionId);
  }

  /** Lines of a terminal cannot be changed. */
  messageOf(): null {
    return null;
  }

  describe(sessionId: string): string | null {
    const activity = this.#shown.get(sessionId)?.activity ?? null;
    return activity === null ? null : this.#parts.redact(activityLine(activity, this.#parts.clock.now()));
  }

  #print(sessionId: string, line: string): void {
    try {
      this.#parts.writer.write(`[${sessionId}] ${this.#parts.redact(printable(line))}\n`);
    } catch {
      // Nobody reads any more.
    }
  }
}
