// covers: memory/workspaces/covering.ts memory/workspaces/workspace.ts memory/sessions/lifecycle.ts
/** Which folder a directory without git belongs to. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { isShared } from '../../../memory/workspaces/covering.js';
import { realOf } from '../../../memory/workspaces/workspace.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { testFolder } from '../../harness/folder.js';
import { memoryScene } from '../scene.js';

interface Options {
  readonly concurrent?: boolean;
  readonly variables?: { readonly HOME?: string; readonly TMPDIR?: string };
}

/** Folders without git, one below the other, and what is done in them. */
class Folders {
  readonly #memory = memoryScene();
  readonly top = realOf(testFolder());
  readonly below = join(this.top, 'notes');
  readonly deep = join(this.below, 'letters');

  constructor() {
    mkdirSync(this.deep, { recursive: true });
  }

  /** An agent starts, as its hook sees it. */
  met(folder: string): string {
    const { session } = startConversation(this.#memory.open({}, folder), {
      ...{ provider: 'claude', conversation: `c-${folder}`, source: 'startup', transcript: null },
      ...{ agent: readProcessIdentity('host'), launchedIn: null },
    });
    session.log.close();
    return session.id;
  }

  /** A command begins a session. */
  declared(folder: string, { concurrent = false, variables = {} }: Options = {}): void {
    const memory = this.#memory.open(variables, folder);
    const beginning = { purpose: 'T', fields: {}, plan: [], concurrent };
    memory.lifecycle.begin(memory.workspace, beginning).log.close();
  }

  rootOf(folder: string, variables = {}): string {
    return this.#memory.open(variables, folder).workspace.root;
  }

  /** In the place of its log is something that cannot be read. */
  damage(folder: string): void {
    const { workspace, places } = this.#memory.open({}, folder);
    rmSync(places.workspaceLog(workspace.id));
    mkdirSync(places.workspaceLog(workspace.id));
  }
}

test('an agent that only started in a folder makes no workspace of those below it', () => {
  const folders = new Folders();
  folders.met(folders.top);
  expect(folders.rootOf(folders.top)).toBe(folders.top);
  expect(folders.rootOf(folders.below)).toBe(folders.below);
  folders.declared(folders.below);
  expect(folders.rootOf(folders.below)).toBe(folders.below);
});

test.each([false, true])(
  'a session that a command began covers the folders below (next to another: %s)',
  (concurrent) => {
    const folders = new Folders();
    folders.declared(folders.top, { concurrent });
    expect(folders.rootOf(folders.deep)).toBe(folders.top);
  },
);

test('the nearest folder with such a session counts, and one in which an agent was met stays what it was', () => {
  const folders = new Folders();
  folders.declared(folders.below);
  folders.met(folders.deep);
  folders.declared(folders.top);
  expect(folders.rootOf(folders.deep)).toBe(folders.below);
  const other = new Folders();
  other.met(other.below);
  other.declared(other.top);
  expect(other.rootOf(other.below)).toBe(other.below);
  expect(other.rootOf(other.deep)).toBe(other.top);
});

test('a home covers nothing, whatever was declared in it, also if a link leads to it', () => {
  const folders = new Folders();
  const link = join(testFolder(), 'home');
  symlinkSync(folders.top, link);
  folders.declared(folders.top);
  expect(folders.rootOf(folders.below, { HOME: link })).toBe(folders.below);
  expect(folders.rootOf(join(link, 'notes'), { HOME: folders.top })).toBe(folders.below);
  expect(folders.rootOf(link, { HOME: link })).toBe(folders.top);
});

test('a folder for temporary files covers nothing; one in it does', () => {
  const folders = new Folders();
  folders.declared(folders.top);
  expect(folders.rootOf(folders.below, { TMPDIR: `${folders.top}/` })).toBe(folders.below);
  folders.declared(folders.below, { variables: { TMPDIR: folders.top } });
  expect(folders.rootOf(folders.deep, { TMPDIR: folders.top })).toBe(folders.below);
});

test.each(['/', '/tmp', '/var/tmp', '/root', userInfo().homedir])(
  '%s is shared, with and without variables',
  (path) => {
    expect(isShared(realOf(path), {})).toBe(true);
    expect(isShared(realOf(path), { HOME: '', TMPDIR: '' })).toBe(true);
  },
);

test('a folder whose log cannot be read still covers those below, so that the fault is named and no other workspace begins', () => {
  const folders = new Folders();
  folders.declared(folders.top);
  folders.damage(folders.top);
  expect(folders.rootOf(folders.below)).toBe(folders.top);
});
