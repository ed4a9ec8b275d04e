/**
 * The main agent's turns and calls as drafts pass by in time order; every format's weaver uses it.
 *
 * Many versions of the known programs never record the end of a turn. A message without a call then ends the turn if a prompt
 * follows, and does not if the agent continues. Until one of the two is seen, later lines are held back.
 */
import type { JournalEvent } from '../../journal/schema.js';
import type { DatedEvent, Draft } from './draft.js';

/** After this many lines of the harness after a message, and none of the agent, the turn has ended. */
const MOST_HELD = 4_096;

type Call = Extract<JournalEvent, { event: 'pre_tool_use' }>;
type Result = Extract<JournalEvent, { event: 'post_tool_use' }>;

/**
 * How a prompt relates to what came before. It may join a turn, if it came while the agent was at work. Or it begins one; then
 * an open turn was cut off, and its calls never get a result: a person who stops an agent leaves a line of its own.
 */
type Manner = 'joins' | 'begins';

export class TurnWeaver {
  #begun = false;
  #isOpen = false;
  #openCalls = new Set<string>();
  /** The message that may have been the turn's last, and everything after it. */
  #held: DatedEvent[] | null = null;

  /** @returns one that continues by itself from here */
  copy(): TurnWeaver {
    const copy = new TurnWeaver();
    copy.#begun = this.#begun;
    copy.#isOpen = this.#isOpen;
    copy.#openCalls = new Set(this.#openCalls);
    copy.#held = this.#held === null ? null : [...this.#held];
    return copy;
  }

  /** Whether the turn has ended, or may have. */
  get mayBeOver(): boolean {
    return !this.#isOpen || this.#held !== null;
  }

  get hasOpenCalls(): boolean {
    return this.#openCalls.size > 0;
  }

  prompt({ time, event }: DatedEvent, manner: Manner = 'begins'): DatedEvent[] {
    const before = [...this.#begin(time), ...this.#release(manner === 'begins')];
    if (this.#isOpen && manner === 'begins') before.push(...this.end(time, 'cut_off'));
    this.#isOpen = true;
    return [...before, { time, event }];
  }

  message({ time, event }: DatedEvent, turn: Draft['hints']['turn']): DatedEvent[] {
    if (this.#isPlain && turn === 'goes_on') return [{ time, event }];
    const before = [...this.#begin(time), ...this.#release(false)];
    const said = { time, event };
    if (turn === 'ends') return [...before, said, ...this.end(time, 'end_turn')];
    if (turn !== 'perhaps' || !this.#isOpen) return [...before, said];
    this.#held = [said];
    return before;
  }

  call(time: number, event: Call, asksPerson = false): DatedEvent[] {
    this.#openCalls.add(event.tool_use_id);
    if (this.#isPlain && this.#isOpen && !asksPerson) return [{ time, event }];
    const before = [...this.#begin(time), ...this.#release(false), ...this.#reopen(time)];
    const { tool_use_id } = event;
    const asking: JournalEvent = { event: 'wait_start', kind: 'user', tool_use_id };
    return [...before, { time, event }, ...(asksPerson ? [{ time, event: asking }] : [])];
  }

  result(time: number, event: Result): DatedEvent[] {
    this.#openCalls.delete(event.tool_use_id);
    if (this.#isPlain) return [{ time, event }];
    return [...this.#begin(time), ...this.#release(false), { time, event }];
  }

  end(time: number, reason: string): DatedEvent[] {
    const before = [...this.#begin(time), ...this.#release(false)];
    this.#isOpen = false;
    this.#openCalls.clear();
    return [...before, { time, event: { event: 'turn_end', reason } }];
  }

  /** As {@link end}, unless the turn has ended already; with the message that may have been its last, if that waits to be known. */
  endOpen(time: number, reason: string): DatedEvent[] {
    if (this.#held !== null) return this.#release(true);
    return this.#isOpen ? this.end(time, reason) : [];
  }

  /** Lines that do not affect turns. */
  other(line: DatedEvent): DatedEvent[] {
    if (this.#isPlain) return [line];
    const begun = this.#begin(line.time);
    if (this.#held === null) return [...begun, line];
    this.#held.push(line);
    return this.#held.length > MOST_HELD ? [...begun, ...this.#release(true)] : begun;
  }

  /** @param lastMessageEnds whether a message at the very end was the turn's last */
  finish(lastMessageEnds: boolean): DatedEvent[] {
    return this.#release(lastMessageEnds);
  }

  /** Nothing comes before the next line. So it is nearly always, and lists that are joined take longer than the line. */
  get #isPlain(): boolean {
    return this.#begun && this.#held === null;
  }

  #begin(time: number): DatedEvent[] {
    if (this.#begun) return [];
    this.#begun = true;
    return [{ time, event: { event: 'session_start', source: 'startup' } }];
  }

  /** An agent that acts has an open turn, whatever made it act. */
  #reopen(time: number): DatedEvent[] {
    if (this.#isOpen) return [];
    this.#isOpen = true;
    return [{ time, event: { event: 'user_prompt', origin: 'machine' } }];
  }

  #release(turnIsOver: boolean): DatedEvent[] {
    const [last, ...after] = this.#held ?? [];
    this.#held = null;
    if (last === undefined) return [];
    if (!turnIsOver) return [last, ...after];
    return [last, ...this.end(last.time, 'end_turn'), ...after];
  }
}
