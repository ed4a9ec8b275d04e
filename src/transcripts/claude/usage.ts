/** Tokens of a message, in the Messages API's own fields. */
import type { Usage } from '../draft/deeds.js';
import { type Fields, fieldsAt, numberAt, textAt } from '../draft/fields.js';

/**
 * @param trimId redacts and cuts the id of the message
 * @returns null for a message that no model wrote, or that counts nothing
 */
export function usageOf(message: Fields, trimId: (id: string) => string = (id) => id): Usage | null {
  const id = textAt(message, 'id');
  const usage = fieldsAt(message, 'usage');
  const input = numberAt(usage, 'input_tokens');
  if (id === null || input === null) return null;
  const count = (key: string) => Math.max(0, Math.round(numberAt(usage, key) ?? 0));
  return {
    event: 'usage',
    message_id: trimId(id),
    input: Math.max(0, Math.round(input)) + count('cache_creation_input_tokens'),
    output: count('output_tokens'),
    cached: count('cache_read_input_tokens'),
  };
}

/** Drops usage that an agent's last message has said already: every record of a message repeats its tokens. */
export class Usages {
  #last = new Map<string, Usage>();

  copy(): Usages {
    const copy = new Usages();
    copy.#last = new Map(this.#last);
    return copy;
  }

  /**
   * @param agent `''` for the main one
   * @returns nothing, or the usage. The last one of a message is its final count
   */
  take(agent: string, usage: Usage): Usage[] {
    const last = this.#last.get(agent);
    const { message_id, input, output, cached } = usage;
    if (last?.message_id === message_id && last.input === input && last.output === output && last.cached === cached)
      return [];
    this.#last.set(agent, usage);
    return [usage];
  }
}
