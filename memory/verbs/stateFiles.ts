/** Verbs for the files in the folder that mirrors the sessions of a workspace, where no tool is at hand. */
import { dirname, relative } from 'node:path';
import { errorCode, UnreachableError, UsageError } from '../../src/errors.js';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { describeFileTrouble, NotPlainError, READ_NO_LINK, readPlainFileSync } from '../../src/files/plainFile.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import { generate } from '../keeping/generate.js';
import { RefusedError } from '../logs/kind.js';
import { makeBelow } from '../mirror/below.js';
import { activeIn, type Mirror, makeMirror, mirrorAt, placeIn } from '../mirror/mirror.js';
import { stateDirOf } from '../sessions/stateDir.js';
import type { Viewer } from '../sessions/views.js';
import { neededWord, word } from './fields.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

const LARGEST_BYTES = 16 * 1024 * 1024;

export const readState = verb({
  name: 'read',
  summary: 'print a file of the state_dir; without one, the active session',
  fields: { path: word('[REL]') },
  async run(memory, input) {
    const { path } = input;
    if (path === undefined) {
      const session = meant(memory, input);
      const { text } = await generate(memory, session);
      return { lines: { text }, value: { session_id: session.id, text } };
    }
    const text = contentOf(placeIn(mirrorHere(memory), path), path);
    return { lines: { text }, value: { path, text } };
  },
});

export const writeState = verb({
  name: 'write',
  summary: 'write standard input to a file of the state_dir, whole or not at all',
  fields: { path: neededWord('REL', 'which file? For example: watchkeeper state write plans/plan.md < plan.md') },
  async run(memory, { path }, door) {
    const mirror = mirrorHere(memory);
    requireNotGenerated(mirror, placeIn(mirror, path));
    const text = await door.read('path', '-');
    write(mirror, path, text);
    return { lines: `written: ${mirror.name}/${path}`, value: { path, bytes: Buffer.byteLength(text) } };
  },
});

/** @throws UsageError if the workspace has no mirror; RefusedError if it leads out of the workspace */
function mirrorHere(memory: Viewer): Mirror {
  const { workspace } = memory;
  const stateDir = stateDirOf(memory, workspace);
  if (stateDir !== null) return mirrorAt(workspace.root, stateDir);
  throw new UsageError(
    `${workspace.root} has no state_dir: name one with the tool initialize_workspace, or set MAESTRO_STATE_DIR`,
  );
}

/** On some file systems the case of a name makes no difference. */
function requireNotGenerated(mirror: Mirror, file: string): void {
  const active = activeIn(mirror);
  if (file.toLowerCase() !== active.toLowerCase()) return;
  const name = relative(mirror.folder, active);
  const tools = 'with a tool: transition_phase, update_session, add_note; or with `watchkeeper track` and `work set`';
  throw new RefusedError({ code: 'generated', message: `${name} is generated from the record: change that ${tools}` });
}

function contentOf(file: string, path: string): string {
  try {
    return readPlainFileSync(file, LARGEST_BYTES, { flags: READ_NO_LINK });
  } catch (cause) {
    const isNone = errorCode(cause) === 'ENOENT' || cause instanceof NotPlainError;
    const why = errorCode(cause) === 'ENOENT' ? 'it is not there' : describeFileTrouble(cause);
    if (isNone) throw new UsageError(`${path} cannot be read: ${why}`, { cause });
    throw new UnreachableError(`${file} cannot be read: ${describeStorageFault(cause)}`, { cause });
  }
}

function write(mirror: Mirror, path: string, text: string): void {
  try {
    makeMirror(mirror);
    if (dirname(path) !== '.') makeBelow(mirror.folder, dirname(path));
    // Once more: a folder that was missing may be a link by now.
    replaceInFolderSync(placeIn(mirror, path), text);
  } catch (cause) {
    if (cause instanceof RefusedError) throw cause;
    throw new UnreachableError(`${path} cannot be written: ${describeStorageFault(cause)}`, { cause });
  }
}
