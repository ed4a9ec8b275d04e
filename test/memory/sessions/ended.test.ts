import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { endsEnded } from '../../../memory/sessions/ended.js';
import { testFolder } from '../../harness/folder.js';

const ID = '2026-01-01-work';
const KEPT = 'x'.repeat(8_000);

function log(...events: readonly (object | string)[]): string {
  const path = join(testFolder(), 'worklog.jsonl');
  const head = { v: 1, timestamp: '2026-01-01T00:00:00Z', origin: 'agent', session_id: ID };
  const texts = events.map((event, index) =>
    typeof event === 'string' ? event : JSON.stringify({ ...head, id: `l${index}`, ...event }),
  );
  writeFileSync(path, texts.map((text) => `${text}\n`).join(''));
  return path;
}

const started = { event: 'session_started' };
const ended = { event: 'session_ended', reason: 'completed' };

test.each<[string, readonly (object | string)[]]>([
  ['its last line says so', [started, ended]],
  ['other lines follow', [started, ended, { event: 'kept' }, { event: 'context_given' }]],
  ['much is before it', [started, { event: 'note', text: KEPT }, ended]],
])('it has ended if %s', (_, lines) => {
  expect(endsEnded(log(...lines), ID)).toBe(true);
});

test.each<[string, readonly (object | string)[]]>([
  ['it goes on', [started]],
  ['it was opened again', [started, ended, { event: 'session_reopened' }]],
  ['it was in the archive', [started, ended, { event: 'session_archived' }, { event: 'session_unarchived' }]],
  ['so much follows that the end is not seen', [started, ended, { event: 'kept', text: KEPT }]],
  ['a line behind the end cannot be read', [started, ended, 'no line']],
  ['a newer version wrote behind the end', [started, ended, { event: 'later', v: 2 }]],
  ['the line of the end is refused', [started, { ...ended, reason: 'of tomorrow' }]],
  ['the line of the end is of another session', [started, { ...ended, session_id: 'another' }]],
])('it need not have ended if %s', (_, lines) => {
  expect(endsEnded(log(...lines), ID)).toBe(false);
});

test('a torn line, an empty log and none show no end', () => {
  const path = log(started, ended);
  appendFileSync(path, '{"v":1');
  expect(endsEnded(path, ID)).toBe(false);
  expect(endsEnded(log(), ID)).toBe(false);
  expect(endsEnded(join(testFolder(), 'none'), ID)).toBe(false);
});
