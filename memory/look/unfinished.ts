/** The unfinished sessions of a workspace, weighed against each other. */
import { type Condition, conditionOf } from '../condition/condition.js';
import { recordedIn, recordedOf } from '../condition/recorded.js';
import { byWeight } from '../condition/weight.js';
import { isUnused } from '../fold/unused.js';
import type { OpenHere } from '../sessions/openHere.js';
import type { Viewer } from '../sessions/views.js';
import { lookAt } from './look.js';
import { settledState } from './written.js';

export interface Weighed {
  readonly session: OpenHere;
  readonly condition: Condition;
  /** It began by itself, and nothing was asked or declared in it, as far as that was looked at. */
  readonly isUnused: boolean;
  /** UTC epoch milliseconds. Null if there was none. */
  readonly last_activity: number | null;
}

/**
 * @param until from then on only worklogs are looked at, UTC epoch milliseconds
 * @returns the heaviest first
 */
export async function weighed(
  memory: Viewer,
  sessions: readonly OpenHere[],
  until = Number.POSITIVE_INFINITY,
): Promise<Weighed[]> {
  const found: Weighed[] = [];
  for (const session of sessions) found.push(await weighedOne(memory, session, until));
  return found.sort(byWeight);
}

async function weighedOne(memory: Viewer, session: OpenHere, until: number): Promise<Weighed> {
  const { log, folder } = session;
  const state = settledState(memory, folder);
  if (state === null && memory.clock.now() < until) {
    const { condition, state: combined, fold } = await lookAt(memory, session);
    return { session, condition, isUnused: isUnused(log.state, fold), last_activity: combined.last_activity };
  }
  const { clock, settings, surroundings } = memory;
  const recorded = state === null ? recordedOf(log.state, undefined, log.counts) : recordedIn(state);
  const viewpoint = { here: surroundings.process, now: clock.now(), hours: settings.freshness, judged: null };
  return {
    session,
    condition: conditionOf(recorded, viewpoint),
    isUnused: false,
    last_activity: recorded.last_activity,
  };
}
