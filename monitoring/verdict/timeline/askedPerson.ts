/**
 * Calls for which a person seems to be asked for permission, although no line says so: the programs that people run in
 * terminals do not record their dialogs. (Judgement rules, 9.)
 *
 * This applies only if a journal names a permission mode, and no bridge writes one: its agents are denied what they may not do.
 */
import {
  ASKING_MODES,
  EDITING_MODES,
  EDITS,
  INSTANT,
  NEVER_ASKED,
  SHELLS,
  STARTERS,
} from '../../../src/journal/agentVocabulary.js';
import { MINUTE } from '../../../src/time.js';
import { MAIN_AGENT } from './entry.js';
import type { OpenCall, RunState } from './state.js';

const OVERDUE_MS = MINUTE;
const UNDECLARED_MS = 3 * MINUTE;

/**
 * The lines of a sub-agent are signs of life of the call that started it. If the sub-agent is unknown, there is no transcript of it:
 * the call then stands for the sub-agent's calls, which cannot be seen.
 * @returns the first instant at which a person seems to be asked for this call, UTC epoch milliseconds; null if never
 */
export function askedFrom(run: RunState, call: OpenCall): number | null {
  const { permissionMode: mode, hasPerson } = run;
  if (mode === null || !hasPerson || call.isHeard || call.allowanceSince !== call.since) return null;
  if (call.asksFirst && ASKING_MODES.has(mode)) return call.since;
  if (STARTERS.has(call.tool) && hasUnknownStarter(run)) return null;
  return asksFor(mode, call.tool) ? call.since + allowanceOf(call) : null;
}

/** Such a sub-agent may be the one that a call has started, so that something was heard of it. */
function hasUnknownStarter({ agents }: RunState): boolean {
  return agents.some(({ id, parentCall }) => id !== MAIN_AGENT && parentCall === null);
}

/** @returns the first instant at which a person seems to be asked for any call; infinite if there is none */
function firstAskedFrom(run: RunState): number {
  let first = Number.POSITIVE_INFINITY;
  if (run.permissionMode === null || !run.hasPerson) return first;
  for (const { calls } of run.agents) {
    for (const call of calls) first = Math.min(first, askedFrom(run, call) ?? first);
  }
  return first;
}

/** @returns the instant up to which owed time is summed at `now`: an agent owes nothing while it asks, or seems to ask, a person */
export function owedUntil(run: RunState, now: number): number {
  if (run.turnSince === null || run.humanWaits > 0) return run.owedUntil;
  return Math.min(now, Math.max(run.owedUntil, firstAskedFrom(run)));
}

function asksFor(mode: string, tool: string): boolean {
  if (NEVER_ASKED.has(tool)) return false;
  return ASKING_MODES.has(mode) || (EDITING_MODES.has(mode) && !EDITS.has(tool));
}

function allowanceOf({ tool, timeoutMs }: OpenCall): number {
  if (INSTANT.has(tool)) return OVERDUE_MS;
  return SHELLS.has(tool) && timeoutMs !== null ? timeoutMs + OVERDUE_MS : UNDECLARED_MS;
}
