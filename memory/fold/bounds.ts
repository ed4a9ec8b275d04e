/** The state is bounded, however long the log: the oldest entries of a list become a count. */

export const MOST_PLAN_STEPS = 500;
export const MOST_FILES = 2_000;
export const MOST_ENTRIES = 200;
/** Bytes of JSON that one phase of a plan may have, with its files, blockers and agents: it becomes one line of the log. */
export const MOST_PHASE_BYTES = 48 * 1024;

/** How many entries were left out of each list. */
export type More = Record<string, number>;

/** Adds an entry to a list. If there are too many, the oldest goes, a settled one first. */
export function addTo<Entry>(
  list: Entry[],
  entry: Entry,
  { more, name, isSettled = () => true }: { more: More; name: string; isSettled?: (entry: Entry) => boolean },
): void {
  list.push(entry);
  if (list.length <= MOST_ENTRIES) return;
  const at = Math.max(list.findIndex(isSettled), 0);
  // Mostly the first one goes, and `splice` takes several times as long.
  if (at === 0) list.shift();
  else list.splice(at, 1);
  more[name] = (more[name] ?? 0) + 1;
}

/** Sets an entry of a map, which keeps the order of its keys. If there are too many, as {@link addTo}. */
export function setIn<Entry>(
  map: Map<string, Entry>,
  [key, entry]: readonly [string, Entry],
  {
    more,
    name,
    most = MOST_ENTRIES,
    isSettled = () => true,
  }: { more: More; name: string; most?: number; isSettled?: (entry: Entry) => boolean },
): void {
  map.set(key, entry);
  if (map.size <= most) return;
  let oldest: string | null = null;
  for (const [other, value] of map) {
    oldest ??= other;
    if (other === key || !isSettled(value)) continue;
    oldest = other;
    break;
  }
  if (oldest !== null) map.delete(oldest);
  more[name] = (more[name] ?? 0) + 1;
}
