/** Transcripts of sub-agents are found as they appear. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { SECOND, systemClock } from '../../../src/time.js';
import { SubAgentFiles } from '../../../src/transcripts/subAgentFiles.js';
import { asks, type Fields, transcript } from './told.js';

const ofAgent = (agentId: string, rest: Fields = {}) =>
  `${JSON.stringify(asks(1, 'look', { isSidechain: true, agentId, ...rest }))}\n`;

function place() {
  const path = transcript([asks(0, 'go')], 'c1.jsonl');
  const folder = join(path.replace(/\.jsonl$/, ''), 'subagents');
  mkdirSync(folder, { recursive: true });
  return { path, folder };
}

// rule: only-what-grew-is-read
test('a folder is read only after it has changed', () => {
  const { path, folder } = place();
  const before = systemClock.now() / SECOND - 60;
  utimesSync(folder, before, before);
  const files = new SubAgentFiles(path, systemClock);
  files.look();
  writeFileSync(join(folder, 'agent-a1.jsonl'), ofAgent('a1'));
  utimesSync(folder, before, before);
  files.look();
  expect(files.found).toEqual([]);
  utimesSync(folder, before, before + 1);
  files.look();
  expect(files.found).toEqual([join(folder, 'agent-a1.jsonl')]);
});

test('a folder that has just changed is read again: its time may be the same after the next change', () => {
  const { path, folder } = place();
  const files = new SubAgentFiles(path, systemClock);
  const now = systemClock.now() / SECOND;
  utimesSync(folder, now, now);
  files.look();
  writeFileSync(join(folder, 'agent-a1.jsonl'), ofAgent('a1'));
  utimesSync(folder, now, now);
  files.look();
  expect(files.found).toHaveLength(1);
});

test('a file is the session’s once its first record says so, in the order of their names', () => {
  const { path, folder } = place();
  const files = new SubAgentFiles(path, systemClock);
  const [half, rest] = [ofAgent('a1').slice(0, 40), ofAgent('a1').slice(40)];
  writeFileSync(join(folder, 'agent-b.jsonl'), ofAgent('b'));
  writeFileSync(join(folder, 'agent-a1.jsonl'), half);
  writeFileSync(join(folder, 'agent-other.jsonl'), ofAgent('o', { sessionId: 'c2' }));
  writeFileSync(join(folder, 'agent-main.jsonl'), ofAgent('m', { isSidechain: false }));
  files.look();
  expect(files.found).toEqual([join(folder, 'agent-b.jsonl')]);
  writeFileSync(join(folder, 'agent-a1.jsonl'), half + rest);
  files.look();
  expect(files.found).toEqual([join(folder, 'agent-a1.jsonl'), join(folder, 'agent-b.jsonl')]);
});

test('the call that started an agent is told once, when it is known', () => {
  const { path, folder } = place();
  const files = new SubAgentFiles(path, systemClock);
  writeFileSync(join(folder, 'agent-a1.jsonl'), ofAgent('a1'));
  expect(files.look()).toEqual([]);
  writeFileSync(join(folder, 'agent-a1.meta.json'), '{"toolUse');
  expect(files.look()).toEqual([]);
  writeFileSync(join(folder, 'agent-a1.meta.json'), '{"toolUseId":"t1"}');
  expect(files.look()).toEqual(['a1']);
  expect(files.look()).toEqual([]);
  expect([...files.parents]).toEqual([['a1', 't1']]);
});

test('a sub-agent’s own transcript has no others beside it', () => {
  const { folder } = place();
  const own = join(folder, 'agent-a1.jsonl');
  writeFileSync(own, ofAgent('a1', { isSidechain: false }));
  writeFileSync(join(folder, 'agent-a2.jsonl'), ofAgent('a2'));
  const files = new SubAgentFiles(own, systemClock);
  files.look();
  expect(files.found).toEqual([]);
});
