import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Assessment, assessSessionHealth } from '../../../monitoring/verdict/assessSessionHealth.js';
import { toEntry } from '../../../monitoring/verdict/timeline/entry.js';
import { Timeline } from '../../../monitoring/verdict/timeline/timeline.js';
import { JournalFollower } from '../../../monitoring/watch/journalFollower.js';
import type { Thresholds } from '../../../src/config/rules.js';
import { HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { type Random, seededRandom } from '../../src/journal/random.js';
import { type Line, randomJournal, toText } from './journals.js';
import { workingJournal } from './workingJournals.js';

const THRESHOLDS: Thresholds = {
  silence_ms: 4 * MINUTE,
  quiet_ms: 2 * MINUTE,
  error_batches: 1,
  runaway_ms: 30 * MINUTE,
  loop_repeats: 2,
  cycle_repeats: 2,
  cycle_max_period: 3,
  tool_wait_ms: 5 * MINUTE,
  inferred_wait_ms: 20 * MINUTE,
};
const JOURNALS = 150;
/** A deadline further away is looked at up to here. */
const LONGEST_LOOK_MS = 2 * HOUR;

let folder: string;
let counter = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'properties-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fresh(text = ''): string {
  counter += 1;
  const path = join(folder, `${counter}.jsonl`);
  writeFileSync(path, text);
  return path;
}

/** What one seed gives: a journal, and an instant within it or up to an hour after it. */
interface Sample {
  readonly seed: number;
  readonly random: Random;
  readonly lines: readonly Line[];
  readonly now: number;
}

function* samples(): Generator<Sample> {
  for (let seed = 1; seed <= JOURNALS; seed += 1) {
    const random = seededRandom(seed);
    const lines = seed % 5 === 0 ? randomJournal(random, 40) : workingJournal(random);
    const first = lines[0] === undefined ? 0 : instantOf(lines[0]);
    const last = lines.length === 0 ? 0 : Math.max(...lines.map(instantOf));
    yield { seed, random, lines, now: first + random.below(last - first + random.pick([MINUTE, HOUR])) };
  }
}

function instantOf(line: Line): number {
  return typeof line.end_time === 'number' ? Math.round(line.end_time * SECOND) : Date.parse(String(line.timestamp));
}

function judge(timeline: Timeline, now: number): Assessment {
  return assessSessionHealth(timeline, THRESHOLDS, now);
}

async function assessText(text: string, now: number): Promise<Assessment> {
  const follower = new JournalFollower(fresh(text));
  await follower.look(now);
  return judge(follower.timeline, now);
}

function fold(lines: readonly Line[], now: number): Timeline {
  const timeline = new Timeline();
  timeline.add(
    lines.map((each) => toEntry(each)).filter((entry) => entry !== null),
    now,
  );
  return timeline;
}

/** Lines that share their instant keep their order: it is all that tells which came first. */
function permute(lines: readonly Line[], random: Random): Line[] {
  const ties = new Map<number, Line[]>();
  for (const line of lines) ties.set(instantOf(line), [...(ties.get(instantOf(line)) ?? []), line]);
  return random.shuffle(lines).map((line) => ties.get(instantOf(line))?.shift() ?? line);
}

/** Some of the lines with an id once more, anywhere behind their first; those that share their instant close by. */
function duplicate(lines: readonly Line[], random: Random): Line[] {
  const isRepeated = lines.map((line) => line.tool_use_id !== undefined && random.below(3) === 0);
  const tail = lines.filter((line, index) => isRepeated[index] && !String(line.event).startsWith('wait'));
  return [...lines, ...tail, ...random.shuffle(tail)];
}

function assertSame(actual: Assessment, expected: Assessment, seed: number): void {
  assert.deepEqual(actual, expected, `seed ${seed}`);
}

describe('the whole assessment of a journal is the same', () => {
  test('in any order of its lines', async () => {
    for (const { seed, random, lines, now } of samples()) {
      const ordered = await assessText(toText(lines), now);
      assertSame(await assessText(toText(permute(lines, random)), now), ordered, seed);
    }
  });

  test('if lines with an id are repeated', async () => {
    for (const { seed, random, lines, now } of samples()) {
      const once = await assessText(toText(lines), now);
      assertSame(await assessText(toText(duplicate(lines, random)), now), once, seed);
    }
  });

  test('wherever it is split, and whatever is judged in between', async () => {
    for (const { seed, random, lines, now } of samples()) {
      const bytes = Buffer.from(toText(seed % 3 === 0 ? random.shuffle(lines) : lines));
      const path = fresh();
      const follower = new JournalFollower(path);
      for (let from = 0; from < bytes.length; ) {
        const to = Math.min(bytes.length, from + 1 + random.below(Math.ceil(bytes.length / 4)));
        appendFileSync(path, bytes.subarray(from, to));
        const early = now - random.below(HOUR);
        await follower.look(early);
        judge(follower.timeline, early);
        from = to;
      }
      await follower.look(now);
      assertSame(judge(follower.timeline, now), await assessText(bytes.toString(), now), seed);
    }
  });

  test('at each byte of one journal', async () => {
    const lines = workingJournal(seededRandom(77)).slice(0, 12);
    const bytes = Buffer.from(toText(lines));
    const now = Math.max(...lines.map(instantOf)) + MINUTE;
    const whole = await assessText(bytes.toString(), now);
    for (let cut = 0; cut < bytes.length; cut += 1) {
      const path = fresh();
      const follower = new JournalFollower(path);
      appendFileSync(path, bytes.subarray(0, cut));
      await follower.look(now);
      appendFileSync(path, bytes.subarray(cut));
      await follower.look(now);
      assertSame(judge(follower.timeline, now), whole, cut);
    }
  });

  test('if it is repeated, even after later and earlier instants', async () => {
    for (const { seed, random, lines, now } of samples()) {
      const follower = new JournalFollower(fresh(toText(lines)));
      await follower.look(now);
      const once = judge(follower.timeline, now);
      assertSame(judge(follower.timeline, now), once, seed);
      const other = now + random.below(2 * HOUR) - HOUR;
      await follower.look(other);
      judge(follower.timeline, other);
      await follower.look(now);
      assertSame(judge(follower.timeline, now), once, seed);
    }
  });
});

describe('the next deadline', () => {
  test('is never later than the instant at which a rule becomes true, step by step', () => {
    let becameTrue = 0;
    for (const { seed, lines, now } of samples()) {
      const timeline = fold(lines, now);
      const { findings, next_deadline: deadline } = judge(timeline, now);
      const known = new Set(findings.map(({ rule }) => rule));
      const isNew = ({ rule }: { rule: string }) => !known.has(rule as never);
      assert.ok(deadline === null || deadline > now, `seed ${seed}`);
      const end = Math.min(deadline ?? now + LONGEST_LOOK_MS, now + LONGEST_LOOK_MS);
      for (let instant = now; instant < end; instant += 20 * SECOND + 1) {
        const early = judge(timeline, instant).findings.filter(isNew);
        assert.deepEqual(early, [], `seed ${seed}: true at ${instant}, deadline ${deadline}`);
      }
      assert.deepEqual(judge(timeline, end - 1).findings.filter(isNew), [], `seed ${seed}`);
      if (deadline !== null && judge(timeline, deadline).findings.some(isNew)) becameTrue += 1;
    }
    expect(becameTrue).toBeGreaterThan(JOURNALS / 6);
  });
});

describe('the journals of these tests', () => {
  test('make every rule true that a journal can, and excuse silence by every kind of wait', () => {
    const rules = new Set<string>();
    const excuses = new Set<string>();
    for (const { lines, now } of samples()) {
      const { findings, waits } = judge(fold(lines, now), now);
      for (const { rule } of findings) rules.add(rule);
      for (const { kind, excuses: excused } of waits) if (excused) excuses.add(kind);
    }
    expect([...rules].sort()).toEqual(['error_cascade', 'loop', 'runaway', 'silence']);
    expect([...excuses].sort()).toEqual(['child', 'permission', 'rate_limit', 'tool', 'user']);
  });
});
