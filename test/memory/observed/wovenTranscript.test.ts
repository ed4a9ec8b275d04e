/** A transcript with what only the worklog knows. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { WovenTranscript } from '../../../memory/observed/wovenTranscript.js';
import { canonicalJson, contentDigest } from '../../../src/journal/digest.js';
import type { JournalRecord } from '../../../src/journal/record.js';
import { TranscriptFollower } from '../../../src/transcripts/transcriptFollower.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { asks, at, calls, type Fields, returns } from '../../src/transcripts/told.js';

const INPUT = { command: 'rm -r build' };
let transcript = '';
let worklog = '';
let woven: WovenTranscript;
let given: JournalRecord[] = [];

beforeEach(() => {
  const folder = testFolder();
  [transcript, worklog] = [join(folder, 'c1.jsonl'), join(folder, 'worklog.jsonl')];
  writeFileSync(transcript, '');
  writeFileSync(worklog, '');
  given = [];
  woven = new WovenTranscript(new TranscriptFollower(transcript, { clock: new ManualClock() }), worklog, {
    provider: 'claude',
    id: 'c1',
  });
});

const write = (path: string, ...records: readonly Fields[]) =>
  appendFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
const note = (seconds: number, event: string, fields: Fields = {}) =>
  write(worklog, {
    v: 1,
    id: `x${seconds}`,
    timestamp: at(seconds),
    event,
    origin: 'program',
    session_id: 's',
    ...fields,
  });

/** @returns all lines in their order, in short */
function read(): string[] {
  for (;;) {
    const { records, restarted, more } = woven.readBatch();
    if (restarted) given = [];
    given.push(...records);
    if (!more) break;
  }
  return [...given, ...woven.presumed()]
    .filter(({ event }) => ['pre_tool_use', 'post_tool_use', 'wait_start', 'wait_end'].includes(String(event)))
    .map(({ event, tool_use_id: id, kind }) => [event, kind, id].filter((word) => word !== undefined).join(' '));
}

test('has a dialog where it opened, of the call that it is about', () => {
  write(transcript, asks(0, 'go'), calls(1, 't1', 'Bash', { command: 'ls' }), calls(1, 't2', 'Bash', INPUT));
  note(2, 'wait_start', { kind: 'permission', tool: 'Bash', input_digest: contentDigest(canonicalJson(INPUT)) });
  note(2, 'note', { text: 'no wait' });
  expect(read()).toEqual(['pre_tool_use t1', 'pre_tool_use t2', 'wait_start permission t2']);
  write(transcript, returns(5, 't2'), calls(300, 't3'));
  expect(read()).toEqual([
    'pre_tool_use t1',
    'pre_tool_use t2',
    'wait_start permission t2',
    'post_tool_use t2',
    'pre_tool_use t3',
  ]);
  // It is given out once.
  expect(given.filter(({ event }) => event === 'wait_start')).toHaveLength(1);
});

test('names no call if two could be meant, or none is known, or the hook says nothing', () => {
  write(transcript, asks(0, 'go'), calls(1, 't1', 'Bash', INPUT), calls(1, 't2', 'Bash', INPUT));
  const digest = contentDigest(canonicalJson(INPUT));
  note(2, 'wait_start', { kind: 'permission', tool: 'Bash', input_digest: digest });
  note(3, 'wait_start', { kind: 'permission', tool: 'Read', input_digest: digest });
  note(4, 'wait_start', { kind: 'permission', tool: 'Bash' });
  expect(read().slice(2)).toEqual(['wait_start permission', 'wait_start permission', 'wait_start permission']);
});

test('has the end of a dialog whose program has ended, once no other one works on the session', () => {
  const [one, other] = [1, 2].map((pid) => ({
    process: { host: 'h', boot_id: 'b', pid_namespace: 'n', pid, pid_start: '1' },
  }));
  note(0, 'run_started', one);
  note(0, 'run_started', other);
  write(transcript, asks(0, 'go'), calls(1, 't1'));
  note(2, 'wait_start', { kind: 'permission' });
  note(8, 'run_ended', one);
  note(8, 'run_ended', one);
  expect(read()).toEqual(['pre_tool_use t1', 'wait_start permission']);
  note(9, 'run_ended', other);
  note(10, 'run_ended', other);
  expect(read()).toEqual(['pre_tool_use t1', 'wait_start permission', 'wait_end permission']);
});

test('is told anew, with its dialogs, when the transcript was rewritten', () => {
  write(transcript, asks(0, 'go'), calls(1, 't1'));
  note(2, 'wait_start', { kind: 'permission' });
  read();
  writeFileSync(transcript, '');
  write(transcript, asks(0, 'go'), calls(1, 'x1'), calls(100, 'x2'));
  expect(read()).toEqual(['pre_tool_use x1', 'wait_start permission', 'pre_tool_use x2']);
});

test('has its dialogs in a journal, too, which presumes nothing', () => {
  const line = (seconds: number, event: string, id: string) => ({
    v: 1,
    timestamp: at(seconds),
    event,
    tool_use_id: id,
  });
  write(transcript, line(1, 'pre_tool_use', 't1'));
  note(2, 'wait_start', { kind: 'permission' });
  expect(read()).toEqual(['pre_tool_use t1', 'wait_start permission']);
  write(transcript, line(3, 'post_tool_use', 't1'));
  expect(read()).toEqual(['pre_tool_use t1', 'wait_start permission', 'post_tool_use t1']);
});

test('has the start of a run where another process resumed the conversation, and of no other conversation', () => {
  write(transcript, asks(0, 'go'), calls(1, 't1'));
  const resumed = { provider: 'claude', source: 'resume' };
  note(5, 'conversation', { ...resumed, conversation: 'c2' });
  note(6, 'conversation', { ...resumed, provider: 'codex', conversation: 'c1' });
  note(7, 'conversation', { ...resumed, source: 'startup', conversation: 'c1' });
  note(8, 'conversation', { ...resumed, conversation: 'c1' });
  read();
  write(transcript, asks(10, 'go on'), calls(11, 't2'));
  read();
  const all = [...given, ...woven.presumed()];
  expect(all.filter(({ event }) => event === 'session_start')).toMatchObject([
    { source: 'startup' },
    { source: 'resume', timestamp: at(8) },
  ]);
});

test('looks for the call of a dialog only among those of the program that shows it', () => {
  write(transcript, asks(0, 'go'), calls(1, 't1', 'Bash', INPUT));
  note(8, 'conversation', { provider: 'claude', source: 'resume', conversation: 'c1' });
  write(transcript, asks(10, 'go on'), calls(11, 't2', 'Bash', INPUT));
  note(12, 'wait_start', { kind: 'permission', tool: 'Bash', input_digest: contentDigest(canonicalJson(INPUT)) });
  expect(read().at(-1)).toBe('wait_start permission t2');
});
