/** Starts a step that another agent may have. The log's rules know no processes: whether that agent lives is judged here. */
import { programNamed, programOfProcess } from '../../src/agents/programs.js';
import { isProcessAlive, type ProcessIdentity } from '../../src/host/identity.js';
import { readArguments } from '../../src/host/procfs.js';
import { oneLine } from '../../src/log/visibleText.js';
import { type Held, type Holder, holderWords, isFreeFor, isSameAgent } from '../fold/holder.js';
import type { WorklogFields } from '../fold/rules/kind.js';
import type { Step, Worklog } from '../fold/worklog.js';
import { RefusedError } from '../logs/kind.js';
import type { BoundConversation } from '../sessions/bindings.js';
import type { Caller } from '../sessions/views.js';

const UNSEEN = 'and whether it is alive cannot be seen from here';

/** The agent that wants a step. */
export interface Claim {
  readonly step: string;
  /** The name that it gives itself. Missing or null if it gives none. */
  readonly agent?: string | null | undefined;
  readonly holder: Holder | null;
}

/** Fields of the line that starts a step. */
export type StartFields = Pick<WorklogFields<'step'>, 'holder' | 'takes'>;

/**
 * @param thread the conversation that a server's caller names; if missing, that of the caller's shell, for programs whose windows share a
 *   process
 * @returns the agent that calls: its conversation, or its process. Null for a person's shell
 */
export function callerHolder(memory: Caller, thread: BoundConversation | null = ownThread(memory)): Holder | null {
  const process = memory.agentProcess;
  if (thread === null) return process === null ? null : { process };
  const { provider, conversation } = thread;
  return { conversation: { provider, conversation }, ...(process !== null && { process }) };
}

/**
 * @returns the fields of the line that starts a step. `takes` is among them if the agent that has it is proven dead: then the line takes
 *   the step over
 * @throws RefusedError with the code `taken` and the details `holder`, `agent` and `alive` (null if that is unknown) if another agent has it
 */
export function startFields(here: ProcessIdentity, state: Worklog, claim: Claim): StartFields {
  const taken = takenBy(here, state, claim);
  if (taken !== null) throw taken;
  return claimFields(here, state, claim);
}

/**
 * As {@link startFields}, also if another agent has the step. The log's rules refuse the line then, and count it.
 * @returns the fields of the line that starts a step
 */
export function claimFields(here: ProcessIdentity, state: Worklog, claim: Claim): StartFields {
  const { holder } = claim;
  const held = otherHolder(state, claim);
  return {
    ...(holder !== null && { holder }),
    ...(held !== null &&
      held.held_by !== null &&
      isHolderAlive(here, state, held) === false && { takes: held.held_by }),
  };
}

/** @returns the refusal that names the agent that has the step, and says whether it lives; null if the step can be started or taken over */
export function takenBy(here: ProcessIdentity, state: Worklog, claim: Claim): RefusedError | null {
  const held = otherHolder(state, claim);
  const alive = held === null ? false : isHolderAlive(here, state, held);
  if (held === null || alive === false) return null;
  const life = alive ? 'and it is alive' : UNSEEN;
  const message = `step ${held.id} is in progress: ${holderWords(held)} has it, ${life}`;
  return new RefusedError({ code: 'taken', message }, { holder: held.holder, agent: held.agent, alive });
}

/** @returns a line for each step in progress that an agent has: which agent that is, and whether it lives */
export function holdersWords(here: ProcessIdentity, state: Worklog): string[] {
  const held = [...state.steps.values()].filter(
    ({ status, holder, agent }) => status === 'in_progress' && (holder ?? agent) !== null,
  );
  return held.map((step) => {
    const alive = isHolderAlive(here, state, step);
    const life = alive === null ? UNSEEN : `and it is ${alive ? 'alive' : 'dead'}`;
    return oneLine(`step ${step.id}: ${holderWords(step)}, ${life}`);
  });
}

/** @returns the step, if it is in progress and another agent has it */
function otherHolder({ steps }: Worklog, { step: id, agent = null, holder }: Claim): Step | null {
  const step = steps.get(id);
  if (step?.status !== 'in_progress') return null;
  const caller = { holder, agent };
  return isSameAgent(step, caller) || isFreeFor(step, caller) ? null : step;
}

/** @returns whether the agent that has a step lives; null if that cannot be seen, or no agent has it */
export function isHolderAlive(
  here: ProcessIdentity,
  { conversations }: Pick<Worklog, 'conversations'>,
  { holder }: Pick<Held, 'holder'>,
): boolean | null {
  if (holder === null) return null;
  if (holder.conversation === undefined) return isProcessAlive(holder.process, here);
  const { provider, conversation } = holder.conversation;
  // It may have been resumed in another process since.
  const resumed = conversations.findLast((one) => one.provider === provider && one.id === conversation)?.process;
  const lives = [resumed, holder.process].flatMap((one) => (one == null ? [] : [isProcessAlive(one, here)]));
  return lives.includes(true) ? true : lives.length === 0 || lives.includes(null) ? null : false;
}

function ownThread(memory: Caller): BoundConversation | null {
  const { surroundings } = memory;
  // Which conversation a process has is asked of logs.
  if (surroundings.toolCall !== undefined) return surroundings.toolCall.thread;
  const { agentProcess, conversation } = memory;
  // One program may run in a shell of the other: then both variables are there, and the nearer process decides.
  const nearest = agentProcess === null ? null : programOfProcess(readArguments(agentProcess.pid));
  const program = programNamed(nearest ?? conversation?.provider ?? null);
  if (program === null || !program.sharesProcess) return null;
  const own = surroundings.variables[program.conversationVariable];
  return own ? { provider: program.name, conversation: own } : null;
}
