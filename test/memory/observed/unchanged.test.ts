/** As long as nothing was written to a session's transcripts since its copy was made, the copy is read in their place. */
import { appendFileSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { journalIn } from '../../../memory/home/places.js';
import { keepSession } from '../../../memory/keeping/keep.js';
import { observe } from '../../../memory/observed/sources.js';
import { packageRoot } from '../../../src/host/program.js';
import { memoryScene } from '../scene.js';
import { plain } from './plain.js';

const FIXTURES = join(packageRoot(), 'test/fixtures/transcripts/claude');
const ID = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';

async function kept(recorded: string) {
  const scene = memoryScene();
  const project = join(scene.directory, '../person/.claude/projects/p');
  mkdirSync(project, { recursive: true });
  const transcript = join(project, `${ID}.jsonl`);
  copyFileSync(join(FIXTURES, `${recorded}.jsonl`), transcript);
  if (existsSync(join(FIXTURES, recorded))) cpSync(join(FIXTURES, recorded), join(project, ID), { recursive: true });
  const memory = scene.open({ HOME: join(scene.directory, '../person') });
  const begun = { purpose: 'x', fields: {}, plan: [], concurrent: false };
  const session = memory.lifecycle.begin(memory.workspace, begun);
  const line = worklogKind.line('conversation', { provider: 'claude', conversation: ID, source: 'bind', since: null });
  session.log.write(() => [line], memory.stamp);
  const look = async () => {
    const { log, folder } = session;
    const parts = { log: log.state, folder, workspace: memory.workspace };
    const { observed, fold } = await observe(parts, { folders: memory.programs, redact: memory.stamp.redact });
    return { observed, fold: fold === null ? null : plain(fold) };
  };
  const before = await look();
  await keepSession(memory, session, Number.POSITIVE_INFINITY);
  return { transcript, copy: journalIn(session.folder), before, look };
}

test.each(['deeds', 'work', 'hang', 'hooked'])('%s: the copy shows what the transcripts do', async (recorded) => {
  const { before, look } = await kept(recorded);
  expect(before.fold).not.toBeNull();
  expect(await look()).toEqual(before);
});

test('the copy is what is read, until the transcript grows', async () => {
  const { transcript, copy, look } = await kept('work');
  const lines = readFileSync(copy, 'utf8').split('\n');
  const marked = lines.map((line) => line.replace(/"text":"[^"]*"/, '"text":"of the copy"'));
  expect(marked).not.toEqual(lines);
  writeFileSync(copy, marked.join('\n'));
  expect(JSON.stringify(await look())).toContain('of the copy');
  appendFileSync(transcript, '\n');
  expect(JSON.stringify(await look())).not.toContain('of the copy');
});
