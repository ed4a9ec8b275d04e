/** Relative paths of an agent that has left the directory in which its transcript begins: there they would name other files. */
import { resolve } from 'node:path';
import type { Changes } from './deeds.js';
import type { Draft } from './draft.js';

/**
 * @param directory in which the agent was; an absolute path
 * @returns the draft with whole paths
 */
export function inDirectory(draft: Draft, directory: string): Draft {
  const { deed, done } = draft.hints;
  const whole = (path: string) => resolve(directory, path);
  const event = draft.event.event === 'pre_tool_use' ? { ...draft.event, directory } : draft.event;
  if (deed?.path === undefined && done?.path === undefined && done?.changes === undefined) return { ...draft, event };
  const placed = <Part extends { readonly path?: string }>(part: Part): Part =>
    part.path === undefined ? part : { ...part, path: whole(part.path) };
  return {
    ...draft,
    event,
    hints: {
      ...draft.hints,
      ...(deed !== undefined && { deed: placed(deed) }),
      ...(done !== undefined && {
        done: { ...placed(done), ...(done.changes !== undefined && { changes: changesIn(done.changes, whole) }) },
      }),
    },
  };
}

function changesIn(
  { created, modified, deleted, changed, renamed, more }: Changes,
  whole: (path: string) => string,
): Changes {
  return {
    ...(created !== undefined && { created: created.map(whole) }),
    ...(modified !== undefined && { modified: modified.map(whole) }),
    ...(deleted !== undefined && { deleted: deleted.map(whole) }),
    ...(changed !== undefined && { changed: changed.map(whole) }),
    ...(renamed !== undefined && { renamed: renamed.map(({ from, to }) => ({ from: whole(from), to: whole(to) })) }),
    ...(more !== undefined && { more }),
  };
}
