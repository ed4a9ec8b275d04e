/** Finds the session that a person has named: by its id, its name, or the beginning or the end of its id. */
import { didYouMean } from '../../src/config/didYouMean.js';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { ambiguity, isMessageSessionId } from '../../src/ids.js';
import type { Places } from '../home/places.js';
import type { OpenSession, Sessions } from './sessions.js';
import { UnclearError } from './unclear.js';

/** A shorter part of an id is too likely to be a mistake. */
const SHORTEST_PART = 4;
const MOST_NAMED = 10;
/** The second session of a day and a purpose has the id of the first one, and this. */
const NUMBER = /^-\d+$/;

/** A memory whose sessions have names. */
interface Named {
  readonly places: Pick<Places, 'findSession'>;
  readonly sessions: Pick<Sessions, 'ids' | 'archivedIds'>;
  /** Why sessions were left out. */
  readonly leftOut: readonly string[];
  readonly isBridges: boolean;
  look(id: string): OpenSession | null;
}

/**
 * @param isExact whether a part of an id names none
 * @returns null if no session has that id, name or part of an id
 * @throws UnclearError if several have it
 */
export function idOfNamed(memory: Named, named: string, isExact = false): string | null {
  const { places, sessions } = memory;
  if (places.findSession(named) !== null) return named;
  const ids = sessions.ids();
  const namesakes = ids.filter((id) => memory.look(id)?.log.state.facts?.name === named);
  if (namesakes.length > 1)
    throw unclear(
      memory,
      `${namesakes.length} sessions are named ${JSON.stringify(named)}. Name one by its id:`,
      namesakes,
    );
  if (isExact) return namesakes[0] ?? null;
  return namesakes[0] ?? idOfPart(memory, ids, named) ?? idOfPart(memory, sessions.archivedIds(), named);
}

/** @returns the error for a name that no session has, with the id that was probably meant */
export function missing({ sessions, leftOut, isBridges }: Named, named: string): Error {
  const words = `there is no session ${JSON.stringify(named)}`;
  if (!isBridges && isMessageSessionId(named))
    return new UsageError(`${words} here; one of a bridge is in its logs folder: --dir LOGS`);
  if (leftOut.length > 0) return new UnreachableError(`${words} among those that can be read`);
  const ids = [...sessions.ids(), ...sessions.archivedIds()];
  const whole = named.length < SHORTEST_PART ? [] : ids.filter((id) => isPartOf(id, named));
  const [only] = whole;
  const similar = only !== undefined && whole.length === 1 ? `; did you mean ${JSON.stringify(only)}?` : null;
  return new UsageError(`${words}${similar ?? didYouMean(named, ids)}`);
}

function idOfPart(memory: Named, ids: readonly string[], part: string): string | null {
  if (part.length < SHORTEST_PART) return null;
  const found = ids.filter((id) => isPartOf(id.toLowerCase(), part.toLowerCase()));
  if (found.length > 1) throw unclear(memory, ambiguity(part, found.length, 'sessions'), found);
  return found[0] ?? null;
}

/** The whole id of a session that was removed must not name the next one of its day and purpose. */
function isPartOf(id: string, part: string): boolean {
  return id.endsWith(part) || (id.startsWith(part) && !NUMBER.test(id.slice(part.length)));
}

/** Each is looked at, to say what it is about; so only the newest ones are. */
function unclear(memory: Named, beginning: string, ids: readonly string[]): UnclearError {
  const shown = ids
    .toReversed()
    .slice(0, MOST_NAMED)
    .flatMap((id) => memory.look(id) ?? []);
  return new UnclearError(beginning, shown, ids.length - shown.length);
}
