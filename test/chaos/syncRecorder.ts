/**
 * Loaded before a process of the product (`node --import`): notes every file that it has made durable, so that the checker sees
 * what would survive the death of a host. What a killed process has written survives without it.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Where the notes go, one JSON object per line. */
export const SYNC_RECORD = 'CHAOS_SYNC_RECORD';

/** A file that is on the disk. */
export interface SyncedFile {
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly path: string;
}

const file = process.env[SYNC_RECORD];
/** The host's wall clock, as the servers of the scene see it: the harness may set that of this process, and a host corrects its own. */
const wallNow = Date.now;
const fsync = fs.fsync;

if (file !== undefined) {
  fs.fsync = ((descriptor: number, done: fs.NoParamCallback) => {
    const path = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
    fsync(descriptor, (error) => {
      const at = wallNow();
      if (error === null) fs.appendFileSync(file, `${JSON.stringify({ at, path } satisfies SyncedFile)}\n`);
      done(error);
    });
  }) as typeof fs.fsync;
  syncBuiltinESMExports();
}
