/** A step as its plan names it, before its first move. */
import type { Step } from './worklog.js';

type Planned = Pick<
  Step,
  'id' | 'external_id' | 'title' | 'priority' | 'blocked_by' | 'agents' | 'parallel' | 'planned_files'
>;

export function newStep(planned: Planned): Step {
  return {
    ...planned,
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
