/** Lines of the log files that a full disk or a crash cut off, and that stayed. */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { linesFrom } from '../../monitoring/appendedLines.js';
import { journalPath } from '../../src/journal/path.js';
import { openPlainFile } from '../../src/plainFile.js';
import { type CheckResult, ok, warning } from './checkResult.js';

const NAME = 'torn lines';
/** The youngest journals are enough to see what the disk does. */
const MOST_JOURNALS = 1_000;
const FILES = ['critical_events.jsonl', 'bridge.log'];

/** @returns how many lines of the critical events, the log and the youngest journals are no JSON */
export async function checkTornLines(logsFolder: string): Promise<CheckResult[]> {
  const files = [...FILES.map((name) => join(logsFolder, name)), ...(await journals(logsFolder))];
  const torn: { path: string; lines: number }[] = [];
  for (const path of files) {
    const lines = await countTornLines(path);
    if (lines > 0) torn.push({ path, lines });
  }
  if (torn.length === 0) return [ok(NAME, 'every line of the log files can be read')];
  const counts = torn.slice(0, 3).map(({ path, lines }) => `${lines} in ${nameOf(path)}`);
  const more = torn.length > 3 ? ` and ${torn.length - 3} more files` : '';
  return [
    warning(
      NAME,
      `lines that cannot be read, probably cut off by a full disk or a crash: ${counts.join(', ')}${more}`,
      'Watchkeeper skips them, other readers may not: `jq -cR "fromjson? // empty" FILE` leaves them out',
    ),
  ];
}

async function journals(logsFolder: string): Promise<string[]> {
  const ids = await readdir(join(logsFolder, 'sessions')).catch(() => []);
  return ids.slice(-MOST_JOURNALS).map((id) => join(logsFolder, 'sessions', id, basename(journalPath('', 'id'))));
}

/** Zero for a file that is not there or cannot be read: other checks report that. */
async function countTornLines(path: string): Promise<number> {
  const file = await openPlainFile(path).catch(() => null);
  if (file === null) return 0;
  try {
    let torn = 0;
    // The last line may be being written.
    for await (const { text, whole } of linesFrom(file, 0)) if (whole && !isJson(text)) torn += 1;
    return torn;
  } finally {
    await file.close();
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function nameOf(path: string): string {
  return path.split('/').slice(-2).join('/');
}
