/** Knows the sub-agents, the call that started each, and which of them have an open turn. */
import type { Lineage } from '../../../src/journal/schema.js';
import type { ProtocolLine } from '../program/protocol.js';
import type { SystemMessage, Voice } from './sdk.js';

type Started = Extract<SystemMessage, { subtype: 'task_started' }>;

interface SubAgent {
  readonly lineage: Lineage;
  /** Its call returns at once; it runs until its own notification. */
  readonly isBackgrounded: boolean;
}

const AGENT_TASK = 'local_agent';

export class SubAgents {
  readonly #atWork = new Map<string, SubAgent>();
  readonly #byCall = new Map<string, string>();

  /** A sub-agent is expected to be active from here on, so that one that hangs at once is noticed like any other. */
  started({ task_id, task_type, tool_use_id, is_backgrounded = false }: Started): ProtocolLine[] {
    if (task_type !== AGENT_TASK || tool_use_id === undefined) return [];
    const lineage = { agent_id: task_id, parent_tool_use_id: tool_use_id };
    this.#atWork.set(task_id, { lineage, isBackgrounded: is_backgrounded });
    this.#byCall.set(tool_use_id, task_id);
    return [{ event: 'user_prompt', ...lineage }];
  }

  ended(agentId: string): ProtocolLine[] {
    const agent = this.#atWork.get(agentId);
    if (agent === undefined) return [];
    this.#atWork.delete(agentId);
    return [{ event: 'turn_end', reason: 'end_turn', ...agent.lineage }];
  }

  /** The call that started it has its result. */
  returned(toolUseId: string): ProtocolLine[] {
    const agentId = this.#byCall.get(toolUseId);
    if (agentId === undefined || this.#atWork.get(agentId)?.isBackgrounded) return [];
    return this.ended(agentId);
  }

  /** @returns the fields on a sub-agent's line; empty for the main agent. Partial messages name only the call */
  lineage({ agent_id, parent_tool_use_id }: Voice): Lineage {
    const agentId = agent_id ?? this.#byCall.get(parent_tool_use_id ?? '') ?? parent_tool_use_id ?? undefined;
    if (agentId === undefined) return {};
    const parent = parent_tool_use_id ?? this.#atWork.get(agentId)?.lineage.parent_tool_use_id;
    return { agent_id: agentId, ...(parent !== undefined && { parent_tool_use_id: parent }) };
  }
}
