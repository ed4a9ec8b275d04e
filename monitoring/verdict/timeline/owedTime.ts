/** The time when a run owes work, summed up as its lines come in. (Judgement rules, 16.) */
import { owedUntil } from './askedPerson.js';
import type { ResultEntry } from './entry.js';
import type { RunState } from './state.js';

/** Each human wait, and each time between two turns, adds one. */
const MOST_SPANS = 64;

export function openTurn(run: RunState, time: number): void {
  run.turnSince ??= time;
  /** A journal without a `session_start` begins its run with the first turn. */
  if (run.owedSince === 0) run.owedSince = time;
}

/** The older shape mentions a call only after its end: work has been owed since that call began. */
export function openTurnAtCall(run: RunState, { time, begunAt }: ResultEntry): void {
  if (run.turnSince !== null) return;
  const since = begunAt === null ? time : Math.max(run.begunAt, Math.min(begunAt, time));
  openTurn(run, since);
  run.owedMs += time - since;
}

/** Sums the owed time up to `time`, except while a person is, or seems to be, awaited. */
export function accrue(run: RunState, time: number): void {
  const until = owedUntil(run, time);
  if (until > run.owedUntil) {
    run.owedMs += until - run.owedUntil;
    addSpan(run, run.owedUntil, until);
  }
  run.owedUntil = time;
}

/** Beyond the limit the oldest are merged: a gap between them then removes more, which causes no accusation. */
function addSpan(run: RunState, from: number, until: number): void {
  const last = run.owedSpans.length - 1;
  if (run.owedSpans[last] === from) run.owedSpans[last] = until;
  // Most runs have one span, and pushing would reserve room for eight.
  else run.owedSpans = run.owedSpans.concat([from, until]);
  if (run.owedSpans.length > 2 * MOST_SPANS) run.owedSpans.splice(1, 2);
}
