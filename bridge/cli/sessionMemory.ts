/** The memory of a session, for the commands that show sessions: those of the bridge, and those of the user's terminals. */
import { Places } from '../../memory/home/places.js';
import { takeReports } from '../../memory/programs/takeReports.js';
import { Memory } from '../../memory/sessions/memory.js';
import { terminalFolder } from '../../memory/sessions/terminalMemory.js';
import { type Shown, showSession } from '../../memory/show/shown.js';
import { judge } from '../../monitoring/terminals/judge.js';
import { WatchkeeperError } from '../../src/errors.js';
import { systemClock } from '../../src/time.js';
import { type CommandContext, sayEach } from '../command/command.js';

type Caller = Pick<CommandContext, 'surroundings' | 'redact'>;

/** @returns null if the session has no worklog in this home or logs folder @throws UnreachableError, UsageError */
export async function shownIn(folder: string, sessionId: string, caller: Caller): Promise<Shown | null> {
  if (new Places(folder).findSession(sessionId) === null) return null;
  const memory = memoryIn(folder, caller);
  const session = memory.sessions.read(sessionId);
  return session === null ? null : showSession(memory, session, judge);
}

/** @returns null if no session of a terminal has this id @throws as {@link shownIn} */
export async function shownInTerminals(sessionId: string, context: CommandContext): Promise<Shown | null> {
  if (!isOfTerminal(sessionId, context)) return null;
  return shownIn(terminalFolder(context.surroundings), sessionId, context);
}

/** Whether a session of a terminal has this id. A home that cannot be used hides no session of the bridge: it is said. */
export function isOfTerminal(sessionId: string, { surroundings, io }: CommandContext): boolean {
  try {
    const places = new Places(terminalFolder(surroundings));
    places.requireOwn();
    return places.findSession(sessionId) !== null;
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    sayEach(io, [error.message]);
    return false;
  }
}

/** @throws UnreachableError, UsageError if the memory cannot be read */
export function memoryIn(folder: string, { surroundings, redact }: Caller): Memory {
  const memory = new Memory({ surroundings, folder, clock: systemClock, redact });
  takeReports(memory);
  return memory;
}
