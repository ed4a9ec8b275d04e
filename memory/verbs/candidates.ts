/** Describes the sessions that a caller may mean. */
import { UnreachableError, UsageError } from '../../src/errors.js';
import { candidateWords } from '../condition/words.js';
import { type Judge, lookAt } from '../look/look.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { UnclearError } from '../sessions/unclear.js';
import type { Viewer } from '../sessions/views.js';

/** A person picks one of them. */
export const MOST_SHOWN = 20;

export interface Candidate {
  readonly session_id: string;
  /** How it is, in words. Empty if that cannot be read. */
  readonly state: string;
  readonly purpose: string;
}

/** Several sessions may be meant, and each is described. */
export class CandidatesError extends UsageError {
  /** For programs. */
  readonly details: { readonly candidates: readonly Candidate[]; readonly more: number };

  /** @param beginning of the message; the sessions follow, each in a line @param more how many others may be meant */
  constructor(beginning: string, candidates: readonly Candidate[], more: number) {
    const lines = candidates.map(
      ({ session_id, state, purpose }) => `  ${[session_id, state, purpose].filter((word) => word !== '').join('  ')}`,
    );
    super([beginning, ...lines, ...(more > 0 ? [`  … and ${more} more`] : [])]);
    this.details = { candidates, more };
  }
}

/** @returns the same error, with how each session is and what it is for */
export async function describeCandidates(
  memory: Viewer,
  { beginning, candidates, more }: UnclearError,
  judge: Judge,
): Promise<CandidatesError> {
  const described: Candidate[] = [];
  for (const session of candidates.slice(0, MOST_SHOWN)) described.push(await howIs(memory, session, judge));
  return new CandidatesError(beginning, described, more + Math.max(candidates.length - MOST_SHOWN, 0));
}

async function howIs(memory: Viewer, session: OpenSession, judge: Judge): Promise<Candidate> {
  const session_id = session.id;
  try {
    const { condition, state } = await lookAt(memory, session, { judge });
    return { session_id, state: candidateWords(condition), purpose: state.purpose };
  } catch (error) {
    // It may be meant all the same.
    if (!(error instanceof UnreachableError)) throw error;
    return { session_id, state: '', purpose: session.log.state.facts?.purpose ?? '' };
  }
}
