/** From a project's words to a program, its arguments and its standard input. */
import type { AgentRequest } from '../program/contract.js';
import { CONVERSATION, type CommandOptions, PROMPT } from './settings.js';

export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  /** Standard input. */
  readonly input: string;
  /** A conversation that the program was told to begin or to continue; null where it has none, or chooses it itself. */
  readonly conversationId: string | null;
}

/** @param newId makes the id of a new conversation */
export function commandLine(options: CommandOptions, request: AgentRequest, newId: () => string): CommandLine {
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

/** In one pass: what a person writes is not looked at again. */
function fill(word: string, values: Readonly<Record<string, string>>): string {
  return word.replace(/\{(?:conversation|prompt)\}/g, (name) => values[name] ?? name);
}

/** A message must not become an option of the program; a space before it changes nothing for a model. */
function noOption(prompt: string): string {
  return prompt.startsWith('-') ? ` ${prompt}` : prompt;
}
