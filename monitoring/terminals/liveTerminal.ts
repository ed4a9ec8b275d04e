/** An agent in a terminal, as far as it concerns others. */
import { type Condition, conditionOf, isOpenSession } from '../../memory/condition/condition.js';
import type { Judged } from '../../memory/condition/stuck.js';
import type { Viewer } from '../../memory/sessions/views.js';
import type { WatchedLog } from './terminalSession.js';

export interface LiveTerminal extends Pick<Condition, 'stuck'> {
  readonly directory: string | null;
}

/** @param judged as of the last look @returns null unless an agent of the session is proven alive */
export function liveTerminal(
  memory: Viewer,
  { recorded, directory }: WatchedLog,
  judged: Judged | null,
): LiveTerminal | null {
  if (!isOpenSession(recorded) || memory.runsOf(recorded).alive.length === 0) return null;
  const { surroundings, settings, clock } = memory;
  const viewpoint = { here: surroundings.process, now: clock.now(), hours: settings.freshness, judged };
  return { directory, stuck: conditionOf(recorded, viewpoint).stuck };
}
