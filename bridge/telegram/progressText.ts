/** What a progress message says while its run works. */
import type { AgentSession } from '../../src/model.js';
import { shorten } from '../../src/shorten.js';
import { type Activity, activityLine } from '../chat/progressView.js';

/** The first words, true for ever: a message whose send had an unknown outcome keeps them. */
export const STARTED = 'Started.';
const SECOND_ATTEMPT = 'Second attempt.';
const LONGEST_NOTE = 400;

/** @returns null while there is nothing new to say: what an earlier run left stands until then */
export function progressText(activity: Activity | null, session: AgentSession, now: number): string | null {
  if (activity === null) return null;
  const lines = [
    ...(session.attempt === 2 ? [SECOND_ATTEMPT] : []),
    activityLine(activity, now),
    ...(activity.note === null ? [] : [shorten(activity.note.trim(), LONGEST_NOTE)]),
  ];
  return lines.join('\n');
}
