import { Memory } from '../../../memory/sessions/memory.js';
import { UnreachableError, UsageError } from '../../../src/errors.js';
import { systemClock } from '../../../src/time.js';
import type { PluginCall } from './call.js';

/** @returns the ids of sessions on which one of the agents is at work now; none if the memory cannot be read */
export function runningSessions({ context, places, agents }: PluginCall): string[] {
  const { surroundings, redact } = context;
  const names: readonly (string | null)[] = agents.map(({ name }) => name);
  try {
    const memory = new Memory({ surroundings, folder: places.root, clock: systemClock, redact });
    return memory.sessions.ids().filter((id) => {
      const log = memory.sessions.endsEnded(id) ? undefined : memory.look(id)?.log.state;
      if (log === undefined || log.lifecycle === 'ended') return false;
      const runs = log.runs.filter(({ agent }) => names.includes(agent));
      return memory.runsOf({ ...log, runs }).alive.length > 0;
    });
  } catch (error) {
    if (error instanceof UsageError || error instanceof UnreachableError) return [];
    throw error;
  }
}
