import { expect, test } from '@jest/globals';
import { RepeatedCalls } from '../../../bridge/runs/repeatedCalls.js';

/** @returns for each call whether its result is one of a call that was made again and again */
function repeatedIn(...inputs: readonly unknown[]): boolean[] {
  const calls = new RepeatedCalls();
  return inputs.map((tool_input, index) => {
    const tool_use_id = `t${index}`;
    const begun = { event: 'pre_tool_use', tool_use_id, tool_name: 'bash', tool_input } as const;
    const result = { is_error: false, outcome: 'ok', tool_output_preview: '' } as const;
    expect(calls.take(begun)).toBe(false);
    return calls.take({ event: 'post_tool_use', tool_use_id, tool_name: 'bash', ...result });
  });
}

test('the third equal call is one, also between others; calls with other inputs are none', () => {
  expect(repeatedIn('a', 'a', 'a', 'a')).toEqual([false, false, true, true]);
  expect(repeatedIn('a', 'b', 'a', 'b', 'a', 'b')).toEqual([false, false, false, false, true, true]);
  expect(repeatedIn('a', 'b', 'c', 'd', undefined)).not.toContain(true);
});

test('calls of long ago are forgotten', () => {
  const others = Array.from({ length: 64 }, (_, index) => index);
  expect(repeatedIn('a', 'a', ...others, 'a').at(-1)).toBe(false);
});
