/**
 * The daily review, for a person with a cup of coffee: what needs them first, then what happened. Markdown. However many jobs a
 * day has, the page can be read in two minutes: jobs are listed one by one only if there are few.
 */
import { counted, plural } from '../../src/counted.js';
import { endWords } from '../incident/texts/endWords.js';
import type { Day } from './dayFacts.js';
import type { DayZone } from './dayZone.js';
import { byFault, type Job, needsAPerson } from './jobFacts.js';
import { otherSections } from './otherText.js';
import { exact, issueLink, name, quoted } from './quoting.js';
import { issuesOf, projectOf, type Trouble, troublesAmong } from './troubles.js';
import { quietWords, watchNote } from './watchText.js';
import {
  after,
  endsWords,
  helpSoFar,
  number,
  ruleName,
  sentenceCount,
  shortDay,
  troubleWords,
  weekday,
} from './words.js';

const MOST_ITEMS = 6;
const MOST_ROWS = 20;
const MOST_IDS = 3;
const MOST_LINKS = 40;
const SLOWEST_SHOWN = 3;
/** With at least this many jobs, an hour that has half of them is mentioned. */
const MANY = 10;

/** @returns the whole page; the same day gives the same text */
export function reviewText(day: Day, zone: DayZone): string {
  const { jobs, others, watch } = day;
  const isQuiet = jobs.length + others.length === 0;
  const sections = [
    `# ${weekday(day.date)}`,
    headline(day, zone),
    isQuiet ? '' : watchNote(watch, zone),
    leftToYou(jobs.filter(needsAPerson)),
    openAtTheEnd(jobs.filter(({ end }) => end === 'open')),
    whatHappened(day, zone),
    tryingAgain(jobs),
    repeats(day),
    issues(day),
    ...otherSections(day, zone),
    isQuiet ? '' : smallPrint(zone),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function smallPrint({ name: zone }: DayZone): string {
  const inside = zone === 'UTC' ? '' : ', and times in it are UTC';
  return `Times are ${zone}. Text in boxes was written by agents or in chats${inside}: it is quoted, and never an instruction.`;
}

function headline({ jobs, others, week_before: week, watch }: Day, zone: DayZone): string {
  const waiting = jobs.filter(needsAPerson).length;
  const sentences =
    jobs.length === 0
      ? [others.length === 0 ? quietWords(watch, zone) : 'No job got into trouble.', lastTrouble(week, watch, zone)]
      : [
          waiting === 0
            ? 'Nothing needs you.'
            : `**${sentenceCount(waiting, 'job')} ${waiting === 1 ? 'needs' : 'need'} you.**`,
          balance(jobs),
          busiestHour(jobs, zone),
          comparison(week),
        ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function lastTrouble({ jobs, last_at }: Day['week_before'], { state }: Day['watch'], zone: DayZone): string {
  if (last_at === null) return state === 'never' ? '' : 'Nor did anything in the week before.';
  const day = shortDay(zone.dayOf(Date.parse(last_at)));
  return `In the week before, ${number(jobs)} ${plural(jobs, 'job')} got into trouble, the last on ${day}.`;
}

function balance(jobs: readonly Job[]): string {
  const projects = new Set(jobs.map(({ project }) => project)).size;
  const recovered = jobs.filter(({ end }) => end === 'recovered').length;
  const open = jobs.filter(({ end }) => end === 'open').length;
  const ended = jobs.length - recovered - open - jobs.filter(needsAPerson).length;
  const all = recovered === jobs.length && recovered > 1 ? 'all' : number(recovered);
  const parts = [
    recovered === 0 ? '' : `${all} ${recovered === 1 ? 'was' : 'were'} tried again and got back to work`,
    ended === 0 ? '' : `${number(ended)} came to an end without that`,
    open === 0 ? '' : `${number(open)} ${open === 1 ? 'was' : 'were'} not over at the end of the day`,
  ].filter((part) => part !== '');
  const trouble = `${sentenceCount(jobs.length, 'job')} got into trouble, in ${number(projects)} ${plural(projects, 'project')}`;
  return parts.length === 0 ? `${trouble}.` : `${trouble}: ${parts.join(', ')}.`;
}

/** Many jobs that fail together usually have one cause. */
function busiestHour(jobs: readonly Job[], zone: DayZone): string {
  const hours = new Map<string, number>();
  for (const { detected_at } of jobs) {
    const hour = zone.timeOf(Date.parse(detected_at)).slice(0, 2);
    hours.set(hour, (hours.get(hour) ?? 0) + 1);
  }
  const [hour = '', most = 0] = [...hours].sort(([, a], [, b]) => b - a)[0] ?? [];
  if (jobs.length < MANY || most * 2 < jobs.length) return '';
  return `${most} of these ${jobs.length} began between ${hour}:00 and ${hour}:59: look for one cause first.`;
}

function comparison({ jobs, needed_a_person }: Day['week_before']): string {
  if (jobs === 0) return '';
  const needed = needed_a_person === 0 ? 'none of them needed you' : `${number(needed_a_person)} of them needed you`;
  return `In the week before: ${counted(jobs, 'job')}, ${needed}.`;
}

function leftToYou(jobs: readonly Job[]): string {
  if (jobs.length === 0) return '';
  const items = itemized(troublesAmong(jobs), (trouble) => {
    const { evidence = [], excerpts = [] } = trouble.at(-1) ?? {};
    // An agent's own last words say more than what was measured.
    const said = endWords(excerpts.at(-1), evidence);
    const words = excerpts.length > 0 ? [said].filter((text) => text !== '') : evidence;
    return [`${helpSoFar(trouble)} ${ids(trouble)}`, ...quoted(words, '  ')].join('\n');
  });
  return `${section('Needs you', items)}\n\nTo look at one of them: \`watchkeeper session ID\`.`;
}

function openAtTheEnd(jobs: readonly Job[]): string {
  const items = itemized(troublesAmong(jobs), (trouble) => {
    const revived = trouble.filter((job) => job.revived).length;
    const again = trouble.length === 1 ? 'It is being tried again. ' : `Being tried again: ${number(revived)}. `;
    return `${revived === 0 ? '' : again}${ids(trouble)}`;
  });
  return section('Not over at the end of the day', items);
}

function itemized(troubles: readonly Trouble[], more: (trouble: Trouble) => string): string[] {
  const items = troubles.slice(0, MOST_ITEMS).map((trouble) => {
    const jobs = trouble.length === 1 ? '' : `, ${counted(trouble.length, 'job')}`;
    const links = [jobs, ...issuesOf(trouble).slice(0, MOST_IDS).map(issueLink)].join(' ').trimEnd();
    return `- **${name(projectOf(trouble))}**${links}: the agent ${troubleWords(trouble)}. ${more(trouble)}`;
  });
  const rest = troubles.slice(MOST_ITEMS).reduce((sum, { length }) => sum + length, 0);
  return rest === 0 ? items : [...items, `- … and ${counted(rest, 'more job')}, in the table.`];
}

/** The last ones: with many jobs, people look at an example. */
function ids(trouble: Trouble): string {
  const shown = trouble.slice(-MOST_IDS).reverse();
  const more = trouble.length - shown.length;
  return `${shown.map(({ session_id }) => exact(session_id)).join(' ')}${more === 0 ? '' : ` and ${more} more`}`;
}

/** A job whose second attempt failed by another rule has two rows: both faults need a look. */
function whatHappened({ jobs, date }: Day, zone: DayZone): string {
  const troubles = troublesAmong(jobs.flatMap(byFault));
  if (troubles.length === 0) return '';
  const rows = troubles.slice(0, MOST_ROWS).map((trouble) => {
    const links = issuesOf(trouble).slice(0, MOST_IDS).map(issueLink).join(' ');
    const cells = [
      name(projectOf(trouble)),
      `**${ruleName({ rule: trouble[0]?.rule ?? null })}**: ${troubleWords(trouble)}`,
    ];
    return `| ${[...cells, String(trouble.length), when(trouble, date, zone), endsWords(trouble), links].join(' | ')} |`;
  });
  const table = [
    '| project | rule: the agent … | jobs | when | and then | issue |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
  const more = troubles.length - MOST_ROWS;
  return [
    '## What happened',
    table.join('\n'),
    ...(more > 0 ? [`… and ${counted(more, 'more row')}: \`watchkeeper daydream --date ${date} --json\`.`] : []),
  ].join('\n\n');
}

function when(trouble: Trouble, date: string, zone: DayZone): string {
  const at = ({ detected_at }: Job) => {
    const instant = Date.parse(detected_at);
    return zone.dayOf(instant) === date ? zone.timeOf(instant) : shortDay(zone.dayOf(instant));
  };
  const [first, last] = [trouble[0], trouble.at(-1)].map((job) => (job === undefined ? '' : at(job)));
  return first === last ? `${first}` : `${first} – ${last}`;
}

function tryingAgain(jobs: readonly Job[]): string {
  const tried = jobs.filter(({ revived }) => revived);
  if (tried.length === 0) return '';
  const recovered = tried.filter(({ end }) => end === 'recovered');
  const open = tried.filter(({ end }) => end === 'open').length;
  const helped =
    recovered.length === tried.length
      ? tried.length === 1
        ? 'helped'
        : 'helped every time'
      : `helped ${recovered.length} of ${tried.length} times`;
  const sentence = `Trying again ${helped}${open === 0 ? '' : ` so far; ${number(open)} ${open === 1 ? 'is' : 'are'} not over`}.`;
  const slowest = [...recovered]
    .sort((a, b) => (b.recovered_after_ms ?? 0) - (a.recovered_after_ms ?? 0))
    .slice(0, SLOWEST_SHOWN)
    .map(
      (job) =>
        `- ${name(job.project)}, ${ruleName(job)}, ${after(job.recovered_after_ms ?? 0)}: ${exact(job.session_id)}`,
    );
  const list = slowest.length === 0 ? '' : `The slowest to be at work again:\n\n${slowest.join('\n')}`;
  return ['## Did trying again help?', sentence, list].filter((part) => part !== '').join('\n\n');
}

/** The table has what happened several times today; this has what keeps coming back. */
function repeats({ repeats: all }: Day): string {
  const found = all.filter(({ week_before }) => week_before > 0);
  const items = found.slice(0, MOST_ITEMS).map(({ project, rule, today, week_before, days }) => {
    const before = `${week_before} in the week before, on ${counted(days, 'day')} in all`;
    return `- **${name(project)}**, ${ruleName({ rule })}: ${today} today, ${before}.`;
  });
  if (found.length > MOST_ITEMS) items.push(`- … and ${found.length - MOST_ITEMS} more.`);
  return section('It keeps happening', items);
}

function issues({ issues: found }: Day): string {
  if (found.length === 0) return '';
  const byNumber = [...found].sort((a, b) => (a.number ?? 0) - (b.number ?? 0));
  const links = byNumber.slice(0, MOST_LINKS).map(({ url, project, needs_a_person }) => {
    const link = `${issueLink(url)} ${name(project)}`;
    return needs_a_person ? `**${link}**` : link;
  });
  const more = found.length > MOST_LINKS ? [`and ${found.length - MOST_LINKS} more`] : [];
  const bold = found.some(({ needs_a_person }) => needs_a_person) ? ' In bold: those that need you.' : '';
  return `## Issues\n\n${[...links, ...more].join(' · ')}\n\nWatchkeeper closes an issue when everything in it ended well; close the others when their cause is gone.${bold}`;
}

function section(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `## ${title}\n\n${items.join('\n')}`;
}
