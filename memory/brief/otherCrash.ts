/** Reports to an agent the crash of another session in its directory. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Look } from '../look/look.js';
import { lastAskedOf, purposeOf } from '../observed/purpose.js';
import type { Section } from './budget.js';
import { proofOf } from './crashReport.js';
import { doubtOf, entries, leftOf, type Words } from './observedSections.js';

/** @param here the identity of a process of this host */
export function otherCrash(
  { log, fold, condition }: Pick<Look, 'log' | 'fold' | 'condition'>,
  here: ProcessIdentity,
  words: Words,
): Section[] {
  const name = words.name(log.session_id ?? '');
  const purpose = purposeOf(log, fold);
  // An answered prompt was not cut off.
  const asked = fold?.isTurnOpen ? lastAskedOf(log, fold) : null;
  const lines = [
    `Session ${name}${purpose === '' ? '' : `: ${words.text(purpose)}`}`,
    `Its agent crashed: ${proofOf(log, here)}.`,
    ...(asked === null ? [] : [`It was last asked: ${words.text(asked)}`]),
    `To see all of it: watchkeeper track resume ${name}`,
  ];
  return [
    { title: 'Beside it, another session of this directory crashed:', entries: entries('next', lines) },
    leftOf(condition.left, words),
    doubtOf(condition.doubtful, words),
  ];
}
