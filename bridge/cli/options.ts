/** Reads options and answers a mistake with what was probably meant. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { didYouMean } from '../../src/config/didYouMean.js';
import { UsageError } from '../../src/errors.js';

type Options = NonNullable<ParseArgsConfig['options']>;

export interface ReadOptions {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  /** Those that may be given several times. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  readonly positionals: readonly string[];
}

/** A number after an option is its value: ids of groups in Telegram begin with "-". */
const NEGATIVE_NUMBER = /^-\d+$/;

/**
 * @param words the most words without a name that the command takes
 * @throws UsageError for an unknown option, a missing value, or a word too many
 */
export function readOptions(args: readonly string[], options: Options, words = 0): ReadOptions {
  const known = ['help', ...Object.keys(options)].map((name) => `--${name}`);
  try {
    const { values, positionals } = parseArgs({
      args: joinNegativeNumbers(args, options),
      options,
      allowPositionals: true,
      strict: true,
    });
    if (positionals.length > words) {
      throw new UsageError(`${JSON.stringify(positionals[words])} is one word too many; --help shows the usage`);
    }
    const all = Object.entries(values);
    return {
      values: Object.fromEntries(all.filter(([, value]) => !Array.isArray(value))) as ReadOptions['values'],
      lists: Object.fromEntries(all.filter(([, value]) => Array.isArray(value))) as ReadOptions['lists'],
      positionals,
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const name = /'(--?[^\s'=<]+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? '';
    if (!known.includes(name))
      throw new UsageError(`unknown option ${name}${didYouMean(name, known)} (--help shows them all)`);
    if (options[name.slice(2)]?.type !== 'string') throw new UsageError(`${name} takes no value`);
    throw new UsageError(`${name} needs a value behind it; one that begins with "-" is written ${name}=VALUE`);
  }
}

/** @returns `--chat -5` as `--chat=-5`, the only form that the parser accepts */
function joinNegativeNumbers(args: readonly string[], options: Options): string[] {
  const joined: string[] = [];
  for (const word of args) {
    const before = joined.at(-1) ?? '';
    const takesValue = before.startsWith('--') && options[before.slice(2)]?.type === 'string';
    if (takesValue && NEGATIVE_NUMBER.test(word)) joined.splice(-1, 1, `${before}=${word}`);
    else joined.push(word);
  }
  return joined;
}

/**
 * @returns the option's text
 * @throws UsageError if it is absent or empty
 */
export function requireText(values: ReadOptions['values'], name: string, example: string): string {
  const value = values[name];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new UsageError(`--${name} is missing, for example --${name} ${example}`);
}
