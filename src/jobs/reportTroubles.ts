/** Places of issues that refuse what is reported to them, until a person changes something. */
import { StorePart } from './storePart.js';

export interface ReportTrouble {
  /** The repository, `owner/name`. */
  readonly place: string;
  /** Of its critical event. */
  readonly incident_id: string;
  /** UTC epoch milliseconds. */
  readonly since: number;
  /** Why, and what to do: a sentence for the operator. */
  readonly words: string;
}

export class ReportTroubles extends StorePart {
  /** @returns whether it is news: no trouble was known at this place */
  async begin(trouble: ReportTrouble): Promise<boolean> {
    return (await this.redis.hsetnx(this.keys.reportTroubles, trouble.place, JSON.stringify(trouble))) === 1;
  }

  /** @returns the trouble that is over now; null if there was none, or another process has ended it */
  async end(place: string): Promise<ReportTrouble | null> {
    const found = await this.redis.hget(this.keys.reportTroubles, place);
    if (found === null || (await this.redis.hdel(this.keys.reportTroubles, place)) === 0) return null;
    return JSON.parse(found) as ReportTrouble;
  }

  async all(): Promise<ReportTrouble[]> {
    return (await this.redis.hvals(this.keys.reportTroubles)).map((found) => JSON.parse(found) as ReportTrouble);
  }
}
