/** A handoff in words. A model reads them, so all that its author wrote stands within the fence. */
import { localTime } from '../../src/time.js';
import type { Drift } from '../handoffs/drift.js';
import type { Handoff } from '../handoffs/handoffs.js';
import { type Answer, byWords, type Offer, type TakenAs } from '../handoffs/kind.js';
import { endWords } from '../handoffs/outcome.js';
import { ago } from '../show/status.js';
import { fenced, quoted } from './fence.js';

/**
 * @param now UTC epoch milliseconds
 * @returns the document, fenced, after the changes since it was written
 */
export function handoffText(handoff: Handoff, drift: readonly Drift[], now: number): string {
  const { offer, answer } = handoff.state;
  const reason = answer?.reason;
  const { title, goal, state, notes, done, learnings, files, next, references, tags } = offer.document;
  const place = offer.branch === null ? offer.root : `${offer.root}, branch ${offer.branch}`;
  return fenced([
    `Handoff ${handoff.id}: ${quoted(title)}`,
    `Written ${ago(now - offer.at)} (${localTime(offer.at)}) by ${authorOf(offer)}, in ${quoted(place)}`,
    ...(reason == null ? [] : [`Reason of the answer: ${quoted(reason)}`]),
    ...(drift.length === 0
      ? ['Nothing has changed since.']
      : ['Changed since it was written:', ...drift.map(({ words }) => `- ${quoted(words)}`)]),
    ...texts('Goal', goal),
    ...items('Done', done),
    ...items('Learnings', learnings),
    ...items('Files', files),
    ...texts('State', state),
    ...items('Next', next),
    ...items('References', references),
    ...texts('Notes', notes),
    ...items('Tags', tags),
  ]);
}

function items(title: string, list: readonly string[]): string[] {
  return list.length === 0 ? [] : [`${title}:`, ...list.map((text) => `- ${quoted(text)}`)];
}

function texts(title: string, text: string | null): string[] {
  return text === null ? [] : [`${title}:`, ...text.split('\n').map((line) => `  ${quoted(line)}`)];
}

/** @returns `session S`, `an agent` or `a person` */
export function authorOf({ session_id, origin }: Offer): string {
  if (session_id !== null) return `session ${session_id}`;
  return origin === 'agent' ? 'an agent' : 'a person';
}

/** @returns `to follow`, `to adapt` or `to begin fresh` */
export function takenAs(as: TakenAs): string {
  return `to ${as === 'fresh' ? 'begin fresh' : as}`;
}

/** @param words for the answer; in a few, if missing. @returns what became of it */
export function statusOf(
  { state: { answer, end } }: Handoff,
  words = (given: Answer) => `${given.kind}${byWords(given)}`,
): string {
  if (answer === null) return 'offered';
  if (end !== null) return endWords(end);
  return `${words(answer)}${answer.as === null ? '' : `, ${takenAs(answer.as)}`}`;
}
