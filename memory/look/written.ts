/** How a session is, from its `state.json`: thousands of them are read while a few logs are folded. */
import * as z from 'zod/mini';
import { isNoticed } from '../condition/stuck.js';
import { processSchema } from '../fold/rules/runs.js';
import type { Ran, RunsOf } from '../fold/runs.js';
import { presentState } from '../sessions/stateFile.js';
import type { Viewer } from '../sessions/views.js';
import { END_REASONS, LIFECYCLES, PUBLICATIONS } from '../words.js';

const instant = z.nullable(z.number());

/** The fields that are read. */
const stateSchema = z.object({
  purpose: z.string(),
  last_asked: z._default(z.nullable(z.string()), null),
  name: z.nullable(z.string()),
  workspace: z.nullable(z.string()),
  lifecycle: z.enum(LIFECYCLES),
  end: z.nullable(z.object({ reason: z.enum(END_REASONS) })),
  archived: z.boolean(),
  runs: z.array(
    z.object({
      process: processSchema,
      agent: z._default(z.nullable(z.string()), null),
      ended_at: instant,
      published: z.optional(z.enum(PUBLICATIONS)),
    }),
  ),
  progress: z.object({ done: z.number(), total: z.number(), pending: z.number(), current: z.nullable(z.string()) }),
  loose_ends: z.object({
    ...{
      turn: z.boolean(),
      stopped: z.boolean(),
      answered: z.boolean(),
      cut_off: z.boolean(),
      failed: z.boolean(),
      declared: z.boolean(),
    },
    ...{ files: z.number(), abandoned_files: z.number() },
  }),
  created_at: z.number(),
  last_activity: instant,
  acknowledged_at: z._default(instant, null),
  notices: z._default(z.array(z.unknown()), []),
  log: z.object({ lines: z.number(), unreadable: z.number(), newer: z._default(z.number(), 0) }),
});

export type SettledState = z.output<typeof stateSchema>;

/**
 * @returns null unless `state.json` was made from all that there is, and says all that a list needs. Only its transcript shows the work
 *   of an agent, and whether a notice still holds depends on more: then the logs must be folded
 */
export function settledState(memory: Pick<Viewer, 'runsOf'>, folder: string): SettledState | null {
  const state = writtenState(folder);
  if (state === null || isNoticed(state) || mayBeUnused(state)) return null;
  return state.lifecycle !== 'ended' && mayShowMore(memory, state) ? null : state;
}

/** Whether an agent, or a person whom no run shows, may be at work. */
function mayShowMore(memory: Pick<Viewer, 'runsOf'>, state: RunsOf<Ran>): boolean {
  const { liveness } = memory.runsOf(state);
  return liveness === 'none' ? state.lifecycle === 'active' : liveness !== 'dead';
}

function writtenState(folder: string): SettledState | null {
  try {
    return stateSchema.safeParse(presentState(folder)).data ?? null;
  } catch {
    return null;
  }
}

/** Whether nothing may have been asked in it; only its logs show that. */
function mayBeUnused({ purpose, lifecycle }: SettledState): boolean {
  return purpose === '' && lifecycle !== 'ended';
}
