/** The words of a review's facts: labels and numbers, and other people's text as models may read it: short and fenced. */
import { redactShapes } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import { describeDuration } from '../../src/time.js';
import { code, fenced, prose } from '../incident/issue/defuse.js';
import { endWords } from '../incident/texts/incidentEvents.js';
import { issueNumber } from './dayFacts.js';
import { type DayZone, isDate } from './dayZone.js';
import { grouped, JOB_ENDS, type Job, type Trouble } from './jobFacts.js';

const LONGEST_NAME = 60;
/** Session ids have up to 160. */
const LONGEST_ID = 160;
const LONGEST_REASON = 120;
const LONGEST_QUOTE = 400;
const MOST_LINES = 4;
const ADDRESS = /^(?:https?|file):\/\/[\w.~:/?&=%@+,;-]{1,400}$/;
/** Older versions logged whole minutes, which mean nothing for a threshold of seconds. */
const NO_MINUTES = /_for_0_minutes$/;

export function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' · ');
}

/** @returns `jobs: 4 · open: 2`, without zeros and empty words */
export function labels(values: Readonly<Record<string, number | string>>): string {
  const known = Object.entries(values).filter(([, value]) => value !== 0 && value !== '');
  return joined(known.map(([label, value]) => `${label}: ${value}`));
}

/** @returns how often each of the words occurs: `failed again: 3 · recovered: 12` */
function tally(words: readonly string[]): string {
  return joined(grouped(words, (word) => word).map((same) => `${same[0].replaceAll('_', ' ')}: ${same.length}`));
}

/** @returns `09:00–12:00`, or `09:00` if that is both */
export function range(from = '', until = ''): string {
  return from === until ? from : `${from}–${until}`;
}

/** @returns `20 Nov, 09:15`, or `09:15` on the day itself; `at` in epoch milliseconds */
export function whenWords(at: number, date: string, zone: DayZone): string {
  const day = zone.dayOf(at);
  return day === date ? zone.timeOf(at) : `${shortDay(day)}, ${zone.timeOf(at)}`;
}

/** @returns `20 Nov` for `2026-11-20`; the date itself if it is beyond all calendars */
export function shortDay(date: string): string {
  return isDate(date) ? dayWords(date, { day: 'numeric', month: 'short' }) : date;
}

export function dayWords(date: string, format: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { ...format, timeZone: 'UTC' }).format(new Date(`${date}T00:00:00.000Z`));
}

/** @returns the rule as a name; it may be one of a later version */
export function ruleName(rule: string | null): string {
  return rule === null ? 'unknown' : name(rule);
}

/** @returns `**crash**: run failed exit 1`, with the reason only if it is the same for all */
export function ruleWords(trouble: Trouble): string {
  const [reason = '', ...others] = new Set(trouble.map(reasonWords));
  return `**${ruleName(trouble[0].rule)}**${reason === '' || others.length > 0 ? '' : `: ${reason}`}`;
}

function reasonWords({ reason, stories }: Job): string {
  const measuredMs = stories.at(-1)?.measured_ms ?? 0;
  const measured = measuredMs === 0 ? '' : ` for ${describeDuration(measuredMs)}`;
  return name((reason ?? '').replace(NO_MINUTES, measured)).replaceAll('_', ' ');
}

/** @returns how the jobs ended, the worst first: `failed again: 3 · recovered: 12` */
export function endWordsOf(trouble: Trouble): string {
  const inOrder = trouble.toSorted((a, b) => JOB_ENDS.indexOf(a.end) - JOB_ENDS.indexOf(b.end));
  return tally(inOrder.map(endOf));
}

function endOf({ end, revived, later, stories }: Job): string {
  if (later !== null) return `${revived ? 'tried again, then' : 'later'} ${ruleName(later)}`;
  if (end === 'open' && revived) return 'open, tried again';
  const worked = stories.some((story) => story.last.event === 'session_recovered' && story.revived);
  return end === 'failed_again' && worked ? 'recovered, but failed later' : end;
}

/** @returns which chats were notified: `failure message sent: 3` */
export function notifiedWords(jobs: readonly Job[]): string {
  return tally(jobs.map(({ told }) => told ?? 'no failure message'));
}

/** @returns why jobs were not tried again, if it is the same for all */
export function becauseWords(jobs: readonly Job[]): string {
  const [reason = '', ...others] = new Set(jobs.flatMap(({ not_revived_because }) => not_revived_because ?? []));
  return others.length > 0 ? '' : labels({ because: prose(shorten(redactShapes(reason), LONGEST_REASON)) });
}

/** @returns a name that should be short, as one line of Markdown */
export function name(text: string): string {
  return prose(shorten(redactShapes(text), LONGEST_NAME));
}

/** @returns an id or another exact word in a code span that also works within a table */
export function exact(text: string): string {
  return code(shorten(redactShapes(text), LONGEST_ID).replaceAll('|', ' '));
}

/** @returns the texts as a fenced block, indented to stay in its list item; none if there is no text */
export function quoted(texts: readonly string[], indent: string): string[] {
  const lines = texts
    .flatMap((text) => shorten(redactShapes(text), LONGEST_QUOTE).split('\n'))
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) return [];
  const shown = lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), '…'] : lines;
  const block = fenced(shown).split('\n');
  return block.map((line) => `${indent}${line}`);
}

/** @returns a link to the issue; a local issue is linked relative to the reviews' folder; no link for a strange address */
export function issueLink(url: string): string {
  const number = issueNumber(url);
  if (number === null || !ADDRESS.test(url)) return exact(url);
  return `[#${number}](${url.startsWith('file:') ? `../issues/${number}.md` : url})`;
}

/** An id alone does not say which message it was. */
export function askedWords(job: Job | undefined): readonly string[] {
  return job === undefined || job.asked === null ? [] : [`asked: ${job.asked}`];
}

/** An agent's own last words say more than the measurements. */
export function lastWords(job: Job | undefined): readonly string[] {
  const { evidence = [], excerpts = [] } = job ?? {};
  return excerpts.length === 0 ? evidence : [endWords(excerpts.at(-1), evidence)];
}
