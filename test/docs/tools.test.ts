/** What the documents say of the tools is what the tools take. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { listTools } from '../../bridge/mcp/listing.js';
import { TOOLS } from '../../bridge/mcp/tools.js';
import { LONGEST_MESSAGE_BYTES } from '../../bridge/mcp/wire.js';
import { MOST_ENTRIES, MOST_FILES, MOST_PHASE_BYTES, MOST_PLAN_STEPS } from '../../memory/fold/bounds.js';
import { checkPlan } from '../../memory/plans/planCheck.js';
import { createSession } from '../../memory/verbs/createSession.js';
import { PHASES, phasesOf } from '../../memory/verbs/planFields.js';
import { packageRoot } from '../../src/host/program.js';
import { fencedBelow } from './excerpt.js';
import { codeSpans, tableBelow } from './markdown.js';

const KIB = 1024;
const read = (path: string) => readFileSync(join(packageRoot(), path), 'utf8');
const REFERENCE = read('docs/memory-reference.md');
const ROWS = tableBelow(REFERENCE, '### Tools');

test('the table of tools names exactly the tools', () => {
  const named = ROWS.flatMap(([cell = '']) => codeSpans(cell));
  expect(named.sort()).toEqual([...new Set(TOOLS.map(({ name }) => name))].sort());
});

test('what a tool takes, by the table, are its fields and their values', () => {
  for (const [cell = '', takes = ''] of ROWS) {
    const names = codeSpans(cell);
    const schemas = JSON.stringify(
      listTools().flatMap(({ name, inputSchema }) => (names.includes(name) ? inputSchema : [])),
    );
    const words = codeSpans(takes).filter((word) => !word.includes(' ') && word !== 'track');
    for (const word of words) expect([cell, word, schemas.includes(`"${word}"`)]).toEqual([cell, word, true]);
  }
});

test('the limits are those of the code', () => {
  const [, said = ''] = /\*\*Limits\.\*\* ([\s\S]*?)\n\n/.exec(REFERENCE) ?? [];
  expect(said.replaceAll('\n', ' ').match(/\d[\d,]*\b(?: [KM]iB)?/g)).toEqual([
    String(MOST_PLAN_STEPS),
    MOST_FILES.toLocaleString('en'),
    `${MOST_PHASE_BYTES / KIB} KiB`,
    `${LONGEST_MESSAGE_BYTES / KIB / KIB} MiB`,
    String(MOST_ENTRIES),
  ]);
});

test("the plugin's example of a plan is taken, and has no fault", () => {
  const { phases, ...rest } = JSON.parse(fencedBelow(read('docs/plugin.md'), '## Plans over MCP', '```json'));
  expect(Object.keys(rest).filter((name) => !(name in createSession.fields))).toEqual([]);
  const { violations, batches } = checkPlan(phasesOf((path) => path, PHASES.parse(phases)));
  expect({ violations, batches }).toEqual({ violations: [], batches: [['1'], ['2', '3'], ['4']] });
});
