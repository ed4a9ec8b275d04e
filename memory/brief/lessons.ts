/** Section of a context: learnings that were added for the agents of this repository. Observed failures are a count. */
import { counted } from '../../src/counted.js';
import { UnreachableError } from '../../src/errors.js';
import { keyOf, type LearningsState, type Scope } from '../learnings/kind.js';
import { CAME_BACK, cameBack, Learnings, scopeOf } from '../learnings/learnings.js';
import type { Memory } from '../sessions/memory.js';
import type { Section } from './budget.js';
import { entries, type Words } from './observedSections.js';

const MOST_LEARNINGS = 3;

type Reading = Pick<Memory, 'places' | 'stamp' | 'workspace'>;

/**
 * @param reader the session of the agent that is to read them: it knows what it has added itself
 * @returns nothing if the log cannot be read: the rest of the context is worth more
 */
export function lessonsFor(memory: Reading, reader: string, words: Words): Section[] {
  try {
    const state = new Learnings(memory).read();
    const isEmpty = state.learnings.size === 0 && state.failed.size === 0;
    return isEmpty ? [] : lessonsOf(state, scopeOf(memory.workspace), reader, words);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return [];
  }
}

function lessonsOf(state: LearningsState, scope: Scope, reader: string, words: Words): Section[] {
  const all = [...state.learnings.values()].filter(
    (one) => keyOf(one) === keyOf(scope) && (one.session_id === null || one.session_id !== reader),
  );
  const named = all.slice(-MOST_LEARNINGS).reverse();
  const more = all.length - named.length;
  const lines = [
    ...named.map(({ text }) => `- ${words.text(text)}`),
    ...(more > 0 ? [`- ${counted(more, 'more learning')}: watchkeeper learn`] : []),
  ];
  const waiting = cameBack(state, scope).length;
  const count = `${counted(waiting, 'failure')} came back here in ${CAME_BACK} or more sessions: watchkeeper learn draw`;
  return [
    ...(lines.length === 0 ? [] : [{ title: 'Learned here before:', entries: entries('rest', lines) }]),
    ...(waiting === 0 ? [] : [{ title: '', entries: entries('rest', [count]) }]),
  ];
}
