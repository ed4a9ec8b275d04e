/**
 * The words that a person types while the agent works wait in a queue of Claude Code's. Seen (2.1.329): `enqueue` with the words, `dequeue` for
 * the first one, `remove` with the words of one that the agent gets within its turn, `popAll` with those of each that the person
 * takes back to edit it. The queue is only in the program's memory: a kill loses it.
 */
import { contentDigest } from '../../journal/digest.js';
import type { JournalRecord } from '../../journal/record.js';
import type { JournalEvent } from '../../journal/schema.js';
import type { Draft, Say } from '../draft/draft.js';
import { contentText } from '../draft/fields.js';
import { endedTasks } from './calls.js';
import { FOREIGN_WORDS } from './prompts.js';

type Order = Extract<JournalEvent, { event: 'order' }>;

const CHANGES: ReadonlyMap<unknown, Order['change']> = new Map([
  ['enqueue', 'queued'],
  ['dequeue', 'taken'],
  ['remove', 'taken'],
  ['popAll', 'withdrawn'],
]);

/** @returns the queue's sign of life, and what became of an order */
export function queueDrafts(record: JournalRecord, say: Say): Draft[] {
  const text = contentText(record.content);
  const beat = say({ event: 'heartbeat', source: 'queue' }, endedTasks({ content: text }));
  const change = CHANGES.get(record.operation);
  if (change === undefined || (text === '' && change === 'queued')) return [beat];
  const order = text === '' ? {} : { order: contentDigest(text) };
  if (change !== 'queued') return [beat, say({ event: 'order', change, ...order })];
  // Reports of tasks and messages of other agents wait in the same queue, in which the first one is taken without being named.
  const isPersons = record.isMeta !== true && !FOREIGN_WORDS.test(text);
  const words = isPersons ? ({ origin: 'human', text } as const) : ({ origin: 'machine' } as const);
  return [beat, say({ event: 'order', change, ...order, ...words })];
}
