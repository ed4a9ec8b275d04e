/** How the work has changed since a handoff was written, first of all by the session of its author. */
import { existsSync, lstatSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { counted, namedFiles } from '../../src/counted.js';
import { shortCommit } from '../git/checkout.js';
import { Git } from '../git/git.js';
import { historySince, repositoryOf } from '../git/history.js';
import { digestsOf } from '../keeping/digests.js';
import { lookAt } from '../look/look.js';
import { Memory } from '../sessions/memory.js';
import type { Viewer } from '../sessions/views.js';
import type { Handoff } from './handoffs.js';

export type DriftKind =
  | ('author_continued' | 'author_alive' | 'commits' | 'rewritten' | 'branch_gone')
  | ('other_repository' | 'other_branch' | 'dirt' | 'file_changed' | 'file_missing' | 'unknown');

export interface Drift {
  readonly kind: DriftKind;
  /** For people and models: a sentence without a full stop. */
  readonly words: string;
  readonly path?: string;
}

/** Changes that are named; the rest is counted. */
const MOST_FILES = 20;

/** @returns the differences, the author's own first; empty if nothing has changed */
export async function driftOf(memory: Viewer, handoff: Handoff): Promise<Drift[]> {
  return [
    ...(await ofAuthor(memory, handoff)),
    ...ofRepository(memory, handoff),
    ...ofDirt(memory, handoff),
    ...ofFiles(memory, handoff),
  ];
}

async function ofAuthor(viewer: Viewer, { state: { offer } }: Handoff): Promise<Drift[]> {
  if (offer.session_id === null) return [];
  const memory = memoryOf(viewer, offer.memory);
  const session = memory.look(offer.session_id);
  if (session === null)
    return [{ kind: 'unknown', words: `its author's session ${offer.session_id} is not on record any more` }];
  const { fold, log } = await lookAt(memory, session);
  const calls = (fold?.actions ?? []).filter(({ at }) => at > offer.at).length;
  const files = [...(fold?.files ?? [])].filter(([, { at, change }]) => at > offer.at && change !== 'read');
  const isAlive = memory.runsOf(log).alive.length > 0;
  const continued = [
    ...(calls > 0 ? [counted(calls, 'call')] : []),
    ...(files.length > 0 ? [`changed ${namedFiles(files.map(([path]) => path))}`] : []),
  ];
  return [
    ...(continued.length === 0
      ? []
      : [
          {
            kind: 'author_continued' as const,
            words: `its author's session continued after writing it: ${continued.join(', ')}`,
          },
        ]),
    ...(isAlive
      ? [{ kind: 'author_alive' as const, words: `the agent of its author's session ${offer.session_id} still runs` }]
      : []),
  ];
}

/** @param folder of the memory that has the author's session; null for the viewer's */
function memoryOf(viewer: Viewer, folder: string | null): Viewer {
  const { surroundings, clock, stamp } = viewer;
  return folder === null ? viewer : new Memory({ surroundings, folder, clock, redact: stamp.redact });
}

function ofRepository(memory: Viewer, handoff: Handoff): Drift[] {
  const { offer } = handoff.state;
  const { workspace, surroundings } = memory;
  const here = repositoryOf(workspace.root);
  if (offer.repository === null)
    return offer.workspace === workspace.id || here === null ? [] : [elsewhere(offer.root)];
  const root = rootOf(memory, handoff);
  const other: Drift[] = here === offer.repository ? otherBranch(memory, handoff) : [elsewhere(offer.root)];
  if (root === null)
    return [...other, { kind: 'unknown', words: `${offer.root} is gone, so its commits were not compared` }];
  if (offer.head === null) return other;
  const paths = offer.document.files.filter((path) => !isAbsolute(path));
  const history = historySince(root, surroundings.variables, { head: offer.head, branch: offer.branch }, paths);
  if (history === null) return [...other, { kind: 'unknown', words: 'git could not be asked about its commits' }];
  const commit = shortCommit(offer.head);
  const branch = offer.branch ?? 'what is checked out';
  const { isGone, isRewritten, commits, touching } = history;
  return [
    ...(isGone ? [goneBranch(branch, isRewritten)] : []),
    ...(isRewritten && !isGone
      ? [{ kind: 'rewritten' as const, words: `rewritten: its commit ${commit} is no longer on ${branch}` }]
      : []),
    ...(commits === 0
      ? []
      : [
          {
            kind: 'commits' as const,
            words: `${counted(commits, 'commit')} on ${branch} since ${commit}, ${touching} of them with its files`,
          },
        ]),
    ...other,
  ];
}

function goneBranch(branch: string, isLost: boolean): Drift {
  const where = isLost
    ? 'and its commit is not in what is checked out there'
    : 'but its commit is in what is checked out there';
  return { kind: 'branch_gone', words: `its branch ${branch} is gone, ${where}` };
}

function elsewhere(root: string): Drift {
  return { kind: 'other_repository', words: `it was written in another place: ${root}` };
}

function otherBranch({ workspace, surroundings }: Viewer, { state: { offer } }: Handoff): Drift[] {
  const checkout = new Git(workspace.root, surroundings.variables).checkout();
  // Git did not say it then, or does not say it now.
  const isUnknown = checkout === null || (offer.dirty === null && offer.head === null);
  if (isUnknown || checkout.branch === offer.branch) return [];
  const now = checkout.branch;
  return [
    {
      kind: 'other_branch',
      words: `${now ?? 'no branch'} is checked out here, and it was written on ${offer.branch ?? 'no branch'}`,
    },
  ];
}

/** @returns the directory in which it was written; if that is gone, another one of its repository, else null */
function rootOf({ workspace }: Viewer, { state: { offer } }: Handoff): string | null {
  if (existsSync(offer.root)) return offer.root;
  return offer.repository !== null && repositoryOf(workspace.root) === offer.repository ? workspace.root : null;
}

function ofDirt(memory: Viewer, { state: { offer } }: Handoff): Drift[] {
  if (offer.repository === null || !existsSync(offer.root)) return [];
  const { dirty, dirty_digest } = offer;
  if (dirty === null) return [unknownDirt('were not recorded, because git did not answer')];
  const now = new Git(offer.root, memory.surroundings.variables).dirtSince({ dirty, dirty_digest });
  if (now === null) return [unknownDirt('were not compared, because git does not answer')];
  if (now.is_same) return [];
  const words = (count: number) => (count === 0 ? 'none' : counted(count, 'file'));
  return [
    {
      kind: 'dirt',
      words: `uncommitted changes differ: ${words(dirty)} then, ${words(now.dirty)} now`,
    },
  ];
}

function unknownDirt(why: string): Drift {
  return { kind: 'unknown', words: `its uncommitted changes ${why}` };
}

function ofFiles(memory: Viewer, handoff: Handoff): Drift[] {
  const { digests } = handoff.state;
  const root = rootOf(memory, handoff);
  if (root === null && digests.size > 0)
    return [{ kind: 'unknown', words: `${handoff.state.offer.root} is gone, so its files were not compared` }];
  const place = { ...memory.workspace, root: root ?? memory.workspace.root };
  const now = new Map(digestsOf(place, [...digests.keys()]).map(({ path, digest }) => [path, digest]));
  const found = [...digests].flatMap(([path, digest]): Drift[] => {
    const present = now.get(path);
    if (present === digest) return [];
    if (present === undefined)
      return isGone(resolve(place.root, path))
        ? [{ kind: 'file_missing', path, words: `${path} is gone` }]
        : [{ kind: 'unknown', path, words: `${path} was not compared: it is too large, or cannot be read` }];
    return [{ kind: 'file_changed', path, words: `${path} was changed` }];
  });
  const named = found.filter((_, index) => index < MOST_FILES);
  const more = found.length - named.length;
  return more === 0
    ? named
    : [...named, { kind: 'file_changed', words: `${counted(more, 'more file')} changed or gone` }];
}

function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
