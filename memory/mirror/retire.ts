/** A session that goes into the archive leaves the mirror: its text and its plans move to the archives there. */
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { failpoint } from '../../src/failpoints.js';
import { syncFolderSync } from '../../src/files/durableFile.js';
import { activeIn, archivedIn, isPlan, type Mirror, makeMirror, placeIn } from './mirror.js';
import { digestAt, editedNames, type MirrorTexts, moveFree } from './texts.js';

const MOST_NAMES = 100;
const EDITED = /^active-session\.edited-\d+\.md$/;

/**
 * Any process may repeat it. A text that another session has written in the meantime stays.
 * @param documents of the session, relative to the workspace
 * @throws RefusedError if something there leads out of the mirror; the file system's error
 */
export function retire(mirror: Mirror, texts: MirrorTexts, id: string, documents: readonly string[]): void {
  makeMirror(mirror);
  for (const path of documents) if (isPlan(mirror, path)) retirePlan(mirror, id, path);
  const active = activeIn(mirror);
  const there = digestAt(active);
  const writer = there === null ? null : texts.writerOf(there);
  const isLast = texts.last()?.session_id === id;
  if (writer === id) retireText(texts, active, archivedIn(mirror, id));
  if (!isLast) return;
  const changed = there !== null && writer === null ? [active] : [];
  for (const file of [...editedIn(mirror), ...changed]) moveFree(file, editedNames(archivedIn(mirror, id)));
}

/** @returns the texts that a person has changed, and that were kept */
export function editedIn(mirror: Mirror): string[] {
  const state = dirname(activeIn(mirror));
  const names = existsSync(state) ? readdirSync(state).filter((name) => EDITED.test(name)) : [];
  return names.sort().map((name) => join(state, name));
}

/** @returns what of a session is still at its old places in the mirror, relative to the workspace */
export function leftBehind(mirror: Mirror, texts: MirrorTexts, id: string, documents: readonly string[]): string[] {
  const active = activeIn(mirror);
  const there = digestAt(active);
  const isOurs = there !== null && texts.writerOf(there) === id;
  const plans = documents.filter((path) => isPlan(mirror, path) && existsSync(join(mirror.root, path)));
  return [...(isOurs ? [relative(mirror.root, active)] : []), ...plans];
}

/** @returns the files of a session in the archives of the mirror */
export function retiredFiles(mirror: Mirror, id: string, documents: readonly string[]): string[] {
  const plans = documents.filter((path) => isPlan(mirror, path)).map((path) => placesOf(mirror, id, path));
  return [[archivedIn(mirror, id)], ...plans].flatMap((places) => places.filter((path) => existsSync(path)));
}

function retireText(texts: MirrorTexts, active: string, archived: string): void {
  texts.keepEdited(archived);
  failpoint('archive.mirror.before');
  renameSync(active, archived);
  failpoint('archive.mirror.after');
  for (const folder of [dirname(archived), dirname(active)]) syncFolderSync(folder);
}

function retirePlan(mirror: Mirror, id: string, path: string): void {
  const plan = placeIn(mirror, relative(mirror.name, path));
  if (digestAt(plan) === null) return;
  moveFree(plan, placesOf(mirror, id, path));
}

/** In the order in which they are tried. */
function placesOf(mirror: Mirror, id: string, path: string): string[] {
  const name = basename(path);
  const others = Array.from(
    { length: MOST_NAMES },
    (_, index) => `${id}${index === 0 ? '' : `-${index + 1}`}--${name}`,
  );
  const archive = placeIn(mirror, 'plans/archive');
  return [name, ...others].map((each) => join(archive, each));
}
