/** Records that could not be read and were set aside. Their senders were notified, and the cause is unknown. */
import { counted } from '../../src/counted.js';
import type { Store } from '../../src/jobs/store.js';
import { type CheckResult, ok, warning } from './checkResult.js';

const NAME = 'records';
const MOST_NAMED = 3;

/** Read-only. */
export async function checkSetAside(store: Store): Promise<CheckResult> {
  const kept = await store.quarantine.kept();
  if (kept.length === 0) return ok(NAME, 'none had to be set aside because it could not be read');
  const named = kept.slice(-MOST_NAMED).join(', ');
  const more = kept.length > MOST_NAMED ? `, the latest ${named}` : `: ${named}`;
  return warning(
    NAME,
    `${counted(kept.length, 'record')} could not be read and ${kept.length === 1 ? 'is' : 'are'} kept aside${more}`,
    'look at them with `redis-cli HGETALL KEY` and at the critical events with the reason record_unreadable: a newer version on the same Redis writes such records, or somebody changed them by hand; delete a key when you are done with it',
  );
}
