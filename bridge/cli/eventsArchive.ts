import { type Archived, archiveEvents } from '../../monitoring/events/archive.js';
import { systemClock } from '../../src/time.js';
import { eventsFileOf } from '../assembly/foundation.js';
import type { CommandContext, ExitCode } from './command.js';
import { parseInstant } from './instant.js';
import type { ReadOptions } from './options.js';

/** `events archive`: moves events that are old and acknowledged by every consumer out of the live file. */
export async function archiveOldEvents(
  values: ReadOptions['values'],
  { io, readSettings }: CommandContext,
): Promise<ExitCode> {
  const { before } = values;
  const settings = await readSettings();
  const archived = await archiveEvents(eventsFileOf(settings), {
    clock: systemClock,
    before:
      typeof before === 'string' ? parseInstant('--before', before) : systemClock.now() - settings.retention.keptMs,
  });
  io.stdout(values.json === true ? `${JSON.stringify(archived)}\n` : `${describe(archived)}\n`);
  return 0;
}

function describe({ events, path, unacknowledged }: Archived): string {
  const moved = events === 0 ? 'nothing was moved' : `moved ${count(events)} to ${path}`;
  if (unacknowledged === 0) return events === 0 ? `${moved}: no event is old enough` : moved;
  return `${moved}; ${count(unacknowledged)} old enough to go must stay until every consumer has acknowledged (events ack, daydream)`;
}

function count(events: number): string {
  return events === 1 ? '1 event' : `${events} events`;
}
