/** The shape of a rule: which lines of an event are legal, and what they change. */
import * as z from 'zod/mini';
import type { Refusal } from '../../logs/kind.js';
import type { Origin } from '../../words.js';
import type { Worklog } from '../worklog.js';

/** The fields that every line has. */
export interface Written {
  readonly id: string;
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly origin: Origin;
}

interface Traits {
  /** Legal after the session's end, and in the archive. */
  readonly afterEnd: boolean;
  /** Work of an agent, a person or a program. A line that Watchkeeper writes by itself never is. */
  readonly isActivity: boolean;
  /** A planned session becomes active by it. */
  readonly starts: boolean;
}

type Shape = z.core.$ZodLooseShape;
type ReadBy<Fields extends Shape> = ReturnType<typeof z.looseObject<Fields>>;
export type Found<Fields extends Shape> = z.output<ReadBy<Fields>>;

export interface Rule<Fields extends Shape = Shape> extends Traits {
  readonly schema: ReadBy<Fields>;
  /** @returns why the line changes nothing; null if it was applied */
  apply(log: Worklog, fields: unknown, written: Written): Refusal | null;
}

/** The fields that a writer may give the event of a rule. Readers accept others, too. */
export type FieldsOf<Known> =
  Known extends Rule<infer Fields>
    ? keyof Fields extends never
      ? object
      : Given<z.input<ReturnType<typeof z.object<Fields>>>>
    : never;
type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Given<Value[Key]> }
    : Value;

/**
 * @param fields of the event; readers accept others, too. Their schema is made for the first line of its event: a hook meets few of
 *   them, and an agent waits
 * @param apply changes the log, or returns a refusal and changes nothing
 */
export function rule<Fields extends Shape>(
  fields: () => Fields,
  apply: (log: Worklog, fields: Found<Fields>, written: Written) => Refusal | null,
  traits: Partial<Traits> = {},
): Rule<Fields> {
  let made: ReadBy<Fields> | null = null;
  return {
    afterEnd: false,
    isActivity: true,
    starts: false,
    ...traits,
    get schema() {
      made ??= z.looseObject(fields());
      return made;
    },
    apply: (log, found, written) => apply(log, found as Found<Fields>, written),
  };
}

/** For lines that cannot be illegal. */
export function fact<Fields extends Shape>(
  fields: () => Fields,
  apply: (log: Worklog, fields: Found<Fields>, written: Written) => void,
  traits: Partial<Traits> = {},
): Rule<Fields> {
  return rule(
    fields,
    (log, found, written) => {
      apply(log, found, written);
      return null;
    },
    traits,
  );
}

/** @returns a field that people read and no rule does: writers give it that type, and a reader accepts anything */
export function unread<Type>() {
  return z.optional(z.custom<Type>());
}
