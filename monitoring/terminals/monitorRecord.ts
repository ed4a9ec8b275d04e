/** The monitor of a session: a file next to its worklog. A pid alone proves nothing: another process may have it by now. */
import { join } from 'node:path';
import * as z from 'zod';
import { processSchema } from '../../memory/fold/rules/runs.js';
import { replaceInSession } from '../../memory/home/sessionFile.js';
import type { Memory } from '../../memory/sessions/memory.js';
import { readOwnFileSync } from '../../src/files/ownFile.js';
import { isProcessAlive, isSameProcess } from '../../src/host/identity.js';
import { parseJson } from '../../src/json.js';

export const MONITOR_FILE = 'monitor.json';
const VERSION = 1;
const LONGEST_BYTES = 16 * 1024;

const recordSchema = z.looseObject({
  v: z.number(),
  process: processSchema,
  /** Milliseconds. */
  interval_ms: z.number(),
  checks: z.number(),
});
export type MonitorRecord = Readonly<z.infer<typeof recordSchema>>;

type Monitored = Pick<Memory, 'places' | 'surroundings'>;

/** @returns the monitor that was recorded last; null if none was, or the file is damaged */
export function recordedMonitor({ places }: Pick<Memory, 'places'>, sessionId: string): MonitorRecord | null {
  const folder = places.findSession(sessionId);
  try {
    const text = folder === null ? '' : readOwnFileSync(join(folder, MONITOR_FILE), LONGEST_BYTES);
    const parsed = recordSchema.safeParse(parseJson(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** @returns the recorded monitor if its process is proven alive; a process that only has its pid is not */
export function livingMonitor(memory: Monitored, sessionId: string): MonitorRecord | null {
  const found = recordedMonitor(memory, sessionId);
  return found !== null && isProcessAlive(found.process, memory.surroundings.process) === true ? found : null;
}

/** @throws UnreachableError if it cannot be written */
export function recordMonitor(
  { places, surroundings: { process } }: Monitored,
  sessionId: string,
  limits: Pick<MonitorRecord, 'interval_ms' | 'checks'>,
): void {
  replaceInSession(places, sessionId, MONITOR_FILE, `${JSON.stringify({ v: VERSION, process, ...limits })}\n`);
}

/** If two begin at once, only the one that is recorded last stays. @returns null if none is recorded, or the file is damaged */
export function isReplaced(memory: Monitored, sessionId: string): boolean | null {
  const found = recordedMonitor(memory, sessionId);
  return found === null ? null : !isSameProcess(found.process, memory.surroundings.process);
}
