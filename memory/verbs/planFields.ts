/** A plan as callers give it: its schema, and the phases that are understood from it. */
import * as z from 'zod/mini';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import { inOrder, type PlannedPhase } from '../plans/planCheck.js';

/** Models write numbers where a plan has them: `1` and `"1"` are one id. */
export const ID_SCHEMA = z.union([z.string().check(z.minLength(1)), z.int()]);

const PHASE = z.strictObject({
  id: ID_SCHEMA,
  name: z.string(),
  agents: z.optional(z.array(z.string())),
  /** Plans for the published server of this kind have it instead of `agents`. */
  agent: z.optional(z.string()),
  parallel: z.optional(z.boolean()),
  blocked_by: z.optional(z.array(ID_SCHEMA)),
  files: z.optional(z.array(z.string())),
});
/** The plan's check says how many phases a session may have, together with the other faults. */
export const PHASES = z.array(PHASE);

/**
 * @param pathOf names a file as the workspace does
 * @returns the phases with ids as text
 */
export function phasesOf(pathOf: (path: string) => string, phases: z.output<typeof PHASES>): PlannedPhase[] {
  return phases.map(({ id, name, agents, agent, parallel = false, blocked_by = [], files = [] }) => ({
    id: String(id),
    name,
    agents: (agents ?? (agent === undefined ? [] : [agent])).filter((name) => name.trim() !== ''),
    parallel,
    blocked_by: [...new Set(blocked_by.map(String))],
    files: [...new Set(files.map((path) => (path.trim() === '' ? '' : pathOf(path.trim()))))],
  }));
}

/** @returns the lines of a valid plan, each phase after its blockers */
export function linesOf(phases: readonly PlannedPhase[]): WorklogLine[] {
  return inOrder(phases).map(({ id, name, agents, parallel, blocked_by, files }) =>
    worklogKind.line('step_added', { step: id, title: name, agents, parallel, blocked_by, planned_files: files }),
  );
}
