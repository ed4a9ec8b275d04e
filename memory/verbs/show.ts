import { shownLines, showSession } from '../show/shown.js';
import { MAYBE_ID } from './meant.js';
import { meantHere } from './meantHere.js';
import { verb } from './verb.js';

export const show = verb({
  name: 'show',
  summary: 'everything that is known of a session',
  fields: { id: MAYBE_ID },
  async run(memory, input, { judge }) {
    const { session, asides } = await meantHere(memory, input);
    const shown = await showSession(memory, session, judge);
    return { lines: shownLines(shown), value: shown.value, asides };
  },
});
