/** A conversation that a person took back to an earlier point. */
// covers: memory/observed/rewinding.ts src/transcripts/claude/branches.ts
import { expect, test } from '@jest/globals';
import { transcriptBrief } from '../../../memory/brief/transcriptBrief.js';
import type { Observed } from '../../../memory/observed/observed.js';
import { readTranscript } from '../../../memory/observed/transcript.js';
import { redactShapes } from '../../../src/log/redact.js';
import { asks, calls, type Fields, linesOf, returns, says, transcript } from '../../src/transcripts/told.js';

/** Chains records: each follows the one before, unless it names another by its place from 0. */
function chain(...records: readonly (Fields | readonly [Fields, number])[]): Fields[] {
  return records.map((each, index) => {
    const [record, after] = Array.isArray(each) ? (each as [Fields, number]) : [each as Fields, index - 1];
    const message = record.type === 'assistant' ? { message: { ...Object(record.message), id: `m${index}` } } : {};
    return { ...record, ...message, uuid: `u${index}`, parentUuid: after < 0 ? null : `u${after}` };
  });
}

const wrote = (seconds: number, id: string, path: string) => [
  calls(seconds, id, 'Write', { file_path: path }),
  returns(seconds + 1, id, 'ok', false, { toolUseResult: { type: 'create', filePath: path } }),
];
const end = (seconds: number, text: string) => says(seconds, text, 'end_turn');
const read = (records: readonly Fields[]) => readTranscript(transcript(records), redactShapes);
const files = ({ files: known }: Observed) => [...known].map(([path, { rewound }]) => (rewound ? `(${path})` : path));
const actions = (observed: Observed) => observed.actions.map(({ words }) => words);

test('to a prompt that the agent answers anew', async () => {
  const usage = { input_tokens: 100, output_tokens: 20 };
  const records = chain(
    ...[asks(1, 'Add a cache'), ...wrote(2, 't1', '/wrong.ts'), end(4, 'I used redis')],
    ...[asks(5, 'Make it a cluster'), end(6, 'Cluster done')],
    [end(7, 'I use an LRU'), 0],
    ...[asks(8, 'Now with a limit'), ...wrote(9, 't9', '/right.ts')],
  ).map((record) =>
    record.type === 'assistant' ? { ...record, message: { ...Object(record.message), usage } } : record,
  );
  const found = await read(records);
  const { observed } = found;
  expect(observed).toMatchObject({
    firstPrompt: 'Add a cache',
    lastPrompt: 'Now with a limit',
    prompts: 2,
    isTurnOpen: true,
  });
  expect([files(observed), actions(observed)]).toEqual([['(/wrong.ts)', '/right.ts'], ['Write: /right.ts']]);
  expect(observed.rewinds).toMatchObject([{ prompts: ['Add a cache', 'Make it a cluster'] }]);
  expect(observed.tokens.get('main')).toMatchObject({ input: 500 });
  const { context } = transcriptBrief(found, { now: Date.UTC(2027, 0, 1), directory: '/', redact: redactShapes });
  expect(context).toContain('before "Add a cache" and "Make it a cluster": what was done for that does not count');
  expect(context).toContain('- created, taken back perhaps: "wrong.ts"');
});

test('to before a prompt: its tasks, files, calls and failures no longer count', async () => {
  const tasks = (content: string) => ({ todos: [{ content, status: 'in_progress' }] });
  const records = chain(
    ...[
      asks(1, 'First'),
      calls(2, 'a', 'TodoWrite', tasks('Kept')),
      returns(3, 'a'),
      ...wrote(4, 'b', '/kept.ts'),
      end(6, 'x'),
    ],
    ...[
      asks(7, 'Second'),
      calls(8, 'c', 'TodoWrite', tasks('Gone')),
      returns(9, 'c'),
      calls(10, 'd', 'Edit', { file_path: '/kept.ts' }),
    ],
    ...[
      returns(11, 'd'),
      calls(12, 'e', 'Bash', { command: 'make' }),
      returns(13, 'e', 'Exit code 2', true),
      end(14, 'y'),
    ],
    [asks(20, 'Other'), 5],
    end(21, 'z'),
  );
  const { observed } = await read(records);
  expect(observed.todos.list.map(({ title }) => title)).toEqual(['Kept']);
  expect([files(observed), observed.errors, actions(observed).length]).toEqual([['/kept.ts'], [], 2]);
  expect(observed).toMatchObject({ lastPrompt: 'Other', prompts: 2, lastWords: 'z' });
});

test('twice, and a file that is written again counts again', async () => {
  const { observed } = await read(
    chain(
      ...[asks(1, 'First'), end(2, 'a'), asks(3, 'Second'), ...wrote(4, 't1', '/x.ts'), end(6, 'b')],
      ...([[asks(7, 'Third'), 1]] as const),
      end(8, 'c'),
      [asks(9, 'Fourth'), 1],
      ...wrote(10, 't2', '/x.ts'),
    ),
  );
  expect([files(observed), observed.rewinds.map(({ prompts }) => prompts)]).toEqual([
    ['/x.ts'],
    [['Second'], ['Third']],
  ]);
});

test('does not happen when a killed agent is resumed, nor with calls beside each other, nor with orders at an Esc', async () => {
  const resumed = await read(
    chain(asks(1, 'First'), end(2, 'a'), asks(3, 'Go'), calls(4, 't1', 'Write', { file_path: '/half.ts' }), [
      asks(9, 'Where?'),
      2,
    ]),
  );
  expect([resumed.observed.rewinds, actions(resumed.observed)]).toEqual([[], ['Write: /half.ts']]);
  const beside = chain(
    ...[asks(1, 'First'), calls(2, 'a'), calls(3, 'b')],
    ...([
      [returns(4, 'b'), 2],
      [returns(5, 'a'), 1],
    ] as const),
    ...[end(6, 'x'), asks(7, 'Second')],
  ).map((record) =>
    record.type === 'assistant' && record.timestamp !== end(6, '').timestamp
      ? { ...record, message: { ...Object(record.message), id: 'm' } }
      : record,
  );
  expect((await read(beside)).observed.rewinds).toEqual([]);
  const recorded = await readTranscript(
    'test/fixtures/transcripts/claude-2.1.329/said-meanwhile-then-esc.jsonl',
    redactShapes,
  );
  expect(recorded.observed.rewinds).toEqual([]);
});

test('is recorded by a real program', async () => {
  const { observed } = await readTranscript('test/fixtures/transcripts/claude-2.1.329/rewound.jsonl', redactShapes);
  expect(observed).toMatchObject({
    firstPrompt: 'say hello',
    lastPrompt: 'paint the okapi',
    prompts: 2,
    isTurnOpen: false,
  });
  expect([files(observed), actions(observed)]).toEqual([[expect.stringMatching(/^\(.*cache\.txt\)$/)], []]);
  expect(observed.rewinds).toMatchObject([{ prompts: ['paint the zebra'] }]);
});

test('is nothing to the judgement, whose lines may come in any order', async () => {
  const lines = await linesOf('test/fixtures/transcripts/claude-2.1.329/rewound.jsonl');
  expect(lines.filter(({ event }) => event === 'rewound')).toEqual([]);
});
