/** The present activity of a run, for the progress message, `/status` and the lease. Kept in memory only. */
import { stepOf, withPlan } from '../../memory/observed/step.js';
import type { Thresholds } from '../../src/config/rules.js';
import { subjectOf } from '../../src/journal/agentVocabulary.js';
import type { JournalEvent, PlanItem } from '../../src/journal/schema.js';
import type { Redact } from '../../src/log/redact.js';
import { headOf, shorten } from '../../src/log/shorten.js';
import { Newest } from '../../src/newest.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { AgentEvent } from '../agents/program/contract.js';
import type { Activity } from '../chat/progressView.js';

/** The mutable form of an activity; `lastEventAt` and `lastCallAt` in epoch milliseconds. */
export type LiveActivity = { -readonly [Name in keyof Activity]: Activity[Name] } & {
  lastEventAt: number;
  lastCallAt: number | null;
  /** The agent's own list, as it is now. */
  tasks: readonly PlanItem[];
  /** Calls without a result, by their id, oldest first. */
  readonly open: Map<string, OpenCall>;
};

interface OpenCall {
  readonly words: string;
  /** On the monotonic clock. */
  readonly startedAt: number;
  /** The call that started the sub-agent to which it belongs; null for the main agent's. */
  readonly parent: string | null;
}

type BothClocks = Pick<Clock, 'now' | 'monotonic'>;

const LONGEST_WORDS = 120;
/** Most of a text may be white space. */
const LONGEST_READ = 2_000;
/** A program may leave out results. */
const MOST_OPEN = 100;

export function startActivity(clock: BothClocks): LiveActivity {
  return {
    startedAt: clock.monotonic(),
    quietSince: null,
    lastEventAt: clock.now(),
    calls: 0,
    lastCallAt: null,
    tool: null,
    note: null,
    step: null,
    tasks: [],
    open: new Map(),
  };
}

/** @param redact applied before anything is cut, because half of a secret is not recognised any more */
export function noteActivity(activity: LiveActivity, event: AgentEvent, clock: BothClocks, redact: Redact): void {
  activity.lastEventAt = clock.now();
  if (event.type === 'note') activity.note = oneLine(event.text, redact);
  if (event.type !== 'journal') return;
  const line = event.line;
  if (line.event === 'pre_tool_use') {
    activity.calls += 1;
    activity.lastCallAt = clock.now();
    const subject = subjectOf(line.tool_input);
    const words = oneLine(subject === null ? line.tool_name : `${line.tool_name}: ${subject}`, redact);
    const { tool_use_id: id, parent_tool_use_id: parent = null } = line;
    beginCall(activity, id, { words, startedAt: clock.monotonic(), parent });
    activity.isRefused = false;
  }
  if (line.event === 'wait_start' || line.event === 'wait_end') noteRefusal(activity, line, clock);
  if (line.event === 'post_tool_use') endCall(activity, line.tool_use_id, clock);
  if (line.event === 'plan') {
    activity.tasks = withPlan(activity.tasks, line);
    const step = stepOf(activity.tasks);
    activity.step = step === null ? null : { ...step, title: oneLine(step.title, redact) };
  }
}

function beginCall(activity: LiveActivity, id: string, call: OpenCall): void {
  const { open } = activity;
  open.set(id, call);
  const [oldest] = open.keys();
  if (open.size > MOST_OPEN && oldest !== undefined) open.delete(oldest);
  activity.tool = call.words;
  activity.startedAt = call.startedAt;
}

/** The agent thinks only if nothing else of its batch runs, and no sub-agent does: else the newest of the other calls is shown. */
function endCall(activity: LiveActivity, id: string, clock: BothClocks): void {
  const wasShown = activity.tool !== null;
  forget(activity.open, id);
  const rest = [...activity.open.values()].at(-1);
  activity.tool = rest?.words ?? null;
  if (rest !== undefined) activity.startedAt = rest.startedAt;
  else if (wasShown) activity.startedAt = clock.monotonic();
}

/** With a call ends the sub-agent that it started, whose own calls may lack results. */
function forget(open: Map<string, OpenCall>, id: string): void {
  open.delete(id);
  for (const [child, { parent }] of open) if (parent === id) forget(open, child);
}

/** Retries follow each other: the first one began the wait. That of a sub-agent says nothing about the others. */
function noteRefusal(
  activity: LiveActivity,
  { event, kind, agent_id }: Extract<JournalEvent, { event: 'wait_start' | 'wait_end' }>,
  clock: BothClocks,
): void {
  const isRefused = event === 'wait_start';
  if (kind !== 'rate_limit' || agent_id !== undefined || isRefused === (activity.isRefused ?? false)) return;
  activity.isRefused = isRefused;
  if (activity.tool === null) activity.startedAt = clock.monotonic();
}

function oneLine(text: string, redact: Redact): string {
  return shorten(headOf(text, LONGEST_READ, redact).replace(/\s+/g, ' ').trim(), LONGEST_WORDS);
}

/** Updates per `silence_ms`: two may be lost. */
const WORDS_PER_SILENCE = 4;
const SHORTEST_PAUSE_MS = SECOND / 4;
/** More open calls than any agent makes; beyond this the oldest is forgotten. */
const MOST_OPEN_CALLS = 1_000;

/** Keeps a run's stored activity fresh while its journal cannot: the lease alone would be too slow for a short `silence_ms`. */
export class ActivityPulse {
  readonly #clock: Clock;
  readonly #thresholds: Thresholds;
  readonly #activity: LiveActivity;
  readonly #store: (lastActivity: number) => Promise<unknown>;
  readonly #openCalls = new Newest<string, number>(MOST_OPEN_CALLS);

  /** @param store stores when the agent was last active, epoch milliseconds */
  constructor(
    clock: Clock,
    thresholds: Thresholds,
    activity: LiveActivity,
    store: (lastActivity: number) => Promise<unknown>,
  ) {
    this.#clock = clock;
    this.#thresholds = thresholds;
    this.#activity = activity;
    this.#store = store;
  }

  /** A line that the journal may have failed to take. */
  note(line: JournalEvent): void {
    if (line.event === 'pre_tool_use') this.#openCalls.set(line.tool_use_id, this.#clock.now());
    if (line.event === 'post_tool_use') this.#openCalls.delete(line.tool_use_id);
  }

  /** Stores it now. @throws what the store throws */
  async renew(): Promise<void> {
    await this.#store(this.#lastActivity());
  }

  /** Stores it repeatedly until the signal aborts; a failed write is made up for by the next one. */
  async keepRenewing(signal: AbortSignal): Promise<void> {
    const pauseMs = Math.max(this.#thresholds.silence_ms / WORDS_PER_SILENCE, SHORTEST_PAUSE_MS);
    while (!signal.aborted) {
      await this.#clock.sleep(pauseMs, signal);
      if (!signal.aborted) await this.renew().catch(() => undefined);
    }
  }

  /** An agent that waits for a call counts as active for as long as the call may take, as it would by its journal. */
  #lastActivity(): number {
    const now = this.#clock.now();
    const longestMs = this.#thresholds.tool_wait_ms;
    const called = [...this.#openCalls.values()].map((since) => Math.min(now, since + longestMs));
    return Math.max(this.#activity.lastEventAt, ...called);
  }
}
