/**
 * Why an agent's request was refused, for agents that give nothing but words. Each line names the program and version, and the
 * status that made it say so.
 */
import type { FailureCause } from '../program/contract.js';

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

/** @param words an agent's own message about its failure */
export function causeOfWords(words: string): FailureCause {
  return CAUSES.find(([pattern]) => pattern.test(words))?.[1] ?? 'crash';
}
