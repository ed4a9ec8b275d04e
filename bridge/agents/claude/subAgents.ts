/** Which sub-agents there are, what call started each, and whose turn is open. */
import type { ProtocolLine } from '../program/protocol.js';
import type { SystemMessage, Voice } from './sdk.js';

/** What a line of a sub-agent carries; empty for the main agent. */
export interface Lineage {
  readonly agent_id?: string;
  readonly parent_tool_use_id?: string;
}

type Started = Extract<SystemMessage, { subtype: 'task_started' }>;

interface SubAgent {
  readonly lineage: Lineage;
  /** Its call returns at once; it goes on until its own notification. */
  readonly isBackgrounded: boolean;
}

const AGENT_TASK = 'local_agent';

export class SubAgents {
  readonly #atWork = new Map<string, SubAgent>();
  readonly #byCall = new Map<string, string>();

  /** A sub-agent owes work from here on: one that hangs at once is as silent as any. */
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

  /** Parts of a stream name only the call. */
  lineage({ agent_id, parent_tool_use_id }: Voice): Lineage {
    const agentId = agent_id ?? this.#byCall.get(parent_tool_use_id ?? '') ?? parent_tool_use_id ?? undefined;
    if (agentId === undefined) return {};
    const parent = parent_tool_use_id ?? this.#atWork.get(agentId)?.lineage.parent_tool_use_id;
    return { agent_id: agentId, ...(parent !== undefined && { parent_tool_use_id: parent }) };
  }
}
