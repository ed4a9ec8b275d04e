/**
 * What the demo claims, and how anybody can check it: each claim reads the files that the story left, and nothing else.
 */
import { FILES } from '../e2e/evidence.js';
import { SCANS } from './act.js';
import { FAILING_BATCHES } from './cast.js';
import {
  answeredOnce,
  failedTwice,
  issuesName,
  recovered,
  rendered,
  toldOnce,
  unless,
  wasGone,
  wasSpread,
} from './contradictions.js';
import { LEFT_PROCESSES, REVIEWS, type Readings, SEEN_CHATS, TOKENS } from './readings.js';

export interface Claim {
  readonly says: string;
  /** Where to look, below the demo's folder. */
  readonly files: readonly string[];
  /** @returns what contradicts the claim; empty where it holds */
  contradictions(readings: Readings): string[];
}

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

export const CLAIMS: readonly Claim[] = [
  {
    says: 'A healthy job: a reaction, one progress message edited in place, the answer as a reply, no incident.',
    files: [FILES.transcript, FILES.criticalEvents],
    contradictions(readings) {
      const { edits, reactions } = readings.story('healthy');
      const edited = new Set(edits.map(({ message_id }) => message_id));
      return [
        ...unless(
          reactions.some(({ who }) => who === 'bot'),
          'no reaction to the question',
        ),
        ...unless(edits.length >= LEAST_EDITS, `${edits.length} edits`),
        ...unless(edited.size === 1, `${edited.size} different messages were edited`),
        ...unless(readings.events(readings.session('healthy')).length === 0, 'there are critical events'),
        ...answeredOnce(readings, 'healthy'),
      ];
    },
  },
  {
    says: 'Its Markdown arrives rendered: the table and the code in blocks, the quote as a quote.',
    files: [SEEN_CHATS],
    contradictions: (readings) => rendered(readings, 'healthy'),
  },
  {
    says: 'A hanging job: detected, reported, revived once, recovered, in this order, and answered.',
    files: [FILES.criticalEvents, FILES.transcript],
    contradictions: (readings) => [...recovered(readings, 'hang', 'silence'), ...answeredOnce(readings, 'hang')],
  },
  {
    says: 'Its tool ran in a process session of its own; when the second run began, no process of the first was left.',
    files: [SCANS, FILES.agents],
    contradictions: (readings) => [...wasSpread(readings, 'hang'), ...wasGone(readings, 'hang')],
  },
  {
    says: 'Its issue is titled "[Watchdog] shop: silence" and labelled "watchdog".',
    files: [FILES.issueState],
    contradictions(readings) {
      const issue = readings.issues('shop').find(({ title }) => title === '[Watchdog] shop: silence');
      return [
        ...unless(issue?.labels.includes('watchdog') === true, 'there is no such issue'),
        ...unless(issue?.body.includes(readings.session('hang')) === true, 'it does not name the session'),
      ];
    },
  },
  {
    says: `${FAILING_BATCHES} failing calls in a row: revived and answered.`,
    files: [FILES.criticalEvents, FILES.journals, FILES.transcript],
    contradictions(readings) {
      const failed = readings.evidence
        .journal(readings.session('cascade'))
        .filter((line) => line.event === 'post_tool_use' && line.outcome === 'failed').length;
      return [
        ...unless(failed === FAILING_BATCHES, `the journal holds ${failed} failed calls`),
        ...recovered(readings, 'cascade', 'error_cascade'),
        ...wasGone(readings, 'cascade'),
        ...answeredOnce(readings, 'cascade'),
      ];
    },
  },
  {
    says: 'A bridge killed with SIGKILL: its message ran again under the next one, without overlap, and was answered.',
    files: [FILES.agents, SCANS, FILES.criticalEvents, FILES.transcript],
    contradictions: (readings) => [
      ...recovered(readings, 'killed', 'orphan'),
      ...wasGone(readings, 'killed'),
      ...answeredOnce(readings, 'killed'),
    ],
  },
  {
    says: 'Three faults of one project within the hour made at most two issues, and each is on one of them.',
    files: [FILES.issueState, FILES.issueWrites],
    contradictions: (readings) =>
      issuesName(
        readings,
        'shop',
        2,
        (['hang', 'cascade', 'killed'] as const).map((story) => readings.session(story)),
      ),
  },
  {
    says: 'A job that fails twice: one revival, which is not called a recovery, and both failures on one issue.',
    files: [FILES.criticalEvents, FILES.issueState, FILES.issueWrites],
    contradictions(readings) {
      const session = readings.session('crash');
      return [
        ...failedTwice(readings, 'crash'),
        ...wasGone(readings, 'crash'),
        ...issuesName(readings, 'docs', 1, [session, `${session}_r1`]),
      ];
    },
  },
  {
    says: 'The issues of what recovered are closed; the only open one is of the job that needs a person.',
    files: [FILES.issueState],
    contradictions(readings) {
      const open = readings.evidence.issueState().issues.filter(({ state }) => state === 'open');
      return [
        ...unless(open.length === 1, `${open.length} issues are open`),
        ...unless(open[0]?.body.includes(readings.session('crash')) === true, 'the open one is of another job'),
      ];
    },
  },
  {
    says: 'Exactly one failure message, in the right chat and topic, as a reply, with the exact first paragraph.',
    files: [FILES.transcript],
    contradictions: (readings) => toldOnce(readings, 'crash'),
  },
  {
    says: 'The daily review names the one job that needs a person before those that recovered.',
    files: [REVIEWS],
    contradictions(readings) {
      const review = readings.reviews().join('\n');
      const at = (story: 'crash' | 'hang') => review.indexOf(readings.session(story));
      return [
        ...unless(at('crash') >= 0, 'it does not name the job'),
        ...unless(at('hang') < 0 || at('crash') < at('hang'), 'it names another one first'),
      ];
    },
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
