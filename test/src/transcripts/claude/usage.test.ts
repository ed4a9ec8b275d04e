import { expect, test } from '@jest/globals';
import { Observed } from '../../../../memory/observed/observed.js';
import { claude, linesOf, says, transcript } from '../told.js';

const counted = (id: string, output: number, rest: object = {}) => ({
  message: {
    id,
    role: 'assistant',
    content: [{ type: 'text', text: 'words' }],
    usage: { input_tokens: 5, cache_creation_input_tokens: 7, cache_read_input_tokens: 100, output_tokens: output },
    ...rest,
  },
});

test('the last record of a message has its final count, and a message counts once', async () => {
  const path = transcript([
    claude(0, 'assistant', counted('m1', 1)),
    claude(1, 'assistant', counted('m1', 1)),
    claude(2, 'assistant', counted('m1', 30)),
    claude(3, 'assistant', { ...counted('m2', 4), isSidechain: true, agentId: 'a1' }),
    claude(4, 'assistant', { ...counted('m3', 9), isApiErrorMessage: true }),
    says(5, 'without a count'),
  ]);
  const lines = await linesOf(path);
  expect(lines.filter(({ event }) => event === 'usage').map(({ message_id, output }) => [message_id, output])).toEqual([
    ['m1', 1],
    ['m1', 30],
    ['m2', 4],
  ]);
  const observed = new Observed();
  for (const line of lines) observed.take(line);
  expect(Object.fromEntries(observed.tokens)).toEqual({
    main: { input: 12, output: 30, cached: 100 },
    a1: { input: 12, output: 4, cached: 100 },
  });
});
