/** A kind of log gives its lines their meaning. The protocol (log.ts) knows nothing else about them. */
import { WatchkeeperError } from '../../src/errors.js';
import type { Line, LineMaker } from './line.js';

/** Why a line changes nothing. */
export interface Refusal {
  /** For programs: `illegal_move`, `ended`, `held`, … */
  readonly code: string;
  /** For people: a sentence, with what to do. */
  readonly message: string;
}

/** The rules of the log refuse it. The command line exits with 1. */
export class RefusedError extends WatchkeeperError {
  readonly code: string;
  readonly retryable = false;
  /** For programs: what can be done instead, such as the legal moves. */
  readonly details: Readonly<Record<string, unknown>>;
  /** @param refusal whose message may have several lines */
  constructor(
    { code, message }: Pick<Refusal, 'code'> & { readonly message: string | readonly string[] },
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** @returns the refusal of a line that has not the fields of its event */
export function lacksFields({ event }: Line): Refusal {
  return { code: 'malformed', message: `"${event}" lacks fields` };
}

/** @typeParam Events the fields that a writer may give each event; never: it has no writers */
export interface LogKind<State, Events = never> {
  readonly name: string;
  begin(): State;
  /** Fields that every line of the log has, besides those of its event. */
  common?(state: State): Readonly<Record<string, string>>;
  /**
   * Applies a line to the state, or leaves the state as it is. It depends on the state and the line alone, so that every reader
   * reaches the same state. Unknown events change nothing and are not refused.
   * @returns why the line changes nothing; null if it was applied
   */
  apply(state: State, line: Line): Refusal | null;
  /** Makes the lines that a writer may add. */
  readonly line: LineMaker<Events>;
}
