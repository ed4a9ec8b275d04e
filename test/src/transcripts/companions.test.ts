/** The files next to a transcript, in a folder that is asked for again and again. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { transcriptAt } from '../../../src/transcripts/companions.js';
import { testFolder } from '../../harness/folder.js';

const record = (more: object) => `${JSON.stringify({ type: 'user', message: { content: 'x' }, ...more })}\n`;

test('a sub-agent whose transcript is new in its folder is found, also in one that was just listed', () => {
  const folder = join(testFolder(), 'projects');
  mkdirSync(folder);
  const path = join(folder, 's1.jsonl');
  const found = () => transcriptAt(path).companions.map((each) => each.slice(folder.length + 1));
  writeFileSync(path, record({ sessionId: 's1' }));
  expect(found()).toEqual([]);
  for (const name of ['a', 'b']) {
    writeFileSync(join(folder, `agent-${name}.jsonl`), record({ sessionId: 's1', isSidechain: true, agentId: name }));
    expect(found()).toContain(`agent-${name}.jsonl`);
  }
  // A folder that was changed long ago by its times.
  utimesSync(folder, 1, 1);
  expect(found()).toEqual(['agent-a.jsonl', 'agent-b.jsonl']);
  writeFileSync(join(folder, 'agent-c.jsonl'), record({ sessionId: 's1', isSidechain: true, agentId: 'c' }));
  expect(found()).toHaveLength(3);
});

test('in a folder that is none, there is nothing', () => {
  const file = join(testFolder(), 'file');
  writeFileSync(file, '');
  expect(transcriptAt(join(file, 's1.jsonl')).companions).toEqual([]);
});
