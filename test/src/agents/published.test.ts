// covers: src/agents/programs.ts src/agents/published.ts src/agents/claudesState.ts src/agents/claude.ts src/agents/codex.ts
/** What programs publish of their processes is read as another program's file: anything may be in its place. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { claude } from '../../../src/agents/claude.js';
import { codex } from '../../../src/agents/codex.js';
import { publishedBy, publishedStates } from '../../../src/agents/published.js';
import { testFolder } from '../../harness/folder.js';
import { RECORDED } from '../../memory/published/publication.js';

const PID = 4321;

function place() {
  const CLAUDE_CONFIG_DIR = testFolder();
  const folder = join(CLAUDE_CONFIG_DIR, 'sessions');
  mkdirSync(folder);
  const file = join(folder, `${PID}.json`);
  const write = (text: string) => writeFileSync(file, text);
  return { folders: { CLAUDE_CONFIG_DIR }, folder, file, write };
}

test.each(Object.entries(RECORDED))('%s, as it was recorded', (_, fields) => {
  const { folders, write } = place();
  write(JSON.stringify(fields));
  const state = publishedBy(claude, folders, PID);
  expect(state).toEqual({
    pid: PID,
    pid_start: '2338321',
    machine: '0'.repeat(32),
    pid_namespace: '4026531836',
    conversation: '11111111-2222-4333-8444-555555555555',
    directory: '/home/me/work',
    started_at: 1795903486542,
    is_persons: true,
    status: fields.status ?? null,
    waiting_for: fields.waitingFor ?? null,
    status_at: fields.statusUpdatedAt ?? 1795903486542,
  });
  expect(publishedStates(claude, folders)).toEqual([state]);
});

const GOOD = RECORDED['a window at work'] ?? {};

test.each([
  ['is torn', '{"pid":4321,"sessionId":"1111'],
  ['is empty', ''],
  ['is no object', '"text"'],
  ['is a list', '[]'],
  ['is null', 'null'],
  ['is of another process', { pid: 1 }],
  ['has no conversation', { sessionId: '' }],
  ['has a conversation that is no text', { sessionId: { a: 1 } }],
  ['has a long conversation', { sessionId: 'x'.repeat(201) }],
  ['has a conversation with a NUL', { sessionId: 'a\0b' }],
  ['has a relative directory', { cwd: '../../etc' }],
  ['has a directory with a NUL', { cwd: '/a\0b' }],
  ['has no start of its process', { procStart: undefined }],
  ['is of a spare worker', { spare: true }],
  ['has no domain', { pidDomain: undefined }],
  ['is of another system', { pidDomain: 'darwin:1' }],
  ['has an instant that is none', { startedAt: -1 }],
  ['has an instant that is too large', { startedAt: 1e300 }],
])('a file that %s publishes nothing', (_, content) => {
  const { folders, write } = place();
  write(typeof content === 'string' ? content : JSON.stringify({ ...GOOD, ...content }));
  expect(publishedBy(claude, folders, PID)).toBeNull();
  expect(publishedStates(claude, folders)).toEqual([]);
});

test('a status or a dialog of a later version is not taken for another one', () => {
  const { folders, write } = place();
  write(JSON.stringify({ ...GOOD, status: 'dreaming', waitingFor: 'permission prompt' }));
  expect(publishedBy(claude, folders, PID)).toMatchObject({ status: null, waiting_for: null });
  write(JSON.stringify({ ...GOOD, status: 'waiting', waitingFor: ['x'] }));
  expect(publishedBy(claude, folders, PID)).toMatchObject({ status: 'waiting', waiting_for: null });
});

test('links, pipes, folders, huge files and files that others may write publish nothing', () => {
  const { folders, folder, file, write } = place();
  const nothing = () => {
    expect(publishedBy(claude, folders, PID)).toBeNull();
    rmSync(file, { recursive: true });
  };
  const other = join(folder, 'other');
  writeFileSync(other, JSON.stringify(GOOD));
  symlinkSync(other, file);
  nothing();
  expect(spawnSync('mkfifo', [file]).status).toBe(0);
  nothing();
  mkdirSync(file);
  nothing();
  write(JSON.stringify(GOOD));
  truncateSync(file, 2 ** 40);
  nothing();
  write(JSON.stringify(GOOD));
  chmodSync(file, 0o666);
  nothing();
  if (process.geteuid?.() === 0) {
    write(JSON.stringify(GOOD));
    chownSync(file, 12345, 12345);
    nothing();
  }
  linkSync(other, file);
  expect(publishedBy(claude, folders, PID)).not.toBeNull();
});

test('other names are no files of processes, and a folder that is none has no files', () => {
  const { folders, folder } = place();
  for (const name of [
    '04321.json',
    '4321.json.tmp',
    '0.json',
    '-1.json',
    'a.json',
    '4321.0123.key',
    '99999999999.json',
  ])
    writeFileSync(join(folder, name), JSON.stringify(GOOD));
  expect(publishedStates(claude, folders)).toEqual([]);
  rmSync(folder, { recursive: true });
  expect(publishedStates(claude, folders)).toEqual([]);
  writeFileSync(folder, 'no folder');
  expect(publishedStates(claude, folders)).toEqual([]);
});

test('of thousands of files some hundred are read', () => {
  const { folders, folder } = place();
  for (let pid = 1; pid <= 3_000; pid += 1)
    writeFileSync(join(folder, `${pid}.json`), JSON.stringify({ ...GOOD, pid }));
  expect(publishedStates(claude, folders)).toHaveLength(500);
});

test('Codex publishes nothing', () => {
  expect(publishedStates(codex, { CODEX_HOME: testFolder() })).toEqual([]);
});
