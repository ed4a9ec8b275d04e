/**
 * `npm run prove -- worktree-ends`: random worktrees are ended in every way, and killed at every effect; everything that they held is
 * there, or comes back by the printed commands, also after git has cleaned up.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { proofOptions } from '../harness/proofOptions.js';
import { endMany } from './ends.js';

const values = proofOptions('worktree-ends', {
  count: [200, 'how many worktrees are ended'],
  seed: [1, 'of the worktrees and the kills'],
});
const MOST_PRINTED = 20;
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'wk-worktree-ends-')));
const { worktrees, ends, kills, refused, removed, merged, back, files, commits, faults } = await endMany(
  folder,
  values.count,
  values.seed,
);
const reasons = [...refused].map(([reason, count]) => `${reason} ${count}`).join(', ');
process.stdout.write(
  [
    `${worktrees} worktrees with ${files} files and ${commits} commits of their logs; seed ${values.seed}`,
    `${ends} calls of \`worktree end\`, ${kills} of them killed; refused for: ${reasons || 'nothing'}`,
    `${removed} removed, ${merged} of them merged; ${back} brought back as they were`,
    ...faults.slice(0, MOST_PRINTED).map((fault) => `  FAULT: ${fault}`),
    faults.length === 0 ? 'nothing was lost' : `${faults.length} faults; evidence: ${folder}`,
    '',
  ].join('\n'),
);
if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
process.exitCode = faults.length === 0 ? 0 : 1;
