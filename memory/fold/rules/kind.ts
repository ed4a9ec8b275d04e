/** The rules of a worklog: one for each event, and those that hold for every line. */
import { UsageError } from '../../../src/errors.js';
import type { LogKind, Refusal } from '../../logs/kind.js';
import { type Line, lineMaker, type NewLine, timeOfLine } from '../../logs/line.js';
import type { Log } from '../../logs/log.js';
import { newWorklog } from '../newWorklog.js';
import { MOST_RECENT, wordsOfLine } from '../recent.js';
import type { Worklog } from '../worklog.js';
import { fileRules } from './files.js';
import { keptRules } from './kept.js';
import { lifecycleRules } from './lifecycle.js';
import type { FieldsOf, Rule } from './rule.js';
import { runRules } from './runs.js';
import { stepRules } from './steps.js';
import { watchRules } from './watch.js';
import { workRules } from './work.js';

const RULES = {
  ...lifecycleRules,
  ...runRules,
  ...stepRules,
  ...fileRules,
  ...workRules,
  ...watchRules,
  ...keptRules,
};
const BY_EVENT = new Map<string, Rule>(Object.entries(RULES));
type Known = keyof typeof RULES;
/** The fields of each event. A line without a session belongs to that of its log; a line without a time is of now. */
export type WorklogEvents = {
  readonly [Event in Known]: FieldsOf<(typeof RULES)[Event]> & {
    readonly session_id?: string;
    readonly timestamp?: string;
  };
};
export type WorklogLine<Event extends Known = Known> = NewLine<Pick<WorklogEvents, Event>>;
export type SessionLog = Log<Worklog, WorklogEvents>;
export type WorklogFields<Event extends Known> = WorklogEvents[Event];
const FOREIGN: Refusal = { code: 'foreign', message: 'the line is of another session' };

export const worklogKind: LogKind<Worklog, WorklogEvents> = {
  name: 'worklog',
  begin: newWorklog,
  common: ({ session_id }): Record<string, string> => (session_id === null ? {} : { session_id }),
  apply: applyLine,
  line: lineMaker<WorklogEvents>(),
};

function applyLine(log: Worklog, line: Line): Refusal | null {
  const rule = BY_EVENT.get(line.event);
  if (rule === undefined) return null;
  const refusal = applyRule(log, rule, line);
  if (refusal !== null) log.refused += 1;
  return refusal;
}

function applyRule(log: Worklog, rule: Rule, line: Line): Refusal | null {
  const fields = rule.schema.safeParse(line);
  if (!fields.success) return { code: 'malformed', message: `"${line.event}": ${fields.error.issues[0]?.message}` };
  if (isForeign(log, line)) return FOREIGN;
  const isOver = rule.afterEnd ? null : overBy(log);
  if (isOver !== null) return isOver;
  const at = timeOfLine(line);
  const before = log.runs.at(-1);
  const refusal = rule.apply(log, fields.data, { id: line.id, at, origin: line.origin });
  if (refusal !== null) return refusal;
  // Every line has it: the session is still known if its first line is damaged.
  if (typeof line.session_id === 'string') log.session_id ??= line.session_id;
  // A program that publishes its state is seen before its hook reports it: that is one beginning.
  if (line.event !== 'run_started' || log.runs.at(-1) !== before) remember(log, line, at);
  if (rule.isActivity && line.origin !== 'watchkeeper') log.last_activity = at;
  if (rule.starts && log.lifecycle === 'planned') log.lifecycle = 'active';
  return null;
}

/** @returns why the session takes no more changes. Null if it takes some */
export function overBy({ archived, lifecycle, session_id }: Worklog): Refusal | null {
  const hasEnded = lifecycle === 'ended';
  const back = `first: watchkeeper work ${hasEnded ? 'reopen' : 'unarchive'} ${session_id ?? ''}`.trimEnd();
  if (archived !== null) return { code: 'archived', message: `the session is in the archive; ${back}` };
  return hasEnded ? { code: 'ended', message: `the session has ended; ${back}` } : null;
}

/** The line was copied here from the log of another session. */
function isForeign({ session_id }: Worklog, line: Line): boolean {
  return session_id !== null && line.session_id !== undefined && line.session_id !== session_id;
}

function remember({ recent }: Worklog, line: Line, at: number): void {
  const words = wordsOfLine(line);
  if (words === null) return;
  recent.push({ at, words, event: line.event, origin: line.origin });
  if (recent.length > MOST_RECENT) recent.shift();
}

/**
 * @param line that is about to be written
 * @throws UsageError if its fields are not those of the event
 */
export function requireFields(line: WorklogLine): void {
  const found = RULES[line.event].schema.safeParse(line);
  if (found.success) return;
  const [issue] = found.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new UsageError(`${field}: ${issue?.code === 'too_small' ? 'must not be empty' : issue?.message}`);
}
