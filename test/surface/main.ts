/**
 * `npm run prove -- surface --from COMMIT`: what differs between the given commit and this one in all that others count on, as lines
 * of a diff. `--print` prints the lines of this version instead. Exit code 1 where something differs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledProgram } from '../../src/host/program.js';
import { proofOptions } from '../harness/proofOptions.js';
import { buildFormer } from '../upgrade/formerBuild.js';
import { recordSurface } from './record.js';

async function main(): Promise<void> {
  const values = proofOptions('surface', {
    from: ['HEAD~1', 'the commit that is compared'],
    print: [false, 'prints the lines of this version instead'],
  });
  const folder = mkdtempSync(join(tmpdir(), 'wk-surface-'));
  try {
    const present = await recordSurface(join(folder, 'now'), compiledProgram('bridge/cli/main'));
    if (values.print) process.stdout.write(`${present.join('\n')}\n`);
    else process.exitCode = await compare(values.from, folder, present);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(from: string, folder: string, present: readonly string[]): Promise<number> {
  const built = buildFormer(from, join(folder, 'former'));
  try {
    const former = await recordSurface(join(folder, 'then'), built.main);
    const gone = former.filter((line) => !present.includes(line)).map((line) => `- ${line}`);
    const added = present.filter((line) => !former.includes(line)).map((line) => `+ ${line}`);
    process.stdout.write(
      [...gone, ...added, `${former.length} lines of ${built.commit}, ${present.length} now: `].join('\n'),
    );
    process.stdout.write(`${gone.length} gone, ${added.length} added\n`);
    return gone.length + added.length === 0 ? 0 : 1;
  } finally {
    built.remove();
  }
}

await main();
