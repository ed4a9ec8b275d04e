/** The settings of session memory: in `settings.json` of a home, or as `memory` in `watchkeeper.config.json`. */
import * as z from 'zod/mini';

/** A program's hook may answer with so many characters; longer contexts are cut there. */
const LONGEST_CONTEXT = 9_000;
const ORDER = ['resumable_h', 'stale_h', 'critical_h', 'archivable_h'] as const;

/** The settings of a home without its own, given without a search for faults: every start of an agent waits for them. */
export const MEMORY_DEFAULTS = {
  freshness: { resumable_h: 1, stale_h: 48, critical_h: 168, archivable_h: 720 },
  auto_archive: { on_completion: true, when_archivable: true },
  keep_days: 90,
  removed_days: 30,
  texts: true,
  delegation: { max_depth: 4, max_children: 10 },
  context: {
    root: 4_000,
    compacted: 2_500,
    resumed: 1_500,
    delegated: 1_200,
    resumed_delegated: 1_600,
    revival: 6_000,
  },
  todo_tools: true,
} as const;

const { freshness, auto_archive, delegation, context } = MEMORY_DEFAULTS;

/** @returns the schema. Making it takes a thousandth of a second, and the homes of most hooks have no settings to check */
export function memorySettings() {
  const hours = z.number().check(z.positive());
  const count = z.int().check(z.positive());
  const characters = z.int().check(z.minimum(0), z.maximum(LONGEST_CONTEXT));
  return z.prefault(
    z.strictObject({
      /** Hours since the last activity from which on a session is called so. */
      freshness: z.prefault(
        z
          .strictObject({
            resumable_h: z._default(hours, freshness.resumable_h),
            stale_h: z._default(hours, freshness.stale_h),
            critical_h: z._default(hours, freshness.critical_h),
            archivable_h: z._default(hours, freshness.archivable_h),
          })
          .check(z.superRefine(checkOrder)),
        {},
      ),
      /** When a session goes into the archive by itself: when all its phases are done, and when it rested so long. */
      auto_archive: z.prefault(
        z.strictObject({
          on_completion: z._default(z.boolean(), auto_archive.on_completion),
          when_archivable: z._default(z.boolean(), auto_archive.when_archivable),
        }),
        {},
      ),
      /** Days for which kept copies of transcripts stay. */
      keep_days: z._default(count, MEMORY_DEFAULTS.keep_days),
      /** Days for which what a removed worktree held stays in its repository. */
      removed_days: z._default(count, MEMORY_DEFAULTS.removed_days),
      /** Whether words of prompts and answers are kept. */
      texts: z._default(z.boolean(), MEMORY_DEFAULTS.texts),
      delegation: z.prefault(
        z.strictObject({
          max_depth: z._default(count, delegation.max_depth),
          max_children: z._default(count, delegation.max_children),
        }),
        {},
      ),
      /** Characters of each level of the resume context; 0 is off. */
      context: z.prefault(
        z.strictObject({
          root: z._default(characters, context.root),
          compacted: z._default(characters, context.compacted),
          resumed: z._default(characters, context.resumed),
          delegated: z._default(characters, context.delegated),
          resumed_delegated: z._default(characters, context.resumed_delegated),
          revival: z._default(characters, context.revival),
        }),
        {},
      ),
      /** Whether runs of Claude Code have a list of tasks. */
      todo_tools: z._default(z.boolean(), MEMORY_DEFAULTS.todo_tools),
    }),
    {},
  );
}

export type MemorySettings = Readonly<z.output<ReturnType<typeof memorySettings>>>;

/** Each threshold is later than the one before. */
function checkOrder(given: Readonly<Record<(typeof ORDER)[number], number>>, refinement: z.core.$RefinementCtx): void {
  for (const [index, later] of ORDER.entries()) {
    const earlier = ORDER[index - 1];
    if (earlier === undefined || given[earlier] < given[later]) continue;
    const message = `must be more than freshness.${earlier} (${given[earlier]})`;
    refinement.addIssue({ code: 'custom', path: [later], message });
  }
}
