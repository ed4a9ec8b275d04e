/** What a writer may add to a log. The compiler checks this file: each `@ts-expect-error` is an error if its line compiles. */
import { expect, test } from '@jest/globals';
import { type WorklogLine, worklogKind } from '../../../memory/fold/rules/kind.js';
import type { Stamp } from '../../../memory/logs/line.js';
import type { Log } from '../../../memory/logs/log.js';
import { LogReader } from '../../../memory/logs/reader.js';
import type { Claims } from '../../../memory/workspaces/claims.js';
import { workspaceKind } from '../../../memory/workspaces/log.js';

const PROCESS = { host: 'h', boot_id: 'b', pid_namespace: 'n', pid: 7, pid_start: '1' };
const { line } = worklogKind;

/** Only its types matter. */
void function refusedByTheCompiler(log: Log<unknown>, stamp: Stamp, claims: Claims) {
  const reason = { reason: 'the API is down' };
  const misspelt = { step: '1', to: 'failed', reson: 'the API is down' } as const;
  // @ts-expect-error a misspelt field
  line('step', { step: '1', to: 'failed', reson: 'the API is down' });
  // @ts-expect-error a misspelt field in a variable
  line('step', misspelt);
  // @ts-expect-error a misspelt field in a spread
  line('step', { step: '1', to: 'completed', ...(reason.reason && { pathes: [] }) });
  // @ts-expect-error a misspelt field of an event that has no field
  line('session_reopened', { resaon: 'more to do' });
  // @ts-expect-error a misspelt field within a field
  line('step', { step: '1', to: 'completed', files: { created: [], changed: [] } });
  // @ts-expect-error a field of another event
  line('tokens', { input: 1, title: 'x' });
  // @ts-expect-error a misspelt field within an alternative of a field
  line('step', { step: '1', to: 'in_progress', holder: { process: { ...PROCESS, pidd: 7 } } });
  // @ts-expect-error a missing field
  line('step', { step: '1' });
  // @ts-expect-error a missing field within a field
  line('run_started', { process: { host: 'h', boot_id: 'b', pid_namespace: 'n', pid: 7 } });
  // @ts-expect-error a step of another type
  line('step', { step: 1, to: 'completed' });
  // @ts-expect-error a word that is no status
  line('step', { step: '1', to: 'done' });
  // @ts-expect-error a setting of another type
  line('session_changed', { role: 3 });
  // @ts-expect-error a field that no rule reads, of another type
  line('context_given', { level: 'start', characters: '12' });
  // @ts-expect-error a misspelt event
  line('steps', { step: '1', to: 'completed' });
  // @ts-expect-error a literal, in which a misspelt field would pass
  const written: WorklogLine = { event: 'step', step: '1', to: 'completed' };
  // @ts-expect-error a line of another kind of log
  const foreign: WorklogLine = workspaceKind.line('claimed', { session_id: 's' });
  // @ts-expect-error a misspelt field of a workspace's line
  workspaceKind.line('told', { session_id: 's', sentense: 'it crashed' });
  // @ts-expect-error a log that is only read
  log.write(() => [written, foreign], stamp);
  // @ts-expect-error a priority that is none
  claims.note({ id: 'ws', root: '/', kind: 'folder' }, 'text', 'urgent');
};

test('a line is its event and its fields, as readers find them', () => {
  const fields = { process: PROCESS, agent: 'claude' };
  expect(line('run_started', fields)).toEqual({ event: 'run_started', ...fields });
  expect(line('session_changed', { role: 'reviewer', language: { documents: 'en' } })).toEqual({
    ...{ event: 'session_changed', role: 'reviewer', language: { documents: 'en' } },
  });
});

test('a log is read whatever its lines have besides: unknown fields and events, and fields of other types that no rule needs', () => {
  const head = { v: 1, timestamp: '2026-01-01T00:00:00.000Z', origin: 'agent' };
  const lines = [
    {
      event: 'session_started',
      session_id: 's',
      purpose: 'bake',
      colour: 'blue',
      role: 7,
      language: 'en',
      documents: null,
    },
    {
      event: 'session_changed',
      role: 'baker',
      workflow_mode: ['standard'],
      language: { documents: 'en', tests: 'fr' },
    },
    { event: 'step_added', step: '1', title: 'knead', weight: { grams: 500 } },
    { event: 'step', step: '1', to: 'in_progress', reson: 'why not' },
    { event: 'context_given', to: 'other', level: 3, characters: 'many' },
    { event: 'wait_start', kind: 'permission', tool: 9 },
    { event: 'fs_activity', created: 'a.ts', counts: null },
    { event: 'kept', complete: true, sources: 'the transcript' },
    { event: 'tea', cups: 2 },
  ].map((fields, index) => JSON.stringify({ ...head, id: `line ${index}`, ...fields }));
  const reader = new LogReader(worklogKind);
  reader.take(Buffer.from(`${lines.join('\n')}\n`), () => undefined);
  expect(reader.counts).toEqual({ lines: lines.length, applied: lines.length, refused: 0, unreadable: 0, newer: 0 });
  expect(reader.state.facts).toMatchObject({ purpose: 'bake', set: { role: 'baker', language: { documents: 'en' } } });
  expect(reader.state.facts?.set).not.toHaveProperty('workflow_mode');
  expect(reader.state.steps.get('1')).toMatchObject({ title: 'knead', status: 'in_progress' });
  expect(reader.state.kept).toMatchObject({ complete: true });
});
