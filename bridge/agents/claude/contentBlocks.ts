/** The blocks of one message, as lines of the protocol. */
import type { ProtocolLine } from '../program/protocol.js';
import { outcomeOf, outputOf } from './outcome.js';
import type { ContentBlock, ResultMeta } from './sdk.js';
import type { Lineage } from './subAgents.js';

export function blocksOf(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/**
 * A message of the agent, or a call that it begins.
 * @param batch the id of its message, which all calls of one message share
 */
export function spoken(block: ContentBlock, batch: string, lineage: Lineage): ProtocolLine {
  if (block.type !== 'tool_use' || block.id === undefined) {
    const isForPeople = block.type === 'text' && lineage.agent_id === undefined && block.text?.trim();
    return { event: 'assistant_message', ...(isForPeople && { text: block.text ?? '' }), ...lineage };
  }
  const tool_input = block.input ?? {};
  const timeout = declaredTimeout(tool_input);
  return {
    event: 'pre_tool_use',
    tool_use_id: block.id,
    tool_name: block.name ?? 'unknown',
    tool_input,
    ...(timeout !== null && { timeout_ms: timeout }),
    batch,
    ...lineage,
  };
}

/** @returns the end of a call */
export function returned(
  block: ContentBlock,
  tool_use_id: string,
  meta: ResultMeta | undefined,
  lineage: Lineage,
): ProtocolLine {
  const outcome = outcomeOf(block, meta);
  const is_error = block.is_error === true;
  return { event: 'post_tool_use', tool_use_id, outcome, is_error, tool_output: outputOf(block), ...lineage };
}

/** Claude Code's tools declare their timeout in milliseconds. */
function declaredTimeout(input: object): number | null {
  const { timeout } = input as { timeout?: unknown };
  return typeof timeout === 'number' && timeout > 0 ? timeout : null;
}
