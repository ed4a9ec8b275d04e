/** The common part of the dialects of agents that print one JSON event per line. */
import * as z from 'zod';
import { parseJson } from '../../../src/json.js';
import type { ProgramEvent, ProgramLine } from '../program/protocol.js';

/**
 * @param schema a discriminated union: the field that distinguishes its events names the event of a line
 * @returns the meaning of one line. Events of later versions, which have another name, are ignored. Anything else that does not
 *   fit is garbage, also a known event that lacks a field: a call that is ignored would be missing in the journal
 */
export function readEvent<Event>(
  text: string,
  schema: z.ZodType<Event>,
  interpret: (event: Event) => ProgramLine[],
): ProgramLine[] {
  if (text.trim() === '') return [];
  const value = parseJson(text);
  const parsed = schema.safeParse(value);
  if (parsed.success) return interpret(parsed.data);
  return [{ kind: isOfLaterVersion(parsed.error, value) ? 'ignored' : 'garbage' }];
}

function isOfLaterVersion({ issues: [issue] }: z.ZodError, value: unknown): boolean {
  const [field, ...deeper] = issue?.path ?? [];
  if (issue?.code !== 'invalid_union' || field === undefined || deeper.length > 0) return false;
  return z.looseObject({ [field]: z.string() }).safeParse(value).success;
}

export function journal(event: ProgramEvent): ProgramLine {
  return { kind: 'journal', event };
}

/** @param words an agent's own message about its failure. Its cause is read from them at the end (failures/explain.ts) */
export function failure(words: string): ProgramLine {
  return { kind: 'failure', cause: 'crash', detail: words };
}
