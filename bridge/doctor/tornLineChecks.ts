/** Lines of the log files that a full disk or a crash cut off and that are still there. */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { worklogIn } from '../../memory/home/places.js';
import { errorCode } from '../../src/errors.js';
import { linesFrom } from '../../src/files/lines.js';
import { describeFileTrouble, openPlainFile } from '../../src/files/plainFile.js';
import { journalPath } from '../../src/journal/path.js';
import { type CheckResult, ok, unchecked, warning } from './checkResult.js';

const NAME = 'torn lines';
/** The youngest journals are enough to see the state of the disk. */
const MOST_JOURNALS = 1_000;
/** The version of journals, worklogs and critical events. */
const KNOWN_VERSION = 1;
const FILES = ['critical_events.jsonl', 'bridge.log'];
const MOST_NAMED = 3;

interface Found {
  readonly path: string;
  readonly torn: number;
  /** Lines of a newer version than this one. */
  readonly newer: number;
}

/** @returns how many lines are unreadable, or unreadable by this version */
export async function checkTornLines(logsFolder: string): Promise<CheckResult[]> {
  const unseen: string[] = [];
  const onTrouble = (path: string, error: unknown) => void unseen.push(`${path} (${describeFileTrouble(error)})`);
  const files = [...FILES.map((name) => join(logsFolder, name)), ...(await journals(logsFolder, onTrouble))];
  const found: Found[] = [];
  for (const path of files) found.push(await countLines(path, onTrouble));
  const [torn, newer] = [countsOf(found, 'torn'), countsOf(found, 'newer')];
  const complaints = [
    ...(torn === null
      ? []
      : [
          warning(
            NAME,
            `unreadable lines, probably cut off by a full disk or a crash: ${torn}`,
            'Watchkeeper skips them, but other readers may not: `jq -cR "fromjson? // empty" FILE` filters them out',
          ),
        ]),
    ...(unseen.length === 0 ? [] : [unchecked(NAME, `whether lines can be read in ${firstOf(unseen)}`)]),
  ];
  const checks = complaints.length > 0 ? complaints : [ok(NAME, 'every line of the log files can be read')];
  if (newer === null) return checks;
  const words = `lines that a newer version wrote and this one skips: ${newer}`;
  return [...checks, warning('newer lines', words, 'install the newer version again; see docs/upgrade.md')];
}

/** @returns the first files with such lines, in words; null if there are none */
function countsOf(all: readonly Found[], which: 'torn' | 'newer'): string | null {
  const some = all.filter((found) => found[which] > 0);
  if (some.length === 0) return null;
  return firstOf(some.map((found) => `${found[which]} in ${found.path.split('/').slice(-2).join('/')}`));
}

function firstOf(all: readonly string[]): string {
  const rest = all.length - MOST_NAMED;
  return `${all.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more files` : ''}`;
}

/** Told of each file or folder that is there and cannot be read. */
type OnTrouble = (path: string, error: unknown) => void;

async function journals(logsFolder: string, onTrouble: OnTrouble): Promise<string[]> {
  const sessions = join(logsFolder, 'sessions');
  const ids = await readdir(sessions).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') onTrouble(sessions, error);
    return [];
  });
  return ids.slice(-MOST_JOURNALS).flatMap((id) => {
    const folder = join(logsFolder, 'sessions', id);
    return [join(folder, basename(journalPath('', 'id'))), worklogIn(folder)];
  });
}

/** Zero for a file that is missing. */
async function countLines(path: string, onTrouble: OnTrouble): Promise<Found> {
  const file = await openPlainFile(path).catch((error: unknown) => {
    // Among the sessions there may be a file that is none.
    if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error))) onTrouble(path, error);
    return null;
  });
  if (file === null) return { path, torn: 0, newer: 0 };
  try {
    let [torn, newer] = [0, 0];
    for await (const { text, whole } of linesFrom(file, 0)) {
      const version = versionOf(text);
      // The last line may be incomplete because it is just being written.
      if (version === null && whole) torn += 1;
      if ((version ?? 0) > KNOWN_VERSION) newer += 1;
    }
    return { path, torn, newer };
  } finally {
    await file.close();
  }
}

/** @returns the line's `v`, 0 if it has none; null if it is not JSON */
function versionOf(text: string): number | null {
  try {
    const { v } = Object(JSON.parse(text)) as { v?: unknown };
    return typeof v === 'number' ? v : 0;
  } catch {
    return null;
  }
}
