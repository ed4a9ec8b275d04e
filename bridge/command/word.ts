/** The words behind `track` and `work`: each is a small command on one session. */
import type { ParseArgsConfig, parseArgs } from 'node:util';
import { refreshGenerated } from '../../memory/keeping/rebuild.js';
import { Memory } from '../../memory/sessions/memory.js';
import { didYouMean } from '../../src/config/didYouMean.js';
import { UsageError } from '../../src/errors.js';
import { systemClock } from '../../src/time.js';
import type { Command, CommandContext, ExitCode } from './command.js';
import { readOptions } from './options.js';
import { printJson, printLines, sayEach } from './print.js';

const COMMON_OPTIONS = {
  session: { type: 'string' },
  dir: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O & typeof COMMON_OPTIONS }>>['values'];

export interface Call<O extends Options = Options> {
  readonly memory: Memory;
  readonly context: CommandContext;
  readonly values: Values<O>;
  readonly words: readonly string[];
  /** As they were typed, for the one word in which their order matters. */
  readonly typed: readonly string[];
  /** Prints a line, or several, for a person, or the value if `--json` was given. */
  print(lines: string | readonly string[], value: unknown): void;
}

export interface Word {
  /** Its line of usage, without the program's name. */
  readonly usage: string;
  readonly summary: string;
  readonly options: Options;
  /** The most words without a name. */
  readonly words: number;
  run(call: Call): Promise<ExitCode> | ExitCode;
}

/** Keeps the types of the options for `run`. */
export function word<const O extends Options>(
  definition: Omit<Word, 'run' | 'options'> & { readonly options: O; run(call: Call<O>): Promise<ExitCode> | ExitCode },
): Word {
  return definition as unknown as Word;
}

export interface WordsCommand {
  /** Without the program's name. */
  readonly name: string;
  readonly words: Readonly<Record<string, Word>>;
  readonly about: string;
  readonly examples: string;
}

const COMMON_HELP = `  --session ID  the id or the name of a session
  --dir FOLDER  the memory; default WATCHKEEPER_MEMORY, WATCHKEEPER_HOME, else
                ~/.local/state/watchkeeper
  --json        the result as JSON

exit code: 0 done, 1 refused or found something, 2 usage, or no session is meant
clearly, 3 the memory cannot be read or written`;

/** @returns a command whose first word says what to do */
export function wordsCommand({ name, words, about, examples }: WordsCommand): Command {
  const usages = [...new Set(Object.values(words))].map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
  return {
    help: `usage: watchkeeper ${name} WORD [--session ID] [--dir FOLDER] [--json] …\n\n${about}\n\n${usages.join('\n')}\n\n${COMMON_HELP}\n\nexamples:\n${examples}`,
    run: (args, context) => runWord(words, args, context),
  };
}

async function runWord(
  words: Readonly<Record<string, Word>>,
  args: readonly string[],
  context: CommandContext,
): Promise<ExitCode> {
  const { first, rest } = splitDir(args);
  const [name = '', ...others] = rest;
  const word = Object.hasOwn(words, name) ? words[name] : undefined;
  if (word === undefined) {
    const known = Object.keys(words);
    const what = name === '' ? 'a word is missing' : `unknown word ${JSON.stringify(name)}`;
    throw new UsageError(`${what}${didYouMean(name, known)} (known: ${known.join(', ')})`);
  }
  const { values, positionals } = readOptions(
    [...first, ...others],
    { ...COMMON_OPTIONS, ...word.options },
    word.words,
  );
  const { surroundings, redact, io } = context;
  const { dir, json } = values as { readonly dir?: string; readonly json?: boolean };
  const memory = new Memory({ surroundings, folder: dir ?? null, clock: systemClock, redact });
  const call: Call = {
    memory,
    context,
    values,
    words: positionals,
    typed: others,
    print: (lines, value) => (json ? printJson(io, value) : printLines(io, lines)),
  };
  let code: ExitCode;
  try {
    code = await word.run(call);
  } finally {
    sayEach(io, memory.leftOut);
  }
  await refreshGenerated(memory);
  return code;
}

/** `--dir` may come before the word, as users of the older tracker write it. */
function splitDir(args: readonly string[]): { readonly first: readonly string[]; readonly rest: readonly string[] } {
  const [head = ''] = args;
  if (head.startsWith('--dir=')) return { first: args.slice(0, 1), rest: args.slice(1) };
  return head === '--dir' ? { first: args.slice(0, 2), rest: args.slice(2) } : { first: [], rest: args };
}
