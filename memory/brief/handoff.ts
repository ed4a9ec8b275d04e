/** A handoff in words. A model reads them, so all that its author wrote stands within the fence. */
import { localTime } from '../../src/time.js';
import type { Drift } from '../handoffs/drift.js';
import type { Handoff } from '../handoffs/handoffs.js';
import { endWords } from '../handoffs/outcome.js';
import { ago } from '../show/status.js';
import { fenced, quoted } from './fence.js';

/**
 * @param now UTC epoch milliseconds
 * @returns the document, fenced, after the changes since it was written
 */
export function handoffText(handoff: Handoff, drift: readonly Drift[], now: number): string {
  const { offer } = handoff.state;
  const { title, goal, state, notes, done, learnings, files, next, references, tags } = offer.document;
  const place = offer.branch === null ? offer.root : `${offer.root}, branch ${offer.branch}`;
  const author = offer.session_id === null ? 'a person' : `session ${offer.session_id}`;
  return fenced([
    `Handoff ${handoff.id}: ${quoted(title)}`,
    `Written ${ago(now - offer.at)} (${localTime(offer.at)}) by ${author}, in ${quoted(place)}`,
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

/** @returns what became of it, in a few words */
export function statusOf({ state: { answer, end } }: Handoff): string {
  if (answer === null) return 'offered';
  if (end !== null) return endWords(end);
  const who = answer.session_id === null ? '' : ` by ${answer.session_id}`;
  return `${answer.kind}${who}${answer.as === null ? '' : `, to ${answer.as === 'fresh' ? 'begin fresh' : answer.as}`}`;
}
