/** Verbs of learnings: what came back in sessions is drawn from their records, and a person or an agent adds what is worth it. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { counted } from '../../src/counted.js';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { replaceInFolderSync } from '../../src/files/durableFile.js';
import { describeStorageFault } from '../../src/files/storageFault.js';
import { damageLines } from '../condition/words.js';
import { learningsMarkdown, MADE_HERE } from '../exchange/learningsMarkdown.js';
import type { Draw } from '../learnings/draw.js';
import { drawFromConversation, drawFromFile, drawFromSession, drawFromSessions } from '../learnings/drawFrom.js';
import { keyOf, type Learning, type LearningsState } from '../learnings/kind.js';
import { CAME_BACK, cameBack, Learnings, namedIn, scopeOf, shortId, tagsOf } from '../learnings/learnings.js';
import { settledCounts } from '../logs/settledCounts.js';
import type { Locating } from '../look/standing.js';
import type { Listener } from '../sessions/views.js';
import { drawnLines, failuresOf, failureValue, refusalsOf, rollUpLines } from '../show/learningWords.js';
import { each, flag, neededWord, option, word } from './fields.js';
import { type Door, type Outcome, verb } from './verb.js';

/** For a program. */
const MOST_GROUPS = 500;

export const listLearnings = verb({
  name: 'list',
  summary:
    'what was added in this repository, open actions first; the word may be\nleft out. --all: of all repositories, --out: as Markdown',
  fields: { all: flag('[--all]'), out: option('[--out FILE]') },
  async run(memory, { all, out }, door): Promise<Outcome> {
    const { state, counts, asides } = await lookAtLearnings(new Learnings(memory.shared), door);
    const scope = scopeOf(memory.workspace);
    const isMeant = (one: Learning) => all || keyOf(one) === keyOf(scope);
    const learnings = [...state.learnings.values()].filter(isMeant);
    const groups = groupedByPlace(learnings);
    if (out !== undefined)
      return {
        ...written(resolve(memory.surroundings.directory, out), learningsMarkdown(state, groups), learnings.length),
        asides,
      };
    const now = memory.clock.now();
    const lines = [...groups].flatMap(([place, ones]) => [...(all ? [place] : []), ...rollUpLines(state, ones, now)]);
    const waiting = cameBack(state, scope).length;
    return {
      lines: [...(lines.length === 0 ? [nothingWords(all, waiting)] : lines), ...waitingLines(waiting)],
      value: {
        learnings: learnings.map((one) => ({ ...one, actions: actionsOf(state, one) })),
        came_back: waiting,
        log: counts,
      },
      asides,
    };
  },
});

/** @returns also what of their log is not seen here, in sentences */
async function lookAtLearnings(learnings: Learnings, { newerRemedy }: Door) {
  const log = learnings.log();
  if (log === null) return { state: learnings.read(), counts: null, asides: [] };
  const counts = await settledCounts(log);
  const damage = { ...counts, isEmptied: false };
  const asides = damageLines(damage, log.path, newerRemedy?.() ?? undefined, 'the log of learnings');
  return { state: log.state, counts, asides };
}

function nothingWords(all: boolean, waiting: number): string {
  const next = waiting > 0 ? '' : '; watchkeeper learn draw shows what failed again and again';
  return `nothing was added${all ? '' : ' here'}${next}`;
}

function waitingLines(count: number): string[] {
  if (count === 0) return [];
  return [
    `${counted(count, 'failure')} came back in ${CAME_BACK} or more sessions, and no learning is about it: watchkeeper learn draw`,
  ];
}

function actionsOf({ actions }: LearningsState, { id }: Learning) {
  return [...actions.values()].flatMap(({ learning, ...action }) => (learning === id ? [action] : []));
}

/** By the directory of a repository's first one, which says more than its id. */
function groupedByPlace(learnings: readonly Learning[]): Map<string, Learning[]> {
  const places = new Map<string, string>();
  const groups = new Map<string, Learning[]>();
  for (const one of learnings) {
    const place = places.get(keyOf(one)) ?? one.root;
    places.set(keyOf(one), place);
    groups.set(place, [...(groups.get(place) ?? []), one]);
  }
  return groups;
}

function written(file: string, text: string, count: number): Outcome {
  try {
    if (existsSync(file) && !readFileSync(file, 'utf8').startsWith(MADE_HERE))
      throw new UsageError(`${file} exists, and was not made by this command; choose another --out`);
    replaceInFolderSync(file, text);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UnreachableError(`${file} cannot be written: ${describeStorageFault(error)}`, { cause: error });
  }
  return { lines: `written: ${file}`, value: { file, learnings: count } };
}

export const drawLearnings = verb({
  name: 'draw',
  summary:
    'which calls failed again and again in the sessions of this repository,\nand what worked next; which ones a person refused, and why. Stores nothing',
  fields: {
    of: word('[ID|TRANSCRIPT'),
    conversation: option('| --conversation UUID'),
    all: flag('| --all]'),
  },
  async run(memory, input, door): Promise<Outcome> {
    const draw = await drawn(memory, input);
    const { state, asides } = await lookAtLearnings(new Learnings(memory.shared), door);
    const known = tagsOf(state);
    const { texts } = memory.settings;
    const failures = failuresOf(draw);
    const refusals = refusalsOf(draw);
    return {
      lines: drawnLines({ draw, known, texts, now: memory.clock.now() }),
      value: {
        sessions: draw.sessions,
        failures: failures.slice(0, MOST_GROUPS).map((group) => failureValue(group, known)),
        refusals: refusals
          .slice(0, MOST_GROUPS)
          .map(({ said, ...group }) => ({ ...group, said: texts ? [...said] : [] })),
        more: draw.more + failures.slice(MOST_GROUPS).reduce((sum, { count }) => sum + count, 0),
      },
      asides,
    };
  },
});

interface Drawing {
  readonly of: string | undefined;
  readonly conversation: string | undefined;
  readonly all: boolean;
  readonly session: string | undefined;
}

function drawn(memory: Locating & Listener, { of, conversation, all, session }: Drawing): Promise<Draw> {
  const given = [of, conversation, session, all ? '' : undefined].filter((each) => each !== undefined);
  if (given.length > 1)
    throw new UsageError('a session, a transcript, --conversation and --all exclude each other: give one');
  if (conversation !== undefined) return drawFromConversation(memory, conversation);
  const name = of ?? session;
  if (name === undefined) return drawFromSessions(memory, all);
  const isFile = name.includes('/') || name.endsWith('.jsonl');
  return isFile
    ? drawFromFile(resolve(memory.surroundings.directory, name), memory.stamp.redact)
    : drawFromSession(memory, memory.which(name));
}

export const addLearning = verb({
  name: 'add',
  summary: 'keep a learning for the agents that begin here; an action follows from it',
  fields: {
    text: neededWord(
      'TEXT',
      'what was learned? For example: watchkeeper learn add "npm test needs Redis on port 6379"',
    ),
    tags: each('[--tag T]…', 'tag'),
    actions: each('[--action T]…', 'action'),
  },
  run(memory, { text, tags, actions, session: named }) {
    const session = named === undefined ? memory.implied() : memory.which(named);
    const { workspace } = memory;
    const session_id = session?.id ?? null;
    const added = new Learnings(memory.shared).add({ text, tags, actions, workspace, session_id });
    return {
      lines: [`learning ${shortId(added.id)} is added`, ...added.actions.map((id) => `action ${shortId(id)} is open`)],
      value: { learning: added.id, actions: added.actions, session_id },
    };
  },
});

const WHICH = 'name its id; `watchkeeper learn` shows them';

export const addAction = verb({
  name: 'action',
  summary: 'something to do later because of a learning',
  fields: {
    id: neededWord('ID', `action ID TEXT: which learning? ${WHICH}`),
    text: neededWord('TEXT', 'action ID TEXT: what is to be done?'),
  },
  run(memory, { id, text }) {
    const learnings = new Learnings(memory.shared);
    const learning = namedIn(learnings.readToChange().learnings, 'learning', id);
    const action = learnings.addAction(learning, text);
    return { lines: `action ${shortId(action)} is open`, value: { action, learning: learning.id } };
  },
});

export const finishAction = verb({
  name: 'done',
  summary: 'an action is done',
  fields: { action: neededWord('ACTION', `done ACTION: which one? ${WHICH}`) },
  run(memory, { action: name }) {
    const learnings = new Learnings(memory.shared);
    const action = namedIn(learnings.readToChange().actions, 'action', name);
    const isKnown = learnings.finish(action);
    return { lines: `action ${shortId(action.id)} is done${isKnown ? ' already' : ''}`, value: { action: action.id } };
  },
});

export const dropLearning = verb({
  name: 'drop',
  summary: 'a learning does not hold any more; its actions go with it',
  fields: { id: neededWord('ID', `drop ID: which learning? ${WHICH}`) },
  run(memory, { id: name }) {
    const learnings = new Learnings(memory.shared);
    const state = learnings.readToChange();
    const dropped = [...state.dropped].map((gone) => [gone, { id: gone, text: 'dropped already' }] as const);
    const { id } = namedIn(
      new Map<string, { id: string; text: string }>([...dropped, ...state.learnings]),
      'learning',
      name,
    );
    const isKnown = learnings.drop(id);
    return { lines: `learning ${shortId(id)} is dropped${isKnown ? ' already' : ''}`, value: { learning: id } };
  },
});
