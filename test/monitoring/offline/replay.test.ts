import { describe, expect, test } from '@jest/globals';
import { Replay } from '../../../monitoring/offline/replay.js';
import { assessSessionHealth } from '../../../monitoring/verdict/assessSessionHealth.js';
import { toEntry } from '../../../monitoring/verdict/timeline/entry.js';
import { Timeline } from '../../../monitoring/verdict/timeline/timeline.js';
import { DEFAULT_THRESHOLDS, type Rule, type Thresholds } from '../../../src/config/rules.js';
import { isoTime } from '../../../src/time.js';
import { stepsOf } from '../../harness/steps.js';
import { seededRandom } from '../../src/journal/random.js';
import { at, call, type Line, line, prompt, randomJournal, START } from '../verdict/journals.js';

/** A thousandth of the usual ones, so that every millisecond can be tried. */
const QUICK: Thresholds = {
  silence_ms: 240,
  quiet_ms: 120,
  error_batches: 2,
  runaway_ms: 900,
  loop_repeats: 3,
  cycle_repeats: 2,
  cycle_max_period: 3,
  tool_wait_ms: 300,
  inferred_wait_ms: 60_000,
};
const FASTER = 1_000;
const ROUNDS = 24;

type Firsts = Readonly<Partial<Record<Rule, string>>>;

function hurry(journal: readonly Line[]): Line[] {
  return journal.map((each) => {
    const after = Date.parse(String(each.timestamp)) - START;
    return { ...each, timestamp: isoTime(START + Math.round(after / FASTER)) };
  });
}

function replayed(journal: readonly Line[], thresholds: Thresholds, until?: number): Firsts {
  const replay = new Replay(thresholds, until);
  replay.add(journal);
  return Object.fromEntries(replay.finish().first.map(({ rule, since }) => [rule, since]));
}

/** Looks at every millisecond, with the lines that were there by then. */
function watched(journal: readonly Line[], thresholds: Thresholds, until: number): Firsts {
  const timeline = new Timeline();
  const waiting = journal.map((each) => toEntry(each)).filter((entry) => entry !== null);
  const firsts: Partial<Record<Rule, string>> = {};
  for (let now = START; now <= until; now += 1) {
    while (waiting[0] !== undefined && waiting[0].time <= now) timeline.add(waiting.splice(0, 1), now);
    for (const { rule } of assessSessionHealth(timeline, thresholds, now).findings) firsts[rule] ??= isoTime(now);
  }
  return firsts;
}

describe('a replay finds when a rule first became true', () => {
  // rule: a-replay-judges-every-instant
  test('like a check at every millisecond, between lines as well', () => {
    const random = seededRandom(7);
    const found = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const journal = hurry(randomJournal(random, 40));
      const until = Date.parse(String(journal.at(-1)?.timestamp)) + 1_000;
      const firsts = replayed(journal, QUICK, until);
      expect([round, firsts]).toEqual([round, watched(journal, QUICK, until)]);
      for (const rule of Object.keys(firsts)) found.add(rule);
    }
    expect([...found].sort()).toEqual(['error_cascade', 'loop', 'runaway', 'silence']);
  });

  test('if a sub-agent falls silent between two lines, and its parent with it', () => {
    const sub = { agent_id: 'a1', parent_tool_use_id: 'task' };
    const journal = [prompt(0), call(1, 'task', { timeout_ms: 1_000 }), call(100, 'x', sub), line(5_000, 'compaction')];
    expect(replayed(journal, DEFAULT_THRESHOLDS)).toEqual({ silence: isoTime(at(100 + 900) + 1) });
    const waiting = [...journal.slice(0, 3), line(200, 'wait_start', { kind: 'rate_limit', ...sub, tool_use_id: 'x' })];
    expect(replayed([...waiting, line(9_000, 'compaction')], DEFAULT_THRESHOLDS)).toEqual({
      silence: isoTime(at(200 + 900 + 600) + 1),
      runaway: isoTime(at(7_200) + 1),
    });
  });

  test('whatever the order of its lines', () => {
    const random = seededRandom(72);
    for (let round = 0; round < 10; round += 1) {
      const journal = hurry(randomJournal(random, 60)).filter(
        (each, index, all) => index === 0 || each.timestamp !== all[index - 1]?.timestamp,
      );
      expect(replayed(random.shuffle(journal), QUICK)).toEqual(replayed(journal, QUICK));
    }
  });
});

test('a replay finds a silent sub-agent whose call is written after its silence', () => {
  const sub: Line = { agent_id: 'a1', parent_tool_use_id: 'task' };
  const says = (second: number, who: Line = {}) => line(second, 'assistant_message', who);
  const delegates = call(400, 'task', { timeout_ms: 7_000_000 });
  const replay = new Replay(DEFAULT_THRESHOLDS);
  // The compaction has every clock read.
  replay.add([prompt(0), says(100, sub), line(399, 'compaction'), prompt(399.5), delegates, says(600), says(1_100)]);
  const { first } = replay.finish();
  expect(first.map(({ rule, since }) => [rule, since])).toEqual([['silence', '2026-02-05T09:11:40.001Z']]);
});

describe('a replay of calls that never return', () => {
  function stepsFor(open: number, sub: Line = {}): number {
    const calls = [prompt(0), ...Array.from({ length: open }, (_, index) => call(1, `c${index}`, sub))];
    const lines = Array.from({ length: 100 }, (_, index) => line(index + 2, 'assistant_message', sub));
    const stepsOfReplay = (journal: readonly Line[]) =>
      stepsOf(() => {
        const replay = new Replay(DEFAULT_THRESHOLDS);
        replay.add(journal);
        expect(replay.finish().judged).toBeGreaterThan(1);
      });
    return stepsOfReplay([...calls, ...lines]) - stepsOfReplay(calls);
  }

  // rule: a-replay-judges-every-instant
  test.each([
    ['of the main agent', {}],
    ['of a sub-agent', { agent_id: 'a1', parent_tool_use_id: 'task' }],
  ])('takes work in proportion to the open calls, not to their square: %s', (_name, sub) => {
    expect(stepsFor(240, sub) / stepsFor(60, sub)).toBeLessThan(6);
  });
});
