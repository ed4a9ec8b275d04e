// covers: memory/fold/recent.ts
import { expect, test } from '@jest/globals';
import { wordsOfLine } from '../../../memory/fold/recent.js';
import type { Line } from '../../../memory/logs/line.js';

test.each([
  ['lost', 'the agent was found gone: it did not report its end'],
  ['prompt_input_exit', 'the agent ended: prompt_input_exit'],
  [undefined, 'the agent ended'],
])('how an agent ended is said in words that a person knows: %s', (reason, words) => {
  expect(wordsOfLine({ event: 'run_ended', ...(reason !== undefined && { reason }) } as unknown as Line)).toBe(words);
});
