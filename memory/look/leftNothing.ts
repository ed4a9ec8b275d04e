/** Whether a session is a chat that has left nothing: what was asked is answered, and no agent needs its record to continue. */
import { isUnfinished } from '../condition/weight.js';
import { isUndeclared } from '../fold/unused.js';
import type { Look } from './look.js';

/** @returns whether nothing is open in it, no file is known to be changed, nothing was committed, and nothing declared, not even a task */
export function hasLeftNothing({ condition, fold, isUnseen, log, state }: Look): boolean {
  if (isUnseen || (isUnfinished(condition) && condition.weight !== 'crashed')) return false;
  if (!isUndeclared(log) || log.facts?.explicit === true || log.end?.summary || state.steps.length > 0) return false;
  const isChanged = Object.values(state.files).some(({ change }) => change !== undefined && change !== 'read');
  return !isChanged && (fold?.commits ?? []).length === 0;
}
