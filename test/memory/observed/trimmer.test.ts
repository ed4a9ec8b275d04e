/** What is left out of a transcript that is only folded. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { transcriptBrief } from '../../../memory/brief/transcriptBrief.js';
import { Observed } from '../../../memory/observed/observed.js';
import { readTranscript } from '../../../memory/observed/transcript.js';
import { packageRoot } from '../../../src/host/program.js';
import { batchesOf } from '../../../src/journal/reader.js';
import { redactShapes } from '../../../src/log/redact.js';
import { transcriptAt } from '../../../src/transcripts/companions.js';
import { journalTrimmer } from '../../../src/transcripts/draft/trimmer.js';
import { TranscriptTail } from '../../../src/transcripts/transcriptTail.js';
import { testFolder } from '../../harness/folder.js';

const FIXTURES = join(packageRoot(), 'test/fixtures/transcripts');
/** Redacts nothing more: what was read must be clean by itself. */
const LOOK = { now: Date.UTC(2027, 0, 1), directory: '/', redact: (text: string) => text };
const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

/** Reads it as its journal would be read. */
async function journalBrief(path: string) {
  const tail = new TranscriptTail(transcriptAt(path), journalTrimmer(redactShapes), 'file');
  const observed = new Observed();
  for await (const { records } of batchesOf(tail)) for (const record of records) observed.take(record);
  const read = await readTranscript(path, redactShapes);
  return transcriptBrief({ ...read, observed }, LOOK);
}

test('of every recorded transcript the same is known as of its journal', async () => {
  const names = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
  expect(names.length).toBeGreaterThan(30);
  for (const name of names) {
    const path = join(FIXTURES, name);
    const brief = transcriptBrief(await readTranscript(path, redactShapes), LOOK);
    expect([name, brief]).toEqual([name, await journalBrief(path)]);
  }
});

test('no secret of a transcript is left in what is known of it, wherever a program put it', async () => {
  const path = join(testFolder(), 'transcript.jsonl');
  let time = Date.UTC(2026, 10, 1);
  const record = (fields: object) => {
    time += 1_000;
    return `${JSON.stringify({ sessionId: 's', timestamp: new Date(time).toISOString(), ...fields })}\n`;
  };
  const asked = (id: string, name: string, input: object) =>
    record({
      type: 'assistant',
      message: {
        id: `m-${SECRET}`,
        content: [{ type: 'tool_use', id: `${id}-${SECRET}`, name, input }],
        usage: { input_tokens: 1 },
      },
    });
  const told = (id: string, content: string, more = {}) =>
    record({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: `${id}-${SECRET}`, content, ...more }] },
    });
  const words = `${'x '.repeat(240)}${SECRET} y`;
  writeFileSync(
    path,
    [
      record({ type: 'user', origin: { kind: 'human' }, message: { content: words } }),
      record({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text: words }] } }),
      asked('1', `tool-${SECRET}`, { command: `curl -H ${SECRET}`, description: SECRET }),
      told('1', `${SECRET} broke`, { is_error: true }),
      asked('2', 'Edit', { file_path: `/tmp/${SECRET}` }),
      told('2', 'done'),
      asked('3', 'TodoWrite', { todos: [{ content: `use ${SECRET}`, status: 'pending' }] }),
      told('3', SECRET),
      record({ type: 'assistant', isSidechain: true, agentId: SECRET, message: { id: 'n', content: words } }),
      asked('4', 'Write', { file_path: `/tmp/open-${SECRET}` }),
    ].join(''),
  );
  const read = await readTranscript(path, redactShapes);
  const brief = transcriptBrief(read, LOOK);
  expect(brief).toMatchObject({ turn: 'open', asked: expect.stringContaining('x x') });
  expect([Object.keys(brief.files).length, brief.tasks.length, brief.errors.length]).toEqual([1, 1, 1]);
  expect(JSON.stringify(brief)).not.toContain(SECRET.slice(0, 12));
});
