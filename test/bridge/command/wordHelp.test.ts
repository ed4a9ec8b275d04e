/** The help of a word is a part of its command's help. */
import { expect, test } from '@jest/globals';
import { command as events } from '../../../bridge/cli/events.js';
import { command as plugin } from '../../../bridge/cli/plugin/plugin.js';
import { command as track } from '../../../bridge/cli/track/track.js';
import { command as work } from '../../../bridge/cli/work/work.js';
import { helpOfWord } from '../../../bridge/command/wordHelp.js';

/** @returns the lines that begin the entry of a word */
const headsIn = (text: string) => [...text.matchAll(/^ {2}(?!watchkeeper|--)(\S+)/gm)].map(([, word = '']) => word);

test.each([
  ['track', track, 14],
  ['work', work, 15],
  ['plugin', plugin, 3],
] as const)('each word of %s has its own part, with the options of all', (_, { help }, count) => {
  const words = [...new Set(headsIn(help))];
  expect(words.length).toBe(count);
  for (const word of words) {
    const part = helpOfWord(help, word);
    expect([...new Set(headsIn(part))]).toEqual([word]);
    expect(part).toContain('\n  --json        the result as JSON\n\nexit code: ');
    const made = [/^usage: /, /^all words: /];
    expect(part.split('\n').filter((line) => !help.includes(line) && !made.some((own) => own.test(line)))).toEqual([]);
  }
});

test('a word has both of its usages, its own examples and the way to the others', () => {
  const part = helpOfWord(track.help, 'step');
  expect(part).toMatch(/^usage: watchkeeper track step \[--session ID\] \[--dir FOLDER\] \[--json\] …\n\n {2}step ID /);
  expect(part).toContain('\n  step --add TITLE\n      move a step; ');
  expect(part).toMatch(
    /\n\nexamples:\n {2}watchkeeper track step 1 --start --file src\/login.ts\n\nall words: watchkeeper track --help$/,
  );
  expect(helpOfWord(work.help, 'reopen')).not.toContain('examples:');
});

test('another name of a word has the part of that word', () => {
  expect(helpOfWord(track.help, 'anchor')).toContain('\n\n  note TEXT ');
});

test('what is no word of the command leaves the whole help, as does a command without words', () => {
  for (const word of [undefined, '', 'stepp', 'watchkeeper']) expect(helpOfWord(track.help, word)).toBe(track.help);
  expect(helpOfWord(events.help, 'ack')).toBe(events.help);
});
