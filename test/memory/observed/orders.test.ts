/** Orders that a person typed while the agent worked. */
// covers: memory/observed/orders.ts src/transcripts/claude/queue.ts
import { expect, test } from '@jest/globals';
import { transcriptBrief } from '../../../memory/brief/transcriptBrief.js';
import { Observed } from '../../../memory/observed/observed.js';
import { readTranscript } from '../../../memory/observed/transcript.js';
import { withoutTexts } from '../../../src/journal/texts.js';
import { redactShapes } from '../../../src/log/redact.js';
import { asks, calls, claude, type Fields, linesOf, returns, says, transcript } from '../../src/transcripts/told.js';

const queue = (seconds: number, operation: string, content?: unknown): Fields =>
  claude(seconds, 'queue-operation', { operation, ...(content !== undefined && { content }) });
const handed = (seconds: number, prompt: string): Fields =>
  claude(seconds, 'attachment', { attachment: { type: 'queued_command', prompt, origin: { kind: 'human' } } });
const WORK = [asks(0, 'Fix the login'), calls(1, 't1', 'Bash', { command: 'npm test' })];
const [GAP, DOOR] = ['mind the gap', 'close the door'];

async function waiting(records: readonly Fields[]): Promise<(string | null)[]> {
  const { observed } = await readTranscript(transcript([...WORK, ...records]), redactShapes);
  return observed.waitingOrders.map(({ text }) => text);
}

test('waits until the agent gets it or the person takes it back', async () => {
  const both = [queue(2, 'enqueue', GAP), queue(3, 'enqueue', DOOR)];
  expect(await waiting(both)).toEqual([GAP, DOOR]);
  expect(await waiting([...both, queue(4, 'dequeue')])).toEqual([DOOR]);
  expect(await waiting([...both, queue(4, 'remove', DOOR)])).toEqual([GAP]);
  expect(await waiting([...both, queue(4, 'popAll', DOOR), queue(4, 'popAll', GAP)])).toEqual([]);
  expect(await waiting([...both, queue(4, 'popAll')])).toEqual([]);
  expect(await waiting([...both, queue(4, 'tomorrow', GAP)])).toEqual([GAP, DOOR]);
});

test('that was handed over does not wait, even if the queue’s record of it is lost', async () => {
  const queued = queue(2, 'enqueue', GAP);
  expect(await waiting([queued, returns(3, 't1'), handed(2, GAP)])).toEqual([]);
  expect(await waiting([queued, asks(4, GAP, { promptSource: 'queued' })])).toEqual([]);
});

test('with a picture is its words; what programs queue is no order', async () => {
  const blocks = [
    { type: 'text', text: GAP },
    { type: 'image', source: { data: 'A' } },
  ];
  expect(await waiting([queue(2, 'enqueue', blocks)])).toEqual([`${GAP}\n[image]`]);
  const report = '<task-notification><task-id>b1</task-id><status>completed</status></task-notification>';
  const reported = [queue(2, 'enqueue', report), queue(3, 'enqueue', GAP)];
  expect(await waiting(reported)).toEqual([GAP]);
  // The report is the first one in the queue.
  expect(await waiting([...reported, queue(4, 'dequeue')])).toEqual([GAP]);
});

test('of a program that was killed stays known until the next turn has ended', async () => {
  const resumed = [queue(2, 'enqueue', GAP), asks(100, 'Where were we?')];
  expect(await waiting(resumed)).toEqual([GAP]);
  expect(await waiting([...resumed, says(101, 'At the gap', 'end_turn')])).toEqual([]);
});

test('is told in the brief, and in its JSON', async () => {
  const read = await readTranscript(
    transcript([...WORK, queue(2, 'enqueue', `${GAP} ghp_${'a1B2'.repeat(9)}`)]),
    redactShapes,
  );
  const brief = transcriptBrief(read, { now: Date.UTC(2027, 0, 1), directory: '/', redact: redactShapes });
  expect(brief.context).toContain(
    '- an order that a person gave at 2026-02-05T09:00:02.000Z was still waiting, and the agent never got it: "mind the gap [redacted',
  );
  expect(brief.open.orders).toMatchObject([{ at: '2026-02-05T09:00:02.000Z' }]);
});

test('without texts is known, but not its words', async () => {
  const path = transcript([...WORK, queue(2, 'enqueue', GAP), queue(3, 'enqueue', DOOR), queue(4, 'remove', GAP)]);
  const fold = new Observed();
  for (const line of await linesOf(path)) fold.take(withoutTexts(line));
  expect(fold.waitingOrders).toMatchObject([{ text: null, at: Date.parse('2026-02-05T09:00:03.000Z') }]);
});
