/** What the demo says of itself must be able to be false. */
import { expect, test } from '@jest/globals';
import { testFolder } from '../harness/folder.js';
import { checkClaims, tellClaims } from './checkClaims.js';
import { Narrator } from './narrator.js';
import { Readings } from './readings.js';

test('a claim without its evidence does not hold, and the demo says so', () => {
  const claims = checkClaims(new Readings(testFolder()));
  expect(claims.filter(({ contradictions }) => contradictions.length === 0)).toEqual([]);
  const said: string[] = [];
  const narrator = new Narrator({ write: (text) => void said.push(text), colours: false, width: 80 });
  expect(tellClaims(claims, narrator)).toBe(false);
  expect(said.join('').match(/^ {3}FALSE /gm)).toHaveLength(claims.length);
});
