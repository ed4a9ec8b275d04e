/**
 * `npm run prove -- upgrade-test --from COMMIT [--plain]`: changes between the given commit and this one, both ways, with messages that
 * wait and one that runs, on a real Redis; once by an orderly stop, once by a kill. Every message must be answered once, or the
 * other version must refuse in words and leave everything to the version that wrote it. Exit code 1 if something was lost.
 * `--plain` leaves out of the given commit's configuration what versions without `isolation` refuse.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderTable } from '../../bridge/command/table.js';
import { compiledProgram } from '../../src/host/program.js';
import { proofOptions } from '../harness/proofOptions.js';
import { buildFormer } from './formerBuild.js';
import { type UpgradeResult, upgradeRound, type Version } from './round.js';

const SIGNALS = ['SIGTERM', 'SIGKILL'] as const;

async function main(): Promise<void> {
  const values = proofOptions('upgrade-test', {
    from: ['HEAD~1', 'the commit of the other version'],
    plain: [false, "leaves out of that commit's configuration what versions without `isolation` refuse"],
  });
  const folder = mkdtempSync(join(tmpdir(), 'wk-upgrade-'));
  const results: UpgradeResult[] = [];
  const built = buildFormer(values.from, join(folder, 'former'));
  try {
    const former: Version = { name: built.commit, main: built.main, isPlain: values.plain };
    const present: Version = { name: 'this', main: compiledProgram('bridge/cli/main'), isPlain: false };
    for (const [from, to] of [
      [former, present],
      [present, former],
    ] as const) {
      for (const signal of SIGNALS) {
        const result = await upgradeRound(join(folder, `${from.name}-${signal}`), { from, to, signal });
        results.push(result);
        process.stdout.write(`${from.name} → ${to.name} → ${from.name}, ${signal}: ${result.outcome}\n`);
      }
    }
  } finally {
    built.remove();
  }
  const head = ['FROM', 'TO', 'STOPPED BY', 'MESSAGES', 'OUTCOME'];
  const rows = results.map(({ from, to, signal, messages, outcome }) => [from, to, signal, String(messages), outcome]);
  process.stdout.write(`\n${renderTable(head, rows)}\n`);
  const isWell = results.every(({ lost }) => lost.length === 0);
  if (isWell) rmSync(folder, { recursive: true, force: true });
  else process.stdout.write(`evidence: ${folder}\n${results.flatMap(({ lost }) => lost).join('\n')}\n`);
  process.exitCode = isWell ? 0 : 1;
}

await main();
