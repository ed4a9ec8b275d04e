/** The state of a session as it is shown: what was declared, and what was observed beside it. */
import { progressOf, stateOf, sumOf } from '../fold/state.js';
import type { Worklog } from '../fold/worklog.js';
import type { Observed } from './observed.js';
import type { Observation } from './sources.js';

/**
 * @param at bytes of the worklog that were read
 * @returns the state as JSON. Tokens are the observed ones; declared ones count only if none were observed, so that nothing
 *   counts twice
 */
export function combinedState(
  log: Worklog,
  at: number,
  { observed, fold }: Observation,
): Readonly<Record<string, unknown>> {
  const state = stateOf(log, at);
  if (fold === null) return { ...state, observed };
  const plan = [...log.steps.values()];
  const todos = fold.todos.list;
  return {
    ...state,
    observed,
    last_activity: Math.max(log.last_activity ?? 0, fold.lastActivity ?? 0) || null,
    idle_at: fold.idleAt,
    first_tool: fold.firstTool,
    compactions: fold.compactions,
    compacted_at: fold.compactedAt,
    context_tokens: fold.contextTokens,
    violations: { blocked: fold.blocked, rejected: fold.rejected, refused: log.refused },
    steps: [...(state.steps as unknown[]), ...todos.map((todo) => ({ ...todo, kind: 'todo' }))],
    progress: progressOf(plan.length > 0 ? plan : todos),
    errors: [...log.errors, ...fold.errors],
    files: { ...observedFiles(fold, log), ...(state.files as object) },
    ...(fold.tokens.size > 0 && {
      tokens: { total: sumOf(fold.tokens), by_agent: Object.fromEntries(fold.tokens) },
    }),
    agents: fold.agents.list(),
    more: { ...log.more, ...fold.more },
  };
}

/** An observed change belongs to the step that was in progress, if there was exactly one. */
function observedFiles(fold: Observed, log: Worklog): Record<string, unknown> {
  return Object.fromEntries(
    [...fold.files].map(([path, { change, from, at }]) => {
      const declared = log.files.get(path);
      return [path, { change, from, at, status: declared?.status ?? null, step: declared?.step ?? stepAt(log, at) }];
    }),
  );
}

function stepAt(log: Worklog, at: number): string | null {
  const open = [...log.steps.values()].filter(({ spans }) =>
    spans.some(({ from, until }) => from <= at && at < (until ?? Number.POSITIVE_INFINITY)),
  );
  const [only] = open;
  return open.length === 1 && only !== undefined ? only.id : null;
}
