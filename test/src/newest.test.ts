import { expect, test } from '@jest/globals';
import { Newest } from '../../src/newest.js';

test('a map of the newest forgets the oldest; one that is set again is new', () => {
  const newest = new Newest<string, number>(2);
  newest.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  expect([...newest]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});
