/** Services that refuse requests, until a person changes something. */
import { type StoreContext, StorePart } from './storePart.js';

export interface Trouble {
  /** The repository, `owner/name`, or the bot's id. */
  readonly place: string;
  readonly incident_id: string;
  /** UTC epoch milliseconds. */
  readonly since: number;
  /** Why, and what to do: a sentence for the operator. */
  readonly words: string;
}

export class Troubles extends StorePart {
  readonly #key: string;

  /** @param key of the hash that holds the trouble of each place */
  constructor(context: StoreContext, key: string) {
    super(context);
    this.#key = key;
  }

  /**
   * A trouble that continues keeps its beginning, and gets the newest words: a person who mends one cause may find another behind it.
   * @returns what is news: `begun` if no trouble was known at this place, `words` if it had others; null if nothing is
   */
  async begin(trouble: Trouble): Promise<'begun' | 'words' | null> {
    const { place, words } = trouble;
    if ((await this.redis.hsetnx(this.#key, place, JSON.stringify(trouble))) === 1) return 'begun';
    const found = await this.redis.hget(this.#key, place);
    const known = found === null ? trouble : (JSON.parse(found) as Trouble);
    if (known.words === words) return null;
    await this.redis.hset(this.#key, place, JSON.stringify({ ...known, words }));
    return 'words';
  }

  /** @returns the trouble that is over now; null if there was none, or another process has ended it */
  async end(place: string): Promise<Trouble | null> {
    const found = await this.redis.hget(this.#key, place);
    if (found === null || (await this.redis.hdel(this.#key, place)) === 0) return null;
    return JSON.parse(found) as Trouble;
  }

  async all(): Promise<Trouble[]> {
    return (await this.redis.hvals(this.#key)).map((found) => JSON.parse(found) as Trouble);
  }
}
