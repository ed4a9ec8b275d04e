/**
 * `npm run prove -- adversary --minutes M --seed N [--out DIR] [--calm]`: bridge, standby and a real Redis with `appendfsync everysec`,
 * bash scripts as agents, and an adversary that kills, stops, fills, closes, rolls back and forgets. Exit code 0: in the end
 * people saw what they should, and nothing was left; 1: they did not, and the evidence stays in DIR.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeError } from '../../src/errors.js';
import { proofOptions } from '../harness/proofOptions.js';
import { besiege } from './siege.js';

const values = proofOptions('adversary', {
  minutes: [15, 'how long it takes'],
  seed: [1, 'of the faults'],
  out: ['adversary-output', 'the folder of the evidence'],
  calm: [false, 'without an adversary'],
});
const MINUTE_MS = 60_000;
const brokenOff = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => brokenOff.abort(new Error(`broken off by ${signal}`)));
}

async function main(): Promise<number> {
  const folder = resolve(values.out);
  if (existsSync(folder)) throw new Error(`${folder} holds an earlier run: name another folder with --out`);
  const { messages, deeds, lost, runCounts, violations } = await besiege({
    folder,
    seed: values.seed,
    lengthMs: values.minutes * MINUTE_MS,
    isCalm: values.calm,
    say,
    brokenOff: brokenOff.signal,
  });
  for (const violation of violations) say(`VIOLATION ${violation}`);
  const perMessage = runCounts.map((count, runs) => `${runs}: ${count}`).join(', ');
  say(`runs per message that were heard of: never more than ${runCounts.length - 1} (messages by runs: ${perMessage})`);
  const counts = `${messages} messages, ${lost} of them lost with the store as documented, ${deeds} deeds`;
  say(`${counts}, ${violations.length} violations; the evidence: ${folder}`);
  return violations.length === 0 ? 0 : 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`adversary: ${describeError(error)}\n`);
  return 1;
});
