/**
 * Does the work grow with what there is, or faster?
 *
 * Measured: the time of a processor that a replay takes per line, where no call ever returns, and that the facts of a review
 * take per day, for a log of one incident a day: ten times as many of each, against the fewer ones.
 * Yardstick: the same for a tenth of it.
 * Target: at most twice the time per line, and per day.
 */

import { DayZone } from '../monitoring/daydream/dayZone.js';
import { ManyDays } from '../monitoring/daydream/manyDays.js';
import { Replay } from '../monitoring/offline/replay.js';
import { DEFAULT_THRESHOLDS } from '../src/config/rules.js';
import type { CriticalEvent } from '../src/jobs/incidents.js';
import type { JournalRecord } from '../src/journal/record.js';
import { DAY, isoTime, SECOND } from '../src/time.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, processed } from './rounds.js';

const MOST_RATIO = 2;
const TIMES = 10;
const ROUNDS = 7;
const LIMIT_MS = 60_000;
const BEGIN = Date.UTC(2026, 1, 5);
const UTC = new DayZone('UTC');

await measure('a replay of calls that never return', 'line', 2_000, (lines) => {
  const replay = new Replay(DEFAULT_THRESHOLDS);
  replay.add(unreturned(lines));
  replay.finish();
});
await measure('the facts of reviews', 'day', 200, (days) => {
  const many = new ManyDays(
    Array.from({ length: days }, (_, day) => UTC.dayOf(BEGIN + day * DAY)),
    UTC,
  );
  for (let day = 0; day < days; day += 1) many.add(incidentOn(day));
  many.days();
});

async function measure(name: string, unit: string, few: number, work: (count: number) => void): Promise<void> {
  say(`scaling: ${name}, ${few} and ${few * TIMES} ${unit}s`);
  const perUnit = async (count: number) => (await processed(async () => work(count))) / count;
  const compared = await compare({
    ours: () => perUnit(few * TIMES),
    yardstick: () => perUnit(few),
    rounds: ROUNDS,
    warmUpRounds: 1,
    limitMs: LIMIT_MS,
  });
  sayCompared(`each of ${few * TIMES} ${unit}s`, `each of ${few} ${unit}s`, compared);
  sayTarget({ what: `times as long per ${unit}`, value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
}

function unreturned(lines: number): JournalRecord[] {
  const line = (number: number, rest: object): JournalRecord => ({
    v: 1,
    timestamp: isoTime(BEGIN + number * SECOND),
    session_id: 's1',
    ...rest,
  });
  const calls = Array.from({ length: lines }, (_, index) =>
    line(index, { event: 'pre_tool_use', tool_use_id: `c${index}`, tool_name: 'bash', tool_input: { index } }),
  );
  return [line(0, { event: 'user_prompt', origin: 'human' }), ...calls];
}

function incidentOn(day: number): CriticalEvent {
  return {
    v: 1,
    id: `i${day}.closed`,
    incident_id: `i${day}`,
    final: true,
    timestamp: isoTime(BEGIN + day * DAY),
    event: 'session_recovered',
    session_id: `tg_boat_1_${day}`,
    project_key: 'boat',
    reason: 'silent_for_15_minutes',
    rule: 'silence',
    action_taken: 'suppressed',
    github_issue: null,
    details: null,
  };
}
