/** What can contradict a claim, asked of the files. Each function returns what it found, in words; nothing where all is well. */
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { isoTime } from '../../src/time.js';
import type { PeerIssue } from '../peers/github/issues.js';
import { type Project, STORIES, type Story } from './cast.js';
import type { Readings } from './readings.js';
import { REPORT_WAIT_MS } from './scenarios.js';

/** To the letter; kept here too, so that a slip in the product is found. */
const FAILURE_PARAGRAPH =
  "Sorry, I ran into an issue and couldn't recover. The error has been logged for investigation.";
/** From the detection to the revival: the report, the grace after SIGTERM, the proof. Nothing may wait for a timeout. */
const PROMPT_MS = REPORT_WAIT_MS * 0.8;

export function unless(holds: boolean, contradiction: string): string[] {
  return holds ? [] : [contradiction];
}

/** Answered once, as a reply to the question, and without a failure message. */
export function answeredOnce(readings: Readings, story: Story): string[] {
  const { project, answer } = STORIES[story];
  const { asked, messages } = readings.story(story);
  const everywhere = readings.evidence
    .transcript()
    .filter(({ what, text }) => what === 'message' && text.includes(answer));
  return [
    ...unless(everywhere.length === 1, `${everywhere.length} answers in the chat of ${project}`),
    ...unless(
      everywhere.every(({ reply_to, chat }) => reply_to === asked.message_id && chat === asked.chat),
      'the answer is no reply to the question',
    ),
    ...unless(!messages.some(({ text }) => text.startsWith(FAILURE_PARAGRAPH)), 'there is a failure message'),
  ];
}

/** Its Markdown was rendered: the table and the code are set apart, and nothing of their signs is left. */
export function rendered(readings: Readings, story: Story): string[] {
  const { project, answer } = STORIES[story];
  const message = readings.seen(project, answer);
  const count = (type: string) => message?.entities.filter((entity) => entity.type === type).length ?? 0;
  return [
    ...unless(count('pre') === 2, `${count('pre')} blocks of code`),
    ...unless(count('bold') > 0, 'nothing is bold'),
    ...unless(count('blockquote') === 1, `${count('blockquote')} quotes`),
    ...unless(!/\*\*|```|\|---/.test(message?.text ?? ''), 'signs of Markdown are left'),
  ];
}

/** detected → reported → revived → closed, promptly, with one `detected` and one revival. */
export function recovered(readings: Readings, story: Story, rule: string): string[] {
  const session = readings.session(story);
  const events = readings.events(session);
  const steps = events.map(({ id }) => id.slice(id.indexOf('.') + 1));
  const closing = events.at(-1);
  const [detectedAt, , revivedAt] = events.map(({ timestamp }) => Date.parse(timestamp));
  return [
    ...unless(steps.join(' → ') === 'detected → reported → revived → closed', `the steps are ${steps.join(' → ')}`),
    ...unless(new Set(events.map(({ incident_id }) => incident_id)).size === 1, 'not one incident'),
    ...unless(
      events.every((event) => event.rule === rule),
      `the rule is ${events[0]?.rule}`,
    ),
    ...unless(
      Number(revivedAt) - Number(detectedAt) < PROMPT_MS,
      `it was revived ${Number(revivedAt) - Number(detectedAt)} ms after the detection`,
    ),
    ...unless(closing?.event === 'session_recovered' && closing.final, `it ends as ${closing?.event}`),
    ...unless(readings.starts(session).length === 1, `${readings.starts(session).length} first runs`),
    ...unless(readings.starts(`${session}_r1`).length === 1, `${readings.starts(`${session}_r1`).length} second runs`),
  ];
}

/** Two failures, one revival, which is not called a recovery. */
export function failedTwice(readings: Readings, story: Story): string[] {
  const session = readings.session(story);
  const second = readings.events(`${session}_r1`);
  return [
    ...unless(countOf(second, 'detected') === 1, 'the second failure was not detected once'),
    ...unless(countOf(second, 'revival_attempted') === 0, 'the second failure was revived'),
    ...unless(countOf(readings.events(session), 'revival_attempted') === 1, 'not one revival'),
    ...unless(readings.starts(`${session}_r1`).length === 1, 'not exactly one second run'),
    ...closedAs(readings, session, 'revival_failed'),
    ...closedAs(readings, `${session}_r1`, 'told'),
  ];
}

/** The control of {@link wasGone}: the same look found the first run while it was there. */
export function wasSpread(readings: Readings, story: Story): string[] {
  const scan = readings.scans(readings.session(story)).find(({ moment }) => moment === 'the first run is at work');
  const sessions = new Set(scan?.found.map(({ session }) => session));
  return unless(sessions.size === 2, `the first run had ${sessions.size} process sessions`);
}

export function wasGone(readings: Readings, story: Story): string[] {
  const session = readings.session(story);
  const [first] = readings.starts(session);
  const [second] = readings.starts(`${session}_r1`);
  const scan = readings.scans(session).find(({ moment }) => moment === 'the second run has begun');
  if (first === undefined || second === undefined || scan === undefined) return ['a run or the scan is missing'];
  return [
    ...unless(scan.run === first.run, 'the scan looked for another run'),
    ...unless(scan.time >= isoTime(second.at), 'the scan came before the second run'),
    ...scan.found.map(({ pid, command }) => `process ${pid} of the first run was left: ${command}`),
  ];
}

/** The project's issues are labelled, at most so many, and name every one of these sessions. */
export function issuesName(readings: Readings, project: Project, most: number, sessions: readonly string[]): string[] {
  const issues = readings.issues(project);
  const text = issues.map(textOf).join('\n');
  return [
    ...unless(issues.length >= 1 && issues.length <= most, `${issues.length} issues of ${project}`),
    ...unless(
      issues.every(({ labels }) => labels.includes('watchdog')),
      'one lacks the label',
    ),
    ...sessions.filter((session) => !text.includes(`\`${session}\``)).map((session) => `no issue names ${session}`),
  ];
}

export function toldOnce(readings: Readings, story: Story): string[] {
  const { asked, messages } = readings.story(story);
  const failures = messages.filter(({ text }) => text.split('\n\n')[0] === FAILURE_PARAGRAPH);
  const [failure] = failures;
  const [issue] = readings.issues(STORIES[story].project);
  if (failure === undefined || failures.length > 1) return [`${failures.length} failure messages to its question`];
  const everywhere = readings.evidence
    .transcript()
    .filter(({ what, text }) => what === 'message' && /^Sorry/.test(text));
  return [
    ...unless(failure.thread === asked.thread && asked.thread !== null, `it stands in topic ${failure.thread}`),
    ...unless(issue !== undefined && failure.text.includes(issue.url), "it lacks the issue's link"),
    ...unless(everywhere.length === 1, 'there are failure messages elsewhere'),
  ];
}

function textOf({ body, comments }: PeerIssue): string {
  return [body, ...comments.map((comment) => comment.body)].join('\n');
}

function countOf(events: readonly CriticalEvent[], action: CriticalEvent['action_taken']): number {
  return new Set(events.filter((event) => event.action_taken === action && !event.final).map(({ id }) => id)).size;
}

function closedAs(readings: Readings, session: string, outcome: string): string[] {
  const closing = readings.events(session).find(({ final }) => final);
  return unless(closing?.details?.outcome === outcome, `${session} was closed as ${closing?.details?.outcome}`);
}
