import { oneLine } from '../../src/log/visibleText.js';
import type { Changed, Changes } from '../workspaces/changes.js';

/** @param most paths of each kind; the rest is counted */
export function changeLines({ created, modified, deleted }: Changes, most = Number.POSITIVE_INFINITY): string[] {
  const lines = (what: string, { count, paths }: Changed): string[] => {
    const shown = paths.slice(0, most);
    const more = count - shown.length;
    return [
      ...shown.map((path) => `  ${what.padEnd('modified'.length)}  ${oneLine(path)}`),
      ...(more > 0 ? [`  … and ${more} more ${what}`] : []),
    ];
  };
  return [...lines('created', created), ...lines('modified', modified), ...lines('deleted', deleted)];
}
