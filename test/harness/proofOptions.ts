/** The options of a proof that `npm run prove` runs. `--help` shows them and ends it with 0; a mistake ends it with 2 and a sentence. */
import { readOptions } from '../../bridge/command/options.js';
import { UsageError } from '../../src/errors.js';

const WRONG = 2;

/** The usual value also says the type: false is that of a flag, null that of a text that may be missing. */
type ProofOption = readonly [usual: number | string | false | null, means: string];
type Options = Readonly<Record<string, ProofOption>>;
type Typed<Usual> = Usual extends number
  ? number
  : Usual extends false
    ? boolean
    : Usual extends null
      ? string | null
      : string;
type Values<O extends Options> = { readonly [Name in keyof O]: Typed<O[Name][0]> };

/**
 * Called before a proof begins anything, because it may end the process.
 * @param name of the proof, as `npm run prove` lists it
 */
export function proofOptions<const O extends Options>(name: string, options: O): Values<O> {
  try {
    const args = process.argv.slice(2);
    if (!args.includes('--help')) return valuesOf(args, options);
    process.stdout.write(usageOf(name, options));
    process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exit(WRONG);
  }
}

function valuesOf<O extends Options>(args: readonly string[], options: O): Values<O> {
  const types = Object.entries(options).map(([name, [usual]]) => [
    name,
    { type: usual === false ? 'boolean' : 'string' },
  ]);
  const { values } = readOptions<Record<string, { readonly type: 'boolean' | 'string' }>>(
    args,
    Object.fromEntries(types),
  );
  const typed = Object.entries(options).map(([name, [usual]]) => {
    const value = values[name] ?? usual;
    return [name, typeof usual === 'number' ? numberOf(name, String(value)) : value];
  });
  return Object.fromEntries(typed);
}

/** A proof of NaN rounds would pass. */
function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number) && number >= 0) return number;
  throw new UsageError(`--${name} is ${JSON.stringify(text)}, and must be a number, such as 20`);
}

function usageOf(name: string, options: Options): string {
  const rows = Object.entries(options).map(([option, [usual, means]]) => {
    const isSaid = usual === false || usual === null || usual === '';
    return [usual === false ? `--${option}` : `--${option} VALUE`, isSaid ? means : `${means} (${usual})`] as const;
  });
  const width = Math.max(0, ...rows.map(([option]) => option.length));
  const lines = rows.map(([option, means]) => `  ${option.padEnd(width)}  ${means}\n`);
  const takes = rows.length === 0 ? ': takes no options\n' : ' [OPTION…]\n';
  return [`npm run prove -- ${name}${takes}`, ...lines].join('');
}
