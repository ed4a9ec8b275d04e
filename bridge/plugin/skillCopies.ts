/**
 * Copies of the skills for a program that has no plugin of ours. A list of what was copied lies next to them, with digests: what a person
 * has changed, and skills of others, are left alone.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UnreachableError } from '../../src/errors.js';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { parseObject } from '../../src/json.js';
import { textIfThere, unlessAbsent } from './absent.js';
import { describeFolderFault } from './inTheWay.js';

/** In the folder of skills; a name with a dot is no skill. */
const LIST = '.watchkeeper-skills.json';
const SKILL = 'SKILL.md';
/** True of the plugin's own folder alone. */
const IN_THE_PLUGIN = /`bin\/watchkeeper` in the folder of this plugin,\s+two\s+folders above this file/g;

/** By the name of the skill, the digests that its copy may have. */
type Digests = ReadonlyMap<string, readonly string[]>;

export interface CopiedSkills {
  /** `outdated`: the package has others. */
  readonly state: 'none' | 'copied' | 'outdated';
  /** Names of skills that a person has changed since. */
  readonly changed: readonly string[];
  /** Names of skills of others, in the way of ours. */
  readonly foreign: readonly string[];
}

/** @param folder of the program's skills. @param root of the package */
export function lookAtCopies(folder: string, root: string): CopiedSkills {
  const known = listIn(folder);
  const skills = skillsOf(root);
  const foreign = [...skills.keys()].filter((name) => !known.has(name) && isThere(join(folder, name)));
  if (known.size === 0) return { state: 'none', changed: [], foreign };
  const wanted = [...skills].filter(([name]) => !foreign.includes(name));
  const isCurrent =
    wanted.every(([name, text]) => known.get(name)?.join() === digestOf(text)) && known.size === wanted.length;
  return { state: isCurrent ? 'copied' : 'outdated', changed: changedIn(folder, known), foreign };
}

/**
 * Repeating it changes nothing that is as it should be.
 * @returns the names of the skills that are there now, and of those that were left alone
 * @throws UnreachableError if they cannot be written
 */
export function copySkills(folder: string, root: string) {
  const { changed, foreign } = lookAtCopies(folder, root);
  const known = listIn(folder);
  const skills = skillsOf(root);
  const wanted = [...skills].filter(([name]) => !foreign.includes(name) && !changed.includes(name));
  const kept = [...known].filter(([name]) => changed.includes(name));
  const gone = [...known.keys()].filter((name) => !skills.has(name) && !changed.includes(name));
  try {
    mkdirSync(folder, { recursive: true });
    const place = realpathSync(folder);
    const copied = wanted.map(([name, text]) => [name, [digestOf(text)]] as const);
    // First the list, with both digests: after a kill, an old copy and a new one are known as ours.
    const both = copied.map(([name, digests]) => [name, [...(known.get(name) ?? []), ...digests]] as const);
    writeList(place, new Map([...known, ...both]));
    for (const [name, text] of wanted) {
      const path = join(place, name, SKILL);
      mkdirSync(dirname(path), { recursive: true });
      if (textIfThere(path) !== text) replaceInFolderSync(path, text);
    }
    for (const name of gone) removeSkill(place, name);
    writeList(place, new Map([...kept, ...copied]));
    return { skills: copied.map(([name]) => name), changed, foreign };
  } catch (cause) {
    throw new UnreachableError(describeFolderFault(cause, folder), { cause });
  }
}

/** @returns the names of the skills that were removed, and of those that a person has changed, which stay */
export function removeSkills(folder: string) {
  // Something that is in the way of the folder has no copies in it.
  if (!isThere(join(folder, LIST))) return { removed: [], changed: [] };
  const known = listIn(folder);
  const changed = changedIn(folder, known);
  const removed = [...known.keys()].filter((name) => !changed.includes(name));
  try {
    for (const name of removed) removeSkill(folder, name);
    rmSync(join(folder, LIST), { force: true });
    return { removed, changed };
  } catch (cause) {
    throw new UnreachableError(describeFolderFault(cause, folder), { cause });
  }
}

/** @returns the text of each skill as it is copied, by name */
export function skillsOf(root: string): Map<string, string> {
  const from = join(root, 'plugin/skills');
  const program = `\`${join(root, 'bin/watchkeeper')}\``;
  return new Map(
    readdirSync(from)
      .sort()
      .map((name) => [name, readFileSync(join(from, name, SKILL), 'utf8').replace(IN_THE_PLUGIN, program)]),
  );
}

function removeSkill(folder: string, name: string): void {
  rmSync(join(folder, name, SKILL), { force: true });
  // A file that a person has put next to it stays.
  unlessAbsent(() => {
    if (readdirSync(join(folder, name)).length === 0) rmdirSync(join(folder, name));
  }, undefined);
}

/** One that is gone was not changed: it is copied again. */
function changedIn(folder: string, known: Digests): string[] {
  return [...known].flatMap(([name, digests]) => {
    const text = textIfThere(join(folder, name, SKILL));
    return text === null || digests.includes(digestOf(text)) ? [] : [name];
  });
}

function listIn(folder: string): Digests {
  const found = parseObject<{ readonly skills: unknown }>(textIfThere(join(folder, LIST)) ?? '');
  const skills = Object.entries(Object(found?.skills));
  return new Map(
    skills.flatMap(([name, digests]) => (isName(name) ? [[name, [digests].flat().map(String)] as const] : [])),
  );
}

/** It becomes a part of a path. */
function isName(name: string): boolean {
  return /^[a-z][a-z-]*$/.test(name);
}

function writeList(folder: string, skills: Digests): void {
  replaceInFolderSync(join(folder, LIST), `${JSON.stringify({ skills: Object.fromEntries(skills) }, null, 2)}\n`);
}

function isThere(path: string): boolean {
  return unlessAbsent(() => lstatSync(path, { throwIfNoEntry: false }), undefined) !== undefined;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
