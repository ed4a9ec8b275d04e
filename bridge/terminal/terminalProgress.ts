import type { AgentSession } from '../../src/jobs/model.js';
import type { Chat } from '../../src/jobs/ports.js';
import { atMost, SECOND } from '../../src/time.js';
import type { ChatFoundation } from '../chat/foundation.js';
import {
  type Activity,
  activityLine,
  type ProgressView,
  quietLine,
  statusLine,
  stepLine,
} from '../chat/progressView.js';
import { printable, printTo, type TerminalWriter } from './terminalText.js';

/** After this the next run's work is shown in any case, in milliseconds. */
const ANSWER_WITHIN_MS = 2 * SECOND;

/** The reason for a second attempt is printed while it begins, and within this time, in milliseconds. */
const EXPLAINED_WITHIN_MS = 2 * SECOND;

interface Shown {
  readonly ended: AbortController;
  activity: Activity | null;
  /** As last printed. */
  tool: string | null;
  step: string | null;
  quiet: string | null;
  nextLineAt: number;
  /** Resolves when its first line is printed; null if it did not have to wait. */
  begun: Promise<void> | null;
}

/** Progress as lines, because a file cannot be edited. A run's end comes before the first line of the next. */
export class TerminalProgress implements ProgressView {
  readonly #base: ChatFoundation;
  readonly #writer: TerminalWriter;
  readonly #chat: Chat;
  readonly #everyMs: number;
  readonly #shown = new Map<string, Shown>();
  /** Their final messages may not be printed yet. */
  readonly #ended = new Set<string>();

  /** @param everyMs the least time between two lines of one session, in milliseconds */
  constructor(base: ChatFoundation, writer: TerminalWriter, chat: Chat, everyMs: number) {
    this.#base = base;
    this.#writer = writer;
    this.#chat = chat;
    this.#everyMs = everyMs;
  }

  begin(session: AgentSession): void {
    const ended = new AbortController();
    const shown: Shown = {
      ended,
      activity: null,
      tool: null,
      step: null,
      quiet: null,
      nextLineAt: Number.POSITIVE_INFINITY,
      begun: null,
    };
    this.#shown.set(session.session_id, shown);
    const begin = () => {
      shown.nextLineAt = this.#base.clock.monotonic();
      if (session.attempt === 1) this.#print(session.session_id, 'working …');
      else void this.#beginAgain(session.session_id, shown);
    };
    if (this.#ended.size === 0) begin();
    else shown.begun = this.#deliverEnded().then(begin);
  }

  update(sessionId: string, activity: Activity): void {
    const shown = this.#shown.get(sessionId);
    if (shown === undefined) return;
    shown.activity = activity;
    this.#showQuiet(sessionId, shown, activity);
    const now = this.#base.clock.monotonic();
    const step = stepLine(activity);
    const isNewTool = activity.tool !== null && activity.tool !== shown.tool;
    const isNewStep = step !== null && step !== shown.step;
    if (!(isNewTool || isNewStep) || now < shown.nextLineAt) return;
    shown.tool = activity.tool ?? shown.tool;
    shown.step = step;
    shown.nextLineAt = now + this.#everyMs;
    this.#print(sessionId, isNewStep ? statusLine(activity, now) : activityLine(activity, now));
  }

  /** Printed once for each silence: a line cannot be taken back. */
  #showQuiet(sessionId: string, shown: Shown, activity: Activity): void {
    const quiet = quietLine(activity);
    if (quiet !== null && quiet !== shown.quiet) this.#print(sessionId, quiet);
    shown.quiet = quiet ?? shown.quiet;
  }

  async end(sessionId: string): Promise<void> {
    const shown = this.#shown.get(sessionId);
    if (shown === undefined) return;
    await shown.begun;
    shown.ended.abort();
    this.#shown.delete(sessionId);
    this.#ended.add(sessionId);
  }

  /** Lines of a terminal cannot be changed. */
  messageOf(): null {
    return null;
  }

  describe(sessionId: string): string | null {
    const activity = this.#shown.get(sessionId)?.activity ?? null;
    return activity === null ? null : this.#base.redact(statusLine(activity, this.#base.clock.monotonic()));
  }

  /** Below the line with the reason; a call that is shown before then says enough. */
  async #beginAgain(sessionId: string, shown: Shown): Promise<void> {
    const { signal } = shown.ended;
    await this.#base.clock.sleep(EXPLAINED_WITHIN_MS, signal);
    if (!signal.aborted && shown.tool === null) this.#print(sessionId, 'working, second attempt …');
  }

  /** A run that is to be repeated has no final message, and one that cannot be printed now stays due. */
  async #deliverEnded(): Promise<void> {
    const ended = [...this.#ended];
    const delivered = Promise.allSettled(ended.map((id) => this.#chat.deliver(id)));
    await atMost(this.#base.clock, ANSWER_WITHIN_MS, delivered, undefined);
    // Not earlier: a run that begins while they are printed waits for them, too.
    for (const id of ended) this.#ended.delete(id);
  }

  #print(sessionId: string, line: string): void {
    printTo(this.#writer, `[${sessionId}] ${this.#base.redact(printable(line))}\n`);
  }
}
