/** The memory of a session, for the commands that show sessions: those of the bridge, and those of the user's terminals. */
import { existsSync } from 'node:fs';
import { Places } from '../../memory/home/places.js';
import { takeReports } from '../../memory/programs/takeReports.js';
import { Memory } from '../../memory/sessions/memory.js';
import { idOfNamed } from '../../memory/sessions/namedSession.js';
import { terminalFolder } from '../../memory/sessions/terminalMemory.js';
import { type Shown, showSession } from '../../memory/show/shown.js';
import { judge } from '../../monitoring/terminals/judge.js';
import { WatchkeeperError } from '../../src/errors.js';
import { systemClock } from '../../src/time.js';
import { type CommandContext, sayEach } from '../command/command.js';
import { keepLater } from '../command/keepLater.js';

type Caller = Pick<CommandContext, 'surroundings' | 'redact' | 'startDetached'>;

/** @returns null if the session has no worklog in this home or logs folder @throws UnreachableError, UsageError */
export async function shownIn(folder: string, sessionId: string, caller: Caller): Promise<Shown | null> {
  if (new Places(folder).findSession(sessionId) === null) return null;
  const memory = memoryIn(folder, caller);
  const session = memory.sessions.read(sessionId);
  return session === null ? null : showSession(memory, session, judge);
}

const OF_A_BRIDGE = /^(?:tg|cli)_/;

/** @returns null if no session of a terminal has this id, name or part of an id @throws as {@link shownIn} */
export async function shownInTerminals(sessionId: string, context: CommandContext): Promise<Shown | null> {
  const { surroundings } = context;
  if (isOfTerminal(sessionId, context)) return shownIn(terminalFolder(surroundings), sessionId, context);
  // A session of the bridge is never meant by a part of its id, and nothing else by the whole of it.
  if (OF_A_BRIDGE.test(sessionId)) return null;
  const folder = terminalFolder(surroundings);
  if (!existsSync(folder)) return null;
  const id = idOfNamed(memoryIn(folder, context), sessionId);
  return id === null ? null : shownIn(folder, id, context);
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
export function memoryIn(folder: string, caller: Caller): Memory {
  const { surroundings, redact } = caller;
  const memory = new Memory({ surroundings, folder, clock: systemClock, redact });
  takeReports(memory, (session) => keepLater(caller, memory, session));
  return memory;
}
