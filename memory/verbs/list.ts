import { agentWord, stateWords } from '../condition/words.js';
import { type ListedSession, listSessions, rowValue } from '../look/list.js';
import { directoryWord } from '../show/rowWords.js';
import { ago } from '../show/status.js';
import { flag } from './fields.js';
import { type Outcome, verb } from './verb.js';

export const list = verb({
  name: 'list',
  summary: 'unfinished sessions; --here: of this directory, --all: ended ones, too,\n--archived: those in the archive',
  fields: { here: flag('[--here]'), all: flag('[--all|--archived]'), archived: flag('') },
  async run(memory, { here, all, archived }, { judge }): Promise<Outcome> {
    // Several sessions may be of one directory whose log cannot be read.
    const unreadable = new Set<string>();
    const which = archived ? 'archived' : all ? 'all' : 'unfinished';
    const sessions = await listSessions(memory, {
      ...{ here, which, judge },
      onUnreadable: ({ message }) => unreadable.add(message),
    });
    const now = memory.clock.now();
    const { redact } = memory.stamp;
    const rows = sessions.map((session) => [
      session.session_id,
      stateWords(session.condition),
      agentWord(session.condition),
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
      value: sessions.map(rowValue),
      asides: [...unreadable],
      ...(unreadable.size > 0 && { verdict: 'partial' }),
    };
  },
});

function progressWords({ condition }: ListedSession): string {
  const { done, total } = condition.progress;
  return total === 0 ? '-' : `${done}/${total}`;
}

function lastWords({ last_activity }: ListedSession, now: number): string {
  return last_activity === null ? '-' : ago(now - last_activity);
}
