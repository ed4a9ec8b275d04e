/** Calls in a few words. */
import { textOf } from '../../src/journal/record.js';

/** A call without a result. */
export interface OpenCall {
  readonly agent: string;
  readonly tool: string;
  readonly words: string;
  readonly at: number;
  /** The file that it was to change. */
  readonly path: string | null;
}

/** The fields of an input that say most, as a command or a path. */
const SUBJECTS = 'command cmd file_path notebook_path path pattern query url description subject taskId'.split(' ');

/** @returns a call in a line */
export function callWords(tool: string, input: unknown): string {
  const fields: Record<string, unknown> = Object(input);
  const said = SUBJECTS.map((name) => fields[name]).find((text): text is string => typeof text === 'string');
  return said === undefined ? tool : `${tool}: ${said.split('\n')[0]}`;
}

/** @returns the file that an edit names */
export function pathOf(input: unknown): string | null {
  const { file_path, notebook_path } = Object(input);
  return textOf(file_path) ?? textOf(notebook_path);
}
