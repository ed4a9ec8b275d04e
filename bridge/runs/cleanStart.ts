/** Before a bridge takes any job, no process of a dead predecessor may still work in a lane. */
import type { Service } from '../../src/service.js';
import type { JobQueue } from '../queue/pump.js';
import { endPredecessorsRuns, type PredecessorContext } from './predecessors.js';
import type { StopMark } from './stopMark.js';

export interface CleanStartParts extends PredecessorContext {
  readonly queue: Pick<JobQueue, 'rememberAll' | 'pump'>;
  readonly stopMark: StopMark;
}

export class CleanStart implements Service {
  readonly name = 'clean start';
  readonly #parts: CleanStartParts;

  constructor(parts: CleanStartParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { store, queue, stopMark, logger } = this.#parts;
    const ended = await endPredecessorsRuns(this.#parts);
    await stopMark.clearUnlessNeeded(await store.records.sessions(await store.records.sessionIds('active')));
    if (ended.length > 0) logger.warn({ sessions: ended }, `runs of a bridge that died are ended: ${ended.join(', ')}`);
    await queue.rememberAll();
    await queue.pump();
  }

  async stop(): Promise<void> {}
}
