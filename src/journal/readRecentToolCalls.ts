/** The last tool calls of a journal, for issues and for the prompt of a revival. Read from its end. */
import { openPlainFile, READ_NO_LINK } from '../files/plainFile.js';
import { readFromEnd } from '../files/readAt.js';
import { redactShapes } from '../log/redact.js';
import { headOf } from '../log/shorten.js';
import { PREVIEW_LIMIT } from './lineOf.js';
import { eventOf, timeOf } from './normalise.js';
import { isNewer, type JournalRecord, parseRecord, textOf } from './record.js';
import { OUTCOMES, type Outcome } from './schema.js';

export interface RecentToolCall {
  readonly tool_use_id: string | null;
  readonly tool_name: string;
  /** When it was requested; if the journal does not say, when it ended. UTC epoch milliseconds. */
  readonly at: number;
  /** Null while the call is in flight. */
  readonly ended_at: number | null;
  readonly duration_ms: number | null;
  /** Null while the call is in flight, and if the journal does not say. */
  readonly outcome: Outcome | null;
  /** As the journal holds it: redacted, and cut if it was long. */
  readonly tool_input: unknown;
  readonly tool_output_preview: string | null;
}

/** Never reads more, so that an older journal with whole outputs in it stays affordable. */
const READ_BYTES = { first: 64 * 1024, most: 4 * 1024 * 1024 };

/** @returns the last calls, in the order of their requests; none if there is no readable journal */
export async function readRecentToolCalls(path: string, count: number): Promise<RecentToolCall[]> {
  const file = await openPlainFile(path, READ_NO_LINK).catch(() => null);
  if (file === null) return [];
  try {
    const calls = readFromEnd(file.fd, READ_BYTES, (end, { isWhole, isLast }) => {
      const found = pairCalls(recordsIn(end, isWhole));
      return isLast || found.filter((call) => call.requested).length >= count ? found : null;
    });
    return count <= 0 ? [] : (calls ?? []).slice(-count).map(({ requested: _, ...call }) => call);
  } finally {
    await file.close();
  }
}

/** The first line is most likely cut, unless the bytes are the whole file. */
function recordsIn(bytes: Buffer, isWhole: boolean): JournalRecord[] {
  const lines = bytes.toString('utf8').split('\n');
  return (isWhole ? lines : lines.slice(1)).flatMap((line) => {
    const record = parseRecord(line.trimStart());
    return record === null || isNewer(record) ? [] : [record];
  });
}

type PairedCall = { -readonly [Key in keyof RecentToolCall]: RecentToolCall[Key] } & { requested: boolean };

function pairCalls(records: readonly JournalRecord[]): PairedCall[] {
  const calls: PairedCall[] = [];
  for (const record of records) {
    const event = eventOf(record);
    const time = event === null ? null : timeOf(record, event);
    if (time === null) continue;
    if (event === 'pre_tool_use') takeRequest(calls, record, time);
    if (event === 'post_tool_use') takeResult(calls, record, time);
  }
  return calls.sort((left, right) => left.at - right.at);
}

function takeRequest(calls: PairedCall[], record: JournalRecord, time: number): void {
  const id = textOf(record.tool_use_id);
  const known = id === null ? undefined : calls.find((call) => call.tool_use_id === id);
  if (known === undefined) {
    calls.push(newCall(record, time, true));
    return;
  }
  if (known.requested) return;
  known.requested = true;
  known.at = time;
  known.tool_input = record.tool_input ?? null;
}

function takeResult(calls: PairedCall[], record: JournalRecord, time: number): void {
  const id = textOf(record.tool_use_id);
  const name = textOf(record.tool_name);
  let call = calls.find(
    (each) => each.ended_at === null && (id === null ? each.tool_name === name : each.tool_use_id === id),
  );
  if (call === undefined) {
    if (id !== null && calls.some((each) => each.tool_use_id === id)) return;
    call = newCall(record, time, false);
    calls.push(call);
  }
  call.ended_at = time;
  call.outcome = outcomeOf(record);
  call.duration_ms =
    typeof record.duration_ms === 'number' ? record.duration_ms : call.requested ? time - call.at : null;
  const preview = record.tool_output_preview;
  call.tool_output_preview = typeof preview === 'string' ? headOf(preview, PREVIEW_LIMIT, redactShapes) : null;
}

function newCall(record: JournalRecord, time: number, requested: boolean): PairedCall {
  return {
    tool_use_id: textOf(record.tool_use_id),
    tool_name: textOf(record.tool_name) ?? 'unknown',
    at: time,
    ended_at: null,
    duration_ms: null,
    outcome: null,
    tool_input: record.tool_input ?? null,
    tool_output_preview: null,
    requested,
  };
}

function outcomeOf(record: JournalRecord): Outcome | null {
  const named = OUTCOMES.find((outcome) => outcome === record.outcome);
  if (named !== undefined) return named;
  return typeof record.is_error === 'boolean' ? (record.is_error ? 'failed' : 'ok') : null;
}
