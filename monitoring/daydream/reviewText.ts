/** The daily review, for a person with a cup of coffee: what needs them first, then what happened. Markdown. */
import { describeDuration } from '../../src/time.js';
import { type DayFacts, type JobFacts, needsAPerson, type OtherFacts, putInto } from './dayFacts.js';
import { exact, issueLink, name, quoted } from './quoting.js';
import {
  clockTime,
  count,
  endWords,
  helpWord,
  ruleName,
  ruleWords,
  sentenceCount,
  weekday,
  whatToKnow,
} from './words.js';

const MOST_JOBS_SHOWN = 40;
const SLOWEST_SHOWN = 5;
const MOST_OTHERS_SHOWN = 40;

/** @returns the whole page; the same facts give the same text */
export function reviewText(facts: DayFacts): string {
  const sections = [
    `# ${weekday(facts.date)}`,
    headline(facts),
    leftOver('Needs a person', facts.jobs.filter(needsAPerson)),
    leftOver(
      'Not over at the end of the day',
      facts.jobs.filter(({ end }) => end === 'open'),
    ),
    happened(facts.jobs),
    revivals(facts.jobs),
    repeats(facts),
    issues(facts),
    slowest(facts.jobs),
    watch(facts.others),
    unroutable(facts.others),
    facts.jobs.length + facts.others.length === 0
      ? ''
      : 'Times are UTC. Text in boxes was written by agents or in chats: it is quoted, and never an instruction.',
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function headline({ jobs, others }: DayFacts): string {
  const projects = new Set(jobs.map(({ project }) => project)).size;
  if (jobs.length === 0) return others.length === 0 ? 'A quiet day: nothing went wrong.' : 'No job went wrong.';
  const recovered = jobs.filter(({ end }) => end === 'recovered').length;
  const waiting = jobs.filter(needsAPerson).length;
  const open = jobs.filter(({ end }) => end === 'open').length;
  const ended = jobs.length - recovered - waiting - open;
  const sentences = [
    `${sentenceCount(jobs.length, 'job')} went wrong in ${count(projects, 'project')}.`,
    recovered === 0
      ? ''
      : `${recovered === jobs.length ? 'All' : sentenceCount(recovered)} got back to work by trying again.`,
    ended === 0 ? '' : `${sentenceCount(ended)} came to an end without it.`,
    open === 0 ? '' : `${sentenceCount(open)} ${open === 1 ? 'was' : 'were'} not over at the end of the day.`,
    waiting === 0 ? '' : `**${sentenceCount(waiting)} ${waiting === 1 ? 'needs' : 'need'} a person.**`,
    open + waiting === 0 ? 'Nothing is left to do.' : '',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function leftOver(title: string, jobs: readonly JobFacts[]): string {
  const items = jobs.slice(0, MOST_JOBS_SHOWN).map((job) => {
    const issue = job.issue === null ? 'no issue' : issueLink(job.issue);
    const line = `- ${name(job.project)}, ${issue}: ${whatToKnow(job)}\n  ${exact(job.session_id)}`;
    return [line, ...quoted([...job.evidence, ...job.excerpts], '  ')].join('\n');
  });
  return section(title, [...items, ...rest(jobs.length, MOST_JOBS_SHOWN)]);
}

function happened(jobs: readonly JobFacts[]): string {
  const byProject = new Map<string, JobFacts[]>();
  for (const job of jobs) putInto(byProject, job.project, job);
  const parts = [...byProject]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([project, ofProject]) => {
      const items = ofProject
        .slice(0, MOST_JOBS_SHOWN)
        .map((job) => `- ${clockTime(job.detected_at)} **${ruleName(job)}**: ${story(job)}`);
      return `### ${name(project)}\n\n${[...items, ...rest(ofProject.length, MOST_JOBS_SHOWN)].join('\n')}`;
    });
  return parts.length === 0 ? '' : `## What happened\n\n${parts.join('\n\n')}`;
}

function story(job: JobFacts): string {
  const issue = job.issue === null ? '' : ` Issue ${issueLink(job.issue)}.`;
  return `${ruleWords(job)}. ${endWords(job)}${issue} ${exact(job.session_id)}`;
}

function revivals(jobs: readonly JobFacts[]): string {
  const tried = jobs.filter(({ revived }) => revived);
  if (tried.length === 0) return '';
  const helped = tried.filter(({ end }) => end === 'recovered').length;
  const rows = tried
    .slice(0, MOST_JOBS_SHOWN)
    .map((job) => `| ${name(job.project)} | ${name(job.rule ?? '')} | ${exact(job.session_id)} | ${helpWord(job)} |`);
  const table = ['| project | rule | job | did it help? |', '|---|---|---|---|', ...rows].join('\n');
  const words = `${sentenceCount(tried.length, 'job')} ${tried.length === 1 ? 'was' : 'were'} tried again; it helped ${helped === tried.length && helped > 1 ? 'all of them' : `${helped} of ${tried.length}`}.`;
  return `## Tried again\n\n${[words, table, ...rest(tried.length, MOST_JOBS_SHOWN)].join('\n\n')}`;
}

function repeats({ repeats: found }: DayFacts): string {
  const items = found.map(({ project, rule, today, week_before, days }) => {
    const before =
      week_before === 0
        ? 'not in the week before'
        : `${week_before} in the week before, on ${count(days, 'day')} in all`;
    return `- ${name(project)}, **${ruleName({ rule })}**: ${today} today, ${before}.`;
  });
  return section('It keeps happening', items);
}

function issues({ issues: found }: DayFacts): string {
  const rows = found.map(
    ({ url, project, rules, incidents, needs_a_person }) =>
      `| ${issueLink(url)} | ${name(project)} | ${name(rules.join(', '))} | ${incidents} | ${needs_a_person ? 'waits for a person' : 'its jobs recovered or ended'} |`,
  );
  if (rows.length === 0) return '';
  const table = ['| issue | project | rules | incidents | |', '|---|---|---|---|---|', ...rows].join('\n');
  return `## Issues\n\n${table}\n\nNo issue is closed by the watchdog: those whose cause is known can be closed by hand.`;
}

function slowest(jobs: readonly JobFacts[]): string {
  const recovered = jobs.filter(({ recovered_after_ms }) => recovered_after_ms !== null);
  const sorted = recovered.sort((a, b) => (b.recovered_after_ms ?? 0) - (a.recovered_after_ms ?? 0));
  const items = sorted.slice(0, SLOWEST_SHOWN).map((job, index) => {
    const duration = describeDuration(job.recovered_after_ms ?? 0);
    return `${index + 1}. ${duration}: ${name(job.project)}, ${ruleName(job)}, ${exact(job.session_id)}`;
  });
  return items.length < 2 ? '' : section('Slowest to recover', items);
}

const UNROUTABLE = 'message_unroutable';

function watch(others: readonly OtherFacts[]): string {
  const found = others.filter(({ event }) => event !== UNROUTABLE);
  const items = found.slice(0, MOST_OTHERS_SHOWN).map(({ event, at, reason, is_over, details }) => {
    const words = [
      reason === null ? '' : exact(reason),
      ...Object.entries(details).map(([field, value]) => `${exact(field)} ${exact(value)}`),
    ];
    return `- ${clockTime(at)} **${name(event.replaceAll('_', ' '))}**${is_over ? '' : ' (not over yet)'}: ${words.filter(Boolean).join(', ')}`;
  });
  return section('The watch itself', [...items, ...rest(found.length, MOST_OTHERS_SHOWN)]);
}

function unroutable(others: readonly OtherFacts[]): string {
  const found = others.filter(({ event }) => event === UNROUTABLE);
  const byChat = new Map<string, OtherFacts[]>();
  for (const other of found) {
    const chat = other.details.chat_id ?? 'unknown';
    putInto(byChat, chat, other);
  }
  const items = [...byChat].slice(0, MOST_OTHERS_SHOWN).map(([chat, messages]) => {
    const excerpts = messages.flatMap(({ excerpt }) => (excerpt === null ? [] : [excerpt]));
    const line = `- chat ${exact(chat)}: ${count(messages.length, 'message')}, the last at ${clockTime(messages.at(-1)?.at ?? '')}`;
    return [line, ...quoted(excerpts, '  ')].join('\n');
  });
  return section('Messages from chats that no project lists', [...items, ...rest(byChat.size, MOST_OTHERS_SHOWN)]);
}

function section(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `## ${title}\n\n${items.join('\n')}`;
}

function rest(all: number, shown: number): string[] {
  return all > shown ? [`- … and ${all - shown} more, in the events of the day.`] : [];
}
