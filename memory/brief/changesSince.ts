/** Changes while no agent worked on a session. */
import { counted } from '../../src/counted.js';
import { shorten } from '../../src/log/shorten.js';
import { isoTime } from '../../src/time.js';
import type { Git } from '../git/git.js';
import type { Stamp } from '../logs/line.js';
import type { Look } from '../look/look.js';
import { quoted } from './fence.js';

const LONGEST_ENTRY = 80;
/** They say when an agent came and went. */
const NO_CHANGES = ['session_started', 'run_started', 'run_ended'];

export interface Changing {
  readonly git: Pick<Git, 'commitsAfter'>;
  readonly stamp: Pick<Stamp, 'redact'>;
}

/** @returns in sentences, what a returning agent does not know */
export function changesSince(memory: Changing, { log, fold, last, condition }: Look): string[] {
  const left = fold?.lastActivity ?? last;
  if (left === null) return [];
  const commits = memory.git.commitsAfter(left);
  const declared = log.recent.filter(
    ({ at, event, origin }) =>
      at > left && !NO_CHANGES.includes(event) && origin !== 'watchkeeper' && origin !== 'program',
  );
  return [
    ...(commits ? [`- ${counted(commits, 'commit')} ${commits === 1 ? 'was' : 'were'} made in its directory`] : []),
    ...declared.map(
      ({ at, words }) => `- ${isoTime(at)} ${quoted(shorten(memory.stamp.redact(words), LONGEST_ENTRY))}`,
    ),
    ...(condition.check.critical ? ['- much may have changed: ask the person before going on'] : []),
  ];
}
