/**
 * What the demo claims, and how anybody can check it: each claim reads the files that the story left, and nothing else.
 */
import type { CriticalEvent } from '../../src/incidents.js';
import { isoTime } from '../../src/time.js';
import { FILES } from '../e2e/evidence.js';
import type { Project } from './act.js';
import { SCANS } from './act.js';
import { ANSWERS, FAILING_BATCHES } from './cast.js';
import { LEFT_PROCESSES, type Readings, TOKENS } from './readings.js';

export interface Claim {
  readonly says: string;
  /** Where to look, below the demo's folder. */
  readonly files: readonly string[];
  /** @returns what contradicts the claim; empty where it holds */
  contradictions(readings: Readings): string[];
}

/** To the letter; kept here too, so that a slip in the product is found. */
const FAILURE_PARAGRAPH =
  "Sorry, I ran into an issue and couldn't recover. The error has been logged for investigation.";
const PLAIN_FIELDS = [
  'timestamp',
  'event',
  'session_id',
  'project_key',
  'reason',
  'action_taken',
  'github_issue',
  'details',
] as const;
const LEAST_EDITS = 2;
/** From the detection to the revival: the report, the grace after SIGTERM, the proof. Nothing may wait for a timeout. */
const PROMPT_MS = 10_000;

export const CLAIMS: readonly Claim[] = [
  {
    says: 'A healthy job: a reaction, one progress message edited in place, the answer as a reply, no incident.',
    files: [FILES.transcript, FILES.criticalEvents],
    contradictions(readings) {
      const { asked, edits, reactions } = readings.chat('website');
      const edited = new Set(edits.map(({ message_id }) => message_id));
      return [
        ...unless(
          reactions.some(({ message_id }) => message_id === asked.message_id),
          'no reaction to the question',
        ),
        ...unless(edits.length >= LEAST_EDITS, `${edits.length} edits`),
        ...unless(edited.size === 1, `${edited.size} different messages were edited`),
        ...unless(readings.events(readings.session('website')).length === 0, 'there are critical events'),
        ...answeredOnce(readings, 'website', ANSWERS.website),
      ];
    },
  },
  {
    says: 'A silent job: detected, reported, revived once, recovered, in this order, and answered.',
    files: [FILES.criticalEvents, FILES.transcript],
    contradictions: (readings) => [
      ...recovered(readings, 'api', 'silence'),
      ...answeredOnce(readings, 'api', ANSWERS.api),
    ],
  },
  {
    says: 'Its tool ran in a process session of its own; when the second run began, no process of the first was left.',
    files: [SCANS, FILES.agents],
    contradictions: (readings) => [...wasSpread(readings, 'api'), ...wasGone(readings, 'api')],
  },
  {
    says: 'Its issue is titled "[Watchdog] api: silence" and labelled "watchdog".',
    files: [FILES.issueState],
    contradictions: (readings) => oneIssue(readings, 'api', 'silence', 1),
  },
  {
    says: 'A job that fails twice: one revival, which is not called a recovery, and both failures on one issue.',
    files: [FILES.criticalEvents, FILES.issueState, FILES.issueWrites],
    contradictions: (readings) => {
      const second = readings.events(`${readings.session('docs')}_r1`);
      return [
        ...unless(countOf(second, 'detected') === 1, 'the second failure was not detected once'),
        ...unless(countOf(second, 'revival_attempted') === 0, 'the second failure was revived'),
        ...unless(countOf(readings.events(readings.session('docs')), 'revival_attempted') === 1, 'not one revival'),
        ...unless(readings.starts(`${readings.session('docs')}_r1`).length === 1, 'not exactly one second run'),
        ...closedAs(readings, readings.session('docs'), 'revival_failed'),
        ...closedAs(readings, `${readings.session('docs')}_r1`, 'told'),
        ...wasGone(readings, 'docs'),
        ...oneIssue(readings, 'docs', 'crash', 2),
      ];
    },
  },
  {
    says: 'Exactly one failure message, in the right chat and topic, as a reply, with the exact first paragraph.',
    files: [FILES.transcript],
    contradictions: (readings) => failedOnce(readings, 'docs'),
  },
  {
    says: `A cascade of ${FAILING_BATCHES} failing batches: revived and answered.`,
    files: [FILES.criticalEvents, FILES.journals, FILES.transcript],
    contradictions: (readings) => {
      const failed = readings.evidence
        .journal(readings.session('shop'))
        .filter((line) => line.event === 'post_tool_use' && line.outcome === 'failed').length;
      return [
        ...unless(failed === FAILING_BATCHES, `the journal holds ${failed} failed calls`),
        ...recovered(readings, 'shop', 'error_cascade'),
        ...wasGone(readings, 'shop'),
        ...oneIssue(readings, 'shop', 'error_cascade', 1),
        ...answeredOnce(readings, 'shop', ANSWERS.shop),
      ];
    },
  },
  {
    says: 'A bridge killed with SIGKILL: its message ran again under the next one, without overlap, and was answered.',
    files: [FILES.agents, SCANS, FILES.criticalEvents, FILES.transcript],
    contradictions: (readings) => [
      ...recovered(readings, 'mobile', 'orphan'),
      ...wasGone(readings, 'mobile'),
      ...oneIssue(readings, 'mobile', 'orphan', 1),
      ...answeredOnce(readings, 'mobile', ANSWERS.mobile),
    ],
  },
  {
    says: 'Every critical event has the eight plain fields, and no two share an id.',
    files: [FILES.criticalEvents],
    contradictions(readings) {
      const events = readings.evidence.criticalEvents();
      const lacking = events.filter((event) => PLAIN_FIELDS.some((field) => !(field in event)));
      const ids = new Set(events.map(({ id }) => id));
      return [
        ...unless(events.length > 0, 'there are no events'),
        ...lacking.map(({ id }) => `${id} lacks a field`),
        ...unless(ids.size === events.length, `${events.length} lines, ${ids.size} ids`),
      ];
    },
  },
  {
    says: 'After the orderly stop no process of the story was left.',
    files: [LEFT_PROCESSES],
    contradictions: (readings) =>
      readings.leftProcesses().found.map(({ pid, command }) => `process ${pid} had to be ended: ${command}`),
  },
  {
    says: 'No token of Telegram or GitHub stands in any file that Watchkeeper wrote.',
    files: [TOKENS, 'logs'],
    contradictions(readings) {
      const { tokens } = readings.tokens();
      return [
        ...unless(tokens.length === 2, `${tokens.length} tokens were kept for the search`),
        ...tokens.flatMap((token) => readings.filesWith(token).map((file) => `${file} holds a token`)),
      ];
    },
  },
];

function unless(holds: boolean, contradiction: string): string[] {
  return holds ? [] : [contradiction];
}

function countOf(events: readonly CriticalEvent[], action: CriticalEvent['action_taken']): number {
  return new Set(events.filter((event) => event.action_taken === action && !event.final).map(({ id }) => id)).size;
}

function answeredOnce(readings: Readings, project: Project, answer: string): string[] {
  const { asked, messages } = readings.chat(project);
  const answers = messages.filter(({ text }) => text.includes(answer));
  return [
    ...unless(answers.length === 1, `${answers.length} answers in the chat of ${project}`),
    ...unless(
      answers.every(({ reply_to }) => reply_to === asked.message_id),
      'the answer is no reply to the question',
    ),
    ...unless(!messages.some(({ text }) => text.startsWith(FAILURE_PARAGRAPH)), 'there is a failure message'),
  ];
}

/** detected → reported → revived → closed, promptly, with one `detected` and one revival. */
function recovered(readings: Readings, project: Project, rule: string): string[] {
  const session = readings.session(project);
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

/** The control of {@link wasGone}: the same look found the first run while it was there. */
function wasSpread(readings: Readings, project: Project): string[] {
  const scan = readings.scans(readings.session(project)).find(({ moment }) => moment === 'the first run is at work');
  const sessions = new Set(scan?.found.map(({ session }) => session));
  return unless(sessions.size === 2, `the first run had ${sessions.size} process sessions`);
}

function wasGone(readings: Readings, project: Project): string[] {
  const session = readings.session(project);
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

function closedAs(readings: Readings, session: string, outcome: string): string[] {
  const closing = readings.events(session).find(({ final }) => final);
  return unless(closing?.details?.outcome === outcome, `${session} was closed as ${closing?.details?.outcome}`);
}

function oneIssue(readings: Readings, project: Project, rule: string, occurrences: number): string[] {
  const issues = readings.issues(project);
  const [issue] = issues;
  if (issue === undefined || issues.length > 1) return [`${issues.length} issues of ${project}`];
  const counted = (issue.body.match(/^### /gm) ?? []).length;
  return [
    ...unless(issue.title === `[Watchdog] ${project}: ${rule}`, `the title is ${issue.title}`),
    ...unless(issue.labels.includes('watchdog'), 'it lacks the label'),
    ...unless(counted === occurrences, `it holds ${counted} occurrences`),
    ...unless(issue.comments.length === 0, `it has ${issue.comments.length} comments`),
  ];
}

function failedOnce(readings: Readings, project: Project): string[] {
  const { asked, messages } = readings.chat(project);
  const all = readings.evidence.transcript();
  const failures = messages.filter(({ text }) => text.split('\n\n')[0] === FAILURE_PARAGRAPH);
  const [failure] = failures;
  const [issue] = readings.issues(project);
  if (failure === undefined || failures.length > 1) return [`${failures.length} failure messages in its chat`];
  return [
    ...unless(failure.thread === asked.thread && asked.thread !== null, `it stands in topic ${failure.thread}`),
    ...unless(failure.reply_to === asked.message_id, `it answers message ${failure.reply_to}`),
    ...unless(issue !== undefined && failure.text.includes(issue.url), "it lacks the issue's link"),
    ...unless(
      all.filter(({ who, what, text }) => who === 'bot' && what === 'message' && text.startsWith('Sorry')).length === 1,
      'there are failure messages elsewhere',
    ),
  ];
}
