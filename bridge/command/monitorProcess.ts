/** The process that monitors a session, as other commands begin and end it. */
import type { Memory } from '../../memory/sessions/memory.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import { livingMonitor, type MonitorRecord } from '../../monitoring/terminals/monitorRecord.js';
import { errorCode } from '../../src/errors.js';
import { SECOND } from '../../src/time.js';

/** Until it is there, or gone. */
const WITHIN_MS = 10 * SECOND;
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

/** A process that only has the pid of a former monitor gets no signal. @returns the monitor; null if none was alive */
export async function stopMonitor(memory: Monitored, { id }: Pick<OpenSession, 'id'>): Promise<MonitorRecord | null> {
  const monitor = livingMonitor(memory, id);
  if (monitor === null) return null;
  try {
    process.kill(monitor.process.pid, 'SIGTERM');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
  await until(memory, () => livingMonitor(memory, id) === null || null);
  return monitor;
}

async function until<Found>({ clock }: Monitored, look: () => Found | null): Promise<Found | null> {
  const end = clock.monotonic() + WITHIN_MS;
  for (;;) {
    const found = look();
    if (found !== null || clock.monotonic() >= end) return found;
    await clock.sleep(LOOK_EVERY_MS);
  }
}
