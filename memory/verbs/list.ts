import { counted } from '../../src/counted.js';
import { agentWord, stateCell } from '../condition/words.js';
import { type ListedSession, listSessions, rowValue } from '../look/list.js';
import { directoryWord, purposeWord } from '../show/rowWords.js';
import { ago } from '../show/status.js';
import { flag } from './fields.js';
import { type Outcome, verb } from './verb.js';

/** A person reads no more of them. */
const MOST_SHOWN = 20;

export const list = verb({
  name: 'list',
  summary:
    'unfinished sessions, by directory; --here: of this directory,\n--all: ended ones, too, --archived: those in the archive',
  isAnywhere: true,
  fields: { here: flag('[--here]'), all: flag('[--all|--archived]'), archived: flag('') },
  async run(memory, { here, all, archived }, { judge, isProgram }): Promise<Outcome> {
    // Several sessions may be of one directory whose log cannot be read.
    const unreadable = new Set<string>();
    const which = archived ? 'archived' : all ? 'all' : 'unfinished';
    const list = await listSessions(memory, {
      ...{ here, which, judge, ...(!isProgram && { most: MOST_SHOWN }) },
      onUnreadable: ({ message }) => unreadable.add(message),
    });
    const { more, resting } = list;
    const sessions = here || isProgram ? list.rows : groupedByDirectory(list.rows);
    const now = memory.clock.now();
    const { redact } = memory.stamp;
    const rows = sessions.map((session) => [
      session.session_id,
      stateCell(session.condition),
      agentWord(session.condition),
      progressWords(session),
      lastWords(session, now),
      ...(here ? [] : [directoryWord(session, memory.surroundings.variables.HOME)]),
      purposeWord(session),
    ]);
    const places = here ? [] : ['DIRECTORY'];
    const head = ['SESSION', 'STATE', 'AGENT', 'STEPS', 'LAST ACTIVITY', ...places, 'PURPOSE'];
    const left = [
      ...(more > 0 ? [`… and ${more} more: --json has them all`] : []),
      ...(resting === 0 ? [] : [`${counted(resting, 'more session')} left nothing unfinished: --all`]),
    ];
    const nothing = which === 'unfinished' ? 'nothing is unfinished' : 'no sessions';
    const none = unreadable.size > 0 ? 'no session that can be read' : resting > 0 ? nothing : 'no sessions';
    return {
      lines: rows.length === 0 ? [none, ...left] : { head, rows: rows.map((row) => row.map(redact)), below: left },
      value: sessions.map(rowValue),
      asides: [...unreadable],
      ...(unreadable.size > 0 && { verdict: 'partial' }),
    };
  },
});

/** Directories come in the order of their first sessions. */
function groupedByDirectory(sessions: readonly ListedSession[]): ListedSession[] {
  const groups = new Map<string | null, ListedSession[]>();
  for (const session of sessions) groups.set(session.directory, [...(groups.get(session.directory) ?? []), session]);
  return [...groups.values()].flat();
}

function progressWords({ condition }: ListedSession): string {
  const { done, total } = condition.progress;
  return total === 0 ? '-' : `${done}/${total}`;
}

function lastWords({ last_activity }: ListedSession, now: number): string {
  return last_activity === null ? '-' : ago(now - last_activity);
}
