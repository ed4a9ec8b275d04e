/**
 * The fields that verbs take. Every door reads the same fields: a tool has an object of them, and a command line writes them as options
 * and words.
 */
import * as z from 'zod/mini';

/**
 * How a command line writes a field.
 *
 * - `word`: a word without a name; several such fields take one word each, in their order
 * - `words`: all words without a name
 * - `option`: `--name VALUE`
 * - `flag`: `--name`
 * - `list`: `--name VALUE`, any number of times, and `--names A,B` (`also`)
 * - `each`: `--option VALUE`, any number of times; nothing is split, because the values are sentences
 * - `choice`: one flag for each value
 * - `not`: no command line takes it
 */
export type Typed =
  | { readonly how: 'word' | 'words' | 'option' | 'flag' | 'not' }
  /** The value of a flag that chooses, as WHY in `--fail WHY`. */
  | { readonly how: 'with_flag' }
  /** An option that may also come before a word; then they change places: `file OLD --rename NEW`, `file --rename OLD NEW`. */
  | { readonly how: 'pair'; readonly word: string }
  | { readonly how: 'list'; readonly also: string }
  | { readonly how: 'each'; readonly option: string }
  | { readonly how: 'choice'; readonly flags: Readonly<Record<string, Flag>>; readonly unclear: string | null };

/** A flag that chooses a value. */
export interface Flag {
  readonly means: string;
  /** The field that takes the flag's own value, as in `--fail WHY`. */
  readonly takes?: string;
}

export interface Field<Schema extends z.ZodMiniType = z.ZodMiniType> {
  /** Its part of the line of usage, such as `[--name NAME]`. Empty if another field's usage shows it. */
  readonly usage: string;
  readonly typed: Typed;
  /** The error if the field is missing or blank; null if it may be. */
  readonly missing: string | null;
  readonly schema: Schema;
}

export type Fields = Readonly<Record<string, Field>>;

/** Every verb takes the session. Without it, the caller's agent or directory decides. */
export type Input<F extends Fields> = { readonly [Name in keyof F]: z.output<F[Name]['schema']> } & {
  readonly session: string | undefined;
};

/** Words that the caller of a tool may leave out. Blank ones say nothing, and count as left out. */
export const WORDS_IF_ANY = z.optional(
  z.pipe(
    z.string(),
    z.transform((text) => (text.trim() === '' ? undefined : text)),
  ),
);
/** Words that the caller of a tool records or changes. */
export const SOME_WORDS = z.string().check(
  z.minLength(1),
  z.refine((text) => text.trim() !== '', { error: 'some words are expected, and it has only blanks' }),
);

const TEXT = z.optional(z.string());
const NEEDED = z.string();
const FLAG = z._default(z.boolean(), false);
const TEXTS = z._default(z.array(z.string()), []);

export function option(usage: string): Field<typeof TEXT> {
  return { usage, typed: { how: 'option' }, missing: null, schema: TEXT };
}

/** @param word the field that it may change places with */
export function pairedOption(usage: string, word: string): Field<typeof TEXT> {
  return { usage, typed: { how: 'pair', word }, missing: null, schema: TEXT };
}

/** A field of a verb that only tools ask for, which give it as JSON. */
export function given<Schema extends z.ZodMiniType>(schema: Schema): Field<Schema> {
  return { usage: '', typed: { how: 'not' }, missing: null, schema };
}

/** @param missing the error if it is missing or blank */
export function neededOption(usage: string, missing: string): Field<typeof NEEDED> {
  return { usage, typed: { how: 'option' }, missing, schema: NEEDED };
}

/** Takes the value of a flag that chooses; see {@link Flag.takes}. */
export const VALUE_OF_FLAG: Field<typeof TEXT> = {
  usage: '',
  typed: { how: 'with_flag' },
  missing: null,
  schema: TEXT,
};

export function flag(usage: string): Field<typeof FLAG> {
  return { usage, typed: { how: 'flag' }, missing: null, schema: FLAG };
}

export function word(usage: string): Field<typeof TEXT> {
  return { usage, typed: { how: 'word' }, missing: null, schema: TEXT };
}

/** @param missing as of {@link neededOption} */
export function neededWord(usage: string, missing: string): Field<typeof NEEDED> {
  return { usage, typed: { how: 'word' }, missing, schema: NEEDED };
}

export function words(usage: string): Field<typeof TEXTS> {
  return { usage, typed: { how: 'words' }, missing: null, schema: TEXTS };
}

/** @param also the option that takes several at once, separated by commas */
export function list(usage: string, also: string): Field<typeof TEXTS> {
  return { usage, typed: { how: 'list', also }, missing: null, schema: TEXTS };
}

/** @param option takes one of the values, and may be typed for each */
export function each(usage: string, option: string): Field<typeof TEXTS> {
  return { usage, typed: { how: 'each', option }, missing: null, schema: TEXTS };
}

/**
 * One of several flags, or none.
 * @param flags by name without dashes
 * @param unclear the error if a caller gives several; null if it is enough to name them
 */
export function choice<const Values extends readonly [string, ...string[]]>(
  usage: string,
  values: Values,
  { flags, unclear }: Omit<Extract<Typed, { how: 'choice' }>, 'how'>,
): Field<z.ZodMiniOptional<z.ZodMiniEnum<{ [Value in Values[number]]: Value }>>> {
  return { usage, typed: { how: 'choice', flags, unclear }, missing: null, schema: z.optional(z.enum(values)) };
}
