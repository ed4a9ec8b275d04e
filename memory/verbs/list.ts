import { type ListedSession, listSessions } from '../show/list.js';
import { agentWord, directoryWord } from '../show/rowWords.js';
import { ago } from '../show/status.js';
import { flag } from './fields.js';
import { type Outcome, verb } from './verb.js';

export const list = verb({
  name: 'list',
  summary: 'unfinished sessions; --here: of this directory, --all: ended ones, too,\n--archived: those in the archive',
  fields: { here: flag('[--here]'), all: flag('[--all|--archived]'), archived: flag('') },
  async run(memory, { here, all, archived }): Promise<Outcome> {
    // Several sessions may be of one directory whose log cannot be read.
    const unreadable = new Set<string>();
    const which = archived ? 'archived' : all ? 'all' : 'unfinished';
    const sessions = await listSessions(memory, { here, which }, ({ message }) => unreadable.add(message));
    const now = memory.clock.now();
    const { redact } = memory.stamp;
    const rows = sessions.map((session) => [
      session.session_id,
      stateWords(session),
      agentWord(session),
      progressWords(session),
      lastWords(session, now),
      ...(here ? [] : [directoryWord(session, memory.surroundings.variables.HOME)]),
      session.purpose,
    ]);
    const places = here ? [] : ['DIRECTORY'];
    const head = ['SESSION', 'STATE', 'AGENT', 'STEPS', 'LAST ACTIVITY', ...places, 'PURPOSE'];
    const none = unreadable.size === 0 ? 'no sessions' : 'no session that can be read';
    return {
      lines: rows.length === 0 ? none : { head, rows: rows.map((row) => row.map(redact)) },
      value: sessions,
      asides: [...unreadable],
      ...(unreadable.size > 0 && { verdict: 'partial' }),
    };
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
