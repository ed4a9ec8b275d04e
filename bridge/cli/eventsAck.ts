import { EventConsumers } from '../../monitoring/events/consumers.js';
import { parseCursor } from '../../monitoring/events/cursor.js';
import { UsageError } from '../../src/errors.js';
import { systemClock } from '../../src/time.js';
import { eventsFileOf } from '../assembly/foundation.js';
import type { CommandContext, ExitCode } from './command.js';
import type { ReadOptions } from './options.js';

/** The consumer if no name is given. */
export const DEFAULT_CONSUMER = 'reader';

/** `events ack CURSOR`: everything up to there may be archived, as far as this consumer is concerned. */
export async function acknowledgeEvents(
  cursor: string | undefined,
  values: ReadOptions['values'],
  { io, readSettings }: CommandContext,
): Promise<ExitCode> {
  if (cursor === undefined)
    throw new UsageError('events ack needs a cursor, the one that `events --after … --json` gave');
  const place = parseCursor(cursor);
  if (place === null) throw new UsageError('the beginning cannot be acknowledged: nothing stands before it');
  const consumer = typeof values.consumer === 'string' ? values.consumer : DEFAULT_CONSUMER;
  const consumers = new EventConsumers(eventsFileOf(await readSettings()), systemClock);
  const isNew = await consumers.acknowledge(consumer, place);
  if (values.json === true) io.stdout(`${JSON.stringify({ consumer, event_id: place.id, changed: isNew })}\n`);
  else
    io.stdout(
      isNew ? `${consumer} has acknowledged everything up to ${place.id}\n` : `${consumer} was there already\n`,
    );
  return 0;
}
