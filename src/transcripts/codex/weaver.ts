/**
 * Facts that only neighbouring records of Codex show: tool names of results, what calls did to plan and files, which calls came
 * in one response, and ends of turns in versions that do not write them.
 */
import type { JournalEvent, ObservedEvent } from '../../journal/schema.js';
import { SECOND } from '../../time.js';
import type { CallVerdict, DatedEvent, Draft, Weaver } from '../draft/draft.js';
import { TurnWeaver } from '../draft/turnWeaver.js';

export class CodexWeaver implements Weaver {
  #turns = new TurnWeaver();
  /** The tools of calls without a result. */
  #tools = new Map<string, string>();
  #verdicts = new Map<string, CallVerdict['outcome']>();
  /** `codex exec` and sub-agents get no messages from a person. */
  #isUnattended = false;
  /** Whether this version records the beginnings and ends of turns. */
  #recordsTurns = false;
  #turn: string | null = null;
  #promptedAt = Number.NEGATIVE_INFINITY;
  /** Whether this version counts the tokens of each response. */
  #countsTokens = false;
  #responseIsOver = true;
  #batch = '';
  /** Effects of calls without a result. */
  #effects = new Map<string, ObservedEvent>();
  /** Whether this version records the tokens of each response by its id. */
  #namesResponses = false;
  #lastCount = '';

  weave(draft: Draft): DatedEvent[] {
    const { time, event, hints } = draft;
    this.#note(draft);
    switch (event.event) {
      case 'user_prompt':
        return hints.beginsTurn === undefined ? this.#prompt(time, event) : this.#begin(time, event, hints.beginsTurn);
      case 'assistant_message':
        return this.#turns.message({ time, event }, this.#recordsTurns ? 'goes_on' : hints.turn);
      case 'pre_tool_use':
        this.#tools.set(event.tool_use_id, event.tool_name);
        if (hints.ifOk !== undefined) this.#effects.set(event.tool_use_id, hints.ifOk);
        return this.#turns.call(time, { ...event, batch: this.#batchOf(event.tool_use_id) }, hints.asksPerson);
      case 'post_tool_use':
        return this.#result(time, this.#finished(event));
      case 'files':
        // The event has the files as they are on the disk; the call has them as the model wrote them.
        this.#effects.delete(event.tool_use_id ?? '');
        return this.#turns.other({ time, event });
      case 'usage':
        return this.#usage(time, event, hints.isRepeated === true);
      case 'turn_end':
        this.#turn = null;
        this.#responseIsOver = true;
        return this.#turns.end(time, event.reason);
      default:
        return this.#turns.other({ time, event });
    }
  }

  finish(): DatedEvent[] {
    return this.#turns.finish(!this.#recordsTurns);
  }

  copy(): CodexWeaver {
    const copy = new CodexWeaver();
    copy.#turns = this.#turns.copy();
    copy.#tools = new Map(this.#tools);
    copy.#verdicts = new Map(this.#verdicts);
    copy.#isUnattended = this.#isUnattended;
    copy.#recordsTurns = this.#recordsTurns;
    copy.#turn = this.#turn;
    copy.#promptedAt = this.#promptedAt;
    copy.#countsTokens = this.#countsTokens;
    copy.#responseIsOver = this.#responseIsOver;
    copy.#batch = this.#batch;
    copy.#effects = new Map(this.#effects);
    copy.#namesResponses = this.#namesResponses;
    copy.#lastCount = this.#lastCount;
    return copy;
  }

  #note({ event, hints }: Draft): void {
    if (hints.unattended === true) this.#isUnattended = true;
    if (hints.verdict !== undefined && this.#tools.has(hints.verdict.tool_use_id))
      this.#verdicts.set(hints.verdict.tool_use_id, hints.verdict.outcome);
    if (hints.responseEnds === true) {
      this.#countsTokens = true;
      this.#responseIsOver = true;
    }
    if (hints.beginsTurn !== undefined || (event.event === 'turn_end' && hints.turn === 'ends'))
      this.#recordsTurns = true;
  }

  /** A person may write while a turn is open; the agent then handles the message in that turn. */
  #prompt(time: number, event: Extract<JournalEvent, { event: 'user_prompt' }>): DatedEvent[] {
    this.#promptedAt = time;
    const origin = this.#isUnattended ? 'machine' : event.origin;
    return this.#turns.prompt({ time, event: { ...event, origin } }, this.#recordsTurns ? 'joins' : 'begins');
  }

  #begin(time: number, event: JournalEvent, turn: string): DatedEvent[] {
    if (this.#turn === turn) return [];
    this.#turn = turn;
    // A prompt and the turn that begins with it are one, whichever is written first.
    return this.#turns.prompt({ time, event }, time - this.#promptedAt < SECOND ? 'joins' : 'begins');
  }

  #batchOf(id: string): string {
    const isNew = this.#responseIsOver || (!this.#countsTokens && !this.#turns.hasOpenCalls);
    if (isNew) this.#batch = id;
    this.#responseIsOver = false;
    return this.#batch;
  }

  #result(time: number, event: Extract<JournalEvent, { event: 'post_tool_use' }>): DatedEvent[] {
    const effect = this.#effects.get(event.tool_use_id);
    this.#effects.delete(event.tool_use_id);
    const result = this.#turns.result(time, event);
    return event.outcome === 'ok' && effect !== undefined ? [...result, { time, event: effect }] : result;
  }

  #usage(time: number, event: Extract<JournalEvent, { event: 'usage' }>, isRepeated: boolean): DatedEvent[] {
    const { message_id } = event;
    if (!isRepeated) this.#namesResponses = true;
    else if (this.#namesResponses || this.#lastCount === message_id) return [];
    else this.#lastCount = message_id;
    // Counts of several threads may be equal.
    const named = isRepeated ? { ...event, message_id: `${message_id}_${time}` } : event;
    return this.#turns.other({ time, event: named });
  }

  #finished(event: Extract<JournalEvent, { event: 'post_tool_use' }>) {
    const { tool_use_id } = event;
    const tool_name = this.#tools.get(tool_use_id) ?? 'unknown';
    const verdict = this.#verdicts.get(tool_use_id);
    this.#tools.delete(tool_use_id);
    this.#verdicts.delete(tool_use_id);
    if (event.outcome !== 'ok' || verdict === undefined) return { ...event, tool_name };
    return { ...event, tool_name, outcome: verdict, is_error: true };
  }
}
