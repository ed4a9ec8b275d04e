// covers: memory/home/places.ts memory/workspaces/claims.ts memory/workspaces/log.ts

import {
  appendFileSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { RefusedError } from '../../../memory/logs/kind.js';
import { slugOf } from '../../../memory/sessions/explicitId.js';
import { Memory } from '../../../memory/sessions/memory.js';
import { UsageError } from '../../../src/errors.js';
import { ulid } from '../../../src/ids.js';
import { redactShapes } from '../../../src/log/redact.js';
import { HOUR, systemClock } from '../../../src/time.js';
import { memoryScene } from '../scene.js';

const begin = (memory: Memory, purpose: string, concurrent = false) =>
  memory.lifecycle.begin(memory.workspace, { purpose, fields: {}, plan: [], concurrent });
const ended = { lines: () => [], reason: 'completed' } as const;

function refusalOf(act: () => unknown): RefusedError | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof RefusedError) return error;
    throw error;
  }
}

test('a session holds its directory, and the next one is refused with its name', () => {
  const scene = memoryScene();
  const first = begin(scene.open(), 'Fix the login');
  expect(first.id).toMatch(/^\d{4}-\d\d-\d\d-fix-the-login$/);
  expect(refusalOf(() => begin(scene.open(), 'Another'))).toMatchObject({
    code: 'held',
    message: new RegExp(first.id),
  });
  expect(begin(scene.open(), 'Beside', true).log.state.facts?.concurrent).toBe(true);
  expect(scene.open().holder()?.id).toBe(first.id);
});

test('every spelling of a directory is the same workspace: a subfolder, a link', () => {
  const scene = memoryScene();
  const { id } = begin(scene.open(), 'x');
  mkdirSync(join(scene.directory, 'a', 'b'), { recursive: true });
  symlinkSync(join(scene.directory, 'a'), join(scene.directory, '..', 'link'));
  expect(scene.open({}, join(scene.directory, 'a', 'b')).which(null).id).toBe(id);
  expect(scene.open({}, join(scene.directory, '..', 'link', 'b')).which(null).id).toBe(id);
});

test('a second session of a day and a purpose has the next number', () => {
  const scene = memoryScene();
  const first = begin(scene.open(), 'Same');
  scene.open().lifecycle.end(scene.open().which(null), scene.open().workspace, ended);
  expect(begin(scene.open(), 'same!').id).toBe(`${first.id}-2`);
});

test('the claim of a session whose end was interrupted between the two logs is released by the next command', () => {
  const scene = memoryScene();
  const first = begin(scene.open(), 'first');
  first.log.write(() => [worklogKind.line('session_ended', { reason: 'completed' })], scene.open().stamp);
  expect(scene.open().claims.claimOf(scene.open().workspace, first.id)).not.toBeNull();
  expect(begin(scene.open(), 'second').id).toBe(scene.open().holder()?.id);
});

test('a step that another process moves while its session ends stays as it is; the session ends', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const plan = [worklogKind.line('step_added', { step: '1', title: 'one' })];
  const session = memory.lifecycle.begin(memory.workspace, { purpose: 'x', fields: {}, plan, concurrent: false });
  const lines = () => {
    const other = scene.open().which(null);
    other.log.write(() => [worklogKind.line('step', { step: '1', to: 'cancelled' })], memory.stamp);
    return [worklogKind.line('step', { step: '1', to: 'skipped', assumed: true })];
  };
  memory.lifecycle.end(session, memory.workspace, { lines, reason: 'completed' });
  const { lifecycle, steps } = session.log.state;
  expect([lifecycle, steps.get('1')?.status]).toEqual(['ended', 'cancelled']);
  expect(scene.open().claims.claimOf(memory.workspace, session.id)).toBeNull();
});

test('an end that is refused writes nothing', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const session = begin(memory, 'x');
  session.log.write(() => [worklogKind.line('session_archived', {})], memory.stamp);
  const { lines } = session.log.counts;
  expect(refusalOf(() => memory.lifecycle.end(session, null, ended))?.code).toBe('archived');
  expect(refusalOf(() => memory.lifecycle.reopen(session, null))?.code).toBe('not_ended');
  expect(session.log.counts.lines).toBe(lines);
});

test('a release that comes late does not take the claim of the session that was reopened meanwhile', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const session = begin(memory, 'x');
  const old = memory.claims.claimOf(memory.workspace, session.id) ?? '';
  memory.lifecycle.end(session, memory.workspace, ended);
  memory.lifecycle.reopen(session, memory.workspace);
  memory.claims.release(memory.workspace, old);
  expect(scene.open().holder()?.id).toBe(session.id);
});

test('a session is not reopened while another one holds its directory, and stays as it had ended', async () => {
  const scene = memoryScene();
  const memory = scene.open();
  const first = begin(memory, 'first');
  memory.lifecycle.end(first, memory.workspace, { lines: () => [], reason: 'failed', summary: 'why' });
  const second = begin(memory, 'second');
  const before = structuredClone(first.log.state);
  await scene.clock.advance(HOUR);
  expect(refusalOf(() => memory.lifecycle.reopen(first, memory.workspace))?.message).toContain(second.id);
  expect(before).toMatchObject({ lifecycle: 'ended', end: { reason: 'failed', summary: 'why' } });
  expect(scene.open().look(first.id)?.log.state).toEqual(before);
});

test('a session whose directory another one takes while it is reopened ends again as it had ended', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const first = begin(memory, 'first');
  memory.lifecycle.end(first, memory.workspace, { lines: () => [], reason: 'failed', summary: 'why' });
  // Between the look and the line, when that gets its time.
  const others = ['second'];
  const clock = {
    ...systemClock,
    now: () => {
      for (const purpose of others.splice(0)) begin(scene.open(), purpose);
      return systemClock.now();
    },
  };
  const late = new Memory({ surroundings: memory.surroundings, folder: null, clock, redact: redactShapes });
  expect(refusalOf(() => late.lifecycle.reopen(first, memory.workspace))?.code).toBe('held');
  expect(first.log.state).toMatchObject({ lifecycle: 'ended', end: { reason: 'failed', summary: 'why' } });
});

test('where a newer version has written to the log of the directory, no session begins and none is reopened', () => {
  const { open } = memoryScene();
  const memory = open();
  const begin = () =>
    memory.lifecycle.begin(memory.workspace, { purpose: 'x', fields: {}, plan: [], concurrent: false });
  const first = begin();
  memory.lifecycle.end(first, memory.workspace, { lines: () => [], reason: 'completed' });
  const newer = { v: 2, id: '1', timestamp: '2026-11-01T00:00:00Z', event: 'later', origin: 'person' };
  appendFileSync(memory.places.workspaceLog(memory.workspace.id), `${JSON.stringify(newer)}\n`);
  expect(begin).toThrow(UsageError);
  expect(() => memory.lifecycle.reopen(first, memory.workspace)).toThrow(UsageError);
  const ends = memory.sessions.ids().map((id) => open().sessions.read(id)?.log.state.end?.reason);
  expect(ends).toEqual(['completed', 'superseded']);
});

test('a command in the shell of a bound conversation means its session, also in another directory', () => {
  const scene = memoryScene();
  const variables = { CLAUDE_CODE_SESSION_ID: 'c-1' };
  const memory = scene.open(variables);
  const session = begin(memory, 'x');
  memory.bindings.bind({ provider: 'claude', conversation: 'c-1' }, session.id);
  expect(scene.open(variables, '/').which(null).id).toBe(session.id);
  expect(() => scene.open({}, '/').which(null)).toThrow(/no session holds \/; begin one/);
});

test('two moves of one conversation: the one that was decided on the older state is refused', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const bound = { provider: 'claude', conversation: '../x' };
  expect(memory.bindings.bind(bound, 'a')).toBeNull();
  expect(memory.bindings.bind(bound, 'b')).toBe('a');
  expect(memory.bindings.bind(bound, 'b')).toBe('a');
  expect(memory.bindings.sessionOf(bound)).toBe('b');
  expect(readdirSync(join(scene.home, 'bindings'))).toEqual([expect.stringMatching(/^c_[0-9a-f]{32}\.jsonl$/)]);
});

test('reading creates nothing', () => {
  const scene = memoryScene();
  expect(() => scene.open().which(null)).toThrow(/begin one/);
  expect(existsSync(scene.home)).toBe(false);
});

test('no secret of a purpose or a title reaches a file', () => {
  const scene = memoryScene();
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const memory = scene.open();
  const session = memory.lifecycle.begin(memory.workspace, {
    purpose: `push with ${secret}`,
    fields: { name: `n ${secret}` },
    plan: [worklogKind.line('step_added', { step: '1', title: `use ${secret}` })],
    concurrent: false,
  });
  expect(session.log.state.steps.get('1')?.title).toMatch(/^use \[redacted/);
  expect(session.id).toMatch(/-push-with-redacted/);
  expect(readFileSync(join(session.folder, 'worklog.jsonl'), 'utf8')).not.toContain(secret);
  // In letters of double width, which an id does not keep.
  const wide = secret.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
  expect(memory.sessions.begin({ purpose: wide }, []).id).toMatch(/-redacted-github-token$/);
});

test('an id is made of letters, digits and hyphens, whatever the purpose is', () => {
  expect(slugOf('../../etc: Ünïcode & 🙂 100 %')).toBe('etc-unicode-100');
  expect(slugOf('🙂')).toBe('session');
  expect(slugOf('word '.repeat(40)).length).toBeLessThanOrEqual(40);
});

test('a home that cannot be one is named, also behind a link', () => {
  const scene = memoryScene();
  writeFileSync(scene.home, '');
  const unusable = expect.objectContaining({ name: 'UnreachableError' });
  expect(() => scene.open({ WATCHKEEPER_HOME: join(scene.home, 'below') })).toThrow(unusable);
  const owner = process.getuid?.() ?? 0;
  const link = join(scene.directory, 'link');
  const foreign = owner === 0 ? join(scene.directory, 'theirs') : '/';
  if (owner === 0) {
    mkdirSync(foreign);
    chownSync(foreign, 65_534, 65_534);
  }
  symlinkSync(foreign, link);
  expect(() => scene.open({ WATCHKEEPER_HOME: link })).toThrow(/belongs to another user/);
});

test('a process that stays has no log open after it has closed its memories, however often', () => {
  const scene = memoryScene();
  const { id } = begin(scene.open(), 'x');
  const other = begin(scene.open(), 'y', true).id;
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  for (let call = 0; call < 200; call += 1) {
    const memory = scene.open();
    const session = memory.which(id);
    memory.holder();
    memory.sessions.open(other);
    memory.sessions.openOrRead(other);
    memory.sessions.openImplicit(`ses_${ulid(scene.clock)}`, { purpose: 'z' });
    memory.sessions.addFacts(other, [worklogKind.line('log', { message: 'm' })]);
    begin(memory, 'z', true);
    memory.claims.note(memory.workspace, 'n', 'normal');
    if (call % 2 === 0) session.log.close();
    memory.close();
    memory.close();
  }
  expect(descriptors()).toBe(before);
});

test('a log that is closed twice closes no other file, and takes no line', () => {
  const scene = memoryScene();
  const memory = scene.open();
  const { log } = begin(memory, 'x');
  log.close();
  const other = openSync(log.path, 'a');
  log.close();
  expect(() => writeSync(other, '')).not.toThrow();
  closeSync(other);
  expect(() => log.write(() => [worklogKind.line('log', { message: 'm' })], memory.stamp)).toThrow(log.path);
});
