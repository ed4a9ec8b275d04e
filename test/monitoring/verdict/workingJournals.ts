/**
 * Journals as working agents write them, by chance: turns, batches, sub-agents, waits, overdue tools, compactions, polls and
 * retries; now and then in the older shape. Unlike {@link randomJournal} most of what they say fits together.
 */
import { isoTime, MINUTE, SECOND } from '../../../src/time.js';
import type { Random } from '../../src/journal/random.js';
import { type Line, START } from './journals.js';

const TOOLS = ['Bash', 'Read', 'Edit', 'Task'];
const OUTCOMES = ['ok', 'ok', 'ok', 'failed', 'failed', 'rejected', 'cancelled', 'blocked'];
const HEARTBEATS = ['stream', 'record', 'bash_progress', 'mcp_progress', 'hook', 'api_retry', 'step'];
const COMMANDS = ['make', 'npm test', 'sleep 5', 'git status'];
const MOST_LEVELS = 2;

class Author {
  readonly lines: Line[] = [];
  readonly #random: Random;
  #nowMs = START;
  #calls = 0;
  #batches = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Most lines follow within seconds, some in the same millisecond, a few only after many minutes. */
  pause(): void {
    const dice = this.#random.below(20);
    if (dice < 3) return;
    this.#nowMs += 1 + this.#random.below(dice === 19 ? 9 * MINUTE : 20 * SECOND);
  }

  /** What comes next is in a millisecond of its own. */
  moveOn(): void {
    this.#nowMs += 1;
  }

  write(event: string, rest: Line): void {
    this.lines.push({ v: 1, timestamp: isoTime(this.#nowMs), event, session_id: 's1', ...rest });
    this.pause();
  }

  turn(agent: Line, level: number): void {
    const random = this.#random;
    for (let step = 1 + random.below(5); step > 0; step -= 1) {
      const dice = random.below(20);
      if (dice < 2) this.write('heartbeat', { source: random.pick(HEARTBEATS), ...agent });
      else if (dice < 3) this.write('compaction', agent);
      else if (dice < 4) this.write('session_start', { source: 'compact', ...agent });
      else if (dice < 5) this.wait(random.pick(['rate_limit', 'child', 'user']), {}, agent);
      else if (dice < 6 && level === 0) this.write('user_prompt', { origin: random.pick(['human', 'machine']) });
      else this.batch(agent, level);
    }
  }

  /** An assistant message with calls; their results come in any order, and now and then one never comes. */
  batch(agent: Line, level: number): void {
    const random = this.#random;
    this.write('assistant_message', agent);
    this.#batches += 1;
    const batch: Line = random.below(4) === 0 ? {} : { batch: `b${this.#batches}` };
    const open: string[] = [];
    for (let count = 1 + random.below(3); count > 0; count -= 1) open.push(this.call({ ...agent, ...batch }));
    for (const id of random.shuffle(open)) {
      const dice = random.below(12);
      if (dice === 0) continue;
      if (dice === 1) this.wait('permission', { tool_use_id: id }, agent);
      if (dice === 2) this.write('heartbeat', { source: 'bash_progress', ...agent });
      if (dice === 3 && level < MOST_LEVELS) this.subAgent(id, level);
      this.result(id, { ...agent, ...batch });
    }
    if (random.below(8) === 0) this.sameAgain(agent);
  }

  /** What nobody takes for progress. */
  sameAgain(agent: Line): void {
    for (let count = 2 + this.#random.below(4); count > 0; count -= 1) {
      this.#calls += 1;
      const call = { tool_use_id: `c${this.#calls}`, tool_name: 'Bash', ...agent };
      this.write('pre_tool_use', { ...call, tool_input: { command: 'make' } });
      this.write('post_tool_use', { ...call, is_error: false, outcome: 'ok', tool_output_preview: 'same' });
    }
  }

  call(agent: Line): string {
    const random = this.#random;
    this.#calls += 1;
    const id = `c${this.#calls}`;
    const declared = random.pick<Line>([{}, {}, { timeout_ms: random.below(12 * MINUTE) }, { polling: true }]);
    const input = { command: random.pick(COMMANDS), timeout: 1 };
    this.write('pre_tool_use', {
      tool_use_id: id,
      tool_name: random.pick(TOOLS),
      tool_input: input,
      ...declared,
      ...agent,
    });
    return id;
  }

  result(id: string, agent: Line): void {
    const outcome = this.#random.pick(OUTCOMES);
    const flags = { is_error: outcome !== 'ok', outcome, tool_output_preview: this.#random.pick(['same', 'other']) };
    this.write('post_tool_use', { tool_use_id: id, tool_name: 'Bash', ...flags, ...agent });
  }

  wait(kind: string, call: Line, agent: Line): void {
    const random = this.#random;
    const until = random.below(2) === 0 ? {} : { until: isoTime(this.#nowMs + random.below(20 * MINUTE) - 2 * MINUTE) };
    this.write('wait_start', { kind, ...call, ...until, ...agent });
    if (random.below(4) > 0) this.write('wait_end', { kind, ...call, ...agent });
  }

  subAgent(call: string, level: number): void {
    const agent = { agent_id: `a${call}`, parent_tool_use_id: call };
    if (this.#random.below(2) === 0) this.write('user_prompt', { origin: 'machine', ...agent });
    this.turn(agent, level + 1);
    if (this.#random.below(3) > 0) this.write('turn_end', { reason: 'end_turn', ...agent });
  }
}

/** @returns a journal in time order; lines may share their instant */
export function workingJournal(random: Random): Line[] {
  const author = new Author(random);
  if (random.below(5) > 0) author.write('session_start', { source: 'startup' });
  for (let turns = 1 + random.below(3); turns > 0; turns -= 1) {
    if (random.below(8) > 0) author.write('user_prompt', { origin: random.below(4) === 0 ? 'machine' : 'human' });
    author.turn({}, 0);
    if (turns > 1 || random.below(4) === 0) author.write('turn_end', { reason: 'end_turn' });
    if (random.below(8) > 0) continue;
    author.moveOn();
    author.write('session_start', { source: random.pick(['resume', 'clear']) });
    author.moveOn();
  }
  return random.below(6) === 0 ? author.lines.map(inOlderShape).filter((line) => line !== null) : author.lines;
}

/** The older shape: results only, epoch seconds with a fraction, neither ids nor a flag. */
function inOlderShape(line: Line): Line | null {
  if (line.event !== 'post_tool_use') return null;
  const endMs = Date.parse(String(line.timestamp));
  const { tool_name: tool, tool_output_preview: output } = line;
  return {
    tool_name: tool,
    tool_output_preview: output,
    start_time: (endMs - 1_500) / SECOND,
    end_time: endMs / SECOND,
  };
}
