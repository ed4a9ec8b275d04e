import { expect, test } from '@jest/globals';
import { callWords, faultWords } from '../../../memory/observed/calls.js';

test.each([
  ['Exit code 3\nnpm ERR! missing script: test\nmore', 'Exit code 3: npm ERR! missing script: test'],
  ['Exit code 3', 'Exit code 3'],
  [
    'Exit code 1\n\n> a@1.0.0 test\n> node t.js\n\nstarting\nError: connect ECONNREFUSED',
    'Exit code 1: Error: connect ECONNREFUSED',
  ],
  ['Exit code 1\n\n> a@1.0.0 test\n> node t.js', 'Exit code 1'],
  [
    '<tool_use_error>InputValidationError: Read failed due to the following issues:\nThe parameter `file_path` is missing</tool_use_error>',
    'InputValidationError: Read failed due to the following issues: The parameter `file_path` is missing',
  ],
  ['Process exited with code 3\nhi\n', 'Process exited with code 3: hi'],
  ['File has not been read yet.\nRead it first', 'File has not been read yet.'],
  ['', ''],
])('why a call failed is said in a line: %j', (output, words) => expect(faultWords(output)).toBe(words));

test.each([
  ['Bash', { command: 'npm test\n# all', description: 'Test' }, 'Bash: npm test'],
  ['AskUserQuestion', { questions: [{ question: 'Which one?' }] }, 'AskUserQuestion: Which one?'],
  ['TaskCreate', { description: 'All of them', subject: 'Write the tests' }, 'TaskCreate: Write the tests'],
  ['spawn_agent', { message: 'look at it' }, 'spawn_agent: look at it'],
  ['Odd', { questions: 'x', command: 3 }, 'Odd'],
  ['Odd', null, 'Odd'],
])('the call %s with %j', (tool, input, words) => expect(callWords(tool, input)).toBe(words));
