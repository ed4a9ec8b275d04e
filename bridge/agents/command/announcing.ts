import type { Dialect } from '../program/programStream.js';
import type { ProgramLine } from '../program/protocol.js';

/**
 * @param conversationId chosen for the program, or continued by it
 * @returns the dialect that reports the conversation with the program's first output, because it may not exist before
 */
export function announcing(dialect: Dialect, conversationId: string): Dialect {
  let isTold = false;
  const first = (): ProgramLine[] => {
    if (isTold) return [];
    isTold = true;
    return [{ kind: 'conversation', conversationId }];
  };
  return {
    line: (text) => [...first(), ...dialect.line(text)],
    ...(dialect.heard !== undefined && { heard: () => [...first(), ...(dialect.heard?.() ?? [])] }),
    exited: (code) => dialect.exited?.(code) ?? [],
  };
}
