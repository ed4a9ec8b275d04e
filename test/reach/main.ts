/**
 * `npm run prove -- reach [--list]`: what an evil agent of each kind reached, beside what docs/agents.md says. `--list` names the
 * attempts that succeeded. Exits with 1 if program and document disagree, or an agent could not do its work.
 */
import { readFileSync } from 'node:fs';
import { renderTable } from '../../bridge/command/table.js';
import { tableBelow } from '../docs/markdown.js';
import { proofOptions } from '../harness/proofOptions.js';
import { ATTEMPTS } from './attempts.js';
import { type Haul, KINDS, type Kind, raid, whyNotTried } from './raid.js';

const values = proofOptions('reach', { list: [false, 'names the attempts that succeeded'] });
const lines = tableBelow(readFileSync('docs/agents.md', 'utf8'), '## What an agent can reach');
const documented = new Map(lines.map(([row = '', ...cells]) => [row, cells]));
const hauls = new Map<Kind, Haul>();
const notes: string[] = [];
for (const kind of KINDS) {
  const why = whyNotTried(kind);
  if (why === null) hauls.set(kind, await raid(kind));
  else process.stderr.write(`${kind}: not tried (${why})\n`);
}
let faults = 0;
const kinds = [...hauls.keys()];
const rows = Object.entries(ATTEMPTS).map(([row, tries]) => {
  const cells = kinds.map((kind) => {
    const got = hauls.get(kind)?.got.get(row) ?? [];
    const told = documented.get(row)?.[KINDS.indexOf(kind)] ?? 'no row';
    const isTrue = told === (got.length === 0 ? 'no' : 'yes');
    if (!isTrue) faults += 1;
    if (got.length > 0 && values.list) notes.push(`${kind}: ${row}: ${got.join(', ')}`);
    return `${got.length} of ${tries.length} (${told})${isTrue ? '' : ' WRONG'}`;
  });
  return [row, ...cells];
});
for (const [kind, { kept }] of hauls) {
  faults += kept.length;
  for (const work of kept) notes.push(`${kind}: the agent could not ${work}`);
}
const all = Object.entries(ATTEMPTS).flatMap(([row, tries]) => tries.map(({ name }) => ({ row, name })));
const nowhere = all.filter(({ row, name }) => ![...hauls.values()].some(({ got }) => got.get(row)?.includes(name)));
for (const { row, name } of nowhere) notes.push(`succeeded nowhere: ${row}: ${name}`);
process.stdout.write(`${renderTable(['an agent that tries to (in brackets: the document)', ...kinds], rows)}\n\n`);
for (const note of notes) process.stdout.write(`${note}\n`);
process.stdout.write(`${all.length} attempts of each of ${kinds.length} kinds; ${faults} faults\n`);
process.exitCode = faults === 0 ? 0 : 1;
