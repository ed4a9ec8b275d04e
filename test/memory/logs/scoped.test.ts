import { mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { LogKind } from '../../../memory/logs/kind.js';
import { lineMaker, type Stamp } from '../../../memory/logs/line.js';
import { Log } from '../../../memory/logs/log.js';
import { closeAfter, withLog } from '../../../memory/logs/scoped.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';

interface WordEvents {
  readonly word: { readonly text: string };
}
const words: LogKind<string[], WordEvents> = {
  name: 'words',
  begin: () => [],
  apply(state, { text }) {
    state.push(String(text));
    return null;
  },
  line: lineMaker<WordEvents>(),
};
const stamp: Stamp = { clock: systemClock, redact: redactShapes, origin: 'person' };
const add = (text: string) => (log: Log<string[], WordEvents>) =>
  log.write(() => [words.line('word', { text })], stamp);
const newPath = () => join(mkdtempSync(join(tmpdir(), 'wk-scoped-')), 'log.jsonl');

/** @returns whether this process has the file open */
function isOpen(path: string): boolean {
  return readdirSync('/proc/self/fd').some((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      return false;
    }
  });
}

test('a log is begun if there is none, and closed after the work', () => {
  const path = newPath();
  withLog(path, words, (log) => {
    add('a')(log);
    expect(isOpen(path)).toBe(true);
  });
  expect(isOpen(path)).toBe(false);
  withLog(path, words, add('b'));
  expect(Log.read(path, words)?.state).toEqual(['a', 'b']);
  expect(isOpen(path)).toBe(false);
});

test('a log is closed if the work fails, at once or later, and not before the work is done', async () => {
  const path = newPath();
  const fail = () => {
    throw new Error('no');
  };
  expect(() => withLog(path, words, fail)).toThrow('no');
  expect(isOpen(path)).toBe(false);
  let finish = () => {};
  const work = withLog(path, words, async (log) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    add('late')(log);
    fail();
  });
  expect(isOpen(path)).toBe(true);
  finish();
  await expect(work).rejects.toThrow('no');
  expect(isOpen(path)).toBe(false);
  expect(readFileSync(path, 'utf8')).toContain('late');
});

test('the result of the work is that of the call', async () => {
  const { log } = withOpen();
  expect(closeAfter(log, () => 7)).toBe(7);
  expect(await closeAfter(withOpen().log, async () => 8)).toBe(8);
});

function withOpen() {
  const log = Log.begin(newPath(), words);
  if (log === null) throw new Error('the log exists');
  return { log };
}
