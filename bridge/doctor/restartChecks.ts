import { counted } from '../../src/counted.js';
import { MOST_QUICK_STARTS, QUICK_MS } from '../../src/jobs/bridgeStarts.js';
import type { Store } from '../../src/jobs/store.js';
import { describeDuration } from '../../src/time.js';
import { type CheckResult, ok, warning } from './checkResult.js';

/** Checks whether a host's bridge ends again and again. */
export async function checkRestarts(store: Store, host: string): Promise<CheckResult> {
  const name = 'restarts';
  const { length } = await store.bridgeStarts.recent(host);
  const within = `within ${describeDuration(QUICK_MS)}`;
  if (length < MOST_QUICK_STARTS) return ok(name, `the bridge of this host does not start in quick succession`);
  return warning(
    name,
    `the bridge of this host was started ${counted(length, 'time')} ${within}, each time without an orderly stop before`,
    'look at the last lines before each start in bridge.log, and at what the kernel and the supervisor say of its end (memory, a limit, a watchdog)',
  );
}
