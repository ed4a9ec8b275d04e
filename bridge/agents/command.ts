/**
 * The agent `command`: any program. Its options say how to call it and how to read its output; its login and permissions are
 * its own business.
 */
import { randomUUID } from 'node:crypto';
import type { Redact } from '../../src/log/redact.js';
import { type Clock, systemClock } from '../../src/time.js';
import { checkCommand } from './command/check.js';
import { CodexDialect } from './command/codex.js';
import { commandLine } from './command/commandLine.js';
import { GeminiDialect } from './command/gemini.js';
import { plainText } from './command/plainText.js';
import type { CommandOptions, Output } from './command/settings.js';
import type { Agent } from './program/contract.js';
import { type Dialect, PROTOCOL } from './program/programStream.js';
import type { ProgramLine } from './program/protocol.js';
import { startProgram } from './program/startProgram.js';

/** Each run has its own, because a dialect may remember lines. */
const DIALECTS: Readonly<Record<Output, (clock: Clock, redact?: Redact) => Dialect>> = {
  text: plainText,
  json_lines: () => PROTOCOL,
  codex: () => new CodexDialect(),
  gemini: () => new GeminiDialect(),
};

export function createCommandAgent(options: CommandOptions, clock: Clock = systemClock): Agent {
  return {
    kind: 'command',
    start(given, signal) {
      // If it cannot continue conversations, every message begins a new one, and the journal must say so.
      const request = options.resume === undefined ? { ...given, conversationId: null } : given;
      const { conversationId, ...line } = commandLine(options, request, randomUUID);
      const own = DIALECTS[options.output](clock, request.redact);
      const dialect = conversationId === null ? own : announcing(own, conversationId);
      return startProgram({ ...line, dialect }, request, signal, clock);
    },
    check: (request, signal) => checkCommand(options, request, signal, clock),
  };
}

/**
 * @param conversationId chosen for the program, or continued by it
 * @returns the dialect that reports the conversation with the program's first output, because it may not exist before
 */
function announcing(dialect: Dialect, conversationId: string): Dialect {
  let isReported = false;
  const first = (): ProgramLine[] => {
    if (isReported) return [];
    isReported = true;
    return [{ kind: 'conversation', conversationId }];
  };
  return {
    line: (text) => [...first(), ...dialect.line(text)],
    ...(dialect.heard !== undefined && { heard: () => [...first(), ...(dialect.heard?.() ?? [])] }),
    exited: (code) => dialect.exited?.(code) ?? [],
  };
}
