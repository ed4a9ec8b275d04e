/** The cause of a program's failure, from its own report, or from its last words if it reported none. */
import { ANY_WORDINGS } from './anyProgram.js';
import type { AgentFailure } from './causes.js';
import { CLAUDE_WORDINGS } from './claude.js';
import { CODEX_WORDINGS } from './codex.js';
import { type Reading, statedEnd } from './statedEnd.js';
import { passes, readWords, straight, type Wordings } from './wording.js';

export interface FailureWords {
  readonly reported: Wordings;
  readonly printed: Wordings;
}

/** Any program may print a wording of `own`; only its own report is read for words that other programs may mean otherwise. */
export function failureWordsOf(own: Wordings): FailureWords {
  return { reported: [...own, ...ANY_WORDINGS], printed: own };
}

/** A program that we do not know may be a wrapper of one of these. */
const KNOWN: Wordings = [...CLAUDE_WORDINGS, ...CODEX_WORDINGS];
export const PROTOCOL_WORDS = failureWordsOf(KNOWN);
/** For a program that does not know us. */
export const PLAIN_WORDS: FailureWords = { reported: KNOWN, printed: KNOWN };

/** A program says last why it failed. Above that may be anything. */
const LAST_LINES = 3;

export interface Ending {
  /** As the program reported it; null if it reported none. */
  readonly failure: AgentFailure | null;
  /** The end of its output, without its report. */
  readonly lastWords: string;
  /** Whether it ended by itself. A killed program does not say why. */
  readonly isOwn: boolean;
}

/**
 * @returns the failure, with the cause, the end and the remedy that the words say. A cause that the program names itself stays
 */
export function explain({ failure, lastWords, isOwn }: Ending, words: FailureWords, reading: Reading) {
  const cause = failure?.cause ?? 'crash';
  if (failure !== null && cause !== 'crash') return { cause, ...furtherWords(failure, words.reported, reading) };
  const said = failure === null ? null : readWords(failure.detail, words.reported, reading);
  const known = said ?? (isOwn ? readWords(lastLines(lastWords), words.printed, reading) : null);
  return known ?? { cause };
}

/** The end and the remedy that the words add to a cause that the program names. */
function furtherWords(failure: AgentFailure, wordings: Wordings, reading: Reading) {
  const said = readWords(failure.detail, wordings, reading);
  const remedy = said?.cause === failure.cause ? said.remedy : undefined;
  const stated = passes(failure.cause) ? statedEnd(straight(failure.detail), reading) : null;
  const until = failure.until ?? stated ?? undefined;
  return { ...(until !== undefined && { until }), ...(remedy !== undefined && { remedy }) };
}

function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.filter((_, index) => index >= lines.length - LAST_LINES).join('\n');
}
