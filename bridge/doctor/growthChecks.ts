/** How much the logs folder holds, and when the acting watchdog cleans it up next. */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readRetentionRecord } from '../../monitoring/rounds/retentionRound.js';
import type { Settings } from '../../src/config/settings.js';
import { errorCode } from '../../src/errors.js';
import { type Clock, DAY, describeDuration, HOUR, localTime } from '../../src/time.js';
import { type CheckResult, ok, skipped, unchecked, warning } from './checkResult.js';

const KIBIBYTE = 1024;
const MEBIBYTE = KIBIBYTE * KIBIBYTE;
/** A folder that holds many years must not delay the doctor. */
const MOST_ENTRIES = 20_000;
const OVERDUE_MS = 6 * HOUR;

/** @returns the sizes of all that is kept, the largest first, and whether retention works */
export async function checkGrowth({ logsFolder, retention }: Settings, clock: Clock): Promise<CheckResult> {
  const name = 'retention';
  const names = await readdir(logsFolder).catch(errorCode);
  if (names === 'ENOENT') return skipped(name, 'there is no logs folder yet');
  if (typeof names === 'string') return unchecked(name, `${logsFolder} cannot be read (${names})`);
  const sizes = await sizesIn(logsFolder, names);
  const shown = sizes.map(({ entry, bytes, isWhole }) => `${entry} ${isWhole ? '' : 'over '}${describeBytes(bytes)}`);
  const kept = `kept ${retention.keptMs / DAY} days, archives ${retention.archiveMs / DAY} days`;
  const record = await readRetentionRecord(logsFolder);
  const last =
    record === null
      ? 'has not run yet'
      : `last run at ${localTime(record.doneAt)}, next at ${localTime(record.nextAt)}`;
  const words = `${shown.join(', ') || 'nothing yet'}; ${kept}; ${last}`;
  const lateMs = record === null ? 0 : clock.now() - record.nextAt;
  if (lateMs <= OVERDUE_MS) return ok(name, words);
  return warning(
    name,
    `${words}, which is ${describeDuration(lateMs)} late`,
    'the acting watchdog runs it: start the bridge, or search bridge.log and watchdog.log for "retention"',
  );
}

async function sizesIn(logsFolder: string, names: readonly string[]) {
  const sizes = await Promise.all(names.map(async (entry) => ({ entry, ...(await sizeOf(join(logsFolder, entry))) })));
  return sizes.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
}

/** @returns its bytes; `isWhole` is false if there was too much to count */
async function sizeOf(path: string) {
  let [bytes, left] = [0, MOST_ENTRIES];
  const look = async (at: string): Promise<void> => {
    const found = await lstat(at).catch(() => null);
    left -= 1;
    if (found?.isFile()) bytes += found.size;
    if (!found?.isDirectory()) return;
    for (const name of await readdir(at).catch(() => [])) if (left > 0) await look(join(at, name));
  };
  await look(path);
  return { bytes, isWhole: left > 0 };
}

function describeBytes(bytes: number): string {
  return bytes < MEBIBYTE ? `${Math.ceil(bytes / KIBIBYTE)} KiB` : `${Math.round(bytes / MEBIBYTE)} MiB`;
}
