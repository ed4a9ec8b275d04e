/** The programs of agents that are known here. */
import { basename } from 'node:path';
import type { AgentProgram } from './agentProgram.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { processName } from './processName.js';

/** Those whose sessions are followed. */
export const AGENT_PROGRAMS: readonly AgentProgram[] = [claude, codex];

/** Others that work for a person in a shell: a command there is an agent's. */
const OTHER_PROGRAMS = ['gemini', 'opencode', 'cursor-agent', 'aider', 'goose', 'amp', 'qwen', 'copilot'];
const PROCESSES = [...AGENT_PROGRAMS.flatMap(({ processes }) => processes), ...OTHER_PROGRAMS];

/** The programs that run agents' scripts; a shell, if a person has wrapped one. */
const INTERPRETER = /^(?:node|nodejs|bun|deno|python[\d.]*|sh|bash|dash|zsh)$/;

/**
 * @param agent the name of the program that a process was seen to be; null if it is none that is known
 * @param transcript the name of the file that it writes; null if it has none
 * @returns the program that sends a hook's payload, whose fields do not say it
 */
export function senderOf(agent: string | null, transcript: string | null): AgentProgram {
  const writer = transcript === null ? undefined : AGENT_PROGRAMS.find(({ isTranscript }) => isTranscript(transcript));
  return writer ?? programNamed(agent) ?? claude;
}

/** @returns null for a program whose sessions are not followed */
export function programNamed(name: string | null): AgentProgram | null {
  return AGENT_PROGRAMS.find((program) => program.name === name) ?? null;
}

/**
 * Only names count, not the folders that they are in. The arguments of other programs do not count: `make codex` is no agent.
 * @param given the words of a process: its program, and its arguments
 * @returns the name of the agent's program; null if it is none that is known, or a process of it that is no agent
 */
export function programOfProcess(given: readonly string[]): string | null {
  const words = wordsOf(given);
  const name = namedProgram(words);
  return name !== null && programNamed(name)?.isSupervisor(words) ? null : name;
}

/** @returns whether it only starts the processes of a program of agents: it is no agent */
export function isSupervisor(given: readonly string[]): boolean {
  const words = wordsOf(given);
  return programNamed(namedProgram(words))?.isSupervisor(words) === true;
}

/** @returns whether it works for several conversations, and so belongs to none of them, whatever has started it */
export function isServer(given: readonly string[]): boolean {
  const words = wordsOf(given);
  return AGENT_PROGRAMS.some((program) => program.isServer(words));
}

/** Some programs replace their command line by a title, which is one word with blanks in it. */
function wordsOf(given: readonly string[]): readonly string[] {
  const [title = ''] = given;
  return given.length === 1 && !title.startsWith('/') ? title.split(' ') : given;
}

function namedProgram(words: readonly string[]): string | null {
  const [program = '', ...args] = words;
  // Gemini starts itself again as `node --max-old-space-size=… …/gemini`. A short option may be followed by code instead.
  const script = INTERPRETER.test(basename(program)) ? args.find((word) => !word.startsWith('--')) : undefined;
  const names = [program, script ?? ''].map(processName);
  return names.find((name) => PROCESSES.includes(name)) ?? null;
}
