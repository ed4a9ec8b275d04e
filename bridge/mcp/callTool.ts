/** Calls a tool: its arguments become the input of its verb, and the outcome, or the error, becomes JSON. */
import { RefusedError } from '../../memory/logs/kind.js';
import { NewerVersionError } from '../../memory/logs/newerLog.js';
import { CandidatesError } from '../../memory/verbs/candidates.js';
import type { Door, Outcome } from '../../memory/verbs/verb.js';
import { judge } from '../../monitoring/terminals/judge.js';
import { didYouMean } from '../../src/config/didYouMean.js';
import { describeError, UsageError, WatchkeeperError } from '../../src/errors.js';
import { isObject } from '../../src/json.js';
import { redactJsonLine } from '../../src/log/redact.js';
import { type Asking, askVerb } from '../verbs/askVerb.js';
import { RESTART } from './outdated.js';
import { TOOLS, toolNamed } from './tools.js';

/** The caller of a tool. */
export interface ToolCaller extends Omit<Asking, 'door' | 'aside'> {
  startDetached(args: readonly string[]): void;
  /** Whether the caller's server is older than the installation. False if missing. */
  isOutdated?(): boolean;
}

/** Of the id or the name of a session, in UTF-16 units. */
const LONGEST_NAME = 200;

export interface ToolAnswer {
  /** Of an error: `code`, `message`, and its details. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/**
 * Never throws.
 * @param args the arguments as the client gives them
 * @returns without secrets
 */
export async function callTool(name: string, args: unknown, caller: ToolCaller): Promise<ToolAnswer> {
  const asides: string[] = [];
  const door = doorOf(caller);
  const answer = await answerOf(name, args, {
    ...caller,
    isExact: true,
    door,
    aside: (lines) => asides.push(...lines),
  });
  const more = [...new Set(asides)].filter((line) => line !== answer.value.message);
  const value = more.length === 0 ? answer.value : { ...answer.value, asides: more };
  return { ...answer, value: JSON.parse(redactJsonLine(caller.redact, JSON.stringify(value))) };
}

async function answerOf(name: string, args: unknown, asking: Asking): Promise<ToolAnswer> {
  try {
    const tool = toolNamed(name);
    if (tool === null) throw new UsageError(unknownTool(name));
    return await askVerb(asking, tool.verb, inputOf(args), (outcome) => answerTo(outcome, tool.valueAs, asking));
  } catch (error) {
    return { value: errorValue(error, asking.door), isError: true };
  }
}

/** @returns that there is no tool of that name, for a person or a model */
function unknownTool(name: string): string {
  const known = TOOLS.map((tool) => tool.name);
  return `there is no tool ${JSON.stringify(name)}${didYouMean(name, known)} (known: ${known.join(', ')})`;
}

/** @throws UsageError if they are no object */
function inputOf(args: unknown): Record<string, unknown> {
  if (!isObject(args)) throw new UsageError('the arguments of a tool are an object, such as {"session_id": "…"}');
  const { session_id: session, ...fields } = args;
  if ('session' in fields) throw new UsageError('unknown field "session"; did you mean "session_id"?');
  if (session !== undefined && typeof session !== 'string')
    throw new UsageError('session_id: a text is expected, the id or the name of a session');
  if (session !== undefined && session.length > LONGEST_NAME)
    throw new UsageError(`session_id: it has ${session.length} characters, and at most ${LONGEST_NAME} name a session`);
  return session === undefined ? fields : { ...fields, session };
}

function answerTo(
  { value, lines, verdict, asides = [] }: Outcome,
  valueAs: string | undefined,
  { aside }: Pick<Asking, 'aside'>,
): ToolAnswer {
  if (asides.length > 0) aside(asides);
  if (verdict !== 'refused') return { value: objectOf(value, valueAs), isError: false };
  const message = typeof lines === 'string' ? lines : Array.isArray(lines) ? lines.join('\n') : '';
  return { value: { code: 'refused', message }, isError: true };
}

/** Structured results are objects. */
function objectOf(value: unknown, valueAs = 'value'): Record<string, unknown> {
  return isObject(value) ? { ...value } : { [valueAs]: value };
}

function errorValue(error: unknown, { newerRemedy }: Pick<Door, 'newerRemedy'>): Record<string, unknown> {
  if (!(error instanceof WatchkeeperError)) return { code: 'internal', message: describeError(error) };
  const details = error instanceof RefusedError || error instanceof CandidatesError ? error.details : {};
  const remedy = error instanceof NewerVersionError ? (newerRemedy?.() ?? null) : null;
  const message = error instanceof NewerVersionError && remedy !== null ? `${error.newer}; ${remedy}` : error.message;
  return { code: error.code, message, ...details };
}

function doorOf({ startDetached, isOutdated = () => false }: ToolCaller): Door {
  return {
    read: async (field) => {
      throw new UsageError(`${field}: a tool reads no file; give the text itself`);
    },
    startDetached,
    untilStopped: () => AbortSignal.abort(),
    isProgram: true,
    judge,
    say: () => undefined,
    newerRemedy: () => (isOutdated() ? RESTART : null),
  };
}
