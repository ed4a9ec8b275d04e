/** The wording of a review's facts. */
import type { IncidentRule } from '../../src/config/rules.js';
import { plural } from '../../src/counted.js';
import { redactShapes } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import { describeDuration, MINUTE, SECOND } from '../../src/time.js';
import { prose } from '../incident/issue/defuse.js';
import { type CountedRule, type LastingReason, type PlainReason, readReason } from '../verdict/detectors/reasons.js';
import { isDate } from './dayZone.js';
import type { Job, JobEnd } from './jobFacts.js';
import { exact, name } from './quoting.js';

/** Follows "the agent". */
const TROUBLES: Readonly<Record<IncidentRule, string>> = {
  crash: 'ended without an answer',
  orphan: 'lost the bridge that ran it',
  error_cascade: 'failed call after call',
  silence: 'fell silent',
  runaway: 'worked for too long',
  loop: 'repeated itself',
  backlog: 'waited, and nothing took it',
  provider_outage: 'did not hear from the provider of its model',
};

/** What a count adds to its rule. */
const COUNTS: Readonly<Record<CountedRule, string>> = {
  error_cascade: 'in a row',
  provider_outage: 'sessions at once',
  loop: 'times',
};

/** What an end adds to its rule; an end that is not listed is quoted. */
const ENDS: Readonly<Partial<Record<PlainReason, string>>> = {
  run_lost: '',
  run_failed_without_answer: 'without an error, too',
  run_failed_to_start: 'it could not be started',
  run_failed_authentication: 'its login was refused',
  run_failed_credit: 'its account is used up',
  run_failed_context_overflow: 'its conversation became too long',
};

const LONGEST_REASON = 120;

const TOLD: Readonly<Record<string, string>> = {
  failure_message_sent: 'Its chat was told.',
  failure_message_unknown: 'Whether its chat was told is uncertain.',
  failure_message_given_up: 'Its chat could not be told.',
};

const NUMBER_WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/** @returns `Friday, 20 November 2026` for `2026-11-20` */
export function weekday(date: string): string {
  const format = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat('en-GB', format).format(new Date(`${date}T00:00:00.000Z`));
}

/** @returns `20 Nov` for `2026-11-20`; the date itself if it is beyond all calendars */
export function shortDay(date: string): string {
  if (!isDate(date)) return date;
  const format = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat('en-GB', format).format(new Date(`${date}T00:00:00.000Z`));
}

/**
 * @param jobs of one rule
 * @returns what happened to them, after "the agent"; with the detail only if it is the same for all
 */
export function troubleWords(jobs: readonly Job[]): string {
  const rule = jobs[0]?.rule ?? null;
  const known = rule !== null && Object.hasOwn(TROUBLES, rule) ? TROUBLES[rule] : null;
  const words = known ?? (rule === null ? 'got into trouble' : `was accused of ${name(rule)}`);
  const details = [...new Set(jobs.map(reasonWords))];
  return details.length === 1 && details[0] !== '' ? `${words} (${details[0]})` : words;
}

/** @returns what the reason adds to its rule; nothing if it adds nothing */
function reasonWords({ reason: word, measured_ms }: Job): string {
  if (word === null) return '';
  const reason = readReason(word);
  switch (reason?.kind) {
    case 'plain':
      return ENDS[reason.reason] ?? exact(word);
    case 'lasting':
      return lastingWords(reason, measured_ms);
    case 'counted':
      return `${reason.count} ${COUNTS[reason.rule]}`;
    case 'exit':
      return `exit code ${reason.code}`;
    case 'signal':
      return `killed by ${reason.signal}`;
    default:
      return exact(word);
  }
}

function lastingWords({ value, unit }: LastingReason, measuredMs: number | null): string {
  if (unit === 'seconds') return `for ${describeDuration(value * SECOND)}`;
  if (value > 0) return `for ${describeDuration(value * MINUTE)}`;
  // Older versions logged whole minutes, which mean nothing for a threshold of seconds.
  return measuredMs === null || measuredMs >= MINUTE ? '' : `for ${describeDuration(measuredMs)}`;
}

/** @returns how one job went on, as the cell of a table */
function endWords(job: Job): string {
  const { end, recovered_after_ms, revived, went_on_with: next } = job;
  if (next !== null) return `${revived ? 'tried again, then' : 'later'} ${ruleName(next)}`;
  if (end === 'recovered') return `tried again, at work again ${after(recovered_after_ms ?? 0)}`;
  if (end === 'open') return revived ? 'tried again, not over yet' : 'not over yet';
  return failedLater(job) ? 'tried again: at work again, but failed later' : END_WORDS[end];
}

function failedLater({ end, worked_again }: Job): boolean {
  return end === 'failed_again' && worked_again;
}

const END_WORDS: Readonly<Record<JobEnd, string>> = {
  failed_again: 'tried again, failed again',
  not_revived: 'not tried again',
  open: 'not over yet',
  recovered: 'tried again, at work again',
  answered: 'answered after all',
  passed: 'passed by itself',
  cancelled: 'cancelled by a person',
  closed: 'ended otherwise',
};

/** The worst first. */
const END_COUNTS: Readonly<Record<JobEnd, string>> = {
  ...END_WORDS,
  failed_again: 'failed again',
  recovered: 'at work again',
};

/** @returns how jobs went on, as the cell of a table: `3 failed again, 12 at work again` */
export function endsWords(jobs: readonly Job[]): string {
  const [only] = jobs;
  if (jobs.length === 1 && only !== undefined) return endWords(only);
  const over = jobs.filter(({ went_on_with }) => went_on_with === null);
  const parts = (Object.keys(END_COUNTS) as JobEnd[]).map((end) => ({
    found: over.filter((job) => job.end === end).length,
    words: END_COUNTS[end],
  }));
  parts.push({ found: jobs.length - over.length, words: 'had another fault later' });
  return parts.flatMap(({ found, words }) => (found === 0 ? [] : [`${found} ${words}`])).join(', ');
}

/** @returns what was tried for jobs that need a person, and who has been notified; sentences */
export function helpSoFar(jobs: readonly Job[]): string {
  const again = jobs.filter(({ end }) => end === 'failed_again').length;
  const sentences = [];
  if (again === jobs.length)
    sentences.push(
      jobs.length > 1
        ? 'Each was tried again and failed again.'
        : jobs.some(failedLater)
          ? 'It was tried again and was at work again, but failed later, without an answer.'
          : 'It was tried again and failed again.',
    );
  else {
    if (again > 0)
      sentences.push(`${sentenceCount(again)} of them ${again === 1 ? 'was' : 'were'} tried again and failed again.`);
    const reasons = [
      ...new Set(
        jobs.flatMap(({ not_revived_because }) => (not_revived_because === null ? [] : [not_revived_because])),
      ),
    ];
    const because = reasons.length === 1 ? `: ${prose(shorten(redactShapes(reasons[0] ?? ''), LONGEST_REASON))}` : '';
    const who = jobs.length === 1 ? 'It was' : again > 0 ? 'The others were' : 'They were';
    sentences.push(`${who} not tried again${because}.`);
  }
  sentences.push(...toldWords(jobs));
  return sentences.join(' ');
}

function toldWords(jobs: readonly Job[]): string[] {
  const [only] = jobs;
  if (jobs.length === 1) return [TOLD[only?.told ?? ''] ?? 'Its chat was not told.'];
  const untold = jobs.filter(({ told }) => told !== 'failure_message_sent').length;
  return [untold === 0 ? 'Their chats were told.' : `Of ${untold} it is not certain that the chat was told.`];
}

/** @param ms from the first sign of trouble to the next sign of work */
export function after(ms: number): string {
  return ms < SECOND ? 'within a second' : `after ${describeDuration(ms)}`;
}

/** @returns the number as in a sentence: `three`, `128` */
export function number(value: number): string {
  return NUMBER_WORDS[value] ?? String(value);
}

/** @returns the same at the beginning of a sentence: `Three jobs` */
export function sentenceCount(value: number, noun = ''): string {
  const words = number(value);
  const begun = `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
  return noun === '' ? begun : `${begun} ${plural(value, noun)}`;
}

/** @returns the rule as a name; it may be one of a later version */
export function ruleName({ rule }: { readonly rule: string | null }): string {
  return rule === null ? 'unknown' : name(rule);
}
