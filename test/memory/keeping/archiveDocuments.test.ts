// covers: memory/sessions/takeAlong.ts memory/sessions/documentCopies.ts memory/keeping/archive.ts memory/keeping/verify.ts
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { archiveSession, unarchiveSession } from '../../../memory/keeping/archive.js';
import { verifySession } from '../../../memory/keeping/verify.js';
import { documentAt } from '../../../memory/workspaces/document.js';
import { watchkeeperUntil } from '../../bridge/cli/manyCalls.js';
import type { Said } from '../../bridge/cli/program.js';
import { type MemoryScene, memoryScene } from '../scene.js';

let scene: MemoryScene;
let id: string;
const open = () => scene.open();
const plan = () => join(scene.directory, 'docs', 'plan.md');
const faults = () => verifySession(open(), open().which(id)).filter(({ ok }) => !ok);
/** The copies by name, wherever the session is. */
function copies(): Record<string, string> {
  const folder = join(open().which(id).folder, 'documents');
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

function nameDocuments(documents: Readonly<Record<string, string>>): void {
  const memory = open();
  const named = Object.entries(documents).map(([name, path]) => [
    name,
    documentAt(path, scene.directory, memory.workspace),
  ]);
  const line = worklogKind.line('session_changed', { documents: Object.fromEntries(named) });
  memory.which(id).log.write(() => [line], memory.stamp);
}

beforeEach(() => {
  scene = memoryScene();
  const memory = open();
  mkdirSync(join(scene.directory, 'docs'));
  writeFileSync(plan(), 'the plan\n');
  ({ id } = memory.lifecycle.begin(memory.workspace, { purpose: 'x', fields: {}, plan: [], concurrent: false }));
});

test('the archive has copies of the documents, and the originals stay where they are', () => {
  writeFileSync(join(scene.directory, 'design.md'), 'the design\n');
  nameDocuments({ plan: 'docs/plan.md', design: 'design.md' });
  const folder = archiveSession(open(), open().which(id));
  expect(copies()).toEqual({ 'plan.md': 'the plan\n', 'design.md': 'the design\n' });
  expect(folder).toContain('/archive/');
  expect(readFileSync(plan(), 'utf8')).toBe('the plan\n');
  expect(open().which(id).log.state.archived?.documents).toEqual(['design.md', 'docs/plan.md']);
  expect(faults()).toEqual([]);
});

test('documents of one name, and one that changed between two archivings, are kept next to each other', () => {
  writeFileSync(join(scene.directory, 'plan.md'), 'the design\n');
  nameDocuments({ plan: 'docs/plan.md', design: 'plan.md' });
  archiveSession(open(), open().which(id));
  expect(copies()).toEqual({ 'plan.md': 'the design\n', [`${id}--plan.md`]: 'the plan\n' });
  unarchiveSession(open(), open().which(id));
  expect(Object.keys(copies())).toHaveLength(2);
  writeFileSync(plan(), 'the second plan\n');
  archiveSession(open(), open().which(id));
  expect(copies()).toEqual({
    'plan.md': 'the design\n',
    [`${id}--plan.md`]: 'the plan\n',
    [`${id}-2--plan.md`]: 'the second plan\n',
  });
  expect(faults()).toEqual([]);
});

describe('a document that cannot be copied is named, and the session is archived all the same', () => {
  const pipe = () => spawnSync('mkfifo', [plan()]);
  test.each<[string, () => unknown, string]>([
    ['missing', () => undefined, 'it is not there'],
    ['a folder', () => mkdirSync(plan()), 'it is not a file'],
    ['a pipe', pipe, 'it is not a file'],
    ['a link', () => symlinkSync('/etc/passwd', plan()), 'ELOOP'],
    [
      'too large',
      () => {
        writeFileSync(plan(), '');
        truncateSync(plan(), 64 * 1024 * 1024 + 1);
      },
      'it is larger than 64 MiB',
    ],
  ])('%s', (_, replace, words) => {
    nameDocuments({ plan: 'docs/plan.md' });
    rmSync(plan());
    replace();
    const memory = open();
    expect(archiveSession(memory, memory.which(id))).toContain('/archive/');
    expect(memory.leftOut).toEqual([`session ${id} is archived without docs/plan.md: ${words}`]);
    expect(faults()).toEqual([]);
    const again = open();
    archiveSession(again, again.which(id));
    expect(again.leftOut).toEqual([]);
  });
});

test('a session without documents has no folder of copies', () => {
  expect(existsSync(join(archiveSession(open(), open().which(id)), 'documents'))).toBe(false);
});

test('the check names a copy that is gone, and makes it again from the document', () => {
  nameDocuments({ plan: 'docs/plan.md' });
  const copy = join(archiveSession(open(), open().which(id)), 'documents', 'plan.md');
  rmSync(copy);
  expect(faults()).toEqual([]);
  rmSync(copy);
  rmSync(plan());
  expect(faults()).toEqual([{ check: 'documents', ok: false, found: 'no copy of docs/plan.md' }]);
});

const KILLED = { code: null, err: expect.stringContaining('tripped: kill') };

/** A word of `work`, in a process of its own if that is killed at an instant. */
function work(args: readonly string[], failpoint = ''): Said {
  return watchkeeperUntil(failpoint, scene.directory, ['work', ...args], { WATCHKEEPER_HOME: scene.home });
}

test.each([
  'log.append.after:kill:1',
  'archive.document.before:kill:1',
  'archive.document.after:kill:1',
  'archive.document.before:kill:2',
  'archive.document.after:kill:2',
  'log.append.before:kill:2',
  'log.append.after:kill:2',
  'archive.folder.before:kill:1',
  'archive.folder.after:kill:1',
])('killed at %s, the next look finishes it: each document is there once', (failpoint) => {
  writeFileSync(join(scene.directory, 'design.md'), 'the design\n');
  nameDocuments({ plan: 'docs/plan.md', design: 'design.md' });
  expect(work(['archive', id], failpoint)).toMatchObject(KILLED);
  expect(work(['show', id]).code).toBe(0);
  expect(existsSync(join(scene.home, 'sessions', id))).toBe(false);
  expect(copies()).toEqual({ 'plan.md': 'the plan\n', 'design.md': 'the design\n' });
  const verified = work(['verify', id]);
  expect([verified.code, verified.out]).toEqual([0, expect.not.stringContaining('FAULTY')]);
  expect(scene.open().holder()).toBeNull();
});

test('the command says what is missing, and succeeds', () => {
  nameDocuments({ plan: 'docs/plan.md' });
  rmSync(plan());
  const said = work(['archive', id]);
  expect([said.code, said.err]).toEqual([0, expect.stringContaining('docs/plan.md: it is not there')]);
});
