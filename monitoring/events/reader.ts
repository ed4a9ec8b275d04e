/** Reads critical events behind a cursor, each once and in order, through all files. Only final lines: see `liveFile.ts`. */
import { UsageError } from '../../src/errors.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { Newest } from '../../src/newest.js';
import { type Clock, HOUR, SECOND, systemClock } from '../../src/time.js';
import { parseEvent, withFile } from './criticalEventTail.js';
import { type Place, START } from './cursor.js';
import { LiveFile } from './liveFile.js';
import { closePieces, firstEvent, linesOf, openPieces, type Piece } from './pieces.js';

export interface ReadEvent {
  readonly event: CriticalEvent;
  /** The line exactly as in the file. */
  readonly text: string;
  /** Behind this event. */
  readonly place: Place;
}

/** Behind a place; null is before everything that is kept, `live` before everything that is not archived. */
export type From = Place | null | 'live';

/** A place's position in the sequence of files, for comparing. */
export interface Position {
  readonly piece: number;
  /** In bytes. */
  readonly offset: number;
}

const EVENT_VERSION = 1;
const BEGINNING: Position = { piece: 0, offset: 0 };
/** `{incident_id}.{step}` */
const EVENT_ID = /^[\w-]+\.\w+$/;
const BATCH_LINES = 256;
/** Repeated ids come from replays and races, close behind each other; remembering all is not needed. */
const REMEMBERED_IDS = 10_000;
type RecentIds = Newest<string, true>;
/** How far before a place a new reader looks, to learn the ids that its predecessor returned last. */
const RECALLED_BYTES = 256 * 1024;
const FOLLOW_EVERY_MS = SECOND / 2;

export class EventReader {
  readonly #live: LiveFile;
  #leftOut = 0;

  /** @param livePath of `critical_events.jsonl`, which need not exist yet */
  constructor(livePath: string) {
    this.#live = new LiveFile(livePath);
  }

  /** How many events of a newer version were skipped so far: their meaning is unknown here. */
  get newer(): number {
    return this.#leftOut;
  }

  /** @throws UsageError if the place's event does not exist: nothing is read then */
  async *read(after: From): AsyncGenerator<ReadEvent> {
    for await (const batch of this.#batches(after, new Newest(REMEMBERED_IDS))) yield* batch;
  }

  /** As {@link read}, then as they are written. A file that is moved by hand is followed by its replacement, from the beginning. */
  async *follow(after: From, signal: AbortSignal, clock: Clock = systemClock): AsyncGenerator<ReadEvent[]> {
    const recent: RecentIds = new Newest(REMEMBERED_IDS);
    let place: From = after;
    let seen: string | null = null;
    while (!signal.aborted) {
      const now = await this.#fingerprint();
      if (now !== seen) {
        try {
          for await (const batch of this.#batches(place, recent)) {
            place = batch.at(-1)?.place ?? place;
            if (batch.length > 0) yield batch;
          }
          seen = now;
        } catch (error) {
          if (seen === null || !(error instanceof UsageError)) throw error;
          place = 'live';
          continue;
        }
      }
      await clock.sleep(FOLLOW_EVERY_MS, signal);
    }
  }

  /** @returns where the places are now, null for one whose event does not exist; and how many files the sequence has */
  async locate(places: readonly (Place | null)[]): Promise<{ positions: (Position | null)[]; pieces: number }> {
    const pieces = await openPieces(this.#live.path);
    try {
      const positions: (Position | null)[] = [];
      for (const place of places) positions.push(place === null ? BEGINNING : await positionOf(pieces, place));
      return { positions, pieces: pieces.length };
    } finally {
      await closePieces(pieces);
    }
  }

  /** The archive is read only if an event since then, epoch milliseconds, may be there. */
  async startFor(since: number): Promise<From> {
    const first = await withFile(this.#live.path, firstEvent);
    // Events of several processes are nearly in the order of their instants.
    return first !== null && Date.parse(first.timestamp) < since - HOUR ? 'live' : null;
  }

  async *#batches(after: From, recent: RecentIds): AsyncGenerator<ReadEvent[]> {
    let place = after;
    for (let isReplaced = true; isReplaced; ) {
      isReplaced = false;
      const pieces = await openPieces(this.#live.path);
      try {
        const start = await startOf(pieces, place);
        const begun = pieces[start.piece];
        if (begun !== undefined) await recall(recent, begun, start.offset);
        for (let index = start.piece; index < pieces.length && !isReplaced; index += 1) {
          const piece = pieces[index] as Piece;
          for await (const batch of batchesOf(piece, index === start.piece ? start.offset : 0)) {
            isReplaced = piece.live !== null && !(await this.#live.isInPlace(piece.live));
            if (isReplaced) break;
            place = batch.at(-1)?.place ?? place;
            yield batch.filter(({ event }) => remember(recent, event.id) && this.#isKnown(event));
          }
        }
      } finally {
        await closePieces(pieces);
      }
    }
  }

  /** The meaning of a newer version's event may differ. */
  #isKnown({ v: version }: { readonly v: unknown }): boolean {
    if (typeof version !== 'number' || version <= EVENT_VERSION) return true;
    this.#leftOut += 1;
    return false;
  }

  /** Changes whenever there may be something new. */
  async #fingerprint(): Promise<string> {
    const found = await withFile(this.#live.path, async (file) => {
      const { dev, ino, size, mtimeMs } = await file.stat();
      return `${dev}:${ino}:${size}:${mtimeMs}`;
    });
    return found ?? 'absent';
  }
}

async function startOf(pieces: readonly Piece[], place: From): Promise<Position> {
  if (place === null) return BEGINNING;
  if (place === 'live') {
    const index = pieces.findIndex(({ live }) => live !== null);
    return { piece: index === -1 ? pieces.length : index, offset: 0 };
  }
  const found = await positionOf(pieces, place);
  if (found !== null) return found;
  if (!EVENT_ID.test(place.id)) {
    throw new UsageError(
      `${JSON.stringify(place.id.slice(0, 80))} is no cursor: give one as \`events --after ${START} --json\` prints it (wk1:…), the id of an event, or "${START}"`,
    );
  }
  throw new UsageError(
    `the event ${place.id} is neither in the critical events nor in their archive: the cursor belongs to another log, or its event was deleted. Start over with ${START}, or with an instant (--since)`,
  );
}

/** First at the cursor's hint, then everywhere, the newest file first. */
async function positionOf(pieces: readonly Piece[], place: Place): Promise<Position | null> {
  for (const [index, piece] of pieces.entries()) {
    if (piece.first === null || piece.first !== place.first) continue;
    for await (const { text, end } of linesOf(piece, Math.max(0, place.end - RECALLED_BYTES))) {
      if (end >= place.end) {
        if (end === place.end && parseEvent(text)?.id === place.id) return { piece: index, offset: end };
        break;
      }
    }
  }
  const needle = JSON.stringify(place.id);
  for (let index = pieces.length - 1; index >= 0; index -= 1) {
    for await (const { text, end } of linesOf(pieces[index] as Piece, 0)) {
      if (text.includes(needle) && parseEvent(text)?.id === place.id) return { piece: index, offset: end };
    }
  }
  return null;
}

async function recall(recent: RecentIds, piece: Piece, offset: number): Promise<void> {
  if (offset === 0) return;
  for await (const { text, end } of linesOf(piece, Math.max(0, offset - RECALLED_BYTES))) {
    if (end > offset) return;
    const event = parseEvent(text);
    if (event !== null) remember(recent, event.id);
  }
}

async function* batchesOf(piece: Piece, offset: number): AsyncGenerator<ReadEvent[]> {
  let batch: ReadEvent[] = [];
  let known = piece.first;
  for await (const { text, end } of linesOf(piece, offset)) {
    const event = parseEvent(text);
    if (event === null) continue;
    known ??= event.id;
    batch.push({ event, text, place: { id: event.id, first: known, end } });
    if (batch.length < BATCH_LINES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function remember(recent: RecentIds, id: string): boolean {
  const isNew = !recent.has(id);
  if (isNew) recent.set(id, true);
  return isNew;
}
