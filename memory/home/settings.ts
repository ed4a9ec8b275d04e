/** What a user may change of session memory: `settings.json` in the home. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Faults } from '../../src/config/faults.js';
import { parseJsonText } from '../../src/config/jsonText.js';
import { describeError, UnreachableError } from '../../src/errors.js';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import type { Redact } from '../../src/log/redact.js';

const LONGEST_FILE_BYTES = 256 * 1024;
/** A program's hook may answer with so many characters; longer contexts are cut there. */
const LONGEST_CONTEXT = 9_000;
const ORDER = ['resumable_h', 'stale_h', 'critical_h', 'archivable_h'] as const;

const hours = z.number().positive();
const characters = z.int().min(0).max(LONGEST_CONTEXT);
const settingsSchema = z
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
        revival: characters.default(6_000),
      })
      .prefault({}),
  })
  .prefault({});

export type MemorySettings = Readonly<z.output<typeof settingsSchema>>;

/**
 * @param home of the memory
 * @returns the settings; the defaults if there is no file
 * @throws UsageError with every fault of the file
 * @throws UnreachableError if it cannot be read
 */
export function readMemorySettings(home: string, redact: Redact): MemorySettings {
  const path = join(home, 'settings.json');
  const faults = new Faults(redact);
  const given = existsSync(path) ? contentOf(path, faults) : undefined;
  const settings = faults.check({ where: '', file: path }, settingsSchema, given);
  faults.throwIfAny(`${path} has`);
  return settings ?? settingsSchema.parse(undefined);
}

function contentOf(path: string, faults: Faults): unknown {
  try {
    const parsed = parseJsonText(readPlainFileSync(path, LONGEST_FILE_BYTES));
    if ('value' in parsed) return parsed.value;
    faults.add(`it ${parsed.fault}`);
    return undefined;
  } catch (cause) {
    throw new UnreachableError(`${path} cannot be read: ${describeError(cause)}`, { cause });
  }
}

/** Each threshold is later than the one before. */
function checkOrder(freshness: Readonly<Record<(typeof ORDER)[number], number>>, context: z.RefinementCtx): void {
  for (const [index, later] of ORDER.entries()) {
    const earlier = ORDER[index - 1];
    if (earlier === undefined || freshness[earlier] < freshness[later]) continue;
    const message = `must be more than freshness.${earlier} (${freshness[earlier]})`;
    context.addIssue({ code: 'custom', path: [later], message });
  }
}
