/** Describes the sessions that a caller may mean. */
import { UnreachableError, UsageError } from '../../src/errors.js';
import { candidateWords } from '../condition/words.js';
import { type Judge, lookAt } from '../look/look.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { UnclearError } from '../sessions/unclear.js';
import type { Viewer } from '../sessions/views.js';

/** A person picks one of them. */
export const MOST_SHOWN = 20;

/** @returns the same error, with how each session is and what it is for */
export async function describeCandidates(
  memory: Viewer,
  { beginning, candidates, more }: UnclearError,
  judge: Judge,
): Promise<UsageError> {
  const lines: string[] = [];
  for (const session of candidates.slice(0, MOST_SHOWN)) {
    const words = [session.id, ...(await howIs(memory, session, judge))];
    lines.push(`  ${words.filter((word) => word !== '').join('  ')}`);
  }
  const rest = more + Math.max(candidates.length - MOST_SHOWN, 0);
  return new UsageError([beginning, ...lines, ...(rest > 0 ? [`  … and ${rest} more`] : [])]);
}

async function howIs(memory: Viewer, session: OpenSession, judge: Judge): Promise<string[]> {
  try {
    const { condition, state } = await lookAt(memory, session, { judge });
    return [candidateWords(condition), state.purpose];
  } catch (error) {
    // It may be meant all the same.
    if (!(error instanceof UnreachableError)) throw error;
    return [session.log.state.facts?.purpose ?? ''];
  }
}
