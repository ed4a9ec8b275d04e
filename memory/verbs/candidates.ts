/** Describes the sessions that a caller may mean. */
import { UnreachableError, UsageError } from '../../src/errors.js';
import { candidateWords } from '../condition/words.js';
import { type Judge, lookAt } from '../look/look.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { UnclearError } from '../sessions/unclear.js';

/** A person picks one of them. */
const MOST_SHOWN = 20;

/** @returns the same error, with how each session is and what it is for */
export async function describeCandidates(
  memory: Memory,
  { beginning, candidates }: UnclearError,
  judge: Judge,
): Promise<UsageError> {
  const lines: string[] = [];
  for (const session of candidates.slice(-MOST_SHOWN)) {
    const words = [session.id, await howIs(memory, session, judge), session.log.state.facts?.purpose ?? ''];
    lines.push(`  ${words.filter((word) => word !== '').join('  ')}`);
  }
  const rest = candidates.length - MOST_SHOWN;
  return new UsageError([beginning, ...lines, ...(rest > 0 ? [`  … and ${rest} more`] : [])]);
}

async function howIs(memory: Memory, session: OpenSession, judge: Judge): Promise<string> {
  try {
    return candidateWords((await lookAt(memory, session, { judge })).condition);
  } catch (error) {
    // It may be meant all the same.
    if (!(error instanceof UnreachableError)) throw error;
    return '';
  }
}
