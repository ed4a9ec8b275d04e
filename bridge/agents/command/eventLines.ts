/** What the dialects of agents that print one JSON event per line share. */
import * as z from 'zod';
import { parseJson } from '../../../src/json.js';
import type { FailureCause } from '../program/contract.js';
import type { ProgramEvent, ProgramLine } from '../program/protocol.js';

/**
 * Each line names the program and version, and the status that made it say so: these agents give nothing but words for why a
 * request was refused.
 */
const CAUSES: readonly (readonly [RegExp, FailureCause])[] = [
  // codex 0.169.0 on 401.
  [/unexpected status 401 Unauthorized/, 'authentication'],
  // codex 0.169.0 on 429 with the code insufficient_quota.
  [/^Quota exceeded\. Check your plan and billing details/, 'credit'],
  // codex 0.169.0 on 429 with the type usage_limit_reached, and on any other 429, which it does not wait for.
  [/^You’ve hit your usage limit/, 'rate_limit'],
  [/^exceeded retry limit, last status: 429/, 'rate_limit'],
  // codex 0.169.0 on `response.failed` with the code context_length_exceeded.
  [/ran out of room in the model's context window/, 'context_overflow'],
  // gemini-cli 0.61.0 on 400; the API's own answer is part of its message.
  [/"reason":"API_KEY_INVALID"/, 'authentication'],
];

/**
 * @param schema a discriminated union: the field that tells its events apart names the event of a line
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

/** @param words an agent's own message about its failure */
export function failure(words: string): ProgramLine {
  const cause = CAUSES.find(([pattern]) => pattern.test(words))?.[1] ?? 'crash';
  return { kind: 'failure', cause, detail: words };
}
