/** `npm run prove -- faults`: prints how surely and how late injected faults are found in the recorded healthy sessions. */
import { join } from 'node:path';
import { renderTable } from '../../bridge/command/table.js';
import { packageRoot } from '../../src/host/program.js';
import { describeDuration, HOUR } from '../../src/time.js';
import { proofOptions } from '../harness/proofOptions.js';
import { type FaultRow, measureFaults, measureQuietWords } from './measure.js';

proofOptions('faults', {});
const SESSIONS = join(packageRoot(), 'test/fixtures/sessions');

function describeRow({ fault, rule, injected, found, delaysMs }: FaultRow): string[] {
  const delayAt = (share: number) => {
    const delayMs = delaysMs[Math.ceil(share * delaysMs.length) - 1];
    return delayMs === undefined ? '-' : describeDuration(delayMs);
  };
  const recall = `${((100 * found) / injected).toFixed(1)} %`;
  return [fault, rule, String(injected), recall, delayAt(0.5), delayAt(0.99), delayAt(1)];
}

const head = ['FAULT', 'RULE', 'SESSIONS', 'RECALL', 'DELAY p50', 'p99', 'max'];
const rows = measureFaults(SESSIONS);
process.stdout.write(`${renderTable(head, rows.map(describeRow))}\n`);
for (const { fault, missed } of rows) for (const file of missed) process.stdout.write(`missed: ${fault}: ${file}\n`);

const { delaysMs, warnings, owedMs } = measureQuietWords(SESSIONS);
const median = describeDuration(delaysMs[Math.ceil(delaysMs.length / 2) - 1] ?? Number.NaN);
const rate = ((100 * warnings) / (owedMs / HOUR)).toFixed(2);
process.stdout.write(
  `first quiet word on a hang: p50 ${median}, in ${delaysMs.filter(Number.isFinite).length} of ${delaysMs.length}\n` +
    `healthy warnings: ${warnings} in ${(owedMs / HOUR).toFixed(0)} owed hours, ${rate} per 100\n`,
);
