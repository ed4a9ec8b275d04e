/**
 * Incidents that have a line among the critical events but no end there, and whose records the store has lost, for example in a
 * rollback. Nothing drives them any more: without a last line, every reader of the file counts them as open for ever.
 *
 * Limit: only the file's last 8 MiB are searched, some thousand lines.
 */
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { isoTime } from '../../src/time.js';
import { Tail } from '../events/criticalEventTail.js';
import type { RoundContext } from './round.js';

const WINDOW_BYTES = 8 * 1024 * 1024;

export class ForgottenIncidents {
  readonly #context: RoundContext;
  readonly #tail: Tail;
  /** By incident: its latest line, if it has no end. */
  readonly #open = new Map<string, CriticalEvent>();

  /** @param eventsFile the path of `critical_events.jsonl` */
  constructor(context: RoundContext, eventsFile: string) {
    this.#context = context;
    this.#tail = new Tail(eventsFile, WINDOW_BYTES);
  }

  /**
   * Writes the last line of each. Reads only what was appended since the last call.
   * @throws ioredis' error; UnreachableError if the file cannot be read or written; FencedError
   */
  async end(): Promise<void> {
    const { events, anew } = await this.#tail.next();
    if (anew) this.#open.clear();
    for (const event of events) this.#note(event);
    // A record is stored before its first line is written, so a line without a record once had one.
    for (const event of [...this.#open.values()]) if (!(await this.#isStored(event))) await this.#end(event);
  }

  /** An event without a rule comes from elsewhere, and has no incident record. */
  #note(event: CriticalEvent): void {
    if (event.final) this.#open.delete(event.incident_id);
    else if (event.rule !== null) this.#open.set(event.incident_id, event);
  }

  async #isStored({ incident_id }: CriticalEvent): Promise<boolean> {
    const { redis, keys } = this.#context.store;
    return (await redis.exists(keys.incident(incident_id), keys.quarantine('incident', incident_id))) > 0;
  }

  async #end(latest: CriticalEvent): Promise<void> {
    const { store, events, clock, logger, folders } = this.#context;
    const { incident_id, session_id, details } = latest;
    await store.leases.require(folders.guard());
    await events.logCriticalEvent({
      ...latest,
      id: `${incident_id}.closed`,
      final: true,
      timestamp: isoTime(clock.now()),
      action_taken: 'suppressed',
      details: { ...details, outcome: 'record_gone' },
    });
    this.#open.delete(incident_id);
    logger.warn({ incident_id, session_id }, `incident ${incident_id} is closed: Redis has lost its record`);
  }
}
