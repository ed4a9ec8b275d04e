/** What the memory knows of sessions that were recorded with a real program. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readTranscript } from '../../../memory/observed/transcript.js';
import { redactShapes } from '../../../src/log/redact.js';
import { RECORDED } from '../../src/transcripts/told.js';

async function recorded(name: string, version = '2.1.329') {
  return (await readTranscript(join(RECORDED, `claude-${version}`, `${name}.jsonl`), redactShapes)).observed;
}

const ordersIn = async (name: string, version?: string) =>
  (await recorded(name, version)).waitingOrders.map(({ text }) => text);

test('orders that were typed while the agent worked', async () => {
  expect(await ordersIn('said-meanwhile-and-killed')).toEqual(['and mind the gap']);
  expect(await ordersIn('said-meanwhile-in-an-answer')).toEqual(['and mind the gap', '/context']);
  expect(await ordersIn('said-meanwhile-then-esc')).toEqual([]);
  // The shell line was not taken back.
  expect(await ordersIn('said-meanwhile-then-taken-back')).toEqual(['true']);
  expect(await ordersIn('said-meanwhile', '2.1.330')).toEqual([]);
  expect(await recorded('said-meanwhile-then-esc')).toMatchObject({
    lastPrompt: 'and close the door',
    isTurnOpen: false,
  });
});
