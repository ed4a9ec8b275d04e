/**
 * The days of many reviews in one reading of the log. Everything before a day is folded once for all later days, so the work
 * grows with the events plus the days, not with their product: a log of years has thousands of both.
 */
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { type Day, DayFolder } from './dayFacts.js';
import type { DayZone } from './dayZone.js';
import { type IncidentStory, withEvent } from './incidentStory.js';
import { UNKNOWN_WATCH, type WatchedDay, type WatchFacts } from './watchTimes.js';
import { WEEK_MS } from './weekFacts.js';

export class ManyDays {
  /** In the order of the calendar. */
  readonly #folders: readonly DayFolder[];
  /** What the events so far amount to for days that have not begun yet. */
  readonly #before = new Map<string, IncidentStory>();
  /** How many of the days have begun. */
  #begun = 0;
  /** The instant of the earliest event, epoch milliseconds. */
  #first = Number.POSITIVE_INFINITY;

  /** @param days as `2026-02-05`, sorted, each once */
  constructor(days: readonly string[], zone: DayZone) {
    this.#folders = days.map((day) => new DayFolder(day, zone));
  }

  /** Takes the log's events in order, which need not be that of their times. */
  add(event: CriticalEvent): void {
    const at = Date.parse(event.timestamp);
    this.#first = Math.min(this.#first, at);
    // An event after all the days changes none of them.
    if (at >= (this.#folders.at(-1)?.end ?? Number.NEGATIVE_INFINITY)) return;
    for (let next = this.#folders[this.#begun]; next !== undefined && next.begin <= at; ) {
      this.#begin(next);
      next = this.#folders[this.#begun];
    }
    // Usually it belongs to the day that began last; a late one changes every day from its own on.
    for (let index = this.#begun - 1; index >= 0; index -= 1) {
      const folder = this.#folders[index];
      if (folder === undefined || folder.end <= at) break;
      folder.add(event);
    }
    const next = this.#folders[this.#begun];
    if (next === undefined) return;
    const story = withEvent(this.#before.get(event.incident_id) ?? null, event, at);
    if (isUseless(story, next)) this.#before.delete(event.incident_id);
    else this.#before.set(event.incident_id, story);
  }

  /**
   * @param watchOf returns when a day was watched, between two instants in epoch milliseconds
   * @returns the days in the order of the calendar; none of those before the first event, because nothing is known about them
   */
  days(watchOf: (day: WatchedDay) => WatchFacts = () => UNKNOWN_WATCH): Day[] {
    // Days that no event reached: open incidents are on their pages, too.
    for (const folder of this.#folders.slice(this.#begun)) this.#begin(folder);
    return this.#folders
      .filter(({ end }) => end > this.#first)
      .map((folder) => folder.day((hasEvents) => watchOf({ begin: folder.begin, end: folder.end, hasEvents })));
  }

  #begin(folder: DayFolder): void {
    this.#begun += 1;
    for (const [id, story] of this.#before) if (isUseless(story, folder)) this.#before.delete(id);
    folder.beginWith(this.#before.values());
  }
}

function isUseless({ closed_at }: IncidentStory, { begin }: DayFolder): boolean {
  return closed_at !== null && closed_at < begin - WEEK_MS;
}
