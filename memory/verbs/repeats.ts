/** The failures that came back in a session, for the last line of its end. */
import { counted } from '../../src/counted.js';
import { UnreachableError } from '../../src/errors.js';
import { drawFromSession } from '../learnings/drawFrom.js';
import { Learnings, tagsOf } from '../learnings/learnings.js';
import type { Viewer } from '../sessions/views.js';
import { failuresOf } from '../show/learningWords.js';

const NONE = { lines: [], value: {} } as const;

/** @returns what no learning is about yet: a line that names them and what to type; nothing if there are none, or the transcripts cannot be read */
export async function repeatsOf(memory: Viewer, id: string) {
  try {
    const session = memory.look(id);
    const failures = session === null ? [] : failuresOf(await drawFromSession(memory, session));
    const known = failures.length === 0 ? null : tagsOf(new Learnings(memory).read());
    const again = failures.filter(({ id: failure, count }) => count > 1 && known?.has(failure) !== true);
    const [most] = again;
    if (most === undefined) return NONE;
    const what = `${most.command === '' ? most.tool : most.command} (${most.count} ×)`;
    const line = `${counted(again.length, 'failure')} came back in it${again.length === 1 ? ':' : ', such as'} ${what}. What is worth keeping? watchkeeper learn draw ${id}`;
    return { lines: [line], value: { came_back: again.length } };
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return NONE;
  }
}
