/** Collects all faults of a configuration, so that they are reported together. */
import * as z from 'zod/v4/core';
import { UsageError } from '../errors.js';
import type { Redact } from '../log/redact.js';
import { cutText } from '../log/shorten.js';
import { didYouMean } from './didYouMean.js';

/** The longest part of a wrong value to show. */
const LONGEST_SHOWN = 60;

export interface FaultyValue {
  /** The value's name in the operator's text; empty for a whole file, whose keys need no prefix. */
  readonly where: string;
  /** For faults of the whole file. */
  readonly file?: string;
  /** Its texts may be another party's secrets, as in an agent's command line: they are not shown. */
  readonly isPrivate?: boolean;
}

export class Faults {
  readonly #found: string[] = [];
  readonly #redact: Redact;

  /** @param redact knows every secret of the configuration, because a secret in the wrong place must not be shown */
  constructor(redact: Redact) {
    this.#redact = redact;
  }

  get areNone(): boolean {
    return this.#found.length === 0;
  }

  /** @param fault a sentence: which value, what is allowed, what was given, what to do. */
  add(fault: string): void {
    this.#found.push(this.#redact(fault));
  }

  /** @returns the value; undefined if it is not allowed, with its faults added */
  check<Value>(value: FaultyValue, schema: z.$ZodType<Value>, given: unknown): Value | undefined {
    const parsed = z.safeParse(schema, given, { error: inOurWords });
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) this.#addIssue(value, schema, given, issue);
    return undefined;
  }

  /** @throws UsageError with every fault in one message, which begins as given */
  throwIfAny(beginning = 'the configuration has'): void {
    if (this.#found.length === 0) return;
    const count = this.#found.length === 1 ? 'a fault' : `${this.#found.length} faults`;
    throw new UsageError([`${beginning} ${count}:`, ...this.#found.map((fault) => `  - ${fault}`)]);
  }

  #addIssue(value: FaultyValue, schema: z.$ZodType, given: unknown, issue: z.$ZodIssue): void {
    const place = [value.where, ...issue.path.map(partOfPath)].filter((part) => part !== '').join('.') || value.file;
    if (issue.code !== 'unrecognized_keys') {
      this.add(`${place}: ${issue.message}; ${this.#describeGiven(valueAt(given, issue.path), value.isPrivate)}`);
      return;
    }
    const known = knownKeys(schema, issue.path);
    for (const key of issue.keys) {
      const allowed = known.length > 0 ? ` (known: ${known.join(', ')})` : '';
      this.add(`${place}: unknown key ${JSON.stringify(key)}${didYouMean(key, known)}${allowed}`);
    }
  }

  /** Redacted before it is cut: half a secret is not recognised. */
  #describeGiven(given: unknown, isPrivate = false): string {
    if (given === undefined) return 'it is missing';
    if (Array.isArray(given)) return given.length === 0 ? 'given an empty list' : 'given a list';
    if (typeof given === 'object' && given !== null) return 'given an object';
    if (typeof given !== 'string') return `given ${String(given)}`;
    if (given === '') return 'given an empty text';
    if (isPrivate) return 'given a text (not shown)';
    const text = this.#redact(given);
    return `given ${JSON.stringify(text.length > LONGEST_SHOWN ? `${cutText(text, LONGEST_SHOWN)}…` : text)}`;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'an object, such as {"key": …}',
  record: 'an object, such as {"key": …}',
  array: 'a list, such as [ … ]',
  string: 'a text in double quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

const NUMBERS = ['number', 'int'];

/** For schemas without an error message of their own. */
const inOurWords: z.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? issue.expected}`;
  const isNumber = (issue.code === 'too_small' || issue.code === 'too_big') && NUMBERS.includes(issue.origin);
  if (issue.code === 'too_small' && isNumber)
    return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
  if (issue.code === 'too_big' && isNumber)
    return `must be ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`;
  return issue.code === 'too_small' ? 'must not be empty' : undefined;
};

function partOfPath(part: PropertyKey): string {
  const text = String(part);
  return /^[\w-]+$/.test(text) ? text : JSON.stringify(text);
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let at = given;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[part];
  }
  return at;
}

function knownKeys(schema: z.$ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = unwrap(schema);
  for (const part of path) {
    if (at instanceof z.$ZodObject) at = unwrap(at._zod.def.shape[String(part)]);
    else if (at instanceof z.$ZodRecord) at = unwrap(at._zod.def.valueType);
    else if (at instanceof z.$ZodArray) at = unwrap(at._zod.def.element);
  }
  return at instanceof z.$ZodObject ? Object.keys(at._zod.def.shape) : [];
}

/** @returns the schema inside wrappers; for a union its object, because only objects have keys */
function unwrap(schema: unknown): unknown {
  let at = schema;
  for (;;) {
    if (at instanceof z.$ZodOptional || at instanceof z.$ZodDefault || at instanceof z.$ZodPrefault)
      at = at._zod.def.innerType;
    else if (at instanceof z.$ZodUnion)
      at = at._zod.def.options.map(unwrap).find((option) => option instanceof z.$ZodObject);
    else return at;
  }
}
