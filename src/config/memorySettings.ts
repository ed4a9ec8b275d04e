/** What can be changed of session memory: in `settings.json` of a home, or as `memory` in `watchkeeper.config.json`. */
import * as z from 'zod';

/** A program's hook may answer with so many characters; longer contexts are cut there. */
const LONGEST_CONTEXT = 9_000;
const ORDER = ['resumable_h', 'stale_h', 'critical_h', 'archivable_h'] as const;

const hours = z.number().positive();
const characters = z.int().min(0).max(LONGEST_CONTEXT);
export const memorySettings = z
  .strictObject({
    /** Hours since the last activity from which on a session is called so. */
    freshness: z
      .strictObject({
        resumable_h: hours.default(1),
        stale_h: hours.default(48),
        critical_h: hours.default(168),
        archivable_h: hours.default(720),
      })
      .superRefine(checkOrder)
      .prefault({}),
    /** When a session goes into the archive by itself: when all its phases are done, and when it rested so long. */
    auto_archive: z
      .strictObject({ on_completion: z.boolean().default(true), when_archivable: z.boolean().default(true) })
      .prefault({}),
    /** Days for which kept copies of transcripts stay. */
    keep_days: z.int().positive().default(90),
    /** Whether words of prompts and answers are kept. */
    texts: z.boolean().default(true),
    delegation: z
      .strictObject({ max_depth: z.int().positive().default(4), max_children: z.int().positive().default(10) })
      .prefault({}),
    /** Characters of each level of the resume context; 0 is off. */
    context: z
      .strictObject({
        root: characters.default(4_000),
        compacted: characters.default(2_500),
        resumed: characters.default(1_500),
        delegated: characters.default(1_200),
        resumed_delegated: characters.default(1_600),
        revival: characters.default(6_000),
      })
      .prefault({}),
    /** Whether runs of Claude Code have a list of tasks. */
    todo_tools: z.boolean().default(true),
  })
  .prefault({});

export type MemorySettings = Readonly<z.output<typeof memorySettings>>;

/** Each threshold is later than the one before. */
function checkOrder(freshness: Readonly<Record<(typeof ORDER)[number], number>>, context: z.RefinementCtx): void {
  for (const [index, later] of ORDER.entries()) {
    const earlier = ORDER[index - 1];
    if (earlier === undefined || freshness[earlier] < freshness[later]) continue;
    const message = `must be more than freshness.${earlier} (${freshness[earlier]})`;
    context.addIssue({ code: 'custom', path: [later], message });
  }
}
