/**
 * Checks whether something was lost within the last day. The bridge has repaired all that it could within seconds, so nothing else
 * shows it any more, and its cause is still there. The critical event stays; the doctor repeats it for a day.
 */
import { join } from 'node:path';
import { Tail } from '../../monitoring/events/criticalEventTail.js';
import type { CriticalEvent, CriticalEventName } from '../../src/jobs/incidents.js';
import { type Clock, DAY, describeDuration } from '../../src/time.js';
import { type CheckResult, warning } from './checkResult.js';

const WINDOW_BYTES = 4 * 1024 * 1024;

interface Loss {
  readonly name: string;
  found(latest: CriticalEvent): string;
  readonly remedy: string;
}

const LOSSES: Readonly<Partial<Record<CriticalEventName, Loss>>> = {
  files_deleted: {
    name: 'deleted files',
    found: ({ details }) =>
      `somebody deleted ${String(details?.missing ?? 'files of the bridge')} while the bridge ran: what it held in memory was written again, and what else was deleted with it is lost (journals, logs, critical events)`,
    remedy: 'find out what deletes it, an agent above all: see the checks of isolation',
  },
  store_forgot: {
    name: 'lost records',
    found: () => 'Redis lost records: `watchkeeper events` names the messages of the event store_forgot',
    remedy: 'find out why (FLUSHALL, a volume that is gone, no persistence), and ask again for what was lost',
  },
};

/** @returns a warning for each kind of loss @throws UnreachableError if the critical events cannot be read */
export async function checkLosses(logsFolder: string, clock: Clock): Promise<CheckResult[]> {
  const { events } = await new Tail(join(logsFolder, 'critical_events.jsonl'), WINDOW_BYTES).next();
  const since = clock.now() - DAY;
  const recent = events.filter(({ timestamp }) => Date.parse(timestamp) >= since);
  return Object.entries(LOSSES).flatMap(([event, { name, found, remedy }]) => {
    const latest = recent.findLast((each) => each.event === event);
    if (latest === undefined) return [];
    const ago = describeDuration(Math.max(clock.now() - Date.parse(latest.timestamp), 0));
    return [warning(name, `${ago} ago, ${found(latest)}`, `${remedy}; a day after it, this line goes`)];
  });
}
