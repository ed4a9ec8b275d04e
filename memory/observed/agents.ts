/** The tree of agents within a session: which one started each, and whether it is still at work. */
import { type JournalRecord, textOf } from '../../src/journal/record.js';

export interface Agent {
  readonly id: string;
  readonly parent: string;
  /** 1: started by the main agent. */
  readonly depth: number;
  readonly open: boolean;
}

export const MAIN = 'main';
/** Lines on a message or a call of a sub-agent, which may follow the line that ended it. */
const WITH_A_MESSAGE: readonly string[] = ['usage', 'files', 'plan'];
/** The deepest that is followed: a program may write a cycle, and it must not become one here. */
const DEEPEST = 100;

interface Seen {
  parentCall: string | null;
  open: boolean;
}

export class Agents {
  readonly #agents = new Map<string, Seen>();
  /** The agent that made a call, by the call. */
  readonly #callers = new Map<string, string>();

  see(record: JournalRecord, event: string): void {
    const id = textOf(record.agent_id);
    if (id !== null) {
      const seen = this.#agents.get(id) ?? { parentCall: null, open: true };
      seen.parentCall ??= textOf(record.parent_tool_use_id);
      if (!WITH_A_MESSAGE.includes(event)) seen.open = event !== 'turn_end';
      this.#agents.set(id, seen);
    }
    const call = textOf(record.tool_use_id);
    if (call === null) return;
    if (event === 'pre_tool_use') this.#callers.set(call, id ?? MAIN);
    if (event === 'post_tool_use')
      for (const agent of this.#agents.values()) if (agent.parentCall === call) agent.open = false;
  }

  /** @returns all sub-agents, the first seen first */
  list(): Agent[] {
    return [...this.#agents].map(([id, { open }]) => ({
      id,
      parent: this.#parentOf(id),
      depth: this.#depthOf(id),
      open,
    }));
  }

  #parentOf(id: string): string {
    const call = this.#agents.get(id)?.parentCall ?? null;
    return (call === null ? undefined : this.#callers.get(call)) ?? MAIN;
  }

  #depthOf(id: string): number {
    let depth = 1;
    for (let at = this.#parentOf(id); at !== MAIN && depth < DEEPEST; at = this.#parentOf(at)) depth += 1;
    return depth;
  }
}
