/** The agent `command`: any program. Its options say how to call it and how to read its output; its login is its own business. */
import { randomUUID } from 'node:crypto';
import { Newest } from '../../src/newest.js';
import { type Clock, systemClock } from '../../src/time.js';
import { checkCommand } from './command/check.js';
import { codex, type Totals } from './command/codex.js';
import { GeminiDialect } from './command/gemini.js';
import { plainText } from './command/plainText.js';
import { CONVERSATION, type CommandOptions, type Output, PROMPT } from './command/settings.js';
import type { Agent, AgentRequest } from './program/contract.js';
import { type Dialect, PROTOCOL } from './program/programStream.js';
import { startProgram } from './program/startProgram.js';

/** Threads of Codex whose use of tokens is remembered. */
const MOST_THREADS = 10_000;

/** Each run has its own, because a dialect may remember lines. */
const DIALECTS: Readonly<Record<Output, (request: AgentRequest, clock: Clock, totals: Totals) => Dialect>> = {
  text: ({ redact }, clock) => plainText(clock, redact),
  json_lines: () => PROTOCOL,
  codex,
  gemini: () => new GeminiDialect(),
};

export function createCommandAgent(options: CommandOptions, clock: Clock = systemClock): Agent {
  const totals: Totals = new Newest(MOST_THREADS);
  return {
    kind: 'command',
    start(given, signal) {
      // If it cannot continue conversations, every message begins a new one, and the journal must say so.
      const request = options.resume === undefined ? { ...given, conversationId: null } : given;
      const dialect = DIALECTS[options.output](request, clock, totals);
      return startProgram({ ...commandLine(options, request, randomUUID), dialect }, request, signal, clock);
    },
    check: (request, signal) => checkCommand(options, request, signal, clock),
  };
}

/** @returns also the conversation that it is to begin or continue: null if it has none, or chooses it itself */
export function commandLine(options: CommandOptions, request: AgentRequest, newId: () => string) {
  const goesOn = options.resume !== undefined && request.conversationId !== null;
  const words = goesOn ? (options.resume ?? []) : options.command;
  const takesId = words.some((word) => word.includes(CONVERSATION));
  const conversationId = takesId ? (goesOn ? request.conversationId : newId()) : null;
  const byArgument = options.prompt === 'argument';
  const withPrompt = byArgument && !words.some((word) => word.includes(PROMPT)) ? [...words, PROMPT] : words;
  const [command = '', ...args] = withPrompt.map((word) =>
    fill(word, { [CONVERSATION]: conversationId ?? '', [PROMPT]: noOption(request.prompt) }),
  );
  return { command, args, input: byArgument ? '' : request.prompt, conversationId };
}

/** In one pass: placeholders in a person's text are not replaced. */
function fill(word: string, values: Readonly<Record<string, string>>): string {
  return word.replace(/\{(?:conversation|prompt)\}/g, (name) => values[name] ?? name);
}

/** A message must not become an option of the program; a leading space does not matter to a model. */
function noOption(prompt: string): string {
  return prompt.startsWith('-') ? ` ${prompt}` : prompt;
}
