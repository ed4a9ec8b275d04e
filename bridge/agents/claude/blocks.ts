/** The blocks of the SDK's messages as lines of the protocol. */
import type { Lineage, Outcome } from '../../../src/journal/schema.js';
import { callOf, denialOutcome, resultOf } from '../../../src/transcripts/claude/calls.js';
import { type Fields, textAt } from '../../../src/transcripts/draft/fields.js';
import type { ProtocolLine } from '../program/protocol.js';
import type { ResultMeta } from './sdk.js';

export function blocksOf(content: string | readonly Fields[]): readonly Fields[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** A message of the agent, or a call that it begins. */
export function spoken(block: Fields, batch: string, lineage: Lineage): ProtocolLine {
  if (block.type === 'tool_use' && textAt(block, 'id') !== null) return { ...callOf(block, batch), ...lineage };
  const text = block.type === 'text' && lineage.agent_id === undefined ? textAt(block, 'text') : null;
  return { event: 'assistant_message', ...(text?.trim() && { text }), ...lineage };
}

/**
 * The outcome comes from typed fields only: the result's flag, and the stamp of Claude Code's harness on results that are not the
 * tool's own (`tool_result_meta`, seen with 2.1.329). Validation errors and unknown tools carry no stamp: they are the agent's
 * failures.
 */
export function outcomeOf(block: Fields, meta: ResultMeta | undefined): Outcome {
  const denial = denialOutcome(meta?.non_execution_kind ?? null, meta?.permission_decision ?? {});
  return block.is_error === true ? (denial ?? 'failed') : 'ok';
}

export function returned(block: Fields, outcome: Outcome): ProtocolLine {
  const { tool_output_preview: tool_output, tool_name: _, ...result } = resultOf(block, outcome);
  return { ...result, tool_output };
}
