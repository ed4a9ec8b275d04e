/** Every other rule becomes true at an instant that is known before, or by a failure; a loop by a call that succeeds. */
import { canonicalJson, contentDigest } from '../../src/journal/digest.js';
import type { JournalEvent } from '../../src/journal/schema.js';

/** More than the rounds of a cycle have calls, by default. */
const MOST_REMEMBERED = 64;
/** A loop is never shorter than that. */
const FEWEST = 3;

export class RepeatedCalls {
  /** The last ones, oldest first. */
  #recent: string[] = [];
  /** Ids of calls in flight that were made before. */
  readonly #repeated = new Set<string>();

  /** @returns whether the line is the result of a call that was made again and again; lines come in the order of the journal */
  take(line: JournalEvent): boolean {
    if (line.event === 'post_tool_use') return this.#repeated.delete(line.tool_use_id);
    if (line.event !== 'pre_tool_use') return false;
    const call = `${line.tool_name} ${line.input_digest ?? contentDigest(canonicalJson(line.tool_input))}`;
    this.#recent = [...this.#recent, call].slice(-MOST_REMEMBERED);
    const isRepeated = this.#recent.filter((each) => each === call).length >= FEWEST;
    if (isRepeated && this.#repeated.size < MOST_REMEMBERED) this.#repeated.add(line.tool_use_id);
    return false;
  }
}
