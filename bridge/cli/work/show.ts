import { statusLines, statusOf } from '../../../memory/show/status.js';
import { word } from '../../command/word.js';

export const show = word({
  usage: 'show [ID]',
  summary: 'everything that is known of a session',
  options: {},
  words: 1,
  run({ memory, values, words: [named], print }) {
    const { log } = memory.which(named ?? values.session ?? null);
    const shown = statusOf(log.state, log.at, {
      now: memory.clock.now(),
      here: memory.surroundings.process,
      hours: memory.settings.freshness,
    });
    const { lines, applied, refused, unreadable } = log.counts;
    print(statusLines(shown).join('\n'), {
      ...shown.state,
      ...shown.computed,
      log: { lines, applied, refused, unreadable },
    });
    return 0;
  },
});
