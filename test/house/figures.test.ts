import { expect, test } from '@jest/globals';
import { readSources } from '../architecture/sourceFiles.js';
import { figuresOf, RINGS } from './figures.js';

const LIMIT_MS = 300_000;
/** `at most 3`, or the number itself. */
const MOST = /^(?:at most )?(\d+)$/;

test(
  'each figure keeps its goal',
  () => {
    const figures = figuresOf(readSources(RINGS)).filter(({ goal }) => MOST.test(goal));
    expect(figures.length).toBeGreaterThan(10);
    const missed = figures.filter(({ here, goal }) => !(Number(here) <= Number(MOST.exec(goal)?.[1])));
    // `npm run prove -- house --list` names the places.
    expect(missed).toEqual([]);
  },
  LIMIT_MS,
);
