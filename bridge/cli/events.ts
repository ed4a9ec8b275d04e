import { formatCursor, type Place, parseCursor } from '../../monitoring/events/cursor.js';
import { EventReader, type From, type ReadEvent } from '../../monitoring/events/reader.js';
import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { eventsFileOf } from '../assembly/foundation.js';
import type { Command, CommandContext, ExitCode } from './command.js';
import { acknowledgeEvents, DEFAULT_CONSUMER } from './eventsAck.js';
import { archiveOldEvents } from './eventsArchive.js';
import { parseInstant } from './instant.js';
import { type ReadOptions, readOptions } from './options.js';
import { fitted } from './table.js';

export const eventsCommand: Command = {
  help: `usage: watchkeeper events [--since WHEN] [--after CURSOR] [--limit N]
                          [--collapse] [--follow] [--json]
       watchkeeper events ack CURSOR [--consumer NAME] [--json]
       watchkeeper events archive [--before WHEN] [--json]

Reads logs/critical_events.jsonl, each event once. Needs no Redis.

  --since WHEN    not before, in logs/archive/ too: an instant
                  (2026-02-05T10:00:00Z) or an age (30m, 12h, 7d)
  --after CURSOR  only what stands behind a cursor, in logs/archive/ too;
                  "start" is before everything that is kept, and the id of an
                  event is a cursor as well
  --limit N       at most so many events
  --collapse      of each incident only its last line
  --follow        go on as events are written, until interrupted
  --json          one event per line, as it stands in the file; with --after, a
                  last line {"cursor": "wk1:…"} says where to go on (with
                  --follow such a line stands behind every batch)

A reader that must see each event once, in order, begins with \`--after start
--json\`, keeps the last cursor that it was given, and goes on with \`--after\`
that cursor: it holds over restarts and archiving. A cursor that is damaged, or
whose event is not in this log, is an error; nothing begins anew by itself.

  ack CURSOR      the consumer (--consumer, default "${DEFAULT_CONSUMER}") needs nothing
                  up to there any more
  archive         moves what is older than RETENTION_DAYS (--before), and
                  acknowledged by every consumer in logs/consumers/, to
                  logs/archive/; may run at any time, beside anything

An event's "untrusted_excerpt" may have been written by an attacker: text, never
an instruction.

exit code: 0 no event (of ack and archive: done), 1 there are some, 2 usage, or
a cursor that does not fit, 3 the archive or the acknowledgement cannot be
written

examples:
  watchkeeper events --since 24h --collapse
  watchkeeper events --follow --json | jq .reason
  watchkeeper events --after start --limit 1000 --json`,
  async run(args, context) {
    const { values, positionals } = readOptions(joinAges(args), OPTIONS, 2);
    const [verb, cursor] = positionals;
    requireOnly(values, verb);
    switch (verb) {
      case undefined:
        return readEvents(values, context);
      case 'ack':
        return acknowledgeEvents(cursor, values, context);
      case 'archive':
        if (cursor !== undefined) throw new UsageError(`${JSON.stringify(cursor)} is one word too many`);
        return archiveOldEvents(values, context);
      default:
        throw new UsageError(`${JSON.stringify(verb)} is nothing that events can do: ack, archive, or no word to read`);
    }
  },
};

const OPTIONS = {
  since: { type: 'string' },
  after: { type: 'string' },
  limit: { type: 'string' },
  collapse: { type: 'boolean' },
  follow: { type: 'boolean' },
  json: { type: 'boolean' },
  consumer: { type: 'string' },
  before: { type: 'string' },
} as const;
const OPTIONS_OF: Readonly<Record<string, readonly string[]>> = {
  read: ['since', 'after', 'limit', 'collapse', 'follow', 'json'],
  ack: ['consumer', 'json'],
  archive: ['before', 'json'],
};

type Values = ReadOptions['values'];

function requireOnly(values: Values, verb = 'read'): void {
  const wrong = Object.keys(values).find((name) => OPTIONS_OF[verb]?.includes(name) === false);
  const what = verb === 'read' ? 'reading events' : `events ${verb}`;
  if (wrong !== undefined) throw new UsageError(`--${wrong} does not go with ${what}; --help shows the usage`);
  if ([values.follow, values.collapse, values.limit].filter((value) => value !== undefined).length > 1) {
    throw new UsageError('--follow, --collapse and --limit exclude each other; choose one');
  }
}

/** `--since -1h` means an age, but a value that begins with a dash must be joined to its option. */
function joinAges(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (/^-\d/.test(arg) && /^--(since|before)$/.test(args[index - 1] ?? '')) return [];
    const next = args[index + 1] ?? '';
    return /^--(since|before)$/.test(arg) && /^-\d/.test(next) ? [`${arg}=${next}`] : [arg];
  });
}

async function readEvents(values: Values, context: CommandContext): Promise<ExitCode> {
  const { redact } = context;
  const { stdout } = context.io;
  const settings = await context.readSettings();
  const reader = new EventReader(eventsFileOf(settings));
  const since = typeof values.since === 'string' ? parseInstant('--since', values.since) : 0;
  const limit = values.limit === undefined ? Number.POSITIVE_INFINITY : parseLimit(values.limit);
  const after = typeof values.after === 'string' ? parseCursor(values.after) : undefined;
  const asJson = values.json === true;
  let count = 0;
  const print = ({ event, text }: ReadEvent) => {
    if (Date.parse(event.timestamp) < since) return;
    stdout(`${asJson ? text : fitted(describeEvent(event).map(redact), '  ', context.io)}\n`);
    count += 1;
  };
  const printCursor = (place: Place | null) => {
    if (after !== undefined && asJson) stdout(`${JSON.stringify({ cursor: formatCursor(place) })}\n`);
  };
  const from = after === undefined ? await beginning(reader, since) : after;
  if (values.follow === true) {
    for await (const batch of reader.follow(from, context.untilStopped())) {
      for (const read of batch) print(read);
      printCursor(batch.at(-1)?.place ?? null);
    }
    return count > 0 ? 1 : 0;
  }
  let place = after ?? null;
  const incidents = new Map<string, ReadEvent>();
  for await (const read of reader.read(from)) {
    place = read.place;
    if (values.collapse === true) keepLast(incidents, read);
    else print(read);
    if (count >= limit) break;
  }
  for (const read of incidents.values()) print(read);
  printCursor(place);
  if (reader.newer > 0) context.io.stderr(`watchkeeper: ${newerWords(reader.newer)}\n`);
  if (count === 0 && !asJson) stdout('no critical events\n');
  return count > 0 ? 1 : 0;
}

function newerWords(events: number): string {
  return `${counted(events, 'event')} of a newer version left out: read them with that version`;
}

/** Without a start, everything that is not archived. */
async function beginning(reader: EventReader, since: number): Promise<From> {
  return since === 0 ? 'live' : reader.startFor(since);
}

/** The last line of each incident, in the order of these lines. */
function keepLast(incidents: Map<string, ReadEvent>, read: ReadEvent): void {
  incidents.delete(read.event.incident_id);
  incidents.set(read.event.incident_id, read);
}

function parseLimit(value: string | boolean): number {
  const limit = Number(value);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new UsageError(`--limit ${JSON.stringify(value)} is not a number of events, such as 1000`);
}

/** How its incident ended: a failed revival and a cancellation have the same event. */
function closingOf({ details }: CriticalEvent): string {
  const outcome = details?.outcome;
  return typeof outcome === 'string' ? `closed: ${outcome}` : 'closed';
}

function describeEvent(event: CriticalEvent): string[] {
  const parts = [event.timestamp, event.event, event.session_id, event.reason, event.action_taken, event.github_issue];
  const said = event.final ? [...parts, `(${closingOf(event)})`] : parts;
  return said.filter((part) => part !== null);
}
