/**
 * A scenario file says what the scripted agent does, for tests, the demo and trials. JSON:
 * `{"scenarios":[{"when":{"message":"^deploy","attempt":1},"steps":[{"do":"call","tool":"bash"},{"do":"answer","text":"done"}]}]}`.
 * The first scenario whose conditions all hold is played; if none matches, the default one.
 *
 * Texts may contain `{{prompt}}`, `{{first_line}}` of the prompt, `{{attempt}}`, `{{turn}}`, `{{conversation}}`, `{{session}}`,
 * `{{run}}` and, within `repeat`, `{{index}}`.
 */
import { basename } from 'node:path';
import * as z from 'zod';
import { describeError, errorCode, UsageError } from '../../src/errors.js';
import { readPlainFileSync } from '../../src/files/plainFile.js';
import { OUTCOMES, WAIT_KINDS } from '../../src/journal/schema.js';
import { FAILURE_CAUSES } from './failures/causes.js';

const LONGEST_BYTES = 16 * 1024 * 1024;

const text = z.string();
const milliseconds = z.number().nonnegative();
const count = z.int().positive();

const call = {
  tool: text.min(1),
  input: z.unknown().exactOptional(),
  /** The limit that the call declares, not how long it takes. */
  timeout_ms: z.number().exactOptional(),
  polling: z.boolean().exactOptional(),
  /** `ok` if absent. */
  outcome: z.enum(OUTCOMES).exactOptional(),
  output: text.exactOptional(),
  takes_ms: milliseconds.exactOptional(),
  /** False: the result never comes, and the scenario continues. */
  returns: z.boolean().exactOptional(),
};
const callSchema = z.strictObject(call);

const simpleStep = [
  z.strictObject({ do: z.literal('note'), text }),
  z.strictObject({ do: z.literal('say'), text }),
  z.strictObject({ do: z.literal('call'), ...call }),
  /** All requests first, then the results in order, as in one assistant message. */
  z.strictObject({ do: z.literal('batch'), calls: z.array(callSchema).min(1) }),
  z.strictObject({
    do: z.literal('sub_agent'),
    agent_id: text.min(1),
    prompt: text.exactOptional(),
    calls: z.array(callSchema),
    /** False: it falls silent after its calls, and the scenario continues. */
    returns: z.boolean().exactOptional(),
  }),
  z.strictObject({ do: z.literal('wait_start'), kind: z.enum(WAIT_KINDS), until_ms: milliseconds.exactOptional() }),
  z.strictObject({ do: z.literal('wait_end'), kind: z.enum(WAIT_KINDS) }),
  z.strictObject({ do: z.literal('heartbeat'), source: text.exactOptional() }),
  z.strictObject({ do: z.literal('compaction') }),
  /** The agent's whole list of tasks, as it is now. */
  z.strictObject({
    do: z.literal('plan'),
    items: z.array(z.strictObject({ title: text.min(1), status: z.enum(['pending', 'in_progress', 'completed']) })),
  }),
  z.strictObject({ do: z.literal('sleep'), ms: milliseconds }),
  /** A call whose tool is a real process that never ends. */
  z.strictObject({
    do: z.literal('hanging_tool'),
    tool: text.min(1).exactOptional(),
    input: z.unknown().exactOptional(),
    timeout_ms: z.number().exactOptional(),
    /** In its own process session, as real agents do; true if absent. */
    own_session: z.boolean().exactOptional(),
    ignores_sigterm: z.boolean().exactOptional(),
    /** It holds the agent's standard output open. */
    holds_output: z.boolean().exactOptional(),
    /** True: the scenario continues while it runs. */
    in_background: z.boolean().exactOptional(),
  }),
  z.strictObject({ do: z.literal('garbage'), text: text.exactOptional(), bytes: count.exactOptional() }),
  z.strictObject({ do: z.literal('huge_line'), bytes: count }),
  z.strictObject({ do: z.literal('write_file'), path: text.min(1), text }),
  z.strictObject({ do: z.literal('ignore_sigterm') }),
  z.strictObject({ do: z.literal('silence') }),
  z.strictObject({ do: z.literal('crash'), signal: z.enum(['SIGKILL', 'SIGSEGV', 'SIGABRT', 'SIGTERM']) }),
  z.strictObject({ do: z.literal('exit'), code: z.int().min(0).max(255), stderr: text.exactOptional() }),
  z.strictObject({
    do: z.literal('failure'),
    cause: z.enum(FAILURE_CAUSES),
    detail: text,
    /** The limit's end, counted from this step. */
    until_ms: milliseconds.exactOptional(),
  }),
  z.strictObject({ do: z.literal('answer'), text }),
] as const;

const stepSchema = z.discriminatedUnion('do', [
  ...simpleStep,
  z.strictObject({ do: z.literal('repeat'), times: count, steps: z.array(z.discriminatedUnion('do', simpleStep)) }),
]);

const scenarioSchema = z.strictObject({
  when: z
    .strictObject({ message: z.string().refine(isPattern, 'is no regular expression'), attempt: z.literal([1, 2]) })
    .partial()
    .exactOptional(),
  steps: z.array(stepSchema),
});
const fileSchema = z.strictObject({ scenarios: z.array(scenarioSchema).min(1) });

export type ScenarioCall = z.infer<typeof callSchema>;
export type Step = z.infer<typeof stepSchema>;
export type ScenarioFile = z.infer<typeof fileSchema>;

/** @throws UsageError with every fault, and the file's name without its folders, because a chat may read it */
export function readScenarioFile(path: string): ScenarioFile {
  const name = basename(path);
  let value: unknown;
  try {
    value = JSON.parse(readPlainFileSync(path, LONGEST_BYTES));
  } catch (error) {
    throw new UsageError(`the scenario ${name} cannot be read: ${errorCode(error) || describeError(error)}`);
  }
  const parsed = fileSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`);
  throw new UsageError(`the scenario ${name} cannot be played: ${faults.join('; ')}`);
}

export function chooseScenario(file: ScenarioFile, message: string, attempt: number): number | null {
  const place = file.scenarios.findIndex(({ when }) => {
    const rightMessage = when?.message === undefined || new RegExp(when.message, 'iu').test(message);
    return rightMessage && (when?.attempt === undefined || when.attempt === attempt);
  });
  return place < 0 ? null : place;
}

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, 'iu');
    return true;
  } catch {
    return false;
  }
}
