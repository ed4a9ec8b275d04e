/** A memory in a folder of the test, with a clock that the test moves. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Memory } from '../../memory/sessions/memory.js';
import type { SurroundingVariable } from '../../memory/sessions/surroundings.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { redactShapes } from '../../src/log/redact.js';
import { ManualClock } from '../harness/clock.js';
import { testFolder } from '../harness/folder.js';

export interface MemoryScene {
  readonly clock: ManualClock;
  readonly home: string;
  /** A directory in which somebody works. */
  readonly directory: string;
  /** Opens the memory as another process would. */
  open(variables?: Partial<Record<SurroundingVariable, string>>, directory?: string): Memory;
}

export function memoryScene(clock = new ManualClock()): MemoryScene {
  const folder = testFolder();
  const home = join(folder, 'home');
  const directory = join(folder, 'work');
  mkdirSync(join(directory, '.git'), { recursive: true });
  return {
    clock,
    home,
    directory,
    open: (variables = {}, where = directory) =>
      new Memory({
        surroundings: {
          directory: where,
          process: readProcessIdentity('host'),
          variables: { WATCHKEEPER_HOME: home, ...variables },
        },
        folder: null,
        clock,
        redact: redactShapes,
      }),
  };
}
