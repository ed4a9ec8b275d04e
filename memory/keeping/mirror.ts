/**
 * The mirror in a project: the text of the session that holds it, which is that of `session.md`. It is written after each change. Several
 * processes may write it at once: each looks again after its write, so the last one to write has seen the newest state.
 */
import { relative } from 'node:path';
import { describeError, WatchkeeperError } from '../../src/errors.js';
import { RefusedError } from '../logs/kind.js';
import { activeIn, archivedIn, type Mirror, makeMirror, mirrorAt } from '../mirror/mirror.js';
import { editedIn } from '../mirror/retire.js';
import { digestAt, MirrorTexts } from '../mirror/texts.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { stateDirOf } from '../sessions/stateDir.js';
import { mirrorOfArchived, takeAlong } from '../sessions/takeAlong.js';
import type { Viewer } from '../sessions/views.js';
import type { Workspace } from '../workspaces/workspace.js';
import { generate } from './generate.js';

/** Each follows a change by another process. */
const MOST_PASSES = 16;

export type Mirroring = Viewer & Pick<Memory, 'opened' | 'leftOut'>;

/**
 * A text in the mirror that a person has changed. It is not read back: a change belongs into the record, by a command or tool. Or the
 * mirror itself, if it leads out of the workspace now.
 */
export interface MirrorConflict {
  readonly kind: 'mirror_edited' | 'mirror_unusable';
  /** Relative to the workspace. */
  readonly path: string;
  readonly words: string;
}

/**
 * Writes the mirrors of the caller's workspace, and of those whose sessions the caller has changed. A mirror that cannot be written does
 * no harm: it is said.
 */
export async function refreshMirrors(memory: Mirroring): Promise<void> {
  if (memory.isBridges) return;
  const changed = memory.opened.filter(({ log }) => log.hasWritten);
  const workspaces = [memory.workspace, ...changed.flatMap(({ log }) => memory.workspaceOf(log.state) ?? [])];
  for (const workspace of new Map(workspaces.map((each) => [each.id, each])).values())
    await said(memory, workspace, () => refreshActive(memory, workspace));
  for (const { id, log } of changed)
    if (log.state.archived !== null)
      await said(memory, memory.workspaceOf(log.state), () => refreshArchived(memory, id));
}

/** @returns the texts in the mirror of a workspace that a person has changed, and that are not in its archive */
export function mirrorConflicts(memory: Viewer, workspace: Workspace): MirrorConflict[] {
  const stateDir = stateDirOf(memory, workspace);
  if (stateDir === null) return [];
  try {
    const mirror = mirrorAt(workspace.root, stateDir);
    const active = activeIn(mirror);
    const there = digestAt(active);
    const isEdited = there !== null && new MirrorTexts(memory.places, workspace.id).writerOf(there) === null;
    const paths = [...(isEdited ? [active] : []), ...editedIn(mirror)].map((path) => relative(mirror.root, path));
    const words = 'it was changed by hand, which is not read: record the change, then remove the file';
    return paths.map((path) => ({ kind: 'mirror_edited', path, words }));
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return [{ kind: 'mirror_unusable', path: stateDir, words: error.message }];
  }
}

async function refreshActive(memory: Mirroring, workspace: Workspace): Promise<void> {
  const stateDir = stateDirOf(memory, workspace);
  if (stateDir === null) return;
  const mirror = mirrorAt(workspace.root, stateDir);
  const texts = new MirrorTexts(memory.places, workspace.id);
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const session = subjectOf(memory, workspace, mirror, texts);
    if (session === null) return;
    if (session.log.state.archived !== null) {
      takeAlong(session, session.folder, memory.places);
      return;
    }
    const { text } = await generate(memory, session);
    const { fault } = makeMirror(mirror);
    if (fault !== null) memory.leftOut.push(`${mirror.name} is not excluded from git, exclude it yourself: ${fault}`);
    if (!texts.put(activeIn(mirror), text, session.id)) return;
  }
}

/** The session that holds the workspace, else the last one, whose text is still there. */
function subjectOf(memory: Mirroring, workspace: Workspace, mirror: Mirror, texts: MirrorTexts): OpenSession | null {
  const last = () => (digestAt(activeIn(mirror)) === null ? null : (texts.last()?.session_id ?? null));
  const id = memory.claims.holder(workspace) ?? last();
  return id === null ? null : memory.look(id);
}

/** The move to the archive came before the last lines of its log. */
async function refreshArchived(memory: Mirroring, id: string): Promise<void> {
  const session = memory.look(id);
  const root = session === null ? null : (memory.workspaceOf(session.log.state)?.root ?? null);
  const left = session === null ? null : mirrorOfArchived(session.log.state, root, memory.places);
  if (session === null || left === null) return;
  const { text } = await generate(memory, session);
  makeMirror(left.mirror);
  left.texts.put(archivedIn(left.mirror, id), text, id);
}

async function said(memory: Mirroring, workspace: Workspace | null, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const why = error instanceof WatchkeeperError ? error.message : describeError(error);
    memory.leftOut.push(`the mirror in ${workspace?.root ?? 'the project'} was not written: ${why}`);
  }
}
