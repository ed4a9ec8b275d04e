import { shownLines, showSession } from '../show/shown.js';
import { MAYBE_ID, meant } from './meant.js';
import { verb } from './verb.js';

export const show = verb({
  name: 'show',
  summary: 'everything that is known of a session',
  fields: { id: MAYBE_ID },
  async run(memory, input, { judge }) {
    const shown = await showSession(memory, meant(memory, input), judge);
    return { lines: shownLines(shown), value: shown.value };
  },
});
