/** Logs the work that a standby does not do. */
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';
import type { Store } from '../../src/jobs/store.js';
import type { Logger } from '../../src/log/logger.js';

/** A standby ends runs and revives messages, but runs no agents: its log says which work waits for a bridge. */
export function logWhatWaits({ records, presences }: Store, here: ProcessIdentity, logger: Logger): void {
  Promise.all([records.sessionIds('active'), records.sessionIds('pending'), presences.ofHost(here.host)])
    .then(([active, pending, presence]) => {
      const isBridgeUp = presence !== null && isProcessAlive(presence.owner, here) !== false;
      const fields = { active: active.length, pending: pending.length, bridge_is_up: isBridgeUp };
      const counted = `${active.length} running, ${pending.length} waiting`;
      const isDraining = presence?.draining_since !== undefined;
      if (isBridgeUp && isDraining)
        logger.info(fields, `sessions: ${counted}; the bridge is stopping: it starts nothing new`);
      else if (isBridgeUp) logger.info(fields, `sessions: ${counted}; a bridge runs them`);
      else logger.warn(fields, `sessions: ${counted}; no bridge is running, so nothing runs: start one`);
    })
    .catch((err: unknown) => logger.warn({ err }, 'how many sessions wait could not be read'));
}
