/** Asks a verb from whichever door: what programs have reported is taken in first, and what a memory cannot do itself is done after. */
import { refreshGenerated } from '../../memory/keeping/rebuild.js';
import { presentDirectory } from '../../memory/look/presentDirectory.js';
import { takeReports } from '../../memory/programs/takeReports.js';
import { ownSurroundings } from '../../memory/sessions/bridgeRun.js';
import type { KnownLogs } from '../../memory/sessions/knownLogs.js';
import { Memory, type MemoryOptions } from '../../memory/sessions/memory.js';
import type { Surroundings } from '../../memory/sessions/surroundings.js';
import { type AnyVerb, ask, type Door, type Outcome } from '../../memory/verbs/verb.js';
import type { Origin } from '../../memory/words.js';
import { requireDirectory } from '../../memory/workspaces/removed.js';
import type { Redact } from '../../src/log/redact.js';
import { systemClock } from '../../src/time.js';
import { keepLater, roundLater } from '../command/keepLater.js';
import { stopMonitor } from '../command/monitorProcess.js';

/** The caller of a verb, and its door. */
export interface Asking {
  readonly surroundings: Surroundings;
  /** The memory's folder. Null if the variables say it. */
  readonly folder: string | null;
  readonly redact: Redact;
  /** The writer of lines; as the surroundings show, if missing. */
  readonly origin?: Origin;
  /** The logs that earlier calls of this process have read. */
  readonly known?: KnownLogs;
  /** Whether a session is named by its whole id, or its name. False if missing. */
  readonly isExact?: boolean;
  readonly door: Door;
  /** Takes what the caller reads next to the outcome, such as why sessions were left out. Called also if the verb fails. */
  aside(lines: readonly string[]): void;
}

/**
 * @param given the verb's fields by name, and `session`
 * @param use takes the outcome after its follow-ups
 * @returns what `use` returns
 * @throws UsageError, RefusedError, UnreachableError, and what the verb throws
 */
export async function askVerb<Result>(
  { surroundings: around, folder, redact, origin, known, isExact, door, aside }: Asking,
  verb: AnyVerb,
  given: Readonly<Record<string, unknown>>,
  use: (outcome: Outcome) => Result,
): Promise<Result> {
  const { surroundings, left } = ownSurroundings(around);
  const optional = { ...(origin && { origin }), ...(known && { known }), ...(isExact && { isExact }) };
  const memory = memoryOf({ surroundings, folder, clock: systemClock, redact, ...optional });
  if (left !== null) memory.leftOut.push(left);
  takeReports(memory, (session) => keepLater(door, memory, session));
  try {
    const { toolCall, directory } = memory.surroundings;
    // A command has no directory that is gone: its shell could not start it there.
    const isNeeded = toolCall !== undefined && given.session === undefined && verb.isAnywhere !== true;
    if (isNeeded && memory.implied() === null) requireDirectory(directory);
    const outcome = await ask(verb, memory, given, door);
    await followUp(door, memory, outcome);
    const result = use(outcome);
    await refreshGenerated(memory);
    return result;
  } finally {
    // Generated files may be the last that could not be written.
    if (memory.leftOut.length > 0) aside(memory.leftOut);
    memory.close();
  }
}

/** An agent that calls a tool works where its conversation is now, and not where it has started the server. */
function memoryOf(options: MemoryOptions): Memory {
  const memory = new Memory(options);
  const { surroundings } = options;
  const directory = surroundings.toolCall === undefined ? null : presentDirectory(memory);
  if (directory === null || directory === surroundings.directory) return memory;
  return new Memory({ ...options, surroundings: { ...surroundings, directory } });
}

async function followUp(door: Door, memory: Memory, { followUps = [] }: Outcome): Promise<void> {
  for (const each of followUps) {
    switch (each.do) {
      case 'keep':
        keepLater(door, memory, each.session);
        break;
      case 'keep_round':
        roundLater(door, memory);
        break;
      case 'stop_monitor':
        await stopMonitor(memory, each.session);
        break;
      default:
        each satisfies never;
    }
  }
}
