/** The shape of a rule: which lines of an event are legal, and what they change. */
import type * as z from 'zod/mini';
import type { Refusal } from '../../logs/kind.js';
import type { Origin } from '../../words.js';
import type { Worklog } from '../worklog.js';

/** What every line has, besides the fields of its event. */
export interface Written {
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly origin: Origin;
}

interface Traits {
  /** Legal after the session's end, and in the archive. */
  readonly afterEnd: boolean;
  /** Work of an agent, a person or a program. What Watchkeeper writes by itself never is. */
  readonly isActivity: boolean;
  /** A planned session becomes active by it. */
  readonly starts: boolean;
}

export interface Rule extends Traits {
  readonly schema: z.ZodMiniType;
  /** @returns why the line changes nothing; null if it was applied */
  apply(log: Worklog, fields: unknown, written: Written): Refusal | null;
}

export type Rules = Readonly<Record<string, Rule>>;

/**
 * @param schema of the event's fields; unknown ones pass. It is made for the first line of its event: a hook meets few of them, and
 *   an agent waits
 * @param apply changes the log, or returns a refusal and changes nothing
 */
export function rule<Schema extends z.ZodMiniType>(
  schema: () => Schema,
  apply: (log: Worklog, fields: z.output<Schema>, written: Written) => Refusal | null,
  traits: Partial<Traits> = {},
): Rule {
  let made: Schema | null = null;
  return {
    afterEnd: false,
    isActivity: true,
    starts: false,
    ...traits,
    get schema() {
      made ??= schema();
      return made;
    },
    apply: (log, fields, written) => apply(log, fields as z.output<Schema>, written),
  };
}

/** For lines that cannot be illegal. */
export function fact<Schema extends z.ZodMiniType>(
  schema: () => Schema,
  apply: (log: Worklog, fields: z.output<Schema>, written: Written) => void,
  traits: Partial<Traits> = {},
): Rule {
  return rule(
    schema,
    (log, fields, written) => {
      apply(log, fields, written);
      return null;
    },
    traits,
  );
}
