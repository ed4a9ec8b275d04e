/** Section of a context: the words that completed phases have left for those behind them. */
import type { Step, Worklog } from '../fold/worklog.js';
import type { Section } from './budget.js';
import { isOpen } from './declaredSections.js';
import { entries, type Words } from './observedSections.js';

/** @returns what the phases that are open need to know of those that they waited for; empty if nothing was written down */
export function handedOn({ steps }: Pick<Worklog, 'steps'>, words: Words): Section {
  const open = [...steps.values()].filter(isOpen);
  const needed = [...steps.values()].filter(
    ({ id, status }) => status === 'completed' && open.some(({ blocked_by }) => blocked_by.includes(id)),
  );
  return {
    title: 'From the phases before, for those that are open:',
    entries: entries(
      'steps',
      needed.flatMap((step) => linesOf(step, words)),
    ),
  };
}

function linesOf({ id, context }: Step, words: Words): string[] {
  return Object.entries(context ?? {}).flatMap(([list, texts]) =>
    texts.map((text) => `- ${words.name(id)}, ${list.replaceAll('_', ' ')}: ${words.text(text)}`),
  );
}
