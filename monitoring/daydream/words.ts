/** How the facts of a review are said. */
import type { Rule } from '../../src/model.js';
import { describeDuration } from '../../src/time.js';
import { prose } from '../incident/defuse.js';
import type { JobFacts } from './dayFacts.js';
import { capped, exact, name } from './quoting.js';

const RULE_WORDS: Readonly<Record<Rule, string>> = {
  crash: 'the agent ended without an answer',
  orphan: 'the bridge that ran it was gone',
  error_cascade: 'call after call failed',
  silence: 'the agent fell silent',
  runaway: 'the agent worked for too long',
  loop: 'the agent repeated itself',
  backlog: 'it waited, and nothing took it',
};

const NUMBER_WORDS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];

/** @returns `Friday, 20 November 2026` for `2026-11-20` */
export function weekday(date: string): string {
  const format = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat('en-GB', format).format(new Date(`${date}T00:00:00.000Z`));
}

/** @returns what somebody who has to look after the job should know */
export function whatToKnow(job: JobFacts): string {
  switch (job.end) {
    case 'open':
      return `${ruleWords(job)}${job.revived ? '; it is being tried again' : ''}.`;
    case 'failed_again':
      return `${ruleWords(job)}, and trying again did not help. ${toldWords(job)}`;
    case 'not_revived': {
      const because = job.not_revived_because === null ? '' : `, because ${prose(capped(job.not_revived_because))}`;
      return `${ruleWords(job)}. It was not tried again${because}. ${toldWords(job)}`;
    }
    default:
      return `${ruleWords(job)}.`;
  }
}

function toldWords({ told }: JobFacts): string {
  if (told === 'failure_message_sent') return 'Its chat was told.';
  if (told === 'failure_message_unknown') return 'It is uncertain whether its chat was told.';
  if (told === 'failure_message_given_up') return 'Its chat could not be told.';
  return 'Its chat was not told.';
}

/** @returns what the job's rule means, and its reason */
export function ruleWords({ rule, reason }: JobFacts): string {
  const known = rule !== null && Object.hasOwn(RULE_WORDS, rule) ? RULE_WORDS[rule] : null;
  const words = known ?? (rule === null ? 'something went wrong' : name(rule));
  return reason === null ? words : `${words} (${exact(reason)})`;
}

/** @returns how the job went on, in a sentence */
export function endWords({ end, recovered_after_ms, revived }: JobFacts): string {
  switch (end) {
    case 'recovered':
      return `Tried again, and at work again ${describeDuration(recovered_after_ms ?? 0)} after it was noticed.`;
    case 'failed_again':
      return 'Tried again, and failed again.';
    case 'not_revived':
      return 'Not tried again.';
    case 'open':
      return revived ? 'Tried again; not over yet.' : 'Not over yet.';
    case 'passed':
      return 'It passed by itself.';
    case 'answered':
      return 'It answered after all.';
    case 'cancelled':
      return 'A person cancelled it.';
    case 'closed':
      return 'Closed.';
    default:
      return end satisfies never;
  }
}

export function helpWord({ end, recovered_after_ms }: JobFacts): string {
  if (end === 'recovered') return `yes, after ${describeDuration(recovered_after_ms ?? 0)}`;
  return end === 'open' ? 'not known yet' : 'no';
}

export function clockTime(iso: string): string {
  return iso.slice(11, 19);
}

/** @returns the number as it begins a sentence, with its noun: `Four jobs` */
export function sentenceCount(number: number, noun = ''): string {
  const words = NUMBER_WORDS[number] ?? String(number);
  if (noun === '') return words;
  return `${words} ${noun}${number === 1 ? '' : 's'}`;
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** @returns the rule as a name; it may be one of a later version */
export function ruleName({ rule }: { readonly rule: string | null }): string {
  return rule === null ? 'unknown' : name(rule);
}
