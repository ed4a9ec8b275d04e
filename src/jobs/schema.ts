/** Which version of the records a Redis holds, checked at each connection: an older process would take newer records for damage. */
import type { Redis } from 'ioredis';
import * as z from 'zod';
import { UsageError } from '../errors.js';
import { applyCommit } from '../redis/commit.js';
import type { Keys } from './keys.js';

/** This version's. Raise `version` with every change of a record, and `leastReader` if older versions would misread it. */
export const SCHEMA: Schema = { version: 1, leastReader: 1 };

export interface Schema {
  /** The highest version that has written there. */
  readonly version: number;
  /** Lower versions must not connect. */
  readonly leastReader: number;
}

const STORED = z.object({ version: z.int().positive(), least_reader: z.int().positive() });

/** @returns null if no version that records it has written there @throws UsageError if it cannot be read */
export async function readSchema(redis: Redis, keys: Keys): Promise<Schema | null> {
  const text = await redis.get(keys.schema);
  return text === null ? null : parse(text, keys);
}

/** @throws UsageError if a newer version wrote what `own` cannot read, or the schema is unreadable */
export async function requireReadable(redis: Redis, keys: Keys, own: Schema = SCHEMA): Promise<void> {
  const found = await readSchema(redis, keys);
  if (found !== null && found.leastReader > own.version) throw new UsageError(refusal(found, own));
}

/** As {@link requireReadable}, with what it throws; records that `own` writes there from now on. */
export async function claimSchema(redis: Redis, keys: Keys, own: Schema = SCHEMA): Promise<void> {
  for (;;) {
    await requireReadable(redis, keys, own);
    const text = await redis.get(keys.schema);
    const found = text === null ? null : parse(text, keys);
    if (found !== null && found.version >= own.version) return;
    const next = JSON.stringify({ version: own.version, least_reader: own.leastReader });
    const checks = [{ read: ['GET', keys.schema], equals: text }] as const;
    if (await applyCommit(redis, { checks, writes: [['SET', keys.schema, next]] })) return;
  }
}

function parse(text: string, { schema }: Keys): Schema {
  try {
    const { version, least_reader: leastReader } = STORED.parse(JSON.parse(text));
    return { version, leastReader };
  } catch {
    throw new UsageError(
      `the key ${schema} of this Redis cannot be read, so it is unknown which version wrote its records: restore it from a backup; see docs/upgrade.md`,
    );
  }
}

function refusal(found: Schema, own: Schema): string {
  return `a newer Watchkeeper wrote the records of this Redis (schema ${found.version}, for readers from ${found.leastReader} on), and this version (schema ${own.version}) cannot read them. Nothing was changed: install the newer version again, or restore a backup from before the upgrade; see docs/upgrade.md`;
}
