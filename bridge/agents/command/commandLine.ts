/** Turns a project's options into a program, its arguments and its standard input. */
import type { AgentRequest } from '../program/contract.js';
import { CONVERSATION, type CommandOptions, PROMPT } from './settings.js';

/**
 * @param newId makes the id of a new conversation
 * @returns the program, its standard input, and the conversation that it is to begin or continue: null if it has none, or
 *   chooses it itself
 */
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
