/** The line that a person sees when their agent starts. It may hold their own words: the screen is theirs. */
import { counted } from '../../src/counted.js';
import type { Redact } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import { oneLine } from '../../src/log/visibleText.js';
import { HOUR } from '../../src/time.js';
import { INTERRUPTED, isInterrupted } from '../condition/words.js';
import type { Look } from '../look/look.js';
import { lastAskedOf, purposeOf } from '../observed/purpose.js';
import { ago } from '../show/status.js';

const LONGEST_PURPOSE = 80;

/** @returns null if its agent was not interrupted, and the session is not very old */
export function noticeOf(look: Look, redact: Redact): string | null {
  const { log, condition } = look;
  const way = `watchkeeper track resume ${log.session_id}`;
  const { agent } = condition;
  if (agent === 'crashed' || agent === 'cut_off') {
    // A person who opens several windows has read it.
    if (log.told !== null && look.now - log.told.at < HOUR) return null;
    return `watchkeeper: an agent here ${INTERRUPTED[agent]}${wordsOf(look, redact)}. The new agent has its record; you can read it with: ${way}`;
  }
  if (!condition.check.critical) return null;
  return `watchkeeper: the last session here is old${wordsOf(look, redact)}. Much may have changed: ${way}`;
}

/** Reports the interruption of another agent in the directory. */
export function noticeOfOther(look: Look, redact: Redact): string {
  const how = INTERRUPTED[look.condition.agent === 'cut_off' ? 'cut_off' : 'crashed'];
  return `watchkeeper: another agent here ${how}${wordsOf(look, redact)}. You can read its record with: watchkeeper track resume ${look.log.session_id}`;
}

/** @param id of a session whose agent is gone, and whose record cannot be read in time */
export function noticeOfUnread(id: string): string {
  return `watchkeeper: an agent here is gone and did not report its end. Its record is too long to be read at a start; you can read it with: watchkeeper track resume ${id}`;
}

function wordsOf(look: Look, redact: Redact): string {
  const { log, fold, last, now, condition } = look;
  const { done, total } = condition.progress;
  const purpose = shorten(redact(oneLine(purposeOf(log, fold))), LONGEST_PURPOSE);
  const progress = total === 0 ? '' : ` (${done} of ${counted(total, 'step')} done)`;
  const when = last === null ? '' : `, ${ago(now - last)}`;
  // An answered prompt was not cut off.
  const asked = isInterrupted(condition) && fold?.isTurnOpen ? lastAskedOf(log, fold) : null;
  const broken = asked === null ? '' : `; last asked: ${shorten(redact(oneLine(asked)), LONGEST_PURPOSE)}`;
  return `${when}${purpose === '' ? '' : `: ${purpose}`}${progress}${broken}`;
}
