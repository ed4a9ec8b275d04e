/** A verb as a word of the command line: its options, its usage, and the typed words as the verb's input. */
import type { ParseArgsConfig } from 'node:util';
import type { Field, Fields } from '../../memory/verbs/fields.js';
import type { AnyVerb } from '../../memory/verbs/verb.js';
import { UsageError } from '../../src/errors.js';
import { readOptions } from '../command/options.js';

type Options = NonNullable<ParseArgsConfig['options']>;
type Choice = Extract<Field['typed'], { how: 'choice' }>;

const COMMON_OPTIONS = {
  session: { type: 'string' },
  dir: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export interface Typed {
  readonly input: Readonly<Record<string, unknown>>;
  /** The memory's folder; null if the variables say it. */
  readonly folder: string | null;
  readonly isJson: boolean;
}

export function usageOf({ name, summary, fields }: AnyVerb): string {
  const usages = Object.values<Field>(fields).flatMap(({ usage }) => (usage === '' ? [] : [usage]));
  return `  ${[name, ...usages].join(' ').replaceAll(' \n', '\n')}\n      ${summary.replaceAll('\n', '\n      ')}`;
}

/** @throws UsageError for an unknown option, a missing value, a word too many, or flags that exclude each other */
export function readTyped({ fields }: AnyVerb, args: readonly string[]): Typed {
  const { values: read, positionals } = readOptions(
    args,
    { ...COMMON_OPTIONS, ...optionsOf(fields) },
    mostWords(fields),
  );
  const values = read as Values;
  const { session, dir, json } = values;
  const input: Record<string, unknown> = { session };
  const rest = [...positionals];
  for (const [name, field] of Object.entries(fields)) Object.assign(input, inputOf(name, field, values, rest));
  for (const [name, { typed }] of Object.entries(fields))
    if (typed.how === 'pair' && isTypedBefore(`--${dashed(name)}`, input[typed.word], args))
      [input[name], input[typed.word]] = [input[typed.word], input[name]];
  return { input, folder: typeof dir === 'string' ? dir : null, isJson: json === true };
}

type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

function optionsOf(fields: Fields): Options {
  const options: Record<string, Options[string]> = {};
  for (const [name, { typed }] of Object.entries(fields)) {
    if (typed.how === 'option' || typed.how === 'pair') options[dashed(name)] = { type: 'string' };
    if (typed.how === 'flag') options[dashed(name)] = { type: 'boolean' };
    if (typed.how === 'list') {
      options[dashed(name)] = { type: 'string', multiple: true };
      options[typed.also] = { type: 'string' };
    }
    if (typed.how === 'each') options[typed.option] = { type: 'string', multiple: true };
    if (typed.how !== 'choice') continue;
    for (const [flag, { takes }] of Object.entries(typed.flags))
      options[flag] = { type: takes === undefined ? 'boolean' : 'string' };
  }
  return options;
}

function mostWords(fields: Fields): number {
  const ways = Object.values(fields).map(({ typed }) => typed.how);
  return ways.includes('words') ? Number.POSITIVE_INFINITY : ways.filter((how) => how === 'word').length;
}

function inputOf(name: string, { typed }: Field, values: Values, rest: string[]): Record<string, unknown> {
  switch (typed.how) {
    case 'word':
      return { [name]: rest.shift() };
    case 'words':
      return { [name]: rest.splice(0) };
    case 'list':
      return {
        [name]: [...listOf(values[dashed(name)]), ...listOf(values[typed.also]).flatMap((all) => all.split(','))],
      };
    case 'each':
      return { [name]: listOf(values[typed.option]) };
    case 'choice':
      return chosenOf(name, typed, values);
    case 'with_flag':
    case 'not':
      return {};
    case 'option':
    case 'flag':
    case 'pair':
      return values[dashed(name)] === undefined ? {} : { [name]: values[dashed(name)] };
    default:
      return typed satisfies never;
  }
}

function listOf(value: Values[string]): readonly string[] {
  return typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
}

function chosenOf(name: string, { flags, unclear }: Choice, values: Values): Record<string, unknown> {
  const given = Object.entries(flags).filter(([flag]) => values[flag] !== undefined && values[flag] !== false);
  const chosen = new Set(given.map(([, { means }]) => means));
  const names = given.map(([flag]) => `--${flag}`).join(' and ');
  if (chosen.size > 1) throw new UsageError(unclear ?? `${names} exclude each other: give one of them`);
  const input: Record<string, unknown> = { [name]: given[0]?.[1].means };
  for (const [flag, { takes }] of given) if (takes !== undefined) input[takes] = values[flag];
  return input;
}

function isTypedBefore(option: string, word: unknown, args: readonly string[]): boolean {
  const place = args.indexOf(option);
  return place >= 0 && typeof word === 'string' && place < args.indexOf(word);
}

/** @returns the name of a field as an option: `archive_existing` is `archive-existing` */
function dashed(name: string): string {
  return name.replaceAll('_', '-');
}
