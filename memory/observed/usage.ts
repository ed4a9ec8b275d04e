/** The tokens of an agent's messages, from the lines of the event `usage`. */
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import type { Tokens } from '../fold/worklog.js';

const NO_TOKENS: Tokens = { input: 0, output: 0, cached: 0 };

/**
 * A message may be in several records; the last one has its final count. It counts once.
 * @param sums by agent
 * @param messages as last counted, by id
 */
export function takeUsage(
  sums: Map<string, Tokens>,
  messages: Map<string, Tokens>,
  { record, agent }: { readonly record: JournalRecord; readonly agent: string },
): void {
  const message = textOf(record.message_id);
  const said = tokensOf(record);
  const known = (message === null ? undefined : messages.get(message)) ?? NO_TOKENS;
  if (message !== null) messages.set(message, said);
  const sum = sums.get(agent) ?? NO_TOKENS;
  sums.set(agent, {
    input: sum.input + said.input - known.input,
    output: sum.output + said.output - known.output,
    cached: sum.cached + said.cached - known.cached,
  });
}

/** @returns how many tokens the model was given with a message */
export function contextOf(record: JournalRecord): number {
  const { input, cached } = tokensOf(record);
  return input + cached;
}

function tokensOf({ input, output, cached }: JournalRecord): Tokens {
  return { input: countOf(input), output: countOf(output), cached: countOf(cached) };
}

function countOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}
