/**
 * Facts that only neighbouring records of Claude Code show: tool names of results, ends of turns, ends of retries, which call
 * started which sub-agent, and when it is done.
 */
import { UNSTATED_MODE } from '../../journal/agentVocabulary.js';
import type { JournalEvent, ObservedEvent } from '../../journal/schema.js';
import type { DatedEvent, Draft, Hints, Weaver } from '../draft/draft.js';
import { TurnWeaver } from '../draft/turnWeaver.js';
import { Branches } from './branches.js';
import { Deeds } from './deeds.js';
import { Openings } from './openings.js';
import { SideAgents } from './sideAgents.js';
import { Usages } from './usage.js';

const MAIN = '';
const NOTHING: DatedEvent[] = [];

export class ClaudeWeaver implements Weaver {
  readonly #mainAgent: string | null;
  #turns = new TurnWeaver();
  #sides: SideAgents;
  #deeds = new Deeds();
  #usages = new Usages();
  /** The tools of calls without a result. */
  #tools = new Map<string, string>();
  /** Agents with an announced retry. */
  #retrying = new Set<string>();
  /** Whether this version records why a message stopped, as far as the last call shows. */
  #recordsStops = false;
  /** Whether this version counts, at the end of a turn, the sub-agents that work on in the background. */
  #countsPending = false;
  #latest = Number.NEGATIVE_INFINITY;
  /** Whether this version records the permission mode. */
  #recordsMode = false;
  #openings = new Openings();
  /** Nothing of the main agent's turn came after it. */
  #spokeLast = false;
  readonly #branches: Branches | null;

  constructor(mainAgent: string | null, parents: ReadonlyMap<string, string>, isStory = false) {
    this.#mainAgent = mainAgent;
    this.#branches = isStory ? new Branches() : null;
    this.#sides = new SideAgents(parents);
  }

  weave(draft: Draft): DatedEvent[] {
    const { time, hints } = draft;
    const named = this.#sides.agentOf(draft.event.agent_id ?? null, hints);
    const agent = named === this.#mainAgent ? MAIN : (named ?? MAIN);
    const rewound = this.#branches === null || agent !== MAIN ? NOTHING : this.#rewound(draft, this.#branches);
    const back = this.#outsideTurn(this.#recovered(draft, agent));
    const before = rewound.length === 0 ? back : [...rewound, ...back];
    const lines = agent === MAIN ? this.#mainLines(draft) : this.#outsideTurn(this.#sideLines(draft, agent));
    this.#latest = time;
    const ended = this.#endedSides(draft, agent);
    const observed = this.#observed(draft, agent);
    // Most drafts are one line and nothing else.
    if (before.length + ended.length + observed.length === 0) return lines;
    return [...before, ...lines, ...this.#outsideTurn(ended), ...this.#outsideTurn(observed)];
  }

  finish(): DatedEvent[] {
    return [...this.#turns.finish(!this.#recordsStops), ...this.#sides.perhapsEnded(this.#latest)];
  }

  copy(): ClaudeWeaver {
    const copy = new ClaudeWeaver(this.#mainAgent, new Map());
    copy.#turns = this.#turns.copy();
    copy.#sides = this.#sides.copy();
    copy.#deeds = this.#deeds.copy();
    copy.#usages = this.#usages.copy();
    copy.#tools = new Map(this.#tools);
    copy.#retrying = new Set(this.#retrying);
    copy.#recordsStops = this.#recordsStops;
    copy.#countsPending = this.#countsPending;
    copy.#latest = this.#latest;
    copy.#recordsMode = this.#recordsMode;
    copy.#openings = this.#openings.copy();
    copy.#spokeLast = this.#spokeLast;
    return copy;
  }

  #rewound({ time, event, place, hints }: Draft, branches: Branches): DatedEvent[] {
    if (place === undefined) return NOTHING;
    const isPersons = event.event === 'user_prompt' && event.origin === 'human' && hints.joinsTurn !== true;
    const isBetween = (isPersons || place.message !== null) && this.#turns.mayBeOver;
    const rewind = isBetween ? branches.rewindBefore(place) : null;
    branches.see(place);
    if (rewind === null) return NOTHING;
    const { prompts, askedAgain } = rewind;
    const lines = this.#turns.other({ time, event: { event: 'rewound', prompts } });
    return askedAgain === null ? lines : [...lines, ...this.#turns.prompt({ time, event: askedAgain })];
  }

  /** Sub-agents that a person stops, or that end with their program, leave no other mark. */
  #endedSides({ time, hints }: Draft, agent: string): DatedEvent[] {
    const { endedAgents, pendingAgents, endsBackground } = hints;
    if (endedAgents !== undefined) return endedAgents.flatMap((each) => this.#sides.ended(each, time));
    if (agent !== MAIN || (pendingAgents === undefined && endsBackground !== true)) return NOTHING;
    this.#countsPending ||= pendingAgents !== undefined && pendingAgents > 0;
    const isNonePending = pendingAgents === 0 && this.#countsPending;
    return endsBackground === true || isNonePending ? this.#sides.backgroundEnded(time) : NOTHING;
  }

  /** The material of the session's memory. It changes no turn, so it comes after the lines that may. */
  #observed({ time, event, hints }: Draft, agent: string): DatedEvent[] {
    const events: ObservedEvent[] = hints.usage === undefined ? [] : this.#usages.take(agent, hints.usage);
    if (event.event === 'pre_tool_use' && hints.deed !== undefined) this.#deeds.asked(event.tool_use_id, hints.deed);
    if (event.event === 'post_tool_use')
      events.push(...this.#deeds.done(event.tool_use_id, event.outcome === 'ok', hints.done ?? {}));
    if (events.length === 0) return NOTHING;
    if (agent === MAIN) return events.map((each) => ({ time, event: each }));
    const lineage = this.#sides.lineage(agent);
    return events.map((each) => ({ time, event: { ...each, ...lineage } }));
  }

  #mainLines({ time, event: whole, hints }: Draft): DatedEvent[] {
    const event = whole.agent_id === undefined ? whole : withoutAgent(whole);
    switch (event.event) {
      case 'user_prompt': {
        const origin = this.#openings.openerOf(hints) ?? event.origin;
        return this.#prompt(time, origin === event.origin ? event : { ...event, origin }, hints);
      }
      case 'assistant_message': {
        const started = this.#started(time);
        this.#spokeLast = true;
        return [
          ...started,
          ...(hints.turn === 'ends' ? this.#orphans(time) : []),
          ...this.#turns.message({ time, event }, hints.turn),
        ];
      }
      case 'pre_tool_use': {
        const started = this.#started(time);
        this.#spokeLast = false;
        this.#recordsStops = hints.turn === 'goes_on';
        this.#noteCall(event.tool_use_id, event.tool_name, hints);
        const lines = this.#turns.call(time, event, hints.asksPerson);
        return started.length === 0 ? lines : [...started, ...lines];
      }
      case 'post_tool_use': {
        this.#spokeLast = false;
        const done = this.#outsideTurn(this.#sides.returned(event.tool_use_id, time, hints));
        return [...done, ...this.#turns.result(time, { ...event, tool_name: this.#toolOf(event.tool_use_id) })];
      }
      case 'turn_end':
        return [...this.#orphans(time), ...this.#turns.end(time, event.reason)];
      default:
        this.#recordsMode ||= event.permission_mode !== undefined;
        return this.#otherMain({ time, event }, hints);
    }
  }

  /** A program's prompt while calls are in flight joins the turn, as the program only then takes it so. */
  #prompt(time: number, event: JournalEvent, { joinsTurn, expansion }: Hints): DatedEvent[] {
    this.#openings.opened();
    this.#spokeLast = false;
    if (joinsTurn !== true && event.event === 'user_prompt') this.#branches?.begins(event);
    const prompt = { time, event: this.#withMode(event) };
    if (joinsTurn === true || (expansion === true && this.#turns.hasOpenCalls))
      return this.#turns.prompt(prompt, 'joins');
    return [...this.#orphans(time), ...this.#turns.prompt(prompt)];
  }

  /** A command that a person typed may be the reason why the agent acts; it does so in a turn of that person. */
  #started(time: number): DatedEvent[] {
    if (!this.#openings.isStarted() || !this.#turns.mayBeOver) return NOTHING;
    return this.#prompt(time, { event: 'user_prompt', origin: 'human' }, {});
  }

  /** A line of the harness, which may open a turn, or end one in versions that do not say why a message stopped. */
  #otherMain({ time, event }: DatedEvent, hints: Hints): DatedEvent[] {
    const origin = this.#openings.openerOf(hints);
    if (origin !== null && hints.expansion === true) return this.#prompt(time, { event: 'user_prompt', origin }, hints);
    const isEnd = hints.stopsTurn === true && this.#spokeLast && !this.#recordsStops && !this.#turns.hasOpenCalls;
    if (!isEnd) return this.#turns.other({ time, event });
    this.#spokeLast = false;
    return [...this.#orphans(time), ...this.#turns.other({ time, event }), ...this.#turns.endOpen(time, 'end_turn')];
  }

  #sideLines(draft: Draft, agent: string): DatedEvent[] {
    const { time, hints } = draft;
    if (!this.#sides.isAwake(agent, draft)) return [];
    const begun = this.#sides.heard(agent, draft);
    const event: JournalEvent = { ...draft.event, ...this.#sides.lineage(agent) };
    switch (event.event) {
      case 'user_prompt':
        return begun.length > 0 ? begun : [{ time, event }];
      case 'assistant_message':
        return [...begun, { time, event }, ...(hints.turn === 'ends' ? this.#sides.ended(agent, time) : [])];
      case 'pre_tool_use':
        this.#noteCall(event.tool_use_id, event.tool_name, hints);
        return [...begun, { time, event }];
      case 'post_tool_use': {
        const done = this.#sides.returned(event.tool_use_id, time, hints);
        return [...begun, ...done, { time, event: { ...event, tool_name: this.#toolOf(event.tool_use_id) } }];
      }
      case 'turn_end':
        return [...begun, ...this.#sides.ended(agent, time)];
      default:
        return [...begun, { time, event }];
    }
  }

  /** Versions up to the autumn of 2025 do not record the permission mode. */
  #withMode(event: JournalEvent): JournalEvent {
    const isStated = event.permission_mode !== undefined;
    if (isStated || this.#recordsMode) {
      this.#recordsMode = true;
      return event;
    }
    return { ...event, permission_mode: UNSTATED_MODE };
  }

  /** Lines that do not affect the main agent's turn. */
  #outsideTurn(lines: readonly DatedEvent[]): DatedEvent[] {
    if (lines.length === 0) return NOTHING;
    const shown: DatedEvent[] = [];
    for (const line of lines) shown.push(...this.#turns.other(line));
    return shown;
  }

  #orphans(time: number): DatedEvent[] {
    return this.#outsideTurn(this.#sides.mainEnded(time));
  }

  /** An agent's next message ends its retries. */
  #recovered({ time, event }: Draft, agent: string): DatedEvent[] {
    if (event.event === 'wait_start' && event.kind === 'rate_limit') this.#retrying.add(agent);
    if (event.event !== 'assistant_message' && event.event !== 'pre_tool_use') return [];
    if (!this.#retrying.delete(agent)) return [];
    const lineage = agent === MAIN ? {} : this.#sides.lineage(agent);
    return [{ time, event: { event: 'wait_end', kind: 'rate_limit', ...lineage } }];
  }

  #noteCall(id: string, tool: string, { asked }: Hints): void {
    this.#tools.set(id, tool);
    if (asked !== undefined) this.#sides.starts(id, asked);
  }

  #toolOf(id: string): string {
    const tool = this.#tools.get(id) ?? 'unknown';
    this.#tools.delete(id);
    return tool;
  }
}

function withoutAgent({ agent_id: _, ...event }: JournalEvent): JournalEvent {
  return event as JournalEvent;
}
