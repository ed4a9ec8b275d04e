import { statusLines, statusOf } from '../../../memory/show/status.js';
import { word } from '../../command/word.js';

export const status = word({
  usage: 'status',
  summary: 'show the task, the steps and the files in progress',
  options: {},
  words: 0,
  run({ memory, values, print }) {
    const { log } = memory.which(values.session ?? null);
    const shown = statusOf(log.state, log.at, {
      now: memory.clock.now(),
      here: memory.surroundings.process,
      hours: memory.settings.freshness,
    });
    print(statusLines(shown).join('\n'), { ...shown.state, ...shown.computed, log: log.counts });
    return 0;
  },
});
