/**
 * The blocks of one message, as lines of the protocol. A call's outcome comes from typed fields only: the result's flag, and
 * the stamp of Claude Code's harness on results that are not the tool's own (`tool_result_meta`, seen with 2.1.329). Validation
 * errors and unknown tools carry no stamp: they are the agent's failures.
 */
import { declaredTimeout, denialOutcome } from '../../../src/transcripts/claude/results.js';
import { asFields, contentText } from '../../../src/transcripts/draft/fields.js';
import type { ProtocolLine } from '../program/protocol.js';
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
  const { id: tool_use_id, name: tool_name = 'unknown', input: tool_input = {} } = block;
  const timeout = declaredTimeout(tool_name, asFields(tool_input) ?? {});
  const declared = timeout === null ? {} : { timeout_ms: timeout };
  return { event: 'pre_tool_use', tool_use_id, tool_name, tool_input, ...declared, batch, ...lineage };
}

/** @returns the end of a call */
export function returned(
  block: ContentBlock,
  tool_use_id: string,
  meta: ResultMeta | undefined,
  lineage: Lineage,
): ProtocolLine {
  const is_error = block.is_error === true;
  const denial = denialOutcome(meta?.non_execution_kind ?? null, meta?.permission_decision ?? {});
  const outcome = is_error ? (denial ?? 'failed') : 'ok';
  return {
    event: 'post_tool_use',
    tool_use_id,
    outcome,
    is_error,
    tool_output: contentText(block.content),
    ...lineage,
  };
}
