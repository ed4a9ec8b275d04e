/** Changes while no agent worked on a session. */
import { counted } from '../../src/counted.js';
import { shorten } from '../../src/log/shorten.js';
import { HOUR, isoTime } from '../../src/time.js';
import type { Git } from '../git/git.js';
import type { Stamp } from '../logs/line.js';
import type { Look } from '../look/look.js';
import { quoted } from './fence.js';

const LONGEST_ENTRY = 80;

export interface Changing {
  readonly git: Pick<Git, 'commitsAfter'>;
  readonly stamp: Pick<Stamp, 'redact'>;
}

/** @returns in sentences, what a returning agent does not know */
export function changesSince(memory: Changing, { log, fold, last, now, condition }: Look): string[] {
  const left = fold?.lastActivity ?? last;
  if (left === null) return [];
  const hours = Math.floor((now - left) / HOUR);
  const commits = memory.git.commitsAfter(left);
  const declared = log.recent.filter(({ at, origin }) => at > left && origin !== 'watchkeeper' && origin !== 'program');
  return [
    ...(hours > 0 ? [`- it rested for ${counted(hours, 'hour')}`] : []),
    ...(commits ? [`- ${counted(commits, 'commit')} ${commits === 1 ? 'was' : 'were'} made in its directory`] : []),
    ...declared.map(
      ({ at, words }) => `- ${isoTime(at)} ${quoted(shorten(memory.stamp.redact(words), LONGEST_ENTRY))}`,
    ),
    ...(condition.check.critical ? ['- much may have changed: ask the person before going on'] : []),
  ];
}
