/** Whether each fault of the past can still be put back by hand; that the harness catches it is shown by `npm run prove -- mutants`. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../src/host/program.js';
import { MUTANTS } from './mutants.js';

// rule: every-mutant-applies
test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
  'the mutant %s applies to the sources',
  (_, { edits }) => {
    for (const { file, find, replace } of edits) {
      const pieces = readFileSync(join(packageRoot(), file), 'utf8').split(find);
      expect([file, find, pieces.length - 1]).toEqual([file, find, 1]);
      expect(replace).not.toBe(find);
    }
  },
);

test('no two mutants have the same name', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});
