/** Several sessions may be meant, and the caller has named none. */
import { UsageError } from '../../src/errors.js';
import type { OpenSession } from './sessions.js';

export class UnclearError extends UsageError {
  /** How the message begins; the sessions follow, each in a line. */
  readonly beginning: string;
  readonly candidates: readonly OpenSession[];
  /** How many others may be meant. */
  readonly more: number;

  constructor(beginning: string, candidates: readonly OpenSession[], more = 0) {
    super([beginning, ...candidates.map(({ id }) => `  ${id}`)]);
    this.beginning = beginning;
    this.candidates = candidates;
    this.more = more;
  }
}
