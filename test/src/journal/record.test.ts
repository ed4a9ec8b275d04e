import { expect, test } from '@jest/globals';
import { parseRecord } from '../../../src/journal/record.js';

test.each([
  '{}',
  '{"v":1}',
  '{ "v" : 1 } ',
  '{"a \\"name\\" in quotes":1}',
  '{"ends in a backslash \\\\":1}',
  '{"":{"a":[1]}}\r',
])('an object is read, however its first name is written: %s', (text) => {
  expect(parseRecord(text)).toEqual(JSON.parse(text));
});

test.each(['', '{', '{"v":1', '{"v"}', '{v:1}', '{"a\\":1}', '[{"v":1}]', ' {"v":1}', '{"v":1}{"v":2}'])(
  'what is no object is none: %s',
  (text) => {
    expect(parseRecord(text)).toBeNull();
  },
);
