/** Writes the ends that the worklogs of a killed bridge lack: without them an answered session would look crashed. */
import { lostRuns } from '../../memory/sessions/bridgeSession.js';
import type { BridgeWorklogs } from '../../memory/sessions/bridgeWorklogs.js';
import { CorruptRecordError, describeError } from '../../src/errors.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { giveWay } from '../../src/time.js';

/** More than can have ended in half a second. */
const MOST_SESSIONS = 500;
/** Other work gets a turn after this many worklogs. */
const MOST_IN_A_ROW = 20;

export interface MissedEndsContext {
  readonly store: { readonly records: Pick<Store['records'], 'sessionIds' | 'sessions'> };
  readonly worklogs: Pick<BridgeWorklogs, 'end'>;
  readonly logger: Logger;
}

export class MissedEnds implements Service {
  readonly name = 'ends of worklogs';
  readonly #context: MissedEndsContext;
  #work: Promise<void> | null = null;

  constructor(context: MissedEndsContext) {
    this.#context = context;
  }

  /** Nothing waits for it. */
  async start(): Promise<void> {
    this.#work ??= this.runOnce().catch((err: unknown) => {
      this.#context.logger.warn({ err }, `worklogs may lack the ends of their sessions: ${describeError(err)}`);
    });
  }

  async stop(): Promise<void> {
    await this.#work;
  }

  /** Looks at the sessions that ended last. A worklog that has its end, or does not exist here, stays as it is. */
  async runOnce(): Promise<void> {
    const { store, worklogs } = this.#context;
    const found = await store.records.sessions(await store.records.sessionIds('ended', MOST_SESSIONS));
    for (const [index, session] of found.entries()) {
      if (index % MOST_IN_A_ROW === 0) await giveWay();
      if (session instanceof CorruptRecordError || session.status === 'pending' || session.status === 'active')
        continue;
      worklogs.end(session.session_id, session.status, lostRuns);
    }
  }
}
