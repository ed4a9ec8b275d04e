/** Reads options and answers a mistake with the option that was probably meant. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { didYouMean } from '../../src/config/didYouMean.js';
import { DEFAULT_THRESHOLDS, type Thresholds } from '../../src/config/rules.js';
import { UsageError } from '../../src/errors.js';
import { describeFileTrouble, readPlainFile } from '../../src/files/plainFile.js';

type Options = NonNullable<ParseArgsConfig['options']>;
type Token = ReturnType<typeof parseArgs<ParseArgsConfig & { tokens: true }>>['tokens'][number];

/** The word that follows the option may be meant as its value, and no option itself. */
export class ValueMissingError extends UsageError {}

const LONGEST_THRESHOLDS_BYTES = 1024 * 1024;

/** A number or an age after an option is its value: ids of groups in Telegram begin with "-". */
const NEGATIVE_NUMBER = /^-\d+[smhd]?$/;

/**
 * @param words the most words without a name
 * @throws UsageError for an unknown option, a missing value, a word too many, or a second value of an option that takes one
 */
export function readOptions<const O extends Options>(args: readonly string[], options: O, words = 0) {
  const known = ['help', ...Object.keys(options)].map((name) => `--${name}`);
  try {
    const joined = joinNegativeNumbers(args, options);
    const parsed = parseArgs({ args: joined, options, allowPositionals: true, strict: true, tokens: true });
    refuseSecondValues(parsed.tokens, options);
    if (parsed.positionals.length <= words) return parsed;
    throw new UsageError(`${JSON.stringify(parsed.positionals[words])} is one word too many; --help shows the usage`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const name = /'(--?[^\s'=<]+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? '';
    if (!known.includes(name))
      throw new UsageError(`unknown option ${name}${didYouMean(name, known)} (--help shows them all)`);
    if (options[name.slice(2)]?.type !== 'string') throw new UsageError(`${name} takes no value`);
    throw new ValueMissingError(`${name} needs a value; write one that begins with "-" as ${name}=VALUE`);
  }
}

/** The parser would keep the last value, and drop the others unsaid. */
function refuseSecondValues(tokens: readonly Token[], options: Options): void {
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option' || token.value === undefined || options[token.name]?.multiple === true) continue;
    const before = given.get(token.name);
    given.set(token.name, token.value);
    if (before === undefined || before === token.value) continue;
    const values = [before, token.value].map((value) => JSON.stringify(value)).join(' and ');
    throw new UsageError(`--${token.name} takes one value, and has two, ${values}: give each to a command of its own`);
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

/** @throws UsageError if the option is absent or empty */
export function requireText(text: string | undefined, name: string, example: string): string {
  if (text !== undefined && text.trim() !== '') return text;
  throw new UsageError(`--${name} is missing, for example --${name} ${example}`);
}

/** @param option for the error message, as `--labels` @throws UsageError if the file cannot be read, or is longer */
export async function readOptionFile(option: string, path: string, longestBytes: number): Promise<string> {
  return readPlainFile(path, longestBytes).catch((cause: unknown) => {
    throw new UsageError(`${option}: ${path} cannot be read (${describeFileTrouble(cause)})`, { cause });
  });
}

/** @param path the file of `--thresholds`; null for the defaults @throws UsageError with every fault of the file */
export async function readThresholds(path: string | null): Promise<Thresholds> {
  if (path === null) return DEFAULT_THRESHOLDS;
  const text = await readOptionFile('--thresholds', path, LONGEST_THRESHOLDS_BYTES);
  // Loaded only on demand: without it, a plain `assess` starts in half the time.
  const { checkThresholds } = await import('../../src/config/thresholdsFile.js');
  return { ...DEFAULT_THRESHOLDS, ...checkThresholds(path, text) };
}

/** @returns every threshold by its configuration name: `silence_ms 600000, error_batches 5, …` */
export function describeThresholds(thresholds: Thresholds): string {
  return Object.entries(thresholds)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
