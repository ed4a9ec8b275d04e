/** What a real run did, as the SDK's stream and as the transcript of the same run show it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Denials } from '../../../bridge/agents/claude/permissions.js';
import { Translation } from '../../../bridge/agents/claude/translation.js';
import { parseProgramLine } from '../../../bridge/agents/program/protocol.js';
import { Observed } from '../../../memory/observed/observed.js';
import { parseJson } from '../../../src/json.js';
import { ManualClock } from '../../harness/clock.js';
import { linesOf, RECORDED } from '../../src/transcripts/told.js';

// covers: bridge/agents/claude/blocks.ts

const STREAM = join(import.meta.dirname, '../../fixtures/streams/claude-2.1.329.jsonl');
const WORK = '/home/me/popoto/';

/** The bridge's way: messages, lines of the protocol, lines of the journal. */
function ofStream(): Observed {
  const translation = new Translation('thread', new Denials(() => {}), new ManualClock());
  const observed = new Observed();
  for (const text of readFileSync(STREAM, 'utf8').trim().split('\n')) {
    const lines = translation.translate(parseJson(text) as never).map((line) => JSON.stringify(line));
    for (const line of lines.flatMap(parseProgramLine)) {
      expect(line.kind).not.toBe('garbage');
      if (line.kind === 'journal') observed.take({ timestamp: '2026-11-23T23:00:00.000Z', ...line.event });
    }
  }
  return observed;
}

async function ofTranscript(): Promise<Observed> {
  const observed = new Observed();
  for (const line of await linesOf(join(RECORDED, 'claude/deeds.jsonl'))) observed.take(line);
  return observed;
}

const depths = (observed: Observed) => observed.agents.list().map(({ depth }) => depth);
const filesOf = (observed: Observed) =>
  Object.fromEntries(
    [...observed.files].map(([path, { change, from }]) => [
      path.replace(WORK, ''),
      from === null ? change : `${change} from ${from.replace(WORK, '')}`,
    ]),
  );

test.each([
  ['the stream', async () => ofStream()],
  ['the transcript', ofTranscript],
])('%s shows tasks, files, errors, sub-agents and every token that the server counted', async (_, read) => {
  const observed = await read();
  expect(observed.todos.list.map(({ id, title, status }) => [id, title, status])).toEqual([
    ['t1', 'Read it', 'completed'],
    ['t2', 'Write all tests', 'cancelled'],
  ]);
  expect(filesOf(observed)).toEqual({
    'keep.txt': 'modified',
    'moved.txt': 'renamed from old.txt',
    'gone.txt': 'deleted',
    'made.txt': 'created',
    'newer.txt': 'renamed from new.txt',
    // Of a sub-agent, whose results have no types.
    'deep.txt': 'created',
  });
  expect(observed.errors.map(({ agent, tool, outcome }) => [agent, tool, outcome])).toEqual([
    ['main', 'Bash', 'failed'],
    ['main', 'Read', 'failed'],
  ]);
  expect(depths(observed)).toEqual([1, 2]);
  const [first = '', second = ''] = observed.agents.list().map(({ id }) => id);
  // Of the peer's requests: 12 of the main agent, 3 and 2 of the others, 20 tokens of output each.
  expect(Object.fromEntries(observed.tokens)).toEqual({
    main: { input: 155_024, output: 240, cached: 0 },
    [first]: { input: 25_483, output: 60, cached: 0 },
    [second]: { input: 16_690, output: 40, cached: 0 },
  });
  expect(observed.lastWords).toBe('All of it is done.');
});
