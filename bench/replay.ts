/**
 * What a session's shape costs a replay, which judges it at every line: agents that are nested in each other, and calls that
 * stay open while others come and go.
 *
 * Measured: {@link Replay} over lines in memory, and the same with so many agents, or so many open calls.
 * Yardstick: as many calls of one agent, one after the other.
 * Target: at most 6 times as long; a replay that reads every clock at every line takes 500 times as long.
 *
 * In time of a processor, so that other programs on the machine do not count.
 */

import { Replay } from '../monitoring/offline/replay.js';
import { DEFAULT_THRESHOLDS } from '../src/config/rules.js';
import type { JournalRecord } from '../src/journal/record.js';
import { isoTime } from '../src/time.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, processed } from './rounds.js';

const CALLS = 8_000;
const AGENTS = 200;
const OPEN_CALLS = 255;
const CALL_MS = 60;
const START = Date.parse('2026-02-05T09:00:00.000Z');
const MOST_TIMES = 6;
const ROUNDS = 9;
const WARM_UP_ROUNDS = 2;
const LIMIT_MS = 60_000;

interface Shape {
  readonly name: string;
  readonly agents: number;
  readonly open: number;
}

const SHAPES: readonly Shape[] = [
  { name: `${AGENTS} agents, each started by the one before`, agents: AGENTS, open: 0 },
  { name: `${OPEN_CALLS} calls that stay open`, agents: 0, open: OPEN_CALLS },
];

const plain = journalOf({ name: '', agents: 0, open: 0 });
for (const shape of SHAPES) {
  const journal = journalOf(shape);
  say(`replay: ${CALLS} calls, ${shape.name}`);
  const compared = await compare({
    ours: () => processed(async () => replay(journal)),
    yardstick: () => processed(async () => replay(plain)),
    rounds: ROUNDS,
    warmUpRounds: WARM_UP_ROUNDS,
    limitMs: LIMIT_MS,
  });
  sayCompared('judged at every line', 'the same calls of one agent', compared);
  sayTarget({ what: 'times the calls of one agent', value: compared.ratio.median, atMost: MOST_TIMES, unit: '' });
}

function replay(journal: readonly JournalRecord[]): void {
  const judged = new Replay(DEFAULT_THRESHOLDS);
  judged.add(journal);
  const { first } = judged.finish();
  if (first.length > 0) throw new Error(`a healthy journal is accused of ${first[0]?.rule}`);
}

function journalOf({ agents, open }: Shape): JournalRecord[] {
  const journal: JournalRecord[] = [];
  let time = START;
  const line = (event: string, rest: JournalRecord) =>
    journal.push({ v: 1, timestamp: isoTime(time), event, session_id: 's', ...rest });
  const call = (id: string, who: JournalRecord) =>
    line('pre_tool_use', { tool_use_id: id, tool_name: 'Bash', tool_input: { command: id }, ...who });
  line('user_prompt', { origin: 'human' });
  for (let agent = 0; agent < agents; agent += 1) call(`task${agent}`, agentOf(agent - 1));
  for (let index = 0; index < open; index += 1) call(`open${index}`, {});
  for (let index = 0; index < CALLS; index += 1) {
    const who = agents === 0 ? {} : agentOf(index % agents);
    time += CALL_MS;
    call(`c${index}`, who);
    line('post_tool_use', { tool_use_id: `c${index}`, tool_name: 'Bash', outcome: 'ok', is_error: false, ...who });
  }
  return journal;
}

/** @param index below zero: the main agent */
function agentOf(index: number): JournalRecord {
  return index < 0 ? {} : { agent_id: `a${index}`, parent_tool_use_id: `task${index}` };
}
