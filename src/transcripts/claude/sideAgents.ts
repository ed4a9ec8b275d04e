/**
 * The sub-agents of a Claude Code session: their identity, the call that started each, and which of them are done.
 *
 * Current versions name the agent in each of its records, and the call next to the transcript or in progress records. The oldest
 * name neither: there a sub-agent is a chain of records, and its call is the one with the same prompt.
 */
import type { Lineage } from '../../journal/schema.js';
import type { DatedEvent, Draft, Hints } from '../draft/draft.js';

interface SideAgent {
  isOver: boolean;
  /** Its call returned at once; it runs until its own end. */
  inBackground: boolean;
  /** Its last line may be its report: versions up to the spring of 2026 do not say why a message stopped. */
  hasPerhapsReported: boolean;
}

interface Starter {
  readonly asked: string;
  isTaken: boolean;
}

const NAMELESS = 'sidechain';

export class SideAgents {
  #agents = new Map<string, SideAgent>();
  readonly #known: ReadonlyMap<string, string>;
  /** By the records, which outweigh the calls known in advance. */
  #parents = new Map<string, string>();
  /** Calls that start sub-agents and have no result yet. */
  #starters = new Map<string, Starter>();
  /** For records that name no agent: the first one of their chain represents it. */
  #chains = new Map<string, string>();

  /** @param known the calls that started sub-agents, by agent, as far as known in advance */
  constructor(known: ReadonlyMap<string, string>) {
    this.#known = known;
  }

  copy(): SideAgents {
    const copy = new SideAgents(this.#known);
    copy.#agents = new Map([...this.#agents].map(([id, agent]) => [id, { ...agent }]));
    copy.#parents = new Map(this.#parents);
    copy.#starters = new Map([...this.#starters].map(([id, starter]) => [id, { ...starter }]));
    copy.#chains = new Map(this.#chains);
    return copy;
  }

  /** @returns null for a record of the main agent */
  agentOf(named: string | null, { sidechain, uuid, parentUuid }: Hints): string | null {
    if (named !== null || sidechain !== true) return named;
    const agent = this.#chains.get(parentUuid ?? '') ?? uuid ?? NAMELESS;
    if (uuid !== undefined) this.#chains.set(uuid, agent);
    return agent;
  }

  lineage(agent: string): Lineage {
    const parent = this.#parentOf(agent);
    return { agent_id: agent, ...(parent !== undefined && { parent_tool_use_id: parent }) };
  }

  starts(callId: string, asked: string): void {
    if (!this.#starters.has(callId)) this.#starters.set(callId, { asked, isTaken: false });
  }

  /** @returns the line from which a sub-agent is expected to be active; nothing if it is known already */
  heard(agent: string, { time, event, hints }: Draft): DatedEvent[] {
    const known = this.#agents.get(agent);
    const hasPerhapsReported = event.event === 'assistant_message' && hints.turn === 'perhaps';
    if (known?.isOver === false) {
      if (event.event !== 'heartbeat') known.hasPerhapsReported = hasPerhapsReported;
      return [];
    }
    this.#agents.set(agent, { isOver: false, inBackground: known?.inBackground ?? false, hasPerhapsReported });
    if (event.parent_tool_use_id !== undefined) this.#parents.set(agent, event.parent_tool_use_id);
    if (this.#parentOf(agent) === undefined) this.#findStarter(agent, hints.asked);
    return [{ time, event: { event: 'user_prompt', origin: 'machine', ...this.lineage(agent) } }];
  }

  /** @returns whether a sub-agent's output counts: once it is done, only new work makes it active again */
  isAwake(agent: string, { event, hints }: Draft): boolean {
    if (this.#agents.get(agent)?.isOver !== true) return true;
    if (event.event === 'assistant_message') return hints.turn !== 'ends';
    return event.event === 'user_prompt' || event.event === 'pre_tool_use';
  }

  /** A call has its result; the sub-agent that it started is done, unless it works in the background. */
  returned(callId: string, time: number, { subAgent, inBackground = false }: Hints): DatedEvent[] {
    this.#starters.delete(callId);
    if (subAgent !== undefined) this.#parents.set(subAgent, callId);
    if (inBackground && subAgent !== undefined) {
      // Without a line of it nothing is expected: its transcript may be missing.
      const known = this.#agents.get(subAgent) ?? { isOver: true, hasPerhapsReported: false };
      this.#agents.set(subAgent, { ...known, inBackground });
      return [];
    }
    if (this.#agents.size === 0) return [];
    return [...this.#agents.keys()]
      .filter((agent) => this.#parentOf(agent) === callId)
      .flatMap((agent) => this.ended(agent, time));
  }

  /** The main agent's turn has ended: only sub-agents in the background still work. */
  mainEnded(time: number): DatedEvent[] {
    this.#starters.clear();
    return this.#endThose(({ inBackground }) => !inBackground, time);
  }

  /** No sub-agent works on in the background. */
  backgroundEnded(time: number): DatedEvent[] {
    return this.#endThose(({ inBackground }) => inBackground, time);
  }

  /** @returns ends of those whose last message may have been their report; only if nothing comes after it */
  perhapsEnded(time: number): DatedEvent[] {
    return this.#endThose(({ inBackground, hasPerhapsReported }) => inBackground && hasPerhapsReported, time);
  }

  ended(agent: string, time: number): DatedEvent[] {
    const known = this.#agents.get(agent);
    if (known === undefined || known.isOver) return [];
    known.isOver = true;
    return [{ time, event: { event: 'turn_end', reason: 'end_turn', ...this.lineage(agent) } }];
  }

  #endThose(isMeant: (agent: SideAgent) => boolean, time: number): DatedEvent[] {
    if (this.#agents.size === 0) return [];
    return [...this.#agents].filter(([, each]) => isMeant(each)).flatMap(([agent]) => this.ended(agent, time));
  }

  #parentOf(agent: string): string | undefined {
    return this.#parents.get(agent) ?? this.#known.get(agent);
  }

  /** The call with the same prompt, or else the only one that has started no other sub-agent. */
  #findStarter(agent: string, asked: string | undefined): void {
    const free = [...this.#starters].filter(([, starter]) => !starter.isTaken);
    const found = free.find(([, starter]) => starter.asked === asked) ?? (free.length === 1 ? free[0] : undefined);
    if (found === undefined) return;
    found[1].isTaken = true;
    this.#parents.set(agent, found[0]);
  }
}
