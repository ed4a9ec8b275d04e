/** Calls that did not do what was asked: those that failed, and those that a person or a rule stopped. */
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { addTo, type More } from '../fold/bounds.js';
import { faultWords, type ObservedError } from './calls.js';

/** A call that a person or a rule refused, or that was stopped. It says nothing of the work. */
export interface Refusal extends ObservedError {
  /** The words of the person who refused it. Null if there are none. */
  readonly said: string | null;
}

/** In the journal's words. */
const REFUSED = ['rejected', 'cancelled', 'blocked'];

export function isFault(outcome: string): boolean {
  return outcome === 'failed' || REFUSED.includes(outcome);
}

interface Faults {
  readonly errors: ObservedError[];
  readonly refusals: Refusal[];
  readonly more: More;
  blocked: number;
  rejected: number;
}

/** @param error without its message, which the record has */
export function takeFault(faults: Faults, record: JournalRecord, error: Omit<ObservedError, 'message'>): void {
  const { errors, refusals, more } = faults;
  const { outcome } = error;
  const whole = { ...error, message: faultWords(textOf(record.tool_output_preview) ?? '') };
  if (outcome === 'blocked') faults.blocked += 1;
  if (outcome === 'rejected') faults.rejected += 1;
  if (REFUSED.includes(outcome)) addTo(refusals, { ...whole, said: textOf(record.said) }, { more, name: 'refusals' });
  else addTo(errors, whole, { more, name: 'errors' });
}
