import { agentWord, stateWords } from '../../../memory/condition/words.js';
import { type ListedSession, listSessions, rowValue } from '../../../memory/look/list.js';
import { directoryWord } from '../../../memory/show/rowWords.js';
import { ago } from '../../../memory/show/status.js';
import { judgeIn } from '../../../monitoring/terminals/judge.js';
import type { ExitCode } from '../../command/command.js';
import { sayEach } from '../../command/print.js';
import { columnsOf, renderTable } from '../../command/table.js';
import { word } from '../../command/word.js';

export const list = word({
  usage: 'list [--here] [--all|--archived]',
  summary:
    'unfinished sessions; --here: of this directory, --all: ended ones, too,\n      --archived: those in the archive',
  options: { here: { type: 'boolean' }, all: { type: 'boolean' }, archived: { type: 'boolean' } },
  words: 0,
  async run({ memory, values, print, context }): Promise<ExitCode> {
    // Several sessions may be of one directory whose log cannot be read.
    const unreadable = new Set<string>();
    const sessions = await listSessions(memory, {
      here: values.here === true,
      which: values.archived ? 'archived' : values.all ? 'all' : 'unfinished',
      judge: judgeIn(memory),
      onUnreadable: ({ message }) => unreadable.add(message),
    });
    const now = memory.clock.now();
    const rows = sessions.map((session) => [
      session.session_id,
      stateWords(session.condition),
      agentWord(session.condition),
      progressWords(session),
      lastWords(session, now),
      ...(values.here ? [] : [directoryWord(session, memory.surroundings.variables.HOME)]),
      session.purpose,
    ]);
    const places = values.here ? [] : ['DIRECTORY'];
    const head = ['SESSION', 'STATE', 'AGENT', 'STEPS', 'LAST ACTIVITY', ...places, 'PURPOSE'];
    const { redact, io } = context;
    const table = renderTable(
      head,
      rows.map((row) => row.map(redact)),
      { columns: columnsOf(io), last: 'cut' },
    );
    const none = unreadable.size === 0 ? 'no sessions' : 'no session that can be read';
    print(rows.length === 0 ? none : table.split('\n'), sessions.map(rowValue));
    sayEach(io, unreadable);
    return unreadable.size === 0 ? 0 : 3;
  },
});

function progressWords({
  condition: {
    progress: { done, total },
  },
}: ListedSession): string {
  return total === 0 ? '-' : `${done}/${total}`;
}

function lastWords({ last_activity }: ListedSession, now: number): string {
  return last_activity === null ? '-' : ago(now - last_activity);
}
