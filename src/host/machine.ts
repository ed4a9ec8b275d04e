/** Facts about this host that other programs name it by. */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { SECOND, systemClock } from '../time.js';

/** `man 5 machine-id`; the second one is older. */
const MACHINE_ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

/** @returns the id of this installation of the system; null if it has none. Copies of one disk have the same */
export function machineId(): string | null {
  for (const file of MACHINE_ID_FILES) {
    try {
      const id = readFileSync(file, 'utf8').trim();
      if (id !== '') return id;
    } catch {
      // The other file may be there.
    }
  }
  return null;
}

/** @returns when this host was started, by its present clock, UTC epoch milliseconds. A clock that was set moves it */
export function bootedAt(clock = systemClock): number {
  return clock.now() - uptime() * SECOND;
}
