/** Failed calls that wait for one that does what they should have done. */
import { EDITS, INSTANT } from '../../src/journal/agentVocabulary.js';
import type { EndedCall } from '../observed/openCalls.js';
import { mainCommand, programOf } from './pattern.js';

/** Calls of the agent after which a failed one is given up. */
const MOST_CALLS = 12;
const MOST_WAITING = 8;
/** For one failed call. */
const MOST_HELPS = 4;
/** A word of a command that is so long says what it is about. */
const SHORTEST_NAME = 4;
const OPTION = /^-/;
/** A text in quotes, such as a message or a title, is not what a command works on; a command for another shell is. */
const QUOTED = /(?<!\s-[a-z]*c\s*)(?:"(?:\\.|[^"\\])*"|'[^']*')/g;
const SEPARATORS = /[\s"'`()<>|&;=]+/;

export interface Attempt {
  /** The id of its group. */
  readonly group: string;
  readonly call: EndedCall;
}

interface Waiting extends Attempt {
  left: number;
  /** Calls since that may have helped, the last ones. */
  readonly after: string[];
}

export interface Worked {
  readonly group: string;
  readonly way: { readonly call: string | null; readonly after: readonly string[] };
}

export class Attempts {
  /** By agent, the oldest first. */
  readonly #waiting = new Map<string, Waiting[]>();

  failed(agent: string, attempt: Attempt): void {
    const all = this.#waiting.get(agent) ?? [];
    // The same failure again: what worked next is what works after the last one.
    const others = all.filter(({ group }) => group !== attempt.group).slice(1 - MOST_WAITING);
    const [before] = all.filter(({ group }) => group === attempt.group);
    this.#waiting.set(agent, [...others, { ...attempt, left: MOST_CALLS, after: before?.after ?? [] }]);
  }

  /** @returns the failures after which this call of the agent worked */
  worked(agent: string, call: EndedCall): Worked[] {
    const all = this.#waiting.get(agent);
    if (all === undefined || all.length === 0) return [];
    const found: Worked[] = [];
    const left: Waiting[] = [];
    for (const waiting of all) {
      if (isAnswerTo(waiting.call, call)) {
        const isSame = wordsOf(waiting.call) === wordsOf(call);
        found.push({ group: waiting.group, way: { call: isSame ? null : wordsOf(call), after: waiting.after } });
        continue;
      }
      waiting.left -= 1;
      if (mayHelp(waiting.call, call)) waiting.after.push(wordsOf(call));
      if (waiting.after.length > MOST_HELPS) waiting.after.shift();
      if (waiting.left > 0) left.push(waiting);
    }
    this.#waiting.set(agent, left);
    return found;
  }
}

function isAnswerTo(failed: EndedCall, call: EndedCall): boolean {
  if (failed.command === null) return call.words === failed.words && failed.words !== failed.tool;
  if (call.command === null) return false;
  const isSameProgram = programOf(failed.command) === programOf(call.command);
  const [names, others] = [namesIn(failed.command), namesIn(call.command)];
  if (isSameProgram && names.length === 0) return true;
  const shortest = isSameProgram ? 1 : SHORTEST_NAME;
  return names.some((name) => name.length >= shortest && others.includes(name));
}

/** @returns the words of a command that say what it is about; its program and its options are none */
function namesIn(command: string): string[] {
  const [, ...words] = withoutTexts(mainCommand(command)).split(SEPARATORS);
  return words.filter((word) => word !== '' && !OPTION.test(word));
}

function withoutTexts(command: string): string {
  return command.replace(QUOTED, (quoted) => (/\s/.test(quoted) ? ' ' : quoted));
}

/** A change and a command may help. A look helps if it is at the file of the failed call. */
function mayHelp(failed: EndedCall, call: EndedCall): boolean {
  if (!INSTANT.has(call.tool) || EDITS.has(call.tool)) return true;
  const subject = failed.words.slice(failed.tool.length + ': '.length);
  return subject !== '' && call.words.endsWith(subject);
}

/** @returns a call in a line, as an agent made it */
export function wordsOf({ words, command }: EndedCall): string {
  return command === null ? words : (command.split('\n', 1)[0] ?? command);
}
