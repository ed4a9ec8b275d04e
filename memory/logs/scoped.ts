/** Logs that are open only while a piece of work uses them. */
import { UnreachableError } from '../../src/errors.js';
import type { LogKind } from './kind.js';
import { Log } from './log.js';

/** Does the work, and closes the log then: when a promise that the work returns is settled, and also if the work fails. */
export function closeAfter<Result>(opened: { close(): void }, work: () => Result): Result {
  let result: Result;
  try {
    result = work();
  } catch (error) {
    opened.close();
    throw error;
  }
  if (result instanceof Promise) return result.finally(() => opened.close()) as Result;
  opened.close();
  return result;
}

/**
 * Begins the log if there is none.
 * @param earlier as of `Log.open`
 * @throws UnreachableError if it cannot be opened for writing
 */
export function withLog<State, Events, Result>(
  path: string,
  kind: LogKind<State, Events>,
  work: (log: Log<State, Events>) => Result,
  earlier?: Log<State, Events>,
): Result {
  const log = Log.begin(path, kind) ?? Log.open(path, kind, earlier);
  if (log === null) throw new UnreachableError(`${path} was removed while it was used; try again`);
  return closeAfter(log, () => work(log));
}
