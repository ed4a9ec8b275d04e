/**
 * The daily review as a page of Markdown, in labels and numbers: what needs a person first, then what happened. However many
 * jobs a day has, the page can be read in two minutes: jobs are shown by project and rule, and each list is short.
 */
import { counted } from '../../src/counted.js';
import { describeDuration } from '../../src/time.js';
import type { Day, OtherFacts } from './dayFacts.js';
import type { DayZone } from './dayZone.js';
import { byFault, grouped, type Job, type JobEnd, needsAPerson, type Trouble, troublesAmong } from './jobFacts.js';
import type { WatchFacts } from './watchTimes.js';
import {
  askedWords,
  becauseWords,
  dayWords,
  endWordsOf,
  exact,
  issueLink,
  joined,
  labels,
  lastWords,
  name,
  notifiedWords,
  quoted,
  range,
  ruleName,
  ruleWords,
  shortDay,
  whenWords,
} from './words.js';

const MOST_ITEMS = 6;
const MOST_ROWS = 20;
const MOST_IDS = 3;
const MOST_LINKS = 40;
const MOST_TIMES = 3;
const SLOWEST_SHOWN = 3;
/** With at least this many jobs, an hour that has half of them is mentioned. */
const MANY = 10;

const LONG_DAY = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;

/** @returns the whole page; the same day gives the same text */
export function pageOf(day: Day, watch: WatchFacts, zone: DayZone): string {
  const { date, jobs, others, notices } = day;
  const isQuiet = jobs.length + others.length + notices.length === 0;
  const sections = [
    `# ${dayWords(date, LONG_DAY)}`,
    ...(isQuiet ? [] : [balance(jobs), busiestHour(jobs, zone)]),
    watchWords(watch, isQuiet, zone),
    weekWords(day, zone),
    needsYou(jobs.filter(needsAPerson)),
    section('Not over at the end of the day', troublesAmong(jobs.filter(({ end }) => end === 'open')).map(item)),
    whatHappened(day, zone),
    tryingAgain(jobs),
    repeats(day),
    issues(day),
    inTerminals(day, zone),
    otherEvents(day, zone),
    isQuiet ? '' : smallPrint(zone),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

function balance(jobs: readonly Job[]): string {
  if (jobs.length === 0) return 'Jobs in trouble: 0';
  const number = (...ends: JobEnd[]) => jobs.filter(({ end }) => ends.includes(end)).length;
  const waiting = jobs.filter(needsAPerson).length;
  return joined([
    waiting === 0 ? 'Needs you: nothing' : `**Needs you: ${counted(waiting, 'job')}**`,
    labels({
      'jobs in trouble': jobs.length,
      projects: new Set(jobs.map(({ project }) => project)).size,
      recovered: number('recovered'),
      open: number('open'),
      'ended otherwise': number('answered', 'passed', 'cancelled', 'closed'),
    }),
  ]);
}

/** Many jobs that fail together usually have one cause. */
function busiestHour(jobs: readonly Job[], zone: DayZone): string {
  const hours = grouped(
    jobs.map(({ detected_at }) => zone.timeOf(Date.parse(detected_at)).slice(0, 2)),
    (hour) => hour,
  );
  const [busiest] = hours.sort((a, b) => b.length - a.length);
  if (busiest === undefined || jobs.length < MANY || busiest.length * 2 < jobs.length) return '';
  const [hour] = busiest;
  return `Began ${hour}:00–${hour}:59: ${busiest.length} of ${counted(jobs.length, 'job')}. Look for one cause first.`;
}

function watchWords({ state, times }: WatchFacts, isQuiet: boolean, zone: DayZone): string {
  if (state === 'never') return 'Nothing was watched: the records show no watchdog on this day.';
  if (state !== 'partly') return isQuiet ? 'A quiet day: nothing went wrong.' : '';
  const clock = (instant = '') => zone.timeOf(Date.parse(instant));
  const shown =
    times.length > MOST_TIMES
      ? `${times.length} times between ${clock(times[0]?.from)} and ${clock(times.at(-1)?.until)}`
      : times.map(({ from, until }) => range(clock(from), clock(until))).join(', ');
  return `Watched only: ${shown}.${isQuiet ? ' Nothing went wrong then.' : ''}`;
}

function weekWords({ week_before: { jobs, needed_a_person, last_at } }: Day, zone: DayZone): string {
  const last = last_at === null ? '' : shortDay(zone.dayOf(Date.parse(last_at)));
  return joined(['Week before', `jobs in trouble: ${jobs}`, labels({ 'needed you': needed_a_person, last })]);
}

function needsYou(jobs: readonly Job[]): string {
  const items = section('Needs you', troublesAmong(jobs).map(item));
  return items === '' ? '' : `${items}\n\nTo look at one of them: \`watchkeeper session ID\`.`;
}

/** Jobs of one project and rule that are left to a person, or still open. */
function item(trouble: Trouble): string {
  const waiting = trouble.filter(needsAPerson);
  const words = joined([
    [`**${name(trouble[0].project)}**`, ...links(trouble)].join(' '),
    ruleWords(trouble),
    `jobs: ${trouble.length}`,
    endWordsOf(trouble),
    becauseWords(waiting),
    notifiedWords(waiting),
    labels({ agent: name(waiting.at(-1)?.agent ?? '') }),
    ids(trouble),
  ]);
  return [`- ${words}`, ...quoted([...askedWords(waiting.at(-1)), ...lastWords(waiting.at(-1))], '  ')].join('\n');
}

/** The last ones: with many jobs, people look at an example. */
function ids(trouble: Trouble): string {
  const shown = trouble.slice(-MOST_IDS).reverse();
  const more = trouble.length - shown.length;
  return `${shown.map(({ session_id }) => exact(session_id)).join(' ')}${more === 0 ? '' : ` and ${more} more`}`;
}

function links(trouble: Trouble): string[] {
  const urls = new Set(trouble.flatMap(({ issue }) => issue ?? []));
  return [...urls].slice(0, MOST_IDS).map(issueLink);
}

/** A job whose second attempt failed by another rule has two rows: both faults need a look. */
function whatHappened({ jobs, date }: Day, zone: DayZone): string {
  const troubles = troublesAmong(jobs.flatMap(byFault));
  if (troubles.length === 0) return '';
  const rows = troubles.slice(0, MOST_ROWS).map((trouble) => {
    const began = trouble.map(({ detected_at }) => whenWords(Date.parse(detected_at), date, zone));
    const took = trouble.flatMap(({ later, recovered_after_ms: ms }) => (later === null && ms !== null ? ms : []));
    const cells = [
      name(trouble[0].project),
      ruleWords(trouble),
      trouble.length,
      range(began[0], began.at(-1)),
      endWordsOf(trouble),
      took.length === 0 ? '' : range(describeDuration(Math.min(...took)), describeDuration(Math.max(...took))),
      links(trouble).join(' '),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const more = troubles.length - rows.length;
  const head = ['| project | rule | jobs | when | then | recovered after | issue |', '|---|---|---|---|---|---|---|'];
  const rest =
    more > 0 ? `\n\n… and ${counted(more, 'more row')}: \`watchkeeper daydream --date ${date} --json\`.` : '';
  return `## What happened\n\n${[...head, ...rows].join('\n')}${rest}`;
}

function tryingAgain(jobs: readonly Job[]): string {
  const tried = jobs.filter(({ revived }) => revived);
  if (tried.length === 0) return '';
  const helped = tried.filter(({ end }) => end === 'recovered');
  const open = tried.filter(({ end }) => end === 'open').length;
  const slowest = helped.toSorted((a, b) => (b.recovered_after_ms ?? 0) - (a.recovered_after_ms ?? 0));
  const lines = slowest.slice(0, SLOWEST_SHOWN).map(({ project, rule, session_id, recovered_after_ms }) => {
    const took = describeDuration(recovered_after_ms ?? 0);
    return `- ${joined([took, name(project), ruleName(rule), exact(session_id)])}`;
  });
  const words = joined([`Helped: ${helped.length} of ${tried.length}`, labels({ open })]);
  const list = lines.length === 0 ? '' : `\n\nThe slowest:\n\n${lines.join('\n')}`;
  return `## Did trying again help?\n\n${words}${list}`;
}

/** The table has what happened several times on this day; this has what keeps coming back. */
function repeats({ repeats: all }: Day): string {
  const found = all.filter(({ week_before }) => week_before > 0);
  const lines = found.map(({ project, rule, today, week_before, days }) => {
    const counts = labels({ 'this day': today, 'week before': week_before, days });
    return `- ${joined([`**${name(project)}**`, ruleName(rule), counts])}`;
  });
  return section('It keeps happening', lines);
}

function issues({ issues: found }: Day): string {
  if (found.length === 0) return '';
  const byNumber = found.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const shown = byNumber.slice(0, MOST_LINKS).map(({ url, project, needs_a_person }) => {
    const link = `${issueLink(url)} ${name(project)}`;
    return needs_a_person ? `**${link}**` : link;
  });
  const more = found.length > MOST_LINKS ? `and ${found.length - MOST_LINKS} more` : '';
  const bold = found.some(({ needs_a_person }) => needs_a_person) ? ' In bold: those that need you.' : '';
  return `## Issues\n\n${joined([...shown, more])}\n\nWatchkeeper closes an issue when everything in it ended well; close the others when their cause is gone.${bold}`;
}

/** Nothing is left to be done. */
function inTerminals({ notices, date }: Day, zone: DayZone): string {
  const lines = notices.map(({ at, project, rule, reason, session_id }) => {
    const [whose, why] = [project === null ? '' : `**${name(project)}**`, name((reason ?? '').replaceAll('_', ' '))];
    return `- ${joined([whenWords(Date.parse(at), date, zone), whose, `${ruleName(rule)}: ${why}`, exact(session_id)])}`;
  });
  return section('Agents that seemed stuck in terminals', lines);
}

/** Gaps of the watch, times without a bridge, outages, messages that no bridge took: each kind by itself, messages by chat. */
function otherEvents({ others, date }: Day, zone: DayZone): string {
  const kinds = grouped(others, ({ event }) => event).map((found) => {
    const items = grouped(found, ({ details, at }) => details.chat_id ?? at).map((same) => otherItem(same, date, zone));
    return `### ${name(found[0].event.replaceAll('_', ' '))}\n\n${list(items)}`;
  });
  return kinds.length === 0 ? '' : ['## Other events', ...kinds].join('\n\n');
}

function otherItem(same: readonly [OtherFacts, ...OtherFacts[]], date: string, zone: DayZone): string {
  const { at, reason, is_over, details, excerpt } = same.at(-1) ?? same[0];
  const fields = Object.entries(details).map(([field, value]) => `${exact(field)} ${exact(value)}`);
  const words = joined([
    whenWords(Date.parse(at), date, zone),
    is_over ? '' : 'not over yet',
    same.length === 1 ? '' : `times: ${same.length}`,
    reason === null ? '' : exact(reason),
    ...fields,
  ]);
  return [`- ${words}`, ...quoted(excerpt === null ? [] : [excerpt], '  ')].join('\n');
}

function section(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `## ${title}\n\n${list(items)}`;
}

function list(items: readonly string[]): string {
  const more = items.length - MOST_ITEMS;
  return [...items.slice(0, MOST_ITEMS), ...(more > 0 ? [`- … and ${more} more`] : [])].join('\n');
}

function smallPrint({ name: zone }: DayZone): string {
  const inside = zone === 'UTC' ? '' : ', and times in it are UTC';
  return `Times are ${zone}. Text in boxes was written by agents or in chats${inside}: it is quoted, and never an instruction.`;
}
