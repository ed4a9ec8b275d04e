/** A command whose first word is a verb: `track` and `work`. */
import type { AnyVerb, Content, Door, Outcome, SetupCall, Table } from '../../memory/verbs/verb.js';
import { judge } from '../../monitoring/terminals/judge.js';
import { didYouMean } from '../../src/config/didYouMean.js';
import { UsageError } from '../../src/errors.js';
import { MINUTE } from '../../src/time.js';
import {
  type Command,
  type CommandContext,
  type CommandIo,
  type ExitCode,
  printContent,
  printJson,
  printLines,
  sayEach,
  sayLines,
} from '../command/command.js';
import { readOptionFile } from '../command/options.js';
import { readText } from '../command/standardInput.js';
import { columnsOf, renderTable } from '../command/table.js';
import { askVerb } from './askVerb.js';
import { readTyped, usageOf } from './commandWord.js';

const LONGEST_INPUT = 1024 * 1024;
const SETUP_MS = 30 * MINUTE;
/** Enough to see why it failed. */
const MOST_LINES = 20;

export interface VerbsCommand {
  /** Without the program's name. */
  readonly name: string;
  readonly verbs: readonly AnyVerb[];
  readonly aliases?: Readonly<Record<string, AnyVerb>>;
  /** The verb that is meant if no word is typed. */
  readonly withoutWord?: AnyVerb;
  readonly about: string;
  readonly examples: string;
  /** Services of the door that only these verbs ask for. */
  readonly services?: (context: CommandContext) => Pick<Door, 'bridgeWork'>;
}

const COMMON_HELP = `  --session ID  the id or the name of a session
  --dir FOLDER  the memory; default WATCHKEEPER_MEMORY, WATCHKEEPER_HOME, else
                ~/.local/state/watchkeeper
  --json        the result as JSON

exit code: 0 done, 1 refused or found something, 2 usage, or no session is meant
clearly, 3 the memory cannot be read or written`;

/** @returns a command whose first word says what to do */
export function verbsCommand(command: VerbsCommand): Command {
  const { name, verbs, aliases = {}, withoutWord, about, examples, services } = command;
  const usages = verbs.map(usageOf).join('\n');
  const words = { ...Object.fromEntries(verbs.map((verb) => [verb.name, verb])), ...aliases };
  const first = withoutWord === undefined ? 'WORD' : '[WORD]';
  return {
    help: `usage: watchkeeper ${name} ${first} [--session ID] [--dir FOLDER] [--json] …\n\n${about}\n\n${usages}\n\n${COMMON_HELP}\n\nexamples:\n${examples}`,
    run: (args, context) => runVerb({ words, withoutWord, services: services?.(context) ?? {} }, args, context),
  };
}

interface Known {
  readonly words: Readonly<Record<string, AnyVerb>>;
  readonly withoutWord: AnyVerb | undefined;
  readonly services: Partial<Door>;
}

async function runVerb(
  { words, withoutWord, services }: Known,
  args: readonly string[],
  context: CommandContext,
): Promise<ExitCode> {
  const { first, rest } = splitDir(args);
  const isWordless = withoutWord !== undefined && (rest[0] ?? '-').startsWith('-');
  const [name = '', ...others] = isWordless ? [withoutWord.name, ...rest] : rest;
  const verb = Object.hasOwn(words, name) ? words[name] : undefined;
  if (verb === undefined) {
    const known = Object.keys(words);
    const what = name === '' ? 'a word is missing' : `unknown word ${JSON.stringify(name)}`;
    throw new UsageError(`${what}${didYouMean(name, known)} (known: ${known.join(', ')})`);
  }
  const { input, folder, isJson } = readTyped(verb, [...first, ...others]);
  const { io, redact, surroundings } = context;
  const door = { ...doorOf(context, isJson), ...services };
  const aside = (lines: readonly string[]) => sayEach(io, lines);
  return askVerb({ surroundings, folder, redact, door, aside }, verb, input, (outcome) =>
    show(context, outcome, isJson),
  );
}

function doorOf(context: CommandContext, isJson: boolean): Door {
  const { io } = context;
  return {
    read: (field, source) =>
      source === '-' ? readText(context.input, LONGEST_INPUT) : readOptionFile(field, source, LONGEST_INPUT),
    startDetached: (args) => context.startDetached(args),
    runSetup: (call) => runSetup(context, call),
    untilStopped: () => context.untilStopped(),
    agrees: (shown, question) => (isJson ? Promise.resolve(null) : agrees(context, shown, question)),
    isProgram: isJson,
    judge,
    say: (line) => {
      if (!isJson) printLines(io, line);
    },
  };
}

const YES = /^\s*y(es)?\s*$/i;

async function agrees(context: CommandContext, shown: readonly string[], question: string): Promise<boolean | null> {
  const { io } = context;
  const typed = context.openInput();
  if (typed === null) return null;
  printLines(io, shown);
  printContent(io, `${question} [y/N] `);
  for await (const line of typed) return YES.test(line);
  // The person closed the input.
  printLines(io, '');
  return false;
}

async function runSetup({ runProgram, redact }: CommandContext, call: SetupCall): Promise<string | null> {
  const { command, directory, variables } = call;
  const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const args = [...given, 'sh', '-c', command];
  const end = await runProgram({ program: 'env', args, directory, limitMs: SETUP_MS });
  if (end.kind === 'late') return `it took longer than ${SETUP_MS / MINUTE} minutes`;
  if (end.kind === 'not_started') return end.why;
  const said = redact(`${end.out}\n${end.err}`.trim()).split('\n').slice(-MOST_LINES).join('\n');
  return end.code === 0 ? null : `it ended with ${end.code ?? 'a signal'}\n${said}`;
}

type Words = string | readonly string[] | Table;

const CODES: Readonly<Record<NonNullable<Outcome['verdict']>, ExitCode>> = { found: 1, refused: 1, partial: 3 };

function show({ io }: CommandContext, { value, lines, asides = [], verdict }: Outcome, isJson: boolean): ExitCode {
  for (const aside of asides) sayLines(io, aside);
  if (verdict === 'refused') {
    const words = lines === null || isContent(lines) ? [] : textOf(io, lines);
    if (isJson) printJson(io, { code: 'refused', message: [words].flat().join('\n') });
    sayLines(io, words);
  } else if (isJson || lines === null) printJson(io, value);
  else if (isContent(lines)) printContent(io, lines.text);
  else printLines(io, textOf(io, lines));
  return verdict === undefined ? 0 : CODES[verdict];
}

function isContent(lines: Words | Content): lines is Content {
  return typeof lines !== 'string' && 'text' in lines;
}

function textOf(io: CommandIo, lines: Words): string | readonly string[] {
  if (typeof lines === 'string' || !('head' in lines)) return lines;
  const table = renderTable(lines.head, lines.rows, {
    columns: columnsOf(io),
    last: lines.isWhole ? 'stays' : 'cut',
  }).split('\n');
  return [...table, ...(lines.below ?? [])];
}

/** `--dir` may come before the word, as users of the older tracker write it. */
function splitDir(args: readonly string[]): { readonly first: readonly string[]; readonly rest: readonly string[] } {
  const [head = ''] = args;
  if (head.startsWith('--dir=')) return { first: args.slice(0, 1), rest: args.slice(1) };
  return head === '--dir' ? { first: args.slice(0, 2), rest: args.slice(2) } : { first: [], rest: args };
}
