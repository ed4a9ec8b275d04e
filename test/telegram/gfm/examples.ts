/** The examples of the GitHub Flavored Markdown Spec (test/fixtures/gfm/LICENSE.md). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compiledProgram } from '../../../src/host/program.js';

export interface Example {
  readonly example: number;
  readonly section: string;
  readonly markdown: string;
  readonly html: string;
}

const FILE = join(compiledProgram(''), '..', '..', 'test/fixtures/gfm/examples.jsonl');

export const EXAMPLES: readonly Example[] = readFileSync(FILE, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));
