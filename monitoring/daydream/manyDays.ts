/**
 * The facts of many days in one reading of the log. Everything before a day is put together once for all later days, so the
 * work grows with the events plus the days, not with their product: a log of years has thousands of both.
 */
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { type Day, factsOf, type OpenDay, WEEK_MS } from './dayFacts.js';
import type { DayZone } from './dayZone.js';
import { type IncidentStory, withEvent } from './incidentStory.js';

export class ManyDays {
  /** In the order of the calendar. */
  readonly #days: readonly OpenDay[];
  readonly #zone: DayZone;
  /** The stories so far, for days that have not begun yet. */
  readonly #before = new Map<string, IncidentStory>();
  #begun = 0;
  /** The instant of the earliest event, epoch milliseconds. */
  #first = Number.POSITIVE_INFINITY;

  /** @param dates as `2026-02-05`, sorted, each once */
  constructor(dates: readonly string[], zone: DayZone) {
    this.#zone = zone;
    this.#days = dates.map((date) => ({
      date,
      begin: zone.beginOf(date),
      end: zone.endOf(date),
      stories: new Map(),
      today: new Set(),
      events: 0,
    }));
  }

  /** Takes the log's events in order, which need not be that of their times. */
  add(event: CriticalEvent): void {
    const at = Date.parse(event.timestamp);
    this.#first = Math.min(this.#first, at);
    // An event after all the days changes none of them.
    if (at >= (this.#days.at(-1)?.end ?? Number.NEGATIVE_INFINITY)) return;
    while (at >= (this.#days[this.#begun]?.begin ?? Number.POSITIVE_INFINITY)) this.#beginNext();
    // Usually it belongs to the day that began last; a late one changes every day from its own on.
    for (let index = this.#begun - 1; index >= 0; index -= 1) {
      const day = this.#days[index];
      if (day === undefined || day.end <= at) break;
      addTo(day.stories, event, at, day.begin);
      if (at < day.begin) continue;
      day.events += 1;
      day.today.add(event.incident_id);
    }
    const next = this.#days[this.#begun];
    if (next !== undefined) addTo(this.#before, event, at, next.begin);
  }

  /** @returns the days in the order of the calendar, without those before the first event: nothing is known about them */
  days(): Day[] {
    // Days that no event reached: open incidents are on their pages, too.
    while (this.#begun < this.#days.length) this.#beginNext();
    return this.#days.filter(({ end }) => end > this.#first).map((day) => factsOf(day, this.#zone));
  }

  #beginNext(): void {
    const day = this.#days[this.#begun];
    if (day === undefined) return;
    this.#begun += 1;
    for (const [id, story] of this.#before) {
      if (isForgotten(story, day.begin)) this.#before.delete(id);
      else day.stories.set(id, story);
    }
  }
}

/** @param begin of the day, epoch milliseconds: incidents that ended long before it are forgotten */
export function addTo(stories: Map<string, IncidentStory>, event: CriticalEvent, at: number, begin: number): void {
  const story = withEvent(stories.get(event.incident_id) ?? null, event, at);
  if (isForgotten(story, begin)) stories.delete(event.incident_id);
  else stories.set(event.incident_id, story);
}

/** An incident that ended a week before the day is of no use to it; this keeps memory small. */
function isForgotten({ closed_at }: IncidentStory, begin: number): boolean {
  return closed_at !== null && closed_at < begin - WEEK_MS;
}
