/** The cell in which a list says how a session is, and why it is unfinished. */
import { expect, test } from '@jest/globals';
import { stateCell } from '../../../memory/condition/words.js';

const RESTS: Parameters<typeof stateCell>[0] = {
  ...{ agent: 'ended', stuck: null, end: null, lifecycle: 'active', weight: 'rests', stopped: false },
  damage: { unreadable: 0, newer: 0, isEmptied: false, hasLostBeginning: false },
};

test.each<[string, Partial<typeof RESTS>]>([
  ['resting', {}],
  ['stopped', { weight: 'open_turn', stopped: true }],
  // As a bridge leaves a run that it has ended itself.
  ['resting', { weight: 'open_turn' }],
  // The files weigh more than the stop.
  ['resting, files may be half written', { weight: 'files_in_doubt', stopped: true }],
  ['resting, after a failure', { weight: 'failed' }],
  ['crashed, its files finished since', { agent: 'crashed', weight: 'taken_up' }],
  ['crashed', { agent: 'crashed', weight: 'open_turn' }],
  ['crashed', { agent: 'crashed', weight: 'files_in_doubt' }],
  ['at work', { agent: 'working', weight: 'files_in_doubt' }],
])('says "%s" of %j', (words, row) => {
  expect(stateCell({ ...RESTS, ...row })).toBe(words);
});
