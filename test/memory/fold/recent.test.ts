// covers: memory/fold/recent.ts
import { expect, test } from '@jest/globals';
import { wordsOfLine } from '../../../memory/fold/recent.js';
import type { Line } from '../../../memory/logs/line.js';

test.each([
  ['lost', 'the agent was found gone: it did not report its end'],
  ['prompt_input_exit', 'the agent ended: its person left it'],
  ['other', 'the agent ended: its window was closed, or its program stopped'],
  ['moved to ses_1', 'the agent continued in session ses_1'],
  ['run_failed_exit_1', 'the agent ended: run failed exit 1'],
  ['ended', 'the agent ended'],
  [undefined, 'the agent ended'],
])('how an agent ended is said in words that a person knows: %s', (reason, words) => {
  expect(wordsOfLine({ event: 'run_ended', ...(reason !== undefined && { reason }) } as unknown as Line)).toBe(words);
});
