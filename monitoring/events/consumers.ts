/** How far each reader has acknowledged the critical events, in `logs/consumers/`. Events that all have acknowledged may be archived. */
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { describeError, nullIfAbsent, UnreachableError, UsageError } from '../../src/errors.js';
import { replaceBelowLogs } from '../../src/files/durableFile.js';
import { readPlainFile } from '../../src/files/plainFile.js';
import { type Clock, isoTime } from '../../src/time.js';
import { formatCursor, type Place, parseCursor } from './cursor.js';
import { EventReader } from './reader.js';

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const LONGEST_BYTES = 64 * 1024;
const RECORD = z.looseObject({ cursor: z.string() });

export class EventConsumers {
  readonly #livePath: string;
  readonly #clock: Clock;

  /** @param livePath of `critical_events.jsonl`; the consumers' files are next to it */
  constructor(livePath: string, clock: Clock) {
    this.#livePath = livePath;
    this.#clock = clock;
  }

  get folder(): string {
    return join(dirname(this.#livePath), 'consumers');
  }

  /** @returns null if it has acknowledged nothing yet @throws UsageError if its file is damaged */
  async acknowledged(name: string): Promise<Place | null> {
    const path = this.#path(name);
    try {
      const text = await readPlainFile(path, LONGEST_BYTES).catch(nullIfAbsent);
      if (text === null) return null;
      return parseCursor(RECORD.parse(JSON.parse(text)).cursor);
    } catch (error) {
      throw new UsageError(
        `${path} is damaged (${describeError(error)}): delete it to let ${name} start over, or acknowledge again`,
        { cause: error },
      );
    }
  }

  async all(): Promise<Map<string, Place | null>> {
    const files = (await readdir(this.folder).catch(nullIfAbsent)) ?? [];
    const names = files.map((file) => file.replace(/\.json$/, '')).filter((name) => NAME.test(name));
    const places = new Map<string, Place | null>();
    for (const name of names.sort()) places.set(name, await this.acknowledged(name));
    return places;
  }

  /** Never goes back. @returns whether anything changed @throws UsageError for a foreign place; UnreachableError */
  async acknowledge(name: string, place: Place): Promise<boolean> {
    const path = this.#path(name);
    const before = await this.acknowledged(name).catch(() => null);
    const { positions } = await new EventReader(this.#livePath).locate([place, ...(before === null ? [] : [before])]);
    const [there = null, old = null] = positions;
    if (there === null) {
      throw new UsageError(
        `the event ${place.id} is neither in the critical events nor in their archive: nothing is acknowledged`,
      );
    }
    const isLater = old === null || there.piece > old.piece || (there.piece === old.piece && there.offset > old.offset);
    if (!isLater) return false;
    const record = {
      v: 1,
      consumer: name,
      cursor: formatCursor(place),
      event_id: place.id,
      acknowledged_at: isoTime(this.#clock.now()),
    };
    await replaceBelowLogs(path, `${JSON.stringify(record)}\n`).catch((error: unknown) => {
      throw new UnreachableError(
        `${path} could not be written (${describeError(error)}): nothing is acknowledged; check space and permissions there`,
        { cause: error },
      );
    });
    return true;
  }

  #path(name: string): string {
    if (NAME.test(name)) return join(this.folder, `${name}.json`);
    throw new UsageError(
      `${JSON.stringify(name.slice(0, 60))} cannot name a consumer: lower-case letters, digits, "_" and "-", at most 40`,
    );
  }
}
