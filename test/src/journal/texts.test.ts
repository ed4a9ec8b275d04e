import { expect, test } from '@jest/globals';
import { withoutTexts } from '../../../src/journal/texts.js';

const prompt = { event: 'user_prompt', origin: 'human', text: 'zebra' };
const call = (tool_name: string, command: string) => ({ event: 'pre_tool_use', tool_name, tool_input: { command } });

test('what was said is left out, what was done stays', () => {
  expect(withoutTexts(prompt)).toEqual({ event: 'user_prompt', origin: 'human' });
  expect(withoutTexts(call('Bash', 'make'))).toEqual(call('Bash', 'make'));
  expect(withoutTexts({ event: 'turn_end', reason: 'x' })).toEqual({ event: 'turn_end', reason: 'x' });
});

test.each(['Agent', 'Task', 'AskUserQuestion', 'spawn_agent'])(
  'a call of %s that says something else is still another call',
  (tool) => {
    const [one, other] = [withoutTexts(call(tool, 'one')), withoutTexts(call(tool, 'other'))] as {
      input_digest?: string;
    }[];
    expect(JSON.stringify([one, other])).not.toMatch(/one|other/);
    expect(one?.input_digest).not.toBe(other?.input_digest);
    expect(withoutTexts(one as object)).toEqual(one);
  },
);
