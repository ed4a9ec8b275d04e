import { existsSync } from 'node:fs';
import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import { oneLine } from '../../src/log/visibleText.js';
import { agentWord, stateCell } from '../condition/words.js';
import { type ListedSession, type ListOptions, listSessions, rowValue } from '../look/list.js';
import type { Viewer } from '../sessions/views.js';
import { directoryWord, pathWord, purposeWord } from '../show/rowWords.js';
import { ago } from '../show/status.js';
import { flag } from './fields.js';
import { type Outcome, verb } from './verb.js';

type Where = ListOptions['where'];

/** A person reads no more of them. */
const MOST_SHOWN = 20;

export const list = verb({
  name: 'list',
  summary:
    'unfinished sessions, by directory; --here: of this one, --repository:\nof all its worktrees, --all: ended ones, too, --archived: the archive',
  isAnywhere: true,
  fields: {
    here: flag('[--here|--repository]'),
    repository: flag(''),
    all: flag('[--all|--archived]'),
    archived: flag(''),
  },
  async run(memory, { here, repository, all, archived }, { judge, isProgram }): Promise<Outcome> {
    if (here && repository) throw new UsageError('--here is a part of --repository: give one of them');
    const where = here ? 'here' : repository ? 'repository' : 'everywhere';
    // Several sessions may be of one directory whose log cannot be read.
    const unreadable = new Set<string>();
    const which = archived ? 'archived' : all ? 'all' : 'unfinished';
    const list = await listSessions(memory, {
      ...{ where, which, judge, ...(!isProgram && { most: MOST_SHOWN }) },
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
      ...(here
        ? []
        : [
            directoryWord(session, memory.surroundings.variables.HOME) +
              (where === 'repository' && isGone(session) ? ' (gone)' : ''),
          ]),
      purposeWord(session),
    ]);
    const places = here ? [] : ['DIRECTORY'];
    const head = ['SESSION', 'STATE', 'AGENT', 'STEPS', 'LAST ACTIVITY', ...places, 'PURPOSE'];
    const left = [
      ...list.rows.flatMap((session) => placeLine(session, memory, where)),
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

/** @returns where a session began, or where its agent is, if the list does not say it */
function placeLine(session: ListedSession, { workspace, surroundings, stamp }: Viewer, where: Where): string[] {
  const { session_id, directory, agent_directory, condition } = session;
  if (where === 'everywhere') return [];
  const word = (path: string) => oneLine(pathWord(stamp.redact(path), surroundings.variables.HOME));
  const began = where === 'here' && directory !== null && directory !== workspace.root ? directory : null;
  const agent = began === null ? agent_directory : null;
  const gone = agent !== null && !existsSync(agent) ? ', which is gone' : '';
  return [
    ...(began === null ? [] : [`${session_id} began in ${word(began)}; its agent came here`]),
    ...(agent === null
      ? []
      : [`${session_id}: its agent ${condition.liveness === 'alive' ? 'is' : 'was last'} in ${word(agent)}${gone}`]),
  ];
}

function isGone({ directory }: ListedSession): boolean {
  return directory !== null && !existsSync(directory);
}

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
