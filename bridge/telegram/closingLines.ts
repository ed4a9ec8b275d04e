/** The last line of a progress message, once the final message stands beside it. Where it cannot be written, nothing is lost. */
import type { Logger } from '../../src/logger.js';
import type { AgentSession, OutboxEntry } from '../../src/model.js';
import { describeDuration } from '../../src/time.js';
import type { TelegramApi } from './api.js';

export class ClosingLines {
  private readonly api: TelegramApi;
  private readonly logger: Logger;
  private readonly ending: AbortSignal;
  private readonly underWay = new Set<Promise<void>>();

  /** @param ending ends the edits that are under way */
  constructor(api: TelegramApi, logger: Logger, ending: AbortSignal) {
    this.api = api;
    this.logger = logger;
    this.ending = ending;
  }

  /** Returns at once. */
  write(entry: OutboxEntry, session: AgentSession | null): void {
    if (entry.progress_message_id === null) return;
    const line = closingLine(entry, session);
    const edit = this.api
      .editMessageText(entry.chat_id, entry.progress_message_id, { plain: line, html: null }, this.ending)
      .catch((err: unknown) => this.logger.debug({ err }, 'the progress message keeps its last line'))
      .finally(() => this.underWay.delete(edit));
    this.underWay.add(edit);
  }

  /** @returns when nothing is under way any more */
  async settled(): Promise<void> {
    await Promise.all(this.underWay);
  }
}

function closingLine(entry: OutboxEntry, session: AgentSession | null): string {
  const worked =
    session === null || session.started_at === null || session.ended_at === null
      ? null
      : describeDuration(Math.max(session.ended_at - session.started_at, 0));
  switch (entry.kind) {
    case 'answer':
      return worked === null ? 'Done.' : `Done in ${worked}.`;
    case 'failure':
      return worked === null ? 'Ended without an answer.' : `Ended without an answer after ${worked}.`;
    case 'cancelled':
      return worked === null ? 'Stopped.' : `Stopped after ${worked}.`;
    default:
      return entry.kind satisfies never;
  }
}
