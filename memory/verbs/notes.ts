/** Verbs that record finished work, things to remember, and that work continues. */

import { UsageError } from '../../src/errors.js';
import { HOUR, isoTime, localTime, MINUTE, SECOND } from '../../src/time.js';
import { worklogKind } from '../fold/rules/kind.js';
import { writeFact } from '../sessions/write.js';
import { PRIORITIES } from '../words.js';
import { flag, neededWord, option } from './fields.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

const USUAL_PING_MS = 10 * MINUTE;
const LONGEST_PING_MS = HOUR;
const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR };

export const log = verb({
  name: 'log',
  summary: 'write down what was done',
  fields: {
    message: neededWord('MESSAGE', 'what should be logged? For example: watchkeeper track log "tests are green"'),
    step: option('[--step ID]'),
  },
  run(memory, input) {
    const { message, step } = input;
    const session = meant(memory, input);
    writeFact(session, memory.stamp, worklogKind.line('log', { message, step }));
    return { lines: 'logged', value: { session_id: session.id } };
  },
});

export const note = verb({
  name: 'note',
  summary: 'keep what the next agent, or any agent here, must know (also: anchor)',
  fields: {
    text: neededWord('TEXT', 'what should be kept? For example: watchkeeper track note "the API wants UTC"'),
    priority: option('[--priority critical|high|normal]'),
    workspace: flag('[--workspace]'),
  },
  run(memory, input) {
    const { text, workspace: isForAll } = input;
    const priority = PRIORITIES.find((known) => known === (input.priority ?? 'normal'));
    if (priority === undefined)
      throw new UsageError(`--priority ${JSON.stringify(input.priority)}: one of ${PRIORITIES.join(', ')}`);
    if (isForAll) {
      const { claims, workspace } = memory;
      claims.note(workspace, text, priority);
      const lines = `noted for every session of ${workspace.root}, ${priority}`;
      return { lines, value: { workspace: workspace.id, priority } };
    }
    const session = meant(memory, input);
    writeFact(session, memory.stamp, worklogKind.line('note', { text, priority }));
    // Nothing else is taken then, so a person may expect a refusal.
    const { lifecycle, archived } = session.log.state;
    const where =
      archived !== null ? ', in the archive' : lifecycle === 'ended' ? ', after the end of the session' : '';
    return { lines: `noted, ${priority}${where}`, value: { session_id: session.id, priority } };
  },
});

export const ping = verb({
  name: 'ping',
  summary: 'say that work goes on although nothing can be seen; at most an hour',
  fields: { detail: option('[--detail TEXT]'), for: option('[--for 10m]') },
  run(memory, input) {
    const session = meant(memory, input);
    const end = memory.clock.now() + durationOf(input.for);
    const until = isoTime(end);
    writeFact(session, memory.stamp, worklogKind.line('ping', { detail: input.detail, until }));
    return { lines: `silence is excused until ${localTime(end)}`, value: { session_id: session.id, until } };
  },
});

function durationOf(text: string | undefined): number {
  if (text === undefined) return USUAL_PING_MS;
  const [, number, unit = ''] = /^(\d+)([smh])$/.exec(text) ?? [];
  const duration = Number(number) * (UNITS[unit] ?? 0);
  if (duration > 0 && duration <= LONGEST_PING_MS) return duration;
  throw new UsageError(`--for ${JSON.stringify(text)}: a time of at most an hour, such as 30s or 10m`);
}
