/**
 * A verb is one thing that can be asked of a memory. It is defined once: its fields, its work and its outcome. A door (the command
 * line, a tool, a button) turns a caller's words into the verb's input, and the outcome into words or JSON.
 */
import * as z from 'zod/mini';
import { didYouMean } from '../../src/config/didYouMean.js';
import { UsageError } from '../../src/errors.js';
import type { Judge } from '../look/look.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { UnclearError } from '../sessions/unclear.js';
import { describeCandidates } from './candidates.js';
import type { Fields, Input } from './fields.js';

/** The door does these after the verb, in this order. They need processes, which the memory does not start. */
export type FollowUp =
  /** Copy what the session's transcripts show. */
  | { readonly do: 'keep'; readonly session: OpenSession }
  /** Copy those of all sessions whose agents have ended, at most once an hour. */
  | { readonly do: 'keep_round' }
  | { readonly do: 'stop_monitor'; readonly session: OpenSession };

/** Rows that a door draws as wide as its reader's terminal; what is too long in the last column is cut, unless people copy it. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the last column is never cut, as one of paths. */
  readonly isWhole?: boolean;
  /** Lines that follow the table. */
  readonly below?: readonly string[];
}

/** The content of a file, printed with its own line ends and tabs. */
export interface Content {
  readonly text: string;
}

export interface Outcome {
  /** For programs: its JSON is part of the contract. */
  readonly value: unknown;
  /** For a person; null if the value is what a person wants, too. */
  readonly lines: string | readonly string[] | Table | Content | null;
  /** Said next to the result. */
  readonly asides?: readonly string[];
  /**
   * `found`: something is amiss, such as a crash. `refused`: nothing was changed, and `lines` say why and what to do. `partial`: something
   * could not be read or written.
   */
  readonly verdict?: 'found' | 'refused' | 'partial';
  readonly followUps?: readonly FollowUp[];
}

/** A door's services for a verb: the memory itself starts no process and reads no input of its caller. */
export interface Door {
  /** Reads a file that the caller names, or `-` for what is piped in. @throws UsageError if it cannot be read */
  read(field: string, source: string): Promise<string>;
  /** Starts another command of this program, which does not end with this one. */
  startDetached(args: readonly string[]): void;
  /** Runs a command that a person has set, in a shell. Missing where none may be run. @returns why it failed; null if it did not */
  runSetup?(call: SetupCall): Promise<string | null>;
  /** The work of the bridge that this directory's configuration names. Missing where no bridge is known. */
  bridgeWork?(): Promise<{ readonly work: readonly BridgeWork[]; readonly unasked: string | null }>;
  /**
   * Shows what would be done, and asks a person at a terminal.
   * @returns whether the person agreed; null if nobody can be asked, and nothing was shown
   */
  agrees?(shown: readonly string[], question: string): Promise<boolean | null>;
  /** For a verb that serves until it is stopped. @returns a signal that aborts then */
  untilStopped(): AbortSignal;
  /** Whether the caller is a program: it gets everything, and no words. A person gets what can be read. */
  readonly isProgram: boolean;
  /** Judges an agent's work, as the watchdog does. */
  readonly judge: Judge;
  /** Shows a line at once. */
  say(line: string): void;
  /** What to do about a record of a newer version, as an imperative. To update this program, if it is missing or returns null. */
  newerRemedy?(): string | null;
}

/** A session of a bridge that runs or waits. */
export interface BridgeWork {
  readonly session_id: string;
  readonly status: string;
  readonly directory: string;
}

/** A command for a new worktree. */
export interface SetupCall {
  readonly command: string;
  readonly directory: string;
  /** That it gets besides those of the caller. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface Verb<F extends Fields = Fields, Result extends Outcome = Outcome> {
  readonly name: string;
  /** For the help: a clause, without a full stop. */
  readonly summary: string;
  readonly fields: F;
  /** Whether it works without the caller's directory. */
  readonly isAnywhere?: true;
  run(memory: Memory, input: Input<F>, door: Door): Result | Promise<Result>;
}

/** Keeps the types of the fields for `run`, and the type of its result. */
export function verb<const F extends Fields, Result extends Outcome>(definition: Verb<F, Result>): Verb<F, Result> {
  return definition;
}

/** A verb with its types forgotten, as a list of verbs holds it. */
export type AnyVerb = Omit<Verb, 'run'> & { run(memory: Memory, input: never, door: Door): Outcome | Promise<Outcome> };

/**
 * Asks for a verb.
 * @param given its fields by name, and `session`, from whichever door
 * @throws UsageError if a field is unknown, missing or of another type, and what the verb throws
 */
export async function ask(
  verb: AnyVerb,
  memory: Memory,
  given: Readonly<Record<string, unknown>>,
  door: Door,
): Promise<Outcome> {
  const input = readInput(verb, given) as never;
  try {
    return await verb.run(memory, input, door);
  } catch (error) {
    throw error instanceof UnclearError ? await describeCandidates(memory, error, door.judge) : error;
  }
}

function readInput({ fields }: AnyVerb, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known = ['session', ...Object.keys(fields)];
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`unknown field ${JSON.stringify(unknown)}${didYouMean(unknown, known)}`);
  for (const [name, { missing }] of Object.entries(fields)) {
    const value = given[name];
    if (missing !== null && (value === undefined || (typeof value === 'string' && value.trim() === '')))
      throw new UsageError(missing);
  }
  const input: Record<string, unknown> = { session: read('session', SESSION, given.session) };
  for (const [name, { schema }] of Object.entries(fields)) input[name] = read(name, schema, given[name]);
  return input;
}

const SESSION = z.optional(z.string());

function read(name: string, schema: z.ZodMiniType, value: unknown): unknown {
  const found = schema.safeParse(value);
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  throw new UsageError(faultOf([name], issue));
}

type Issue = z.core.$ZodIssue;

/** @returns the field with its fault; of one that may have several forms, the fault of the form that it comes nearest to */
function faultOf(within: readonly PropertyKey[], issue: Issue | undefined): string {
  const path = [...within, ...(issue?.path ?? [])];
  const nearest = issue?.code === 'invalid_union' ? nearestFault(issue.errors) : undefined;
  return nearest === undefined ? `${path.map(String).join('.')}: ${messageOf(issue)}` : faultOf(path, nearest);
}

/** @returns the first fault inside of one of the forms; undefined if the value is of another kind than all of them */
function nearestFault(forms: readonly (readonly Issue[])[]): Issue | undefined {
  return forms.flatMap(([first]) => first ?? []).find(({ path }) => path.length > 0);
}

function messageOf(issue: Issue | undefined): string | undefined {
  if (issue?.code === 'invalid_value') return `one of ${issue.values.join(', ')}`;
  if (issue?.code !== 'invalid_union') return issue?.message;
  const kinds = issue.errors.flat().flatMap((fault) => (fault.code === 'invalid_type' ? fault.expected : []));
  return `${issue.message}: expected ${kinds.join(' or ')}`;
}
