/** A few rounds of the races that `npm run prove -- memory-races` runs at length, with processes of their own. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { Log } from '../../../memory/logs/log.js';
import { testFolder } from '../../harness/folder.js';
import { seededRandom } from '../../src/journal/random.js';
import { raceHolders } from './holders.js';
import { raceStarters } from './starters.js';
import { raceWriters } from './writers.js';

const LIMIT_MS = 120_000;

test(
  'of many writers, some of which are killed, every acknowledged line is in the log, and none is unreadable',
  async () => {
    const path = join(testFolder(), 'log.jsonl');
    Log.begin(path, worklogKind)?.close();
    const round = await raceWriters(path, { writers: 6, killed: 3, lines: 40, random: seededRandom(7) });
    expect(round).toMatchObject({ lost: [], unreadable: 0 });
    expect(round.acknowledged).toBeGreaterThanOrEqual(3 * 40);
  },
  LIMIT_MS,
);

test(
  'sessions that are begun, ended and reopened at once: never two hold a directory, and no ended one does',
  async () => {
    const race = await raceHolders(testFolder(), { processes: 6, attempts: 15, seed: 3 });
    expect(race.faults).toEqual([]);
    expect([race.begun > 0, race.refused > 0]).toEqual([true, true]);
  },
  LIMIT_MS,
);

test(
  'of several starts at once one wins, and the others name it',
  async () => {
    const { winners, refused, strange } = await raceStarters(testFolder(), 5);
    expect([winners.length, refused, strange]).toEqual([1, 4, []]);
  },
  LIMIT_MS,
);
