import type { AgentSession } from '../../src/jobs/model.js';
import { TERMINAL_CHAT } from './chatRouter.js';
import type { Activity, ProgressView } from './progressView.js';

/** Shows each session's progress in the chat that it came from. Without a bot token that is the terminal for all. */
export class ProgressRouter implements ProgressView {
  readonly #telegram: ProgressView | null;
  readonly #terminal: ProgressView;

  constructor(telegram: ProgressView | null, terminal: ProgressView) {
    this.#telegram = telegram;
    this.#terminal = terminal;
  }

  begin(session: AgentSession): void {
    const view = this.#telegram === null || session.request.chat_id === TERMINAL_CHAT ? this.#terminal : this.#telegram;
    view.begin(session);
  }

  // A view that did not begin a session ignores it.

  update(sessionId: string, activity: Activity): void {
    this.#telegram?.update(sessionId, activity);
    this.#terminal.update(sessionId, activity);
  }

  async end(sessionId: string): Promise<void> {
    await Promise.all([this.#telegram?.end(sessionId), this.#terminal.end(sessionId)]);
  }

  messageOf(sessionId: string): string | null {
    return this.#telegram?.messageOf(sessionId) ?? null;
  }

  describe(sessionId: string): string | null {
    return this.#telegram?.describe(sessionId) ?? this.#terminal.describe(sessionId);
  }
}
