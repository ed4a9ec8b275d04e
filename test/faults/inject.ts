/**
 * Faults put into recorded healthy sessions: the agent stops in mid-turn, its calls fail from some point on, it repeats its
 * last call, or its turn goes on and on. What is known before the judgement: when the fault begins, and by when its rule must
 * be true.
 */

import { toEntry } from '../../monitoring/verdict/timeline/entry.js';
import { foldEntry } from '../../monitoring/verdict/timeline/fold.js';
import { newState, type RunState } from '../../monitoring/verdict/timeline/state.js';
import { DEFAULT_THRESHOLDS, type Rule } from '../../src/config/rules.js';
import { isoTime, MINUTE, SECOND } from '../../src/time.js';

export type Line = Readonly<Record<string, unknown>>;

export interface Faulty {
  readonly journal: readonly Line[];
  /** UTC epoch milliseconds. */
  readonly faultAt: number;
  /** The rule must be true at this instant at the latest. */
  readonly dueAt: number;
}

export interface Fault {
  readonly name: string;
  readonly rule: Rule;
  /** @returns null where the session has no place for it */
  inject(recorded: readonly Line[]): Faulty | null;
}

const LIMITS = DEFAULT_THRESHOLDS;
const GRACE_MS = MINUTE;

export const FAULTS: readonly Fault[] = [
  { name: 'the agent stops while it thinks', rule: 'silence', inject: (recorded) => stop(recorded, isThinking) },
  { name: 'the agent stops within a call', rule: 'silence', inject: (recorded) => stop(recorded, isInCall) },
  { name: 'its calls fail from some point on', rule: 'error_cascade', inject: failCalls },
  { name: 'it repeats its last call', rule: 'loop', inject: repeatLastCall },
  { name: 'its turn goes on', rule: 'runaway', inject: stretchTurn },
];

/** The middle one of the places in a session where `fits` holds: after how many lines. */
function middlePlace(recorded: readonly Line[], fits: (run: RunState) => boolean): number | null {
  const state = newState();
  const places: number[] = [];
  recorded.forEach((line, index) => {
    const entry = toEntry(line);
    if (entry === null) return;
    foldEntry(state, entry);
    if (state.run.turnSince !== null && fits(state.run)) places.push(index + 1);
  });
  return places[Math.floor(places.length / 2)] ?? null;
}

/** Nothing but the model is awaited. */
function isThinking(run: RunState): boolean {
  return run.agents.every(({ calls, waits }) => calls.length === 0 && waits.length === 0);
}

function isInCall(run: RunState): boolean {
  return run.agents.length === 1 && run.agents.every(({ calls, waits }) => calls.length > 0 && waits.length === 0);
}

function timeOf(line: Line | undefined): number {
  return Date.parse(String(line?.timestamp));
}

function stop(recorded: readonly Line[], fits: (run: RunState) => boolean): Faulty | null {
  const place = middlePlace(recorded, fits);
  if (place === null) return null;
  const journal = recorded.slice(0, place);
  const faultAt = timeOf(journal.findLast(isActivity));
  const allowed = callsInFlight(journal).map((line) => timeOf(line) + allowanceMs(line) + 1);
  const dueAt = Math.max(faultAt + LIMITS.silence_ms + 1, allowed.length === 0 ? 0 : Math.min(...allowed));
  return { journal, faultAt, dueAt };
}

/** In these recordings: everything but what the harness or a person wrote. */
function isActivity({ event, source, origin }: Line): boolean {
  if (event === 'user_prompt') return origin !== 'machine';
  return (
    event !== 'heartbeat' || ['stream', 'tool_event', 'step', 'bash_progress', 'sub_agent'].includes(String(source))
  );
}

function callsInFlight(journal: readonly Line[]): Line[] {
  const open = new Map<unknown, Line>();
  for (const line of journal) {
    if (line.event === 'pre_tool_use') open.set(line.tool_use_id, line);
    if (line.event === 'post_tool_use') open.delete(line.tool_use_id);
    if (line.event === 'turn_end' || line.event === 'session_start') open.clear();
  }
  return [...open.values()];
}

function allowanceMs({ timeout_ms: declared }: Line): number {
  return typeof declared === 'number' ? declared + GRACE_MS : LIMITS.tool_wait_ms;
}

/** The calls that remain in the turn fail, and so many more that the rule must become true whatever came before. */
function failCalls(recorded: readonly Line[]): Faulty | null {
  const place = middlePlace(recorded, isThinking);
  if (place === null) return null;
  const rest = recorded.slice(place);
  const end = rest.findIndex(
    ({ event }) => event === 'turn_end' || event === 'session_start' || event === 'user_prompt',
  );
  const remaining = (end < 0 ? rest : rest.slice(0, end)).map((line) =>
    line.event === 'post_tool_use' ? { ...line, is_error: true, outcome: 'failed' } : line,
  );
  const journal = [...recorded.slice(0, place), ...remaining];
  const added = newCalls(timeOf(journal.at(-1)), LIMITS.error_batches + 1, (index) => ({
    tool_name: 'Bash',
    tool_input: { command: `attempt ${index}` },
    tool_output_preview: `failure ${index}`,
    is_error: true,
    outcome: 'failed',
  }));
  const faultAt = timeOf(recorded[place - 1]);
  return { journal: [...journal, ...added], faultAt, dueAt: timeOf(added.at(-1)) };
}

/** The last call that is no polling, so often that it is enough even where another one came between. */
function repeatLastCall(recorded: readonly Line[]): Faulty | null {
  const place = middlePlace(recorded, (run) => isThinking(run) && run.agents[0].tail.runs().length > 0);
  if (place === null) return null;
  const journal = recorded.slice(0, place);
  const result = journal.findLast((line) => line.event === 'post_tool_use' && !isPolling(requestOf(journal, line)));
  if (result === undefined) return null;
  const { tool_name, tool_input } = requestOf(journal, result) ?? {};
  const { is_error, outcome, tool_output_preview } = result;
  const repeated = { tool_name, tool_input, is_error, outcome, tool_output_preview };
  const faultAt = timeOf(journal.at(-1));
  const added = newCalls(faultAt, LIMITS.loop_repeats, () => repeated);
  return { journal: [...journal, ...added], faultAt, dueAt: timeOf(added.at(-1)) };
}

function requestOf(journal: readonly Line[], result: Line): Line | undefined {
  return journal.find((line) => line.event === 'pre_tool_use' && line.tool_use_id === result.tool_use_id);
}

function isPolling(request: Line | undefined): boolean {
  const entry = request === undefined ? null : toEntry(request);
  return entry === null || (entry.kind === 'call' && entry.polling);
}

/** Calls of one second each, ten seconds apart; what a result does not hold is left out of the request and vice versa. */
function newCalls(after: number, count: number, of: (index: number) => Line): Line[] {
  return Array.from({ length: count }, (_, index) => {
    const { tool_input, is_error, outcome, tool_output_preview, ...common } = of(index);
    const asked = after + (index + 1) * 10 * SECOND;
    const named = { v: 1, session_id: 'faulty', tool_use_id: `added ${index}`, ...common };
    return [
      { ...named, timestamp: isoTime(asked), event: 'pre_tool_use', tool_input },
      { ...named, timestamp: isoTime(asked + SECOND), event: 'post_tool_use', is_error, outcome, tool_output_preview },
    ];
  }).flat();
}

/** The agent lives on and does nothing else: the model streams for hours. */
function stretchTurn(recorded: readonly Line[]): Faulty | null {
  const place = middlePlace(recorded, isThinking);
  if (place === null) return null;
  const journal = recorded.slice(0, place);
  const faultAt = timeOf(journal.at(-1));
  const signs = Array.from({ length: LIMITS.runaway_ms / (5 * MINUTE) + 1 }, (_, index) => ({
    v: 1,
    timestamp: isoTime(faultAt + index * 5 * MINUTE),
    event: 'heartbeat',
    session_id: 'faulty',
    source: 'stream',
  }));
  return { journal: [...journal, ...signs], faultAt, dueAt: faultAt + LIMITS.runaway_ms + 1 };
}
