// covers: src/withoutEnd.ts
/** Texts of others that a pattern would go over again and again: each took minutes, in which the process did nothing else. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { addressesIn } from '../bridge/telegram/intake/entities.js';
import { renderClean } from '../bridge/telegram/markdown/render.js';
import { CommittingCalls } from '../memory/brief/quietCommits.js';
import { handoffIn } from '../memory/exchange/handoffMarkdown.js';
import { commandPattern } from '../memory/learnings/pattern.js';
import { isAnswer } from '../memory/observed/answers.js';
import { readLastLine } from '../src/journal/lastLine.js';
import { withoutEnd } from '../src/withoutEnd.js';
import { testFolder } from './harness/folder.js';

const MANY = 400_000;
const blanks = ' '.repeat(MANY);

test('the end of a text is taken off, whatever is before it', () => {
  expect(withoutEnd('a//b///', /\//)).toBe('a//b');
  expect(withoutEnd('///', /\//)).toBe('');
  expect(withoutEnd('', /\//)).toBe('');
});

describe('in time that grows with the length', () => {
  test('zeros of a crashed file system between the lines of a journal', () => {
    const path = join(testFolder(), 'journal');
    writeFileSync(path, `{"a":1}\n${'\0'.repeat(MANY)}\n{"b":2}\n\0\0\n`);
    expect(readLastLine(path)).toEqual({ b: 2 });
    // Only the whole line shows where it begins, so that more and more of the file is read.
    writeFileSync(path, `{"a":1}\n${'\0'.repeat(MANY)}{"b":2}\n`);
    expect(readLastLine(path)).toBeNull();
  });

  test('the words of a link in an answer', () => {
    const label = '1.'.repeat(MANY / 4);
    const { parts } = renderClean(`[${label}](https://a.test/)`, (text) => text);
    expect(parts.map(({ plain }) => plain).join('')).toBe(label);
  });

  test.each([
    ['at the end', `look${blanks}@bot`, `look`.length],
    ['within', `look${','.repeat(MANY)}, @bot, and say`, null],
  ])('a mention behind many blanks, %s', (_, text, from) => {
    const at = text.indexOf('@bot');
    const mention = { from: at, to: at + 4 };
    const cut = { from: from ?? at - 2, to: mention.to };
    expect(addressesIn(text, [mention])).toEqual([cut]);
  });

  test.each(['heading', 'marks'])('a handoff: %s', (kind) => {
    const line = kind === 'heading' ? `## Goal${blanks}x` : `## Goal\n${'`'.repeat(MANY)}`;
    expect(JSON.stringify(handoffIn(line)).length).toBeGreaterThan(MANY);
  });

  test.each([
    ['an address with many parts', `API=https://a.test/?${'alpha=1&beta=2&'.repeat(20)} npm test`, 'npm test'],
    ['assignments in quotes', `${'A="b" '.repeat(60)}npm test`, 'npm test'],
    ['blanks', `npm${blanks}test${blanks}| tail`, 'npm test'],
  ])('a command with %s', (_, command, pattern) => {
    expect(commandPattern(command)).toBe(pattern);
  });

  test('options of git', () => {
    expect(isAnswer(`git ${'-C '.repeat(200)}log`, 'Exit code 1')).toBe(false);
    expect(isAnswer('git -C /srv -p grep x', 'Exit code 1')).toBe(true);
    const calls = new CommittingCalls();
    const at = (second: number) => new Date(second * 1_000).toISOString();
    const ran = { tool_use_id: '1', tool_name: 'Bash' };
    for (const command of [`git ${'--bare -c '.repeat(150)}log`, 'git -c a=b --no-pager commit -qm x']) {
      calls.take({ ...ran, event: 'pre_tool_use', timestamp: at(1), tool_input: { command } });
      calls.take({ ...ran, event: 'post_tool_use', timestamp: at(2), outcome: 'ok' });
    }
    expect(calls.list).toHaveLength(1);
  });
});
