/** The process that monitors a session, as other commands begin and end it. */
import type { Memory } from '../../memory/sessions/memory.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import { livingMonitor, recordedMonitor } from '../../monitoring/terminals/monitorRecord.js';
import { errorCode } from '../../src/errors.js';
import { isProcessAlive } from '../../src/host/identity.js';
import { SECOND } from '../../src/time.js';

/** Until it is there, or gone. */
export const WITHIN_MS = 10 * SECOND;
const LOOK_EVERY_MS = 20;

type Monitored = Pick<Memory, 'places' | 'surroundings' | 'clock'>;

/** Unless one is alive. @returns the monitor, and whether it was alive before; null if it did not begin in time */
export async function startMonitor(memory: Monitored, { id }: OpenSession, begin: () => void) {
  const before = livingMonitor(memory, id);
  if (before !== null) return { monitor: before, wasAlive: true };
  begin();
  const monitor = await until(memory, () => livingMonitor(memory, id));
  return monitor === null ? null : { monitor, wasAlive: false };
}

export interface MonitorEnd {
  /** `alive` if it did not end in time; `unseen` if its process cannot be seen from here, and may run. */
  readonly end: 'none' | 'stopped' | 'alive' | 'unseen';
  /** Null if none is recorded. */
  readonly pid: number | null;
}

/** A process that only has the pid of a former monitor gets no signal. */
export async function stopMonitor(memory: Monitored, { id }: Pick<OpenSession, 'id'>): Promise<MonitorEnd> {
  const recorded = recordedMonitor(memory, id);
  if (recorded === null) return { end: 'none', pid: null };
  const { pid } = recorded.process;
  const isAlive = () => isProcessAlive(recorded.process, memory.surroundings.process);
  const before = isAlive();
  if (before !== true) return { end: before === null ? 'unseen' : 'none', pid };
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
  const isGone = await until(memory, () => isAlive() === false || null);
  return { end: isGone === null ? 'alive' : 'stopped', pid };
}

async function until<Found>({ clock }: Monitored, look: () => Found | null): Promise<Found | null> {
  const end = clock.monotonic() + WITHIN_MS;
  for (;;) {
    const found = look();
    if (found !== null || clock.monotonic() >= end) return found;
    await clock.sleep(LOOK_EVERY_MS);
  }
}
