import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Assessment, assessSessionHealth } from '../../../monitoring/verdict/assessSessionHealth.js';
import { JournalFollower } from '../../../monitoring/watch/journalFollower.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { readRecentToolCalls } from '../../../src/journal/readRecentToolCalls.js';
import { DAY, HOUR } from '../../../src/time.js';
import { START } from '../../monitoring/verdict/journals.js';
import { mutatedJournal } from './mutations.js';
import { type Random, seededRandom } from './random.js';

const JOURNALS = 1_000;
const FIRST_SEED = 1_000_000;
/** What may be left of a thousand journals, each read to its end. */
const MOST_RETAINED_BYTES = 2 * 1024 * 1024;
/** Of them every so many are read in pieces, too, and asked for their last calls. */
const EVERY = 5;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-fuzz-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Garbage that nobody has collected yet is no growth, so it is collected first. */
function retainedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function assessFile(path: string, now: number): Promise<Assessment> {
  const follower = new JournalFollower(path);
  await follower.look(now);
  return assessSessionHealth(follower.timeline, DEFAULT_THRESHOLDS, now);
}

/** What must hold of every verdict, whatever the journal says. (`expect` would take longer than all the rest.) */
function assertSound(assessment: Assessment, now: number): void {
  const { verdict, findings, next_deadline: deadline, clock } = assessment;
  assert.ok(['healthy', 'unhealthy', 'unknown'].includes(verdict), verdict);
  assert.equal(findings.length > 0, verdict === 'unhealthy');
  assert.ok(deadline === null || (Number.isSafeInteger(deadline) && deadline > now), `deadline ${deadline}`);
  assert.ok(clock.owed_ms >= 0 && (clock.silence_ms ?? 0) >= 0, JSON.stringify(clock));
  for (const { reason, since } of findings) assert.ok(!reason.includes('NaN') && !Number.isNaN(Date.parse(since)));
}

async function lookInPieces(path: string, bytes: Buffer, now: number, random: Random): Promise<Assessment> {
  const follower = new JournalFollower(path);
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + 1 + random.below(Math.ceil(bytes.length / 3)));
    appendFileSync(path, bytes.subarray(from, to));
    await follower.look(now);
    from = to;
  }
  return assessSessionHealth(follower.timeline, DEFAULT_THRESHOLDS, now);
}

async function tryJournal(seed: number): Promise<void> {
  const path = join(folder, `${seed}.jsonl`);
  const { bytes, mutations } = mutatedJournal(seed);
  try {
    const random = seededRandom(seed);
    const now = START + random.below(random.pick([HOUR, DAY]));
    writeFileSync(path, bytes);
    const assessment = await assessFile(path, now);
    assertSound(assessment, now);
    if (seed % EVERY === 0) await readRecentToolCalls(path, 10);
    unlinkSync(path);
    if (seed % EVERY > 0) return;
    assert.deepEqual(await lookInPieces(`${path}.pieces`, bytes, now, random), assessment);
    rmSync(`${path}.pieces`, { force: true });
  } catch (cause) {
    throw new Error(`mutatedJournal(${seed}), damaged by ${mutations.join(', ')}: ${String(cause)}`, { cause });
  }
}

describe('a thousand damaged journals', () => {
  // rule: any-journal-can-be-read
  test('each give a sound verdict, the same one in pieces, in bounded memory', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + 200; seed += 1) await tryJournal(seed);
    const before = retainedBytes();
    for (let seed = FIRST_SEED + 200; seed < FIRST_SEED + JOURNALS; seed += 1) await tryJournal(seed);
    expect(retainedBytes() - before).toBeLessThan(MOST_RETAINED_BYTES);
  }, 120_000);
});
