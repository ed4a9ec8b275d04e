import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { writeFact } from '../../../memory/sessions/write.js';
import { PRIORITIES } from '../../../memory/words.js';
import { UsageError } from '../../../src/errors.js';
import { HOUR, isoTime, MINUTE, SECOND } from '../../../src/time.js';
import { word } from '../../command/word.js';

const USUAL_PING_MS = 10 * MINUTE;
const LONGEST_PING_MS = HOUR;
const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR };

export const log = word({
  usage: 'log MESSAGE [--step ID]',
  summary: 'write down what was done',
  options: { step: { type: 'string' } },
  words: 1,
  run({ memory, values, words: [message = ''], print }) {
    if (message.trim() === '')
      throw new UsageError('what should be logged? For example: watchkeeper track log "tests are green"');
    const session = memory.which(values.session ?? null);
    writeFact(session, memory.stamp, worklogKind.line('log', { message, step: values.step }));
    print('logged', { session_id: session.id });
    return 0;
  },
});

export const note = word({
  usage: 'note TEXT [--priority critical|high|normal] [--workspace]',
  summary: 'keep what the next agent, or any agent here, must know (also: anchor)',
  options: { priority: { type: 'string' }, workspace: { type: 'boolean' } },
  words: 1,
  run({ memory, values, words: [text = ''], print }) {
    if (text.trim() === '')
      throw new UsageError('what should be kept? For example: watchkeeper track note "the API wants UTC"');
    const priority = PRIORITIES.find((known) => known === (values.priority ?? 'normal'));
    if (priority === undefined)
      throw new UsageError(`--priority ${JSON.stringify(values.priority)}: one of ${PRIORITIES.join(', ')}`);
    if (values.workspace) {
      memory.claims.note(memory.workspace, text, priority);
      print(`noted for every session of ${memory.workspace.root}, ${priority}`, {
        workspace: memory.workspace.id,
        priority,
      });
      return 0;
    }
    const session = memory.which(values.session ?? null);
    writeFact(session, memory.stamp, worklogKind.line('note', { text, priority }));
    print(`noted, ${priority}`, { session_id: session.id, priority });
    return 0;
  },
});

export const ping = word({
  usage: 'ping [--detail TEXT] [--for 10m]',
  summary: 'say that work goes on although nothing can be seen; at most an hour',
  options: { detail: { type: 'string' }, for: { type: 'string' } },
  words: 0,
  run({ memory, values, print }) {
    const session = memory.which(values.session ?? null);
    const until = isoTime(memory.clock.now() + durationOf(values.for));
    writeFact(session, memory.stamp, worklogKind.line('ping', { detail: values.detail, until }));
    print(`silence is excused until ${until}`, { session_id: session.id, until });
    return 0;
  },
});

function durationOf(text: string | undefined): number {
  if (text === undefined) return USUAL_PING_MS;
  const [, number, unit = ''] = /^(\d+)([smh])$/.exec(text) ?? [];
  const duration = Number(number) * (UNITS[unit] ?? 0);
  if (duration > 0 && duration <= LONGEST_PING_MS) return duration;
  throw new UsageError(`--for ${JSON.stringify(text)}: a time of at most an hour, such as 30s or 10m`);
}
