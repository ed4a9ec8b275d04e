/** The name of a new worktree: its branch, and its folder. */
import { join } from 'node:path';
import type { RepositoryPlace } from './place.js';

/** What follows `type/` in the name of a branch is the worktree's own name. */
export const TYPES = ['feature', 'fix', 'refactor', 'docs', 'chore'] as const;
export type Type = (typeof TYPES)[number];

const SHORTEST = 3;
const LONGEST = 40;
const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const LOCAL = 'refs/heads/';

/** @returns why it cannot be the name of a worktree, with one that can, if that is clear; null if it can */
export function nameFault(name: string): string | null {
  if (KEBAB.test(name) && name.length >= SHORTEST && name.length <= LONGEST) return null;
  const rule = `${JSON.stringify(name)} is no name of a worktree: ${SHORTEST} to ${LONGEST} lower-case letters, digits and single hyphens`;
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  while (words.join('-').length > LONGEST && words.length > 1) words.pop();
  const better = words.join('-');
  return better.length >= SHORTEST && better.length <= LONGEST ? `${rule}, such as ${better}` : rule;
}

/**
 * @param refs the whole names of the branches
 * @returns why there cannot be such a branch; null if there can
 */
export function branchFault(branch: string, refs: readonly string[]): string | null {
  const names = refs.map((ref) => (ref.startsWith(LOCAL) ? ref.slice(LOCAL.length) : ref));
  if (names.includes(branch))
    return `there is a branch ${branch}: \`--branch ${branch}\` takes it, or choose another name`;
  const [above = ''] = branch.split('/');
  if (names.includes(above))
    return `there is a branch ${above}, so git can have none that begins with ${above}/: rename it, or choose another --type`;
  const below = names.find((name) => name.startsWith(`${branch}/`));
  return below === undefined
    ? null
    : `there is a branch ${below}, so git can have none called ${branch}: choose another name`;
}

/** @returns the folder of a new worktree */
export function folderOf(place: RepositoryPlace, type: Type, name: string, isContainer: boolean): string {
  if (isContainer) return join(typeFolderOf(place, type), name);
  return join(`${place.home}.worktrees`, `${type}-${name}`);
}

/** @returns the folder of a container's worktrees of a type */
export function typeFolderOf({ common, home }: RepositoryPlace, type: Type): string {
  return join(home === common ? `${common}.worktrees` : home, type);
}
