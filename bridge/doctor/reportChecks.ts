/** Checks whether reports are refused by the places where they are filed. */
import type { Store } from '../../src/jobs/store.js';
import { type Clock, spokenDuration } from '../../src/time.js';
import { type CheckResult, fault } from './checkResult.js';

/** @returns nothing if every report is taken */
export async function checkReports(store: Pick<Store, 'reportTroubles'>, clock: Clock): Promise<CheckResult[]> {
  return (await store.reportTroubles.all()).map(({ place, since, words }) =>
    fault(
      `reports ${place}`,
      `no report was taken for ${spokenDuration(clock.now() - since)}: ${words}`,
      'do what GitHub asks for, then restart the bridge, or run `watchkeeper reload` if its token is the same: the reports of the last day follow, and then this line goes',
    ),
  );
}
