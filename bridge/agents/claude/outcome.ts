/**
 * The outcome of a call, from typed fields only: the result's flag, and the stamp of Claude Code's harness on results that are
 * not the tool's own (`tool_result_meta`, seen with 2.1.329). Validation errors and unknown tools carry no stamp: they are the
 * agent's failures.
 */
import type { Outcome } from '../../../src/journal/schema.js';
import type { ContentBlock, ResultMeta } from './sdk.js';

const BY_KIND: Readonly<Record<string, Outcome>> = {
  'user-rejected': 'rejected',
  'permission-rule': 'rejected',
  'automode-blocked': 'rejected',
  'automode-unavailable': 'rejected',
  'automode-parsing-error': 'rejected',
  interrupted: 'cancelled',
  cancelled: 'cancelled',
};

/** @returns `blocked` if a hook of the project forbade the call, `rejected` if its rules or a person did */
export function outcomeOf(result: ContentBlock, meta: ResultMeta | undefined): Outcome {
  if (result.is_error !== true) return 'ok';
  const decision = meta?.permission_decision;
  if (decision?.decision === 'reject' && decision.source === 'hook') return 'blocked';
  const kind = BY_KIND[meta?.non_execution_kind ?? ''];
  if (kind !== undefined) return kind;
  return decision?.decision === 'reject' ? 'rejected' : 'failed';
}

/** @returns a result's text; parts that are not text are named */
export function outputOf({ content }: ContentBlock): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === undefined ? '' : JSON.stringify(content);
  return content.map((part: ContentBlock) => part.text ?? `[${part.type}]`).join('\n');
}
