/** Checks whether final messages are held up: the chat refuses them, or cannot be reached. */
import { counted } from '../../src/counted.js';
import { isDelivered } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import { type Clock, spokenDuration } from '../../src/time.js';
import { type CheckResult, ok, warning } from './checkResult.js';

/** Fewer are a moment's trouble. */
const FEWEST_TRIES = 3;
const MOST_NAMED = 3;

export async function checkDeliveries({ records }: Pick<Store, 'records'>, clock: Clock): Promise<CheckResult> {
  const name = 'answers';
  const held = (await records.outboxEntries())
    .filter(({ state, tries, last_error }) => !isDelivered(state) && tries >= FEWEST_TRIES && last_error !== null)
    .sort((one, other) => one.created_at - other.created_at);
  const [oldest] = held;
  if (oldest === undefined) return ok(name, 'no final message is held up');
  const waits = `the oldest for ${spokenDuration(clock.now() - oldest.created_at)}`;
  const named = held.slice(0, MOST_NAMED).map(({ session_id, last_error }) => `${session_id}: ${last_error}`);
  const more = held.length > MOST_NAMED ? [`${held.length - MOST_NAMED} more`] : [];
  return warning(
    name,
    `${counted(held.length, 'final message')} could not be sent yet, ${waits}: ${[...named, ...more].join('; ')}`,
    'do what the chat asks for, such as giving the bot its right to write there back; each is tried again for a day',
  );
}
