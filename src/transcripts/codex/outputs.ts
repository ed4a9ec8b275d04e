/**
 * The output of a call as Codex gives it to its model: a text with a few of Codex's own lines before the tool's, or (older)
 * JSON with the exit code. Only these frames are read, never the tool's own words.
 */
import type { Outcome } from '../../journal/schema.js';
import { parseJson } from '../../json.js';
import { asFields, contentText, type Fields, fieldsAt, numberAt } from '../draft/fields.js';

export interface ReadOutput {
  /** How it ended, if not well, and the tool's own words, for a person to read. */
  readonly text: string;
  /** The tool's own part. The frame's chunk id, times and counts differ each time, and do not belong to the result. */
  readonly result: string;
  readonly outcome: Outcome;
  readonly durationMs: number | null;
  /** The command still runs. */
  readonly inBackground: boolean;
}

/** Codex's own word for how an item ended, in its rollouts and in the output of `codex exec --json`. */
export const BY_STATUS: ReadonlyMap<unknown, 'failed' | 'rejected'> = new Map([
  ['failed', 'failed'],
  ['declined', 'rejected'],
]);

const FRAME_END = /^(?:Output|Total output lines):/m;
const EXIT_CODE = /^(?:Process exited with code|Exit code:) (-?\d{1,10})$/m;
/** It works on, and the call only returns what it has said until then. */
const RUNNING = /^Process running with session ID \S{1,40}$/m;
const WALL_TIME = /^Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds?$/m;
const ABORTED = /^(?:Wall time: [\d.]+ seconds?\n)?aborted by user/;
const REJECTED = /^(?:exec command|patch|apply_patch|command|tool call)? ?(?:was )?rejected by (?:the )?user/;
/** The harness itself refuses a call that it cannot make. */
const REFUSED =
  /^(?:unsupported (?:custom tool )?call: |failed to parse function arguments|[a-z_]{1,40} (?:verification )?failed(?: for `[^`]*`)?: )/;

export function readOutput(output: unknown): ReadOutput {
  const fields = asFields(output);
  const text = fields === null ? contentText(output) : contentText(fields.content ?? fields.output ?? output);
  const inner = text.startsWith('{') ? asFields(parseJson(text)) : null;
  if (inner !== null && inner.metadata !== undefined) return readJson(text, inner);
  const end = FRAME_END.exec(text);
  const frame = end === null ? text : text.slice(0, end.index);
  const exit = end === null ? null : EXIT_CODE.exec(frame);
  const result = end === null ? text : `${exit?.[1] ?? ''}\n${text.slice(end.index)}`;
  const wallTime = WALL_TIME.exec(frame)?.[1];
  const durationMs = wallTime === undefined ? null : Math.round(Number(wallTime) * 1_000);
  const outcome = outcomeOf(text, exit?.[1] ?? null, fields);
  const inBackground = end !== null && exit === null && RUNNING.test(frame);
  return { text: wordsOf(text, frame, end, exit), result, outcome, durationMs, inBackground };
}

/** Chunk ids, times and counts say nothing to a person. */
function wordsOf(text: string, frame: string, end: RegExpExecArray | null, exit: RegExpExecArray | null): string {
  if (end === null) return ABORTED.test(text) ? text.replace(WALL_TIME, '').trimStart() : text;
  const [state = exit?.[0]] = RUNNING.exec(frame) ?? [];
  const ended = state === undefined || exit?.[1] === '0' ? '' : `${state}\n`;
  const words = end[0] === 'Output:' ? text.slice(end.index + end[0].length) : text.slice(end.index);
  return `${ended}${words.replace(/^\n/, '')}`;
}

function readJson(text: string, inner: Fields): ReadOutput {
  const metadata = fieldsAt(inner, 'metadata');
  const exit = numberAt(metadata, 'exit_code');
  const seconds = numberAt(metadata, 'duration_seconds');
  return {
    text,
    result: `${exit ?? ''}\n${contentText(inner.output)}`,
    outcome: exit === null || exit === 0 ? 'ok' : 'failed',
    durationMs: seconds === null ? null : Math.round(seconds * 1_000),
    inBackground: false,
  };
}

function outcomeOf(text: string, exit: string | null, fields: Fields | null): Outcome {
  if (exit !== null) return exit === '0' ? 'ok' : 'failed';
  if (ABORTED.test(text)) return 'cancelled';
  if (REJECTED.test(text)) return 'rejected';
  return fields?.success === false || REFUSED.test(text) ? 'failed' : 'ok';
}
