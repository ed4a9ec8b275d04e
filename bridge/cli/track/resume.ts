import { buildResumeContext } from '../../../memory/brief/resumeContext.js';
import { isCrashed } from '../../../memory/fold/crash.js';
import { freshnessOf, isStateStale } from '../../../memory/fold/freshness.js';
import { isoTime } from '../../../src/time.js';
import { word } from '../../command/word.js';

export const resume = word({
  usage: 'resume [ID] [--ack]',
  summary: 'how to go on; --ack for a session that rested for more than a week',
  options: { ack: { type: 'boolean' } },
  words: 1,
  run({ memory, values, words: [named], print, context }) {
    const session = memory.which(named ?? values.session ?? null);
    const { state } = session.log;
    const now = memory.clock.now();
    if (values.ack) session.log.write(() => [{ event: 'acknowledged' }], memory.stamp, { isFact: true });
    const last = Math.max(state.last_activity ?? 0, state.acknowledged_at ?? 0) || null;
    const check = isStateStale(last, now, memory.settings.freshness);
    if (check.critical) {
      const since =
        last === null
          ? 'nothing is known of its activity'
          : `it rested since ${isoTime(last)}, for ${check.hours} hours`;
      context.io.stderr(
        `${session.id}: ${since}. Much may have changed; ask whoever owns it, then: track resume ${session.id} --ack\n`,
      );
      return 1;
    }
    const { process } = memory.surroundings;
    const text = buildResumeContext(state, {
      level: 'root',
      now,
      root: memory.workspace.root,
      here: process,
      crashed: isCrashed(state, process),
      settings: memory.settings,
      pinned: memory.claims.read(memory.workspace)?.notes ?? [],
    });
    print(text, {
      session_id: session.id,
      freshness: freshnessOf(last, now, memory.settings.freshness),
      check,
      context: text,
    });
    return 0;
  },
});
