/** Section of a context: the titles of handoffs on offer. The rest of them is for the worker that accepts one. */
import { counted } from '../../src/counted.js';
import type { Handoff } from '../handoffs/handoffs.js';
import type { Section } from './budget.js';
import { quoted } from './fence.js';
import { entries, type Words } from './observedSections.js';

const MOST_TITLES = 3;

export function offersOf(handoffs: readonly Handoff[], words: Words): Section[] {
  if (handoffs.length === 0) return [];
  const named = handoffs.slice(0, MOST_TITLES);
  const more = handoffs.length - named.length;
  const lines = named.map(({ id, state }) => `- ${id}: ${words.text(state.offer.document.title)}`);
  return [
    {
      title:
        'Handoffs on offer here (take one only if you are asked to: watchkeeper handoff accept ID --as follow|adapt|fresh):',
      entries: entries('rest', [...lines, ...(more > 0 ? [`- ${counted(more, 'more handoff')}`] : [])]),
    },
  ];
}

/** @returns a line for the person; null if none is on offer */
export function noticeOfOffers([first, ...more]: readonly Handoff[]): string | null {
  if (first === undefined) return null;
  const others = more.length === 0 ? '' : ` and ${counted(more.length, 'other')}`;
  return `on offer here: handoff ${quoted(first.state.offer.document.title)}${others} (watchkeeper handoff list)`;
}
