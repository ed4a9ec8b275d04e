import { type ListedSession, listSessions } from '../../../memory/look/list.js';
import { agentWord, directoryWord } from '../../../memory/show/rowWords.js';
import { ago } from '../../../memory/show/status.js';
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
    const sessions = await listSessions(
      memory,
      { here: values.here === true, which: values.archived ? 'archived' : values.all ? 'all' : 'unfinished' },
      ({ message }) => unreadable.add(message),
    );
    const now = memory.clock.now();
    const rows = sessions.map((session) => [
      session.session_id,
      stateWords(session),
      agentWord(session),
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
    print(rows.length === 0 ? none : table.split('\n'), sessions);
    sayEach(io, unreadable);
    return unreadable.size === 0 ? 0 : 3;
  },
});

function stateWords({ lifecycle, end_reason, crashed, stuck, ...log }: ListedSession): string {
  const { unreadable, emptied, newer, created_at } = log;
  const words = crashed ? 'crashed' : stuck ? 'stuck' : (end_reason ?? lifecycle);
  // What a newer version has written may be its beginning.
  const isDamaged = unreadable > 0 || emptied || (created_at === null && newer === 0);
  return [words, ...(isDamaged ? ['damaged'] : []), ...(newer > 0 ? ['newer version'] : [])].join(', ');
}

function progressWords({ progress: { done, total } }: ListedSession): string {
  return total === 0 ? '-' : `${done}/${total}`;
}

function lastWords({ last_activity }: ListedSession, now: number): string {
  return last_activity === null ? '-' : ago(now - last_activity);
}
