/** Where a plan stands: the phase that is due, the errors that are open, and what can be done next. */
import { MOVES, refuseAgentsStart } from '../fold/rules/steps.js';
import { currentPhase } from '../fold/state.js';
import type { DeclaredError, Step, Worklog } from '../fold/worklog.js';
import type { StepStatus } from '../words.js';

/** A model reads no more of them. */
const MOST_NEXT = 20;

type Planned = Pick<Worklog, 'steps'>;

export interface Position {
  /** The phase that was completed last. Null if none was. */
  readonly last_completed: string | null;
  /** The first phase in progress, else the first that failed or is pending, else the last. Null without phases. */
  readonly current: string | null;
  readonly failed: readonly string[];
}

export function positionOf({ steps }: Planned): Position {
  const all = [...steps.values()];
  const completed = all.filter(({ status }) => status === 'completed');
  const last = completed.reduce<Step | null>(
    (latest, step) => ((step.ended_at ?? 0) >= (latest?.ended_at ?? 0) ? step : latest),
    null,
  );
  return {
    last_completed: last?.id ?? null,
    current: currentPhase(all)?.id ?? null,
    failed: all.filter(({ status }) => status === 'failed').map(({ id }) => id),
  };
}

/** A phase that an agent can start. */
export interface NextPhase {
  readonly phase: string;
  readonly name: string;
  readonly agents: readonly string[];
  /** It failed before. */
  readonly retry?: true;
}

/** @returns those that are pending, or failed and have a retry left, and whose blockers are settled; the first ones */
export function nextPhases(plan: Planned): NextPhase[] {
  return [...plan.steps.values()]
    .filter((step) => movesOf(plan, step).includes('in_progress'))
    .filter((_, index) => index < MOST_NEXT)
    .map(({ id, title, agents, status }) => ({
      ...{ phase: id, name: title, agents },
      ...(status === 'failed' && { retry: true as const }),
    }));
}

/** @returns the statuses that an agent can give a phase now */
export function movesOf(plan: Planned, step: Step): StepStatus[] {
  return MOVES[step.status].filter((to) => to !== 'in_progress' || refuseAgentsStart(plan, step) === null);
}

/** @returns the declared errors that are not resolved */
export function openErrors({ errors }: Pick<Worklog, 'errors'>): DeclaredError[] {
  return errors.filter(({ resolved }) => !resolved);
}

/** How an express session continues: its one phase is briefed, given to its agents again, or reviewed. */
export type Branch =
  | { readonly do: 'brief' | 'review'; readonly phase: string }
  | { readonly do: 'redelegate'; readonly phase: string; readonly agents: readonly string[] };

/** @returns null if it is not an express session, has ended, or has no phase */
export function branchOf({ facts, steps, lifecycle }: Pick<Worklog, 'facts' | 'steps' | 'lifecycle'>): Branch | null {
  const phase = currentPhase([...steps.values()]);
  if (facts?.set.workflow_mode !== 'express' || lifecycle === 'ended' || phase === null) return null;
  switch (phase.status) {
    case 'pending':
      return { do: 'brief', phase: phase.id };
    case 'in_progress':
    case 'failed':
      return { do: 'redelegate', phase: phase.id, agents: phase.agents };
    default:
      return { do: 'review', phase: phase.id };
  }
}
