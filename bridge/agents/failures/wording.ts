/** Why a program failed, by a table of wordings for each. `npm run prove -- failures` prints the reading of each. */
import type { AgentFailure, FailureCause } from './causes.js';
import { type Reading, statedEnd } from './statedEnd.js';

export interface Wording {
  /** Typographic apostrophes are made straight before. */
  readonly says: RegExp;
  readonly cause: FailureCause;
  /** The remedy for a person, as a clause; absent if the cause says all. */
  readonly remedy?: string;
}

/** Corrects most settings that do not fit. */
export const OTHER_SETTING =
  "choose another model, or correct the setting that its words name, in the agent's settings";
export const OTHER_NETWORK = 'the provider does not serve the network of this host: check its VPN or proxy';

/** The wordings of one program. The first one that fits decides. */
export type Wordings = readonly Wording[];

/** The causes that may say when they end. */
const PASSING: readonly FailureCause[] = ['rate_limit', 'provider_unavailable', 'host_exhausted'];
/** Versions of one program differ in curly apostrophes and quotes, and in spaces that do not break. */
const CURLY_APOSTROPHES = /[\u2018\u2019\u02bc]/g;
const HARD_SPACES = /[\u00a0\u202f]/g;

export function passes(cause: FailureCause): boolean {
  return PASSING.includes(cause);
}

/** @returns the cause and what else the words say; null if no wording fits */
export function readWords(
  words: string,
  wordings: Wordings,
  reading: Reading,
): Pick<AgentFailure, 'cause' | 'until' | 'remedy'> | null {
  const plain = straight(words);
  const found = wordings.find(({ says }) => says.test(plain));
  if (found === undefined) return null;
  const { cause, remedy } = found;
  const until = passes(cause) ? statedEnd(plain, reading) : null;
  return { cause, ...(until !== null && { until }), ...(remedy !== undefined && { remedy }) };
}

export function straight(words: string): string {
  return words.replace(CURLY_APOSTROPHES, "'").replace(HARD_SPACES, ' ');
}
