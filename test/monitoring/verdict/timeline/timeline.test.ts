import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Assessment, assessSessionHealth } from '../../../../monitoring/verdict/assessSessionHealth.js';
import { toEntry } from '../../../../monitoring/verdict/timeline/entry.js';
import { Timeline } from '../../../../monitoring/verdict/timeline/timeline.js';
import { JournalFollower } from '../../../../monitoring/watch/journalFollower.js';
import type { Thresholds } from '../../../../src/config/rules.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/time.js';
import { type Random, seededRandom } from '../../../src/journal/random.js';
import { at, call, type Line, prompt, randomJournal, result, START, toText } from '../journals.js';

const THRESHOLDS: Thresholds = {
  silence_ms: 4 * MINUTE,
  quiet_ms: MINUTE,
  error_batches: 2,
  runaway_ms: 30 * MINUTE,
  loop_repeats: 3,
  cycle_repeats: 2,
  cycle_max_period: 3,
  tool_wait_ms: 5 * MINUTE,
  inferred_wait_ms: 20 * MINUTE,
};
const ROUNDS = 35;

let folder: string;
let counter = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'timeline-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fresh(text = ''): string {
  counter += 1;
  const path = join(folder, `${counter}.jsonl`);
  writeFileSync(path, text);
  return path;
}

async function assessFile(path: string, now: number): Promise<Assessment> {
  const follower = new JournalFollower(path);
  await follower.look(now);
  return assessSessionHealth(follower.timeline, THRESHOLDS, now);
}

function fold(lines: readonly Line[], now: number): Timeline {
  const timeline = new Timeline();
  timeline.add(
    lines.map((each) => toEntry(each)).filter((entry) => entry !== null),
    now,
  );
  return timeline;
}

/** An instant within the journal, or up to an hour after it. */
function randomInstant(random: Random, lines: readonly Line[]): number {
  const last = Date.parse(String(lines.at(-1)?.timestamp));
  return START + random.below(last - START + HOUR);
}

describe('the verdict does not depend on', () => {
  test('the order of lines with different times', async () => {
    const random = seededRandom(1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const lines = randomJournal(random, 60);
      const now = randomInstant(random, lines);
      const ordered = await assessFile(fresh(toText(lines)), now);
      expect(await assessFile(fresh(toText(random.shuffle(lines))), now)).toEqual(ordered);
    }
  });

  test('repeated lines', async () => {
    const random = seededRandom(2);
    for (let round = 0; round < ROUNDS; round += 1) {
      const lines = randomJournal(random, 60);
      const now = randomInstant(random, lines);
      const doubled = lines.flatMap((each) =>
        each.tool_use_id !== undefined && random.below(2) === 0 ? [each, each] : [each],
      );
      for (const repeated of doubled.filter((each) => each.tool_use_id !== undefined && random.below(5) === 0)) {
        doubled.push(repeated);
      }
      expect(await assessFile(fresh(toText(doubled)), now)).toEqual(await assessFile(fresh(toText(lines)), now));
    }
  });

  test('the byte at which a look ended, and what is judged in between', async () => {
    const random = seededRandom(3);
    for (let round = 0; round < ROUNDS; round += 1) {
      const lines = randomJournal(random, 40);
      const bytes = Buffer.from(toText(random.below(3) === 0 ? random.shuffle(lines) : lines));
      const now = randomInstant(random, lines);
      const path = fresh();
      const follower = new JournalFollower(path);
      for (let from = 0; from < bytes.length; ) {
        const to = Math.min(bytes.length, from + 1 + random.below(Math.floor(bytes.length / 3)));
        appendFileSync(path, bytes.subarray(from, to));
        const early = now - random.below(HOUR);
        await follower.look(early);
        assessSessionHealth(follower.timeline, THRESHOLDS, early);
        from = to;
      }
      await follower.look(now);
      expect(assessSessionHealth(follower.timeline, THRESHOLDS, now)).toEqual(await assessFile(path, now));
    }
  });

  test('how often it was computed', () => {
    const random = seededRandom(4);
    for (let round = 0; round < ROUNDS; round += 1) {
      const lines = randomJournal(random, 40);
      const now = randomInstant(random, lines);
      const timeline = fold(lines, now);
      const once = assessSessionHealth(timeline, THRESHOLDS, now);
      expect(assessSessionHealth(timeline, THRESHOLDS, now)).toEqual(once);
    }
  });
});

describe('the next deadline', () => {
  // rule: a-deadline-is-never-late
  test('is never later than the instant at which a rule becomes true', () => {
    const random = seededRandom(5);
    let becameTrue = 0;
    for (let round = 0; round < 10 * ROUNDS; round += 1) {
      const lines = randomJournal(random, 40);
      const now = randomInstant(random, lines);
      const timeline = fold(lines, now);
      const before = assessSessionHealth(timeline, THRESHOLDS, now);
      const rules = new Set(before.findings.map(({ rule }) => rule));
      const deadline = before.next_deadline ?? now + 3 * DAY;
      expect(deadline).toBeGreaterThan(now);
      for (const instant of [deadline - 1, now + random.below(deadline - now), now + random.below(deadline - now)]) {
        const { findings } = assessSessionHealth(timeline, THRESHOLDS, instant);
        expect(findings.filter(({ rule }) => !rules.has(rule))).toEqual([]);
      }
      const after = assessSessionHealth(timeline, THRESHOLDS, deadline);
      if (after.findings.some(({ rule }) => !rules.has(rule))) becameTrue += 1;
    }
    expect(becameTrue).toBeGreaterThan(ROUNDS);
  });

  test('is the millisecond after the limit', () => {
    const timeline = fold([prompt(0)], at(1));
    const { next_deadline: deadline } = assessSessionHealth(timeline, THRESHOLDS, at(1));
    expect(deadline).toBe(at(240) + 1);
    expect(assessSessionHealth(timeline, THRESHOLDS, at(240)).verdict).toBe('healthy');
    expect(assessSessionHealth(timeline, THRESHOLDS, at(240) + 1).verdict).toBe('unhealthy');
  });
});

describe('a line from the future', () => {
  test('is held back until its time comes, and its time is a deadline', async () => {
    const path = fresh(toText([prompt(0), result(600, 'c1')]));
    const follower = new JournalFollower(path);
    await follower.look(at(10));
    const early = assessSessionHealth(follower.timeline, THRESHOLDS, at(10));
    expect(early).toMatchObject({ tool_count: 0, next_deadline: at(240) + 1 });
    const silent = assessSessionHealth(follower.timeline, THRESHOLDS, at(300));
    expect(silent).toMatchObject({ verdict: 'unhealthy', next_deadline: at(599) });
    await follower.look(at(610));
    expect(assessSessionHealth(follower.timeline, THRESHOLDS, at(610))).toMatchObject({
      tool_count: 1,
      verdict: 'healthy',
    });
  });

  test('alone gives no verdict', async () => {
    expect(await assessFile(fresh(toText([prompt(600)])), at(0))).toMatchObject({
      verdict: 'unknown',
      next_deadline: at(599),
    });
  });

  test('among thousands of them counts in time', async () => {
    const lines = [prompt(0)];
    for (let index = 5_000; index > 0; index -= 1) lines.push(call(1_000 + index, `c${index}`));
    const follower = new JournalFollower(fresh(toText(lines)));
    await follower.look(at(0));
    for (const seconds of [1_100, 3_000, 5_990]) {
      await follower.look(at(seconds));
      const assessment = assessSessionHealth(follower.timeline, THRESHOLDS, at(seconds));
      expect(assessment.tool_count).toBe(seconds - 1_000 + 1);
    }
  });

  test('no longer counts when the clock was set back', async () => {
    const lines: Line[] = [prompt(0)];
    for (let index = 1; index < 100; index += 1) lines.push(call(index, `c${index}`), result(index + 0.5, `c${index}`));
    const follower = new JournalFollower(fresh(toText(lines)));
    await follower.look(at(200));
    expect(assessSessionHealth(follower.timeline, THRESHOLDS, at(200)).tool_count).toBe(99);
    await follower.look(at(50));
    expect(assessSessionHealth(follower.timeline, THRESHOLDS, at(50)).tool_count).toBe(51);
  });
});

describe('a journal', () => {
  test('of thousands of lines in reverse order is judged as if it were in order', async () => {
    const lines: Line[] = [prompt(0)];
    for (let index = 0; index < 3_000; index += 1)
      lines.push(call(index, `c${index}`), result(index + 0.5, `c${index}`, 'failed'));
    const follower = new JournalFollower(fresh(toText(lines.reverse())));
    await follower.look(at(3_000));
    const assessment = assessSessionHealth(follower.timeline, THRESHOLDS, at(3_000));
    expect(assessment.tool_count).toBe(3_000);
    expect(assessment.clock.failing_batches).toBe(3_000);
    expect(follower.diagnostics.misplaced_lines).toBe(0);
  });

  test('that was truncated or replaced is judged by its present content', async () => {
    const path = fresh(toText([prompt(0), call(1, 'c1')]));
    const follower = new JournalFollower(path);
    await follower.look(at(2));
    expect(assessSessionHealth(follower.timeline, THRESHOLDS, at(2)).attention).toBe('in_tool');
    truncateSync(path, 0);
    appendFileSync(path, toText([prompt(1)]));
    await follower.look(at(2));
    expect(assessSessionHealth(follower.timeline, THRESHOLDS, at(2))).toMatchObject({
      attention: 'working',
      tool_count: 0,
    });
  });

  test('full of nonsense is folded in bounded memory', () => {
    const random = seededRandom(6);
    const timeline = new Timeline();
    for (let index = 0; index < 20_000; index += 1) {
      const lineage = { agent_id: `a${index}`, parent_tool_use_id: `c${random.below(index + 1)}` };
      const lines = [
        call(index, `c${index}`, index % 2 === 0 ? lineage : {}),
        { ...call(index, 'x'), event: 'wait_start', kind: 'permission', ...lineage, tool_use_id: `c${index}` },
      ];
      timeline.add(
        lines.map((each) => toEntry(each)).filter((entry) => entry !== null),
        at(30_000),
      );
    }
    const state = timeline.at(at(30_000));
    expect(state.run.agents.length).toBeLessThanOrEqual(256);
    for (const agent of state.run.agents) expect(agent.calls.length).toBeLessThanOrEqual(256);
    const started = performance.now();
    assessSessionHealth(timeline, THRESHOLDS, at(30_000));
    expect(performance.now() - started).toBeLessThan(5 * SECOND);
  });
});
