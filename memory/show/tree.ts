/** The child sessions of a session, theirs, and the way back up. */
import { oneLine } from '../../src/log/visibleText.js';
import type { Worklog } from '../fold/worklog.js';
import { purposeOf } from '../observed/purpose.js';
import { parentsOf } from '../sessions/delegation.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Lifecycle } from '../words.js';

/** Further ones are counted. */
const MOST_NODES = 200;

export interface TreeNode {
  readonly session_id: string;
  readonly purpose: string | null;
  /** Null if it was removed. */
  readonly lifecycle: Lifecycle | null;
  /** Below the root of the whole tree. */
  readonly depth: number;
  /** The step of the parent that it works on. */
  readonly step: string | null;
  readonly children: readonly TreeNode[];
}

export interface Tree {
  /** 0 without a parent. */
  readonly depth: number;
  /** The nearest first. */
  readonly parents: readonly string[];
  readonly children: readonly TreeNode[];
  /** How many are not among the children. */
  readonly more: number;
}

export function treeOf(sessions: Sessions, { facts, children }: Worklog): Tree {
  const parents = parentsOf(sessions, facts?.parent ?? null);
  let left = MOST_NODES;
  let more = 0;
  const nodesOf = (of: Worklog['children'], depth: number): TreeNode[] =>
    [...of.values()].flatMap(({ session_id, step }) => {
      left -= 1;
      if (left < 0) {
        more += 1;
        return [];
      }
      const state = sessions.read(session_id)?.log.state ?? null;
      const own = state === null ? [] : nodesOf(state.children, depth + 1);
      const purpose = state === null ? null : purposeOf(state, null);
      return [{ session_id, purpose, lifecycle: state?.lifecycle ?? null, depth, step, children: own }];
    });
  return { depth: parents.length, parents, children: nodesOf(children, parents.length + 1), more };
}

/** @returns nothing for a session without parent and children */
export function treeLines({ parents, children, more }: Tree): string[] {
  const [parent] = parents;
  return [
    ...(parent === undefined ? [] : [`part of session ${parent}`]),
    ...(children.length === 0 ? [] : ['child sessions:', ...children.flatMap((node) => nodeLines(node, '  '))]),
    ...(more === 0 ? [] : [`  and ${more} more`]),
  ];
}

function nodeLines({ session_id, purpose, lifecycle, children }: TreeNode, indent: string): string[] {
  const about = lifecycle === null ? 'removed' : `${lifecycle}: ${purpose}`;
  return [
    oneLine(`${session_id}, ${about}`).replace(/^/, indent),
    ...children.flatMap((child) => nodeLines(child, `${indent}  `)),
  ];
}
