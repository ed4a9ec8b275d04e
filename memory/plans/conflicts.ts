/** Shows a session's next agent where to look before it continues: plan and files may not be as they were left. */
import { resolve } from 'node:path';
import { sightOf } from '../../src/files/seenFile.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { SECOND } from '../../src/time.js';
import { isInterrupted } from '../condition/words.js';
import { MOST_ENTRIES } from '../fold/bounds.js';
import { type Holder, holderWords } from '../fold/holder.js';
import type { Step, Worklog } from '../fold/worklog.js';
import { digestsOf } from '../keeping/digests.js';
import { type MirrorConflict, mirrorConflicts } from '../keeping/mirror.js';
import type { Look } from '../look/look.js';
import type { Viewer } from '../sessions/views.js';
import { documentAt } from '../workspaces/document.js';
import type { Workspace } from '../workspaces/workspace.js';
import { isHolderAlive } from './holding.js';

export type Conflict =
  /** A phase that is in progress or failed has changed it, or was about to. */
  | { readonly kind: 'half_done_file'; readonly phase: string | null; readonly path: string; readonly exists: boolean }
  /** A phase has completed it, and something else changed or removed it later. */
  | { readonly kind: 'file_changed'; readonly phase: string; readonly path: string; readonly exists: boolean }
  | {
      readonly kind: 'document_changed';
      readonly document: 'design' | 'plan';
      readonly path: string;
      readonly exists: boolean;
    }
  | MirrorConflict
  | { readonly kind: 'holder_dead'; readonly phase: string; readonly holder: Holder | null; readonly words: string };

/** A process may write a file a moment after the call that it belongs to. */
const SLACK_MS = 2 * SECOND;

/** @param place the session's workspace */
export function conflictsOf(memory: Viewer, look: Look, place: Workspace): Conflict[] {
  const here = memory.surroundings.process;
  const conflicts = [
    ...deadHolders(here, look.log),
    ...halfDone(here, look, place),
    ...changedFiles(look, place),
    ...changedDocuments(look.log, place),
    ...mirrorConflicts(memory, place),
  ];
  return conflicts.filter((_, index) => index < MOST_ENTRIES);
}

function deadHolders(here: ProcessIdentity, log: Worklog): Conflict[] {
  return [...log.steps.values()]
    .filter((step) => isAbandoned(here, log, step))
    .map((step) => ({ kind: 'holder_dead', phase: step.id, holder: step.holder, words: holderWords(step) }));
}

function isAbandoned(here: ProcessIdentity, log: Worklog, step: Step): boolean {
  return step.status === 'in_progress' && isHolderAlive(here, log, step) === false;
}

function halfDone(here: ProcessIdentity, { log, fold, state, condition }: Look, { root }: Workspace): Conflict[] {
  const open = new Set(
    [...log.steps.values()]
      .filter((step) => step.status === 'failed' || isAbandoned(here, log, step))
      .map(({ id }) => id),
  );
  const found = new Map<string, Conflict>();
  const add = (path: string, phase: string | null) =>
    found.set(path, { kind: 'half_done_file', phase, path, exists: sightOf(resolve(root, path)) !== 'none' });
  // An agent that lives is about to finish what it has in hand.
  const isLeft = isInterrupted(condition) || (fold?.leftTurns.length ?? 0) > 0;
  for (const { path, step } of condition.doubtful) if (isLeft || (step !== null && open.has(step))) add(path, step);
  for (const [path, { step, change = 'read' }] of Object.entries(state.files))
    if (step !== null && open.has(step) && change !== 'read' && change !== 'deleted') add(path, step);
  return [...found.values()];
}

function changedFiles({ log, fold, state }: Look, place: Workspace): Conflict[] {
  const { root } = place;
  const last = state.last_activity ?? 0;
  const changed = new Map<string, Conflict>();
  const deleted = new Set([...log.steps.values()].flatMap(({ files }) => files.deleted));
  for (const { id, status, files } of log.steps.values()) {
    if (status !== 'completed') continue;
    for (const path of [...files.created, ...files.modified]) {
      const stat = sightOf(resolve(root, path));
      const seen = fold?.files.get(path);
      if (stat === 'unknown') continue;
      if (stat === 'none') {
        const isGone = deleted.has(path) || seen?.change === 'deleted' || isRenamed(fold, path);
        if (!isGone) changed.set(path, { kind: 'file_changed', phase: id, path, exists: false });
        continue;
      }
      const since = Math.max(last, seen?.at ?? 0) + SLACK_MS;
      const digest = log.digests.get(path);
      const isOther =
        digest === undefined
          ? stat.mtimeMs > since
          : isLater(stat.mtimeMs, seen?.at) && digest !== digestsOf(place, [path])[0]?.digest;
      if (isOther) changed.set(path, { kind: 'file_changed', phase: id, path, exists: true });
    }
  }
  return [...changed.values()];
}

/** The agent's own last change of a file is no conflict, although the digest was taken before it. */
function isLater(changedAt: number, seenAt: number | undefined): boolean {
  return seenAt === undefined || changedAt > seenAt + SLACK_MS;
}

function isRenamed(fold: Look['fold'], path: string): boolean {
  return [...(fold?.files.values() ?? [])].some(({ from }) => from === path);
}

function changedDocuments({ facts }: Worklog, place: Workspace): Conflict[] {
  return (['design', 'plan'] as const).flatMap((document): Conflict[] => {
    const known = facts?.set.documents?.[document];
    if (known === undefined) return [];
    const sight = sightOf(resolve(place.root, known.path));
    if (sight === 'unknown') return [];
    const exists = sight !== 'none';
    return exists && isAsKnown(known, place) ? [] : [{ kind: 'document_changed', document, path: known.path, exists }];
  });
}

function isAsKnown({ path, digest }: { readonly path: string; readonly digest: string }, place: Workspace): boolean {
  try {
    return documentAt(path, place.root, place).digest === digest;
  } catch {
    return false;
  }
}
