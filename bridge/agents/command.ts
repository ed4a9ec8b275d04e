/**
 * The agent `command`: any program. Its options say how to call it and how to read its output; its login and permissions are
 * its own business.
 */
import { randomUUID } from 'node:crypto';
import type { Redact } from '../../src/log/redact.js';
import { type Clock, systemClock } from '../../src/time.js';
import { announcing } from './command/announcing.js';
import { checkCommand } from './command/check.js';
import { codexDialect } from './command/codex.js';
import { commandLine } from './command/commandLine.js';
import { geminiDialect } from './command/gemini.js';
import { plainText } from './command/plainText.js';
import type { CommandOptions, Output } from './command/settings.js';
import type { Agent } from './program/contract.js';
import { type Dialect, PROTOCOL } from './program/programStream.js';
import { startProgram } from './program/startProgram.js';

export function createCommandAgent(options: CommandOptions, clock: Clock = systemClock): Agent {
  return {
    kind: 'command',
    start(given, signal) {
      // If it cannot continue conversations, every message begins a new one, and the journal must say so.
      const request = options.resume === undefined ? { ...given, conversationId: null } : given;
      const { command, args, input, conversationId } = commandLine(options, request, randomUUID);
      const own = dialectOf(options.output, clock, request.redact);
      const dialect = conversationId === null ? own : announcing(own, conversationId);
      return startProgram({ command, args, input, dialect }, request, signal, clock);
    },
    check: (request, signal) => checkCommand(options, request, signal, clock),
  };
}

function dialectOf(output: Output, clock: Clock, redact?: Redact): Dialect {
  switch (output) {
    case 'text':
      return plainText(clock, redact);
    case 'json_lines':
      return PROTOCOL;
    case 'codex':
      return codexDialect();
    case 'gemini':
      return geminiDialect();
    default:
      return output satisfies never;
  }
}
