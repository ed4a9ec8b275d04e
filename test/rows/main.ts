/**
 * `npm run prove -- rows [--only ROW] [--verbose]`: proves, with the real command line in a scratch home and a scratch git repository,
 * what the task worklog and the lifecycle tracker promise. A check passes only by what was observed. Exit code 1 if one fails.
 */
import { renderTable } from '../../bridge/command/table.js';
import { proofOptions } from '../harness/proofOptions.js';
import { crashRows } from './crash.js';
import { extraRows } from './extras.js';
import { learningRows } from './learnings.js';
import { lifecycleRows } from './lifecycle.js';
import { monitorRows } from './monitor.js';
import { nameRows } from './names.js';
import { pluginRows } from './plugin.js';
import { contextRows } from './pluginContext.js';
import type { RowCheck } from './row.js';
import { type Answer, RowScene } from './scene.js';
import { trackerRows } from './tracker.js';

const ROWS: readonly RowCheck[] = [
  ...trackerRows,
  ...crashRows,
  ...extraRows,
  ...lifecycleRows,
  ...monitorRows,
  ...nameRows,
  ...pluginRows,
  ...contextRows,
  ...learningRows,
];

interface Result {
  readonly row: string;
  readonly check: string;
  readonly result: string;
  /** Why it failed. */
  readonly fault: string | null;
}

async function prove(item: RowCheck, isVerbose: boolean): Promise<Result> {
  const { row, check } = item;
  const scene = new RowScene();
  let fault: string | null = null;
  try {
    await item.prove(scene);
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
  } finally {
    scene.remove();
  }
  const isShown = isVerbose || fault !== null;
  if (isShown) process.stdout.write(`\n== ${row}: ${check}\n${scene.answers.map(describe).join('')}`);
  return { row, check, result: fault === null ? 'pass' : 'FAIL', fault };
}

function describe({ line, code, out, err }: Answer): string {
  return `$ ${line}\n${out}${err}${code === 0 || code === null ? '' : `(exit ${code})\n`}`;
}

const values = proofOptions('rows', {
  only: [null, 'the row to prove; all if missing'],
  verbose: [false, 'prints all that was typed'],
});
const begun = performance.now();
const results: Result[] = [];
for (const item of ROWS)
  if (values.only === null || item.row === values.only) results.push(await prove(item, values.verbose));
const rows = results.map(({ row, check, result }) => [row, result, check]);
process.stdout.write(`\n${renderTable(['ROW', 'RESULT', 'CHECK'], rows)}\n`);
for (const { row, check, fault } of results)
  if (fault !== null) process.stdout.write(`\n${row}, ${check}:\n${fault}\n`);
const count = (result: string) => results.filter((one) => one.result === result).length;
const seconds = Math.round((performance.now() - begun) / 1_000);
process.stdout.write(`${count('pass')} pass, ${count('FAIL')} fail; ${seconds} s\n`);
process.exitCode = count('FAIL') === 0 ? 0 : 1;
