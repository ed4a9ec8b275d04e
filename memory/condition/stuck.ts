/** Whether the agent of a session is stuck: a watcher has noticed it, or it is judged so now, and nothing excuses it. */
import { DAY } from '../../src/time.js';
import type { Notice, Worklog } from '../fold/worklog.js';

/** An agent's activity, as its transcript shows it. */
export type Doing = 'working' | 'in_tool' | 'waiting' | 'idle';

/** A rule that is broken, with the instant since when as ISO 8601. */
export interface BrokenRule {
  readonly rule: string;
  readonly since: string;
  readonly sentence: string;
}

/** The judgement of the watchdog's rules on an agent's work. Instants are UTC epoch milliseconds. */
export interface Judged {
  /** Null if nothing of its work can be seen. */
  readonly doing: Doing | null;
  /** Those that nothing excuses, the leading one first. */
  readonly broken: readonly BrokenRule[];
  /** Whether the judge has found, by its own limits, what the open notice says. */
  readonly hasFound: boolean;
  readonly lastActivity: number | null;
  /** The same for the agent in the session that owes work and has been inactive longest. */
  readonly leastActivity: number | null;
  /** Missing, or null, if its work can be seen, or silence is excused. */
  readonly quiet?: Quiet | null;
}

/** A session that nothing shows the work of was silent for longer than a monitor waits. Only a monitor calls that stuck. */
export interface Quiet {
  /** UTC epoch milliseconds. */
  readonly since: number;
  readonly limitMs: number;
}

export interface Stuck {
  readonly rule: string;
  /** UTC epoch milliseconds. */
  readonly since: number;
  readonly sentence: string;
  /** When a watcher noticed it, UTC epoch milliseconds. Null if no watcher has: it is judged so now. */
  readonly noticed_at: number | null;
}

/** How an agent works. */
export interface AtWork {
  /** Whether an agent may be at work on the session. */
  readonly mayWork: boolean;
  /** Null if there is no judge. */
  readonly judged: Judged | null;
}

type Noticed = Pick<Worklog, 'notices' | 'ping'>;

/**
 * @param broken as of {@link brokenNow}
 * @param now UTC epoch milliseconds
 */
export function stuckOf(log: Noticed, atWork: AtWork, broken: readonly BrokenRule[], now: number): Stuck | null {
  if (!atWork.mayWork) return null;
  const [notice] = log.notices;
  if (notice !== undefined && !isExcused(log, notice, now) && !hasResumed(notice, atWork)) {
    const { rule, since, sentence, at } = notice;
    return { rule, since: since ?? at, sentence, noticed_at: at };
  }
  const [first] = broken;
  return first === undefined ? null : { ...first, since: Date.parse(first.since), noticed_at: null };
}

/**
 * @param isUnseen whether it cannot be seen from here that the agent lives
 * @returns the rules that accuse the agent now
 */
export function brokenNow(
  { mayWork, judged }: AtWork,
  { isUnseen, now }: { readonly isUnseen: boolean; readonly now: number },
): readonly BrokenRule[] {
  if (!mayWork || judged === null) return [];
  return judged.broken.filter(({ since }) => mayAccuse(Date.parse(since), isUnseen, now));
}

/** @returns whether a broken rule says something of the agent: one that cannot be seen from here may be gone for long */
export function mayAccuse(since: number, isUnseen: boolean, now: number): boolean {
  return !isUnseen || now - since <= DAY;
}

/** @returns whether a watcher has noticed something that is not closed */
export function isNoticed({ notices }: { readonly notices: readonly unknown[] }): boolean {
  return notices.length > 0;
}

/** @returns until when silence is excused, UTC epoch milliseconds. Null if it is not */
export function excusedUntil({ ping }: Pick<Noticed, 'ping'>, now: number): number | null {
  return ping !== null && ping.until >= now ? ping.until : null;
}

/** A ping excuses silence alone: it is no progress. */
function isExcused(log: Noticed, { rule }: Notice, now: number): boolean {
  return rule === 'silence' && excusedUntil(log, now) !== null;
}

/**
 * Judges may have other limits than the watcher that wrote the notice. So it says little that no rule is broken: the agent must have
 * acted in the meantime, or owe nothing any more. If the judge has not found the fault of the notice, acting says little, too: an agent
 * that fails or repeats itself acts all the time, and one of several agents may still be silent.
 * @returns whether the work has resumed since the notice, or has ended
 */
export function hasResumed({ rule, at }: Notice, { mayWork, judged }: AtWork): boolean {
  if (!mayWork) return true;
  if (judged === null || judged.broken.length > 0) return false;
  if (judged.doing === 'idle') return true;
  const { hasFound, lastActivity, leastActivity } = judged;
  const activity = hasFound ? lastActivity : rule === 'silence' ? leastActivity : null;
  return activity !== null && activity > at;
}
