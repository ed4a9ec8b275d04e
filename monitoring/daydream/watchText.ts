/** What a review says about when the day was watched. */
import { plural } from '../../src/counted.js';
import type { DayZone } from './dayZone.js';
import type { WatchFacts } from './watchTimes.js';
import { number } from './words.js';

/** If there are more, they are counted. */
const MOST_NAMED = 3;

/** @returns the first sentence of a day on which nothing is known to have gone wrong */
export function quietWords(watch: WatchFacts, zone: DayZone): string {
  switch (watch.state) {
    case 'never':
      return NEVER;
    case 'partly':
      return `Watched only ${timesWords(watch, zone)}. Nothing went wrong then.`;
    case 'always':
    case 'unknown':
      return 'A quiet day: nothing went wrong.';
    default:
      return watch.state satisfies never;
  }
}

/** @returns what else a reader has to know about the watch; nothing if all of the day was watched */
export function watchNote(watch: WatchFacts, zone: DayZone): string {
  if (watch.state === 'never') return NEVER;
  return watch.state === 'partly' ? `Watched only ${timesWords(watch, zone)}.` : '';
}

const NEVER = 'Nothing was watched: the records show no watchdog on this day.';

function timesWords({ times }: WatchFacts, zone: DayZone): string {
  const clock = (instant: string) => zone.timeOf(Date.parse(instant));
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return '';
  if (times.length > MOST_NAMED)
    return `${number(times.length)} ${plural(times.length, 'time')} between ${clock(first.from)} and ${clock(last.until)}`;
  const spans = times.map(({ from, until }) => {
    const [begin, end] = [clock(from), clock(until)];
    return begin === end ? `at ${begin}` : `from ${begin} to ${end}`;
  });
  return spans.join(' and ');
}
