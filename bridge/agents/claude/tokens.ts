/**
 * Tokens of messages, once each. A message of the stream carries the count of its beginning; the main agent's final count comes
 * with the end of its partial messages. Sub-agents have no partial messages: theirs is the count that their message has.
 */
import type { Lineage } from '../../../src/journal/schema.js';
import { Usages, usageOf } from '../../../src/transcripts/claude/usage.js';
import type { Usage } from '../../../src/transcripts/draft/deeds.js';
import type { ProtocolLine } from '../program/protocol.js';
import type { AssistantMessage, StreamEvent } from './sdk.js';

export class Tokens {
  readonly #usages = new Usages();
  /** The main agent's message that is being written. */
  #begun: { readonly id?: unknown; readonly usage?: unknown } | null = null;

  said(message: AssistantMessage['message'], lineage: Lineage): ProtocolLine[] {
    if (lineage.agent_id === undefined && message.id === this.#begun?.id) return [];
    return this.#count(usageOf(message), lineage);
  }

  streamed({ event, parent_tool_use_id: parent }: StreamEvent): ProtocolLine[] {
    if (typeof parent === 'string') return [];
    if (event.type === 'message_start' && event.message !== undefined) this.#begun = event.message;
    if (event.type !== 'message_delta' || this.#begun === null) return [];
    return this.#count(usageOf({ ...this.#begun, usage: { ...Object(this.#begun.usage), ...event.usage } }), {});
  }

  #count(usage: Usage | null, lineage: Lineage): ProtocolLine[] {
    if (usage === null) return [];
    return this.#usages.take(lineage.agent_id ?? '', usage).map((each) => ({ ...each, ...lineage }));
  }
}
