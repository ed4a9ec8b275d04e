/**
 * Groups the failing calls of sessions, line by line, and remembers what worked next. It holds groups, not calls, so that transcripts
 * of any size can be drawn from.
 */
import { createHash } from 'node:crypto';
import { instantOf } from '../../src/journal/normalise.js';
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import type { Redact } from '../../src/log/redact.js';
import { cutText } from '../../src/log/shorten.js';
import { DAY } from '../../src/time.js';
import { MAIN } from '../observed/agents.js';
import { faultLine } from '../observed/faultLine.js';
import { type EndedCall, OpenCalls } from '../observed/openCalls.js';
import { type Attempt, Attempts, type Worked, wordsOf } from './attempts.js';
import { commandPattern, errorPattern, withoutVariables } from './pattern.js';

/** All tools that give a command to a shell are one: programs call it differently. */
const SHELL = 'shell';
const MOST_GROUPS = 2_000;
/** Ways that worked, and sayings, of one group. */
const MOST_WAYS = 5;
/** Different calls before one way that worked. */
const MOST_HELPS = 20;
const LONGEST_WORDS = 300;
const DIGEST_LENGTH = 8;

/** A call before one that worked. */
export interface Help {
  readonly call: string;
  count: number;
}

/** Something that worked after a failure. */
export interface Way {
  /** The call; null if it was the same one again. */
  readonly call: string | null;
  /** Calls in between that may have helped, by their patterns. */
  readonly after: Map<string, Help>;
  count: number;
}

/** Calls that failed alike. */
export interface FailureGroup {
  /** As a learning is tagged that was drawn from it. */
  readonly id: string;
  readonly tool: string;
  /** Without variable parts. Empty for a tool that is no shell. */
  readonly command: string;
  readonly error: string;
  count: number;
  sessions: number;
  /** Days in UTC on which it came back. */
  readonly days: Set<number>;
  /** UTC epoch milliseconds. */
  first_at: number;
  last_at: number;
  last_session: string;
  /** As it was at last. */
  example: { call: string; error: string };
  readonly worked: Map<string, Way>;
}

/** Calls that were refused alike. */
export interface RefusalGroup {
  readonly call: string;
  count: number;
  sessions: number;
  last_session: string;
  last_at: number;
  /** The words of the persons, each once. */
  readonly said: Set<string>;
}

export class Draw {
  readonly failures = new Map<string, FailureGroup>();
  readonly refusals = new Map<string, RefusalGroup>();
  sessions = 0;
  /** Failing calls that found no room. */
  more = 0;
  readonly #redact: Redact;
  #session = '';
  #calls = new OpenCalls();
  #attempts = new Attempts();

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  /** Begins with the lines of another session. */
  begin(session: string): void {
    this.sessions += 1;
    this.#session = session;
    this.#calls = new OpenCalls();
    this.#attempts = new Attempts();
  }

  take(record: JournalRecord): void {
    const event = textOf(record.event);
    if (event !== 'pre_tool_use' && event !== 'post_tool_use') return;
    const at = instantOf(record.timestamp);
    if (at === null) return;
    const agent = textOf(record.agent_id) ?? MAIN;
    if (event === 'pre_tool_use') this.#calls.begin(record, { agent, at }, (path) => path);
    else this.#end(this.#calls.end(record), { agent, at, said: textOf(record.said) });
  }

  #end(call: EndedCall, { agent, at, said }: { agent: string; at: number; said: string | null }): void {
    if (call.outcome === 'ok') {
      for (const { group, way } of this.#attempts.worked(agent, call)) {
        const failure = this.failures.get(group);
        if (failure !== undefined) addWay(failure.worked, way);
      }
      return;
    }
    if (call.outcome === 'failed') this.#attempts.failed(agent, this.#fail(this.#clean(call), at));
    if (call.outcome === 'rejected') this.#refuse(this.#clean(call), at, said);
  }

  /** A copy that was kept long ago may hold what is a secret now. */
  #clean(call: EndedCall): EndedCall {
    const { words, command, output } = call;
    const redact = this.#redact;
    return {
      ...call,
      words: redact(words),
      command: command === null ? null : redact(command),
      output: redact(output),
    };
  }

  #fail(call: EndedCall, at: number): Attempt {
    const { tool, command, error, id } = failureOf(call);
    const attempt = { group: id, call };
    const known = this.failures.get(id);
    if (known === undefined && this.failures.size === MOST_GROUPS) {
      this.more += 1;
      return attempt;
    }
    const example = {
      call: cutText(wordsOf(call), LONGEST_WORDS),
      error: cutText(faultLine(call.output), LONGEST_WORDS),
    };
    const group = known ?? {
      ...{ id, tool, command, error, count: 0, sessions: 0, days: new Set<number>() },
      ...{ first_at: at, last_at: at, last_session: '', example, worked: new Map() },
    };
    this.failures.set(id, group);
    count(group, this.#session, at);
    group.days.add(Math.floor(at / DAY));
    group.example = example;
    return attempt;
  }

  #refuse(call: EndedCall, at: number, said: string | null): void {
    const pattern = `${toolOf(call)}: ${call.command === null ? withoutVariables(call.words) : commandPattern(call.command)}`;
    const known = this.refusals.get(pattern);
    if (known === undefined && this.refusals.size === MOST_GROUPS) return;
    const group = known ?? {
      ...{ call: cutText(wordsOf(call), LONGEST_WORDS), count: 0, sessions: 0, last_session: '', last_at: at },
      said: new Set<string>(),
    };
    this.refusals.set(pattern, group);
    count(group, this.#session, at);
    if (said !== null && group.said.size < MOST_WAYS) group.said.add(this.#redact(said));
  }
}

interface Counted {
  count: number;
  sessions: number;
  last_session: string;
  last_at: number;
}

/** The lines of a session come together, so a session is counted once. */
function count(group: Counted, session: string, at: number): void {
  group.count += 1;
  if (group.last_session !== session || group.sessions === 0) group.sessions += 1;
  group.last_session = session;
  group.last_at = Math.max(group.last_at, at);
}

function addWay(ways: Map<string, Way>, { call, after }: Worked['way']): void {
  const key = withoutVariables(call ?? '');
  const known = ways.get(key);
  if (known === undefined && ways.size === MOST_WAYS) return;
  const way = known ?? { call: call === null ? null : cutText(call, LONGEST_WORDS), after: new Map(), count: 0 };
  ways.set(key, way);
  way.count += 1;
  for (const words of new Set(after)) {
    const pattern = withoutVariables(words);
    const help = way.after.get(pattern);
    if (help !== undefined) help.count += 1;
    else if (way.after.size < MOST_HELPS) way.after.set(pattern, { call: cutText(words, LONGEST_WORDS), count: 1 });
  }
}

function failureOf(call: EndedCall) {
  const tool = toolOf(call);
  const command = call.command === null ? '' : commandPattern(call.command);
  const error = errorPattern(call.output);
  const digest = createHash('sha256')
    .update(JSON.stringify([tool, command, error]))
    .digest('hex');
  return { tool, command, error, id: `f-${digest.slice(0, DIGEST_LENGTH)}` };
}

function toolOf({ tool, command }: EndedCall): string {
  return command === null ? tool : SHELL;
}
