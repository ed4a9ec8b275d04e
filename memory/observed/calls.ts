/** Calls in a few words. */
import { textOf } from '../../src/journal/record.js';
import { faultLine } from './faultLine.js';
import type { WrittenFile } from './shellWrites.js';

export interface ObservedError {
  readonly agent: string;
  readonly tool: string;
  /** The call in a few words. */
  readonly call: string;
  readonly outcome: string;
  readonly message: string;
  readonly at: number;
}

export interface Action {
  readonly at: number;
  readonly agent: string;
  readonly words: string;
  /** In the journal's word. Null if it has no result. */
  outcome: string | null;
}

/** A call without a result. */
export interface OpenCall {
  readonly agent: string;
  readonly tool: string;
  readonly words: string;
  readonly at: number;
  /** The file that it was to change. */
  readonly path: string | null;
  /** The files that the command of a shell was to write; they may never have been begun. */
  readonly written: readonly WrittenFile[];
}

/** @returns words before a call: none for one of the main agent */
export function agentWords(agent: string): string {
  return agent === 'main' ? '' : 'a sub-agent: ';
}

const ASKED = '; a permission was asked for, so it may never have run';

/**
 * @param asked when a hook last reported a request for permission, UTC epoch milliseconds. Null if none did. No hook reports the answer
 * @returns words behind a call without a result
 */
export function openWords({ at }: Pick<OpenCall, 'at'>, asked: number | null): string {
  return `, without a result${asked !== null && asked >= at ? ASKED : ''}`;
}

/**
 * @param asked as of {@link openWords}
 * @returns words behind a call: none if it succeeded
 */
export function outcomeWords({ at, outcome }: Pick<Action, 'at' | 'outcome'>, asked: number | null): string {
  if (outcome === null) return openWords({ at }, asked);
  return outcome === 'ok' ? '' : `, ${outcome}`;
}

/** The fields of an input that say most, as a command or a path. The title of a task says more than its description. */
export const SUBJECTS =
  'command cmd file_path notebook_path path pattern query url subject description taskId message prompt'.split(' ');
const MARK = /<\/?tool_use_error>/g;
/** A line that only the next one explains. */
const BEGINNING = /(?:\bcode \d+|:)$/i;

/** @returns a call in a line */
export function callWords(tool: string, input: unknown): string {
  const fields: Record<string, unknown> = Object(input);
  const asked = Array.isArray(fields.questions) ? Object(fields.questions[0]).question : undefined;
  const subject = SUBJECTS.find((name) => typeof fields[name] === 'string');
  const said = subject === undefined ? asked : fields[subject];
  return typeof said === 'string' ? `${tool}: ${said.split('\n', 1)[0]}` : tool;
}

/** @returns the tool of a call, from the call in a line */
export function toolOf(words: string): string {
  return words.split(': ', 1)[0] ?? words;
}

/** @returns why a call failed, in a line: of an exit code also what says most of what the command said */
export function faultWords(output: string): string {
  const lines = output
    .replace(MARK, '')
    .split('\n')
    .map((line) => line.trim());
  const [first = '', ...said] = lines.filter((line) => line !== '');
  const second = said.length === 0 ? '' : faultLine(said.join('\n'));
  if (second === '' || !BEGINNING.test(first)) return first;
  return `${first}${first.endsWith(':') ? '' : ':'} ${second}`;
}

/** @returns what a shell is to do; null for another call */
export function commandOf(input: unknown): string | null {
  const { command, cmd } = Object(input);
  return textOf(command) ?? textOf(cmd);
}

/** @returns the file that an edit names */
export function pathOf(input: unknown): string | null {
  const { file_path, notebook_path } = Object(input);
  return textOf(file_path) ?? textOf(notebook_path);
}
