/** A session for a person who asks how it is. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { oneLine } from '../../src/log/visibleText.js';
import { HOUR, isoTime, MINUTE } from '../../src/time.js';
import { isCrashed, livenessOf } from '../fold/crash.js';
import { type FreshnessHours, freshnessOf, isStateStale, type StateCheck } from '../fold/freshness.js';
import { progressOf, stateOf } from '../fold/state.js';
import type { Step, Worklog } from '../fold/worklog.js';
import type { Freshness, Liveness, StepStatus } from '../words.js';

/** What depends on now and on this host, and is in no file. */
interface Computed {
  readonly liveness: Liveness;
  readonly crashed: boolean;
  readonly freshness: Freshness;
  readonly check: StateCheck;
}

export interface Status {
  readonly log: Worklog;
  readonly state: ReturnType<typeof stateOf>;
  readonly computed: Computed;
  readonly now: number;
}

/** As in a list of tasks. */
export const MARKS: Readonly<Record<StepStatus, string>> = {
  completed: '[x]',
  in_progress: '[~]',
  pending: '[ ]',
  failed: '[!]',
  skipped: '[-]',
  cancelled: '[-]',
};

/** @param here the identity of a process of this host */
export function statusOf(
  log: Worklog,
  at: number,
  { now, here, hours }: { now: number; here: ProcessIdentity; hours: FreshnessHours },
): Status {
  const last = Math.max(log.last_activity ?? 0, log.acknowledged_at ?? 0) || null;
  const computed = {
    liveness: livenessOf(log, here),
    crashed: isCrashed(log, here),
    freshness: freshnessOf(last, now, hours),
    check: isStateStale(last, now, hours),
  };
  return { log, state: stateOf(log, at), computed, now };
}

export function statusLines({ log, computed, now }: Status): string[] {
  const steps = [...log.steps.values()];
  const { done, total, current } = progressOf(steps);
  const working = [...log.files].filter(([, { status }]) => status === 'working').map(([path]) => path);
  const last = log.last_activity;
  return [
    `${log.session_id}: ${log.facts?.purpose}`,
    `${log.lifecycle}${log.end === null ? '' : `, ${log.end.reason}`}; ${computed.freshness}; last activity ${last === null ? 'none' : `${ago(now - last)} (${isoTime(last)})`}`,
    ...(total === 0
      ? []
      : [
          `${done} of ${total} steps${current === null ? '' : `, now step ${current}: ${log.steps.get(current)?.title}`}`,
        ]),
    ...steps.map((step) => `  ${stepLine(step)}`),
    ...(working.length === 0 ? [] : ['files in progress:', ...working.map((path) => `  ${path}`)]),
  ];
}

export function stepLine({ id, status, title, reason }: Step): string {
  return oneLine(`${MARKS[status]} ${id} ${title}${status === 'failed' && reason !== null ? ` (${reason})` : ''}`);
}

/** What somebody reads who begins a session where one is unfinished. */
export function heldReport(id: string, log: Worklog, now: number): string {
  const { done, total } = progressOf([...log.steps.values()]);
  const last = log.last_activity === null ? '' : `, last activity ${ago(now - log.last_activity)}`;
  return [
    `session ${id} is unfinished here: ${log.facts?.purpose} (${done} of ${total} steps${last})`,
    ...[...log.steps.values()].map((step) => `  ${stepLine(step)}`),
    'Go on with it:        track init --resume "TASK", or simply track step …',
    'End it as it is:      track init --archive-existing "TASK"',
    'Work beside it:       track init --concurrent "TASK"',
  ].join('\n');
}

/** @param ms negative if a clock was set back */
export function ago(ms: number): string {
  if (ms < MINUTE) return 'just now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  const hours = Math.floor(ms / HOUR);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}
