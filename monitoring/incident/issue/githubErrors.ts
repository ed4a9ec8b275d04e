/** The meaning of a failed request to GitHub for the caller that wanted to write. */
import { wasNeverConnected } from '../../../src/causes.js';
import { describeError } from '../../../src/errors.js';
import { redactShapes } from '../../../src/log/redact.js';
import { headOf } from '../../../src/log/shorten.js';
import { SECOND } from '../../../src/time.js';
import { SinkError } from './issueSink.js';

/** `once`: a second time would write a second thing. */
export type Effect = 'repeatable' | 'once';

const LONGEST_WORDS = 300;
const REMEDIES: Readonly<Partial<Record<number, string>>> = {
  401: 'check GITHUB_TOKEN, which is wrong, expired or revoked',
  404: "check the repository's name, and whether GITHUB_TOKEN may see it",
  410: 'issues are disabled in the repository: switch them on, or name another one',
};
/** GitHub's words with its 403: "Repository was archived so is read-only." */
export const ARCHIVED = /\brepository (?:was|is|has been) archived\b/i;
const ARCHIVED_REMEDY = 'the repository is archived: unarchive it, or name another one';
const OTHER_REMEDY = "check GITHUB_TOKEN, its right to write issues, and the repository's name";

/** The parts of Octokit's `RequestError` that decide; absent if there was no response. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/**
 * @param thrown what the request threw
 * @param repository for the sentence
 * @param now UTC epoch milliseconds
 */
export function asSinkError(thrown: unknown, effect: Effect, repository: string, now: number): SinkError {
  const answer = answerOf(thrown);
  // A gateway answers with a whole page.
  const words = headOf(describeError(thrown), LONGEST_WORDS, redactShapes);
  if (answer === null) {
    const sent = effect === 'once' && !wasNeverConnected(thrown);
    const said = `GitHub did not answer for ${repository} (${words})`;
    return new SinkError(sent ? 'ambiguous' : 'not_reached', said, { cause: thrown });
  }
  const { status } = answer;
  const options = { cause: thrown, status };
  if (isLimit(answer, words)) {
    const said = `GitHub limits the requests for ${repository} (${status} ${words})`;
    return new SinkError('limited', said, { ...options, retryAfterMs: retryAfterMs(answer, now) });
  }
  if (status >= 500 || status === 408) {
    const kind = effect === 'once' ? 'ambiguous' : 'not_reached';
    return new SinkError(kind, `GitHub failed for ${repository} (${status} ${words})`, options);
  }
  const remedy = ARCHIVED.test(words) ? ARCHIVED_REMEDY : (REMEDIES[status] ?? OTHER_REMEDY);
  const said = `GitHub refused for ${repository} (${status} ${words}): ${remedy}`;
  return new SinkError('refused', said, options);
}

function answerOf(thrown: unknown): Answer | null {
  if (typeof thrown !== 'object' || thrown === null || !('response' in thrown)) return null;
  const { response } = thrown as { response?: Partial<Answer> };
  return typeof response?.status === 'number' ? { status: response.status, headers: response.headers ?? {} } : null;
}

function isLimit({ status, headers }: Answer, words: string): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(words);
}

/** Source: docs.github.com, "Rate limits for the REST API", "Exceeding the rate limit". */
function retryAfterMs({ headers }: Answer, now: number): number | null {
  const seconds = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(seconds)) return Math.max(0, seconds * SECOND);
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) return Math.max(0, reset * SECOND - now);
  return null;
}
