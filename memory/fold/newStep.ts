/** A step as its plan names it, before its first move. */
import type { Step } from './worklog.js';

type Planned = Pick<
  Step,
  'id' | 'external_id' | 'title' | 'priority' | 'blocked_by' | 'agents' | 'parallel' | 'planned_files'
>;

/** Member by member: V8 makes an object of so many members ten times as fast if it knows them all beforehand. */
export function newStep(planned: Planned): Step {
  return {
    id: planned.id,
    external_id: planned.external_id,
    title: planned.title,
    priority: planned.priority,
    blocked_by: planned.blocked_by,
    agents: planned.agents,
    parallel: planned.parallel,
    planned_files: planned.planned_files,
    status: 'pending',
    retries: 0,
    agent: null,
    holder: null,
    held_by: null,
    call: null,
    started_at: null,
    ended_at: null,
    reason: null,
    assumed: false,
    output: null,
    validation: null,
    context: null,
    no_context_reason: null,
    files: { created: [], modified: [], deleted: [] },
    tokens: { input: 0, output: 0, cached: 0 },
    spans: [],
  };
}
