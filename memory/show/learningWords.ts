/** Learnings, and what calls came back, in lines for a person. */
import { counted } from '../../src/counted.js';
import { oneLine } from '../../src/log/visibleText.js';
import type { Draw, FailureGroup, Help, RefusalGroup, Way } from '../learnings/draw.js';
import type { Learning, LearningsState } from '../learnings/kind.js';
import { shortId } from '../learnings/learnings.js';
import { ago } from './status.js';

/** A person reads no more of them. */
const MOST_SHOWN = 10;
const MOST_WAYS_SHOWN = 2;
const MOST_HELPS = 2;

/** @returns the failures: those of most sessions first */
export function failuresOf({ failures }: Draw): FailureGroup[] {
  return [...failures.values()].sort(
    (left, right) => right.sessions - left.sessions || right.count - left.count || right.last_at - left.last_at,
  );
}

/** @returns the refused calls: those with a person's words first */
export function refusalsOf({ refusals }: Draw): RefusalGroup[] {
  return [...refusals.values()].sort(
    (left, right) => Number(right.said.size > 0) - Number(left.said.size > 0) || right.count - left.count,
  );
}

interface Drawn {
  readonly draw: Draw;
  /** The tags of learnings that were added. */
  readonly known: ReadonlySet<string>;
  /** Whether the words of people may be shown. */
  readonly texts: boolean;
  readonly now: number;
}

export function drawnLines({ draw, known, texts, now }: Drawn): string[] {
  const all = failuresOf(draw);
  const again = all.filter(({ count }) => count > 1);
  const shown = again.slice(0, MOST_SHOWN);
  const once = all.length - again.length;
  const rest = [
    ...(again.length > shown.length ? [`${again.length - shown.length} more came back`] : []),
    ...(once > 0 ? [`${counted(once, 'call')} failed once`] : []),
  ];
  const refused = texts ? refusalsOf(draw).filter(({ said }) => said.size > 0) : [];
  const [first] = shown.filter(({ id }) => !known.has(id));
  return [
    headWords(draw, again.length),
    ...shown.flatMap((group) => failureLines(group, known.has(group.id), now)),
    ...(rest.length === 0 ? [] : [`(${rest.join('; ')}: --json has all)`]),
    ...(refused.length === 0 ? [] : ['Calls that a person refused, with the reason:']),
    ...refused.slice(0, MOST_SHOWN).map(refusalLine),
    ...(first === undefined
      ? []
      : [`To keep it for the next agents: watchkeeper learn add "WHAT TO DO" --tag ${first.id}`]),
  ];
}

function headWords({ sessions }: Draw, again: number): string {
  if (sessions === 0) return 'no session to draw from is on record';
  const where = counted(sessions, 'session');
  return again === 0 ? `no failure came back in ${where}` : `Calls that failed more than once, in ${where}:`;
}

function failureLines(group: FailureGroup, isKnown: boolean, now: number): string[] {
  const { id, tool, command, count, sessions, days, example, last_at } = group;
  const what = command === '' ? tool : `${tool}: ${command}`;
  const often = `${count} × in ${counted(sessions, 'session')} on ${counted(days.size, 'day')}, the last ${ago(now - last_at)}`;
  const ways = [...group.worked.values()].sort((left, right) => right.count - left.count).slice(0, MOST_WAYS_SHOWN);
  return [
    `  ${id}  ${what}  (${often})${isKnown ? '  [added]' : ''}`,
    `    failed: ${oneLine(example.error)}`,
    ...([tool, command].includes(example.call) ? [] : [`    as in: ${oneLine(example.call)}`]),
    ...(ways.length === 0 ? [] : [`    worked next: ${ways.map(wayWords).join('; ')}`]),
  ];
}

/** @returns the call that worked in the place of one that failed, and what came before it */
export function wayWords(way: Way): string {
  const { call, count } = way;
  const helps = helpsOf(way).map((help) => oneLine(help.call));
  const words = call === null ? `the same call${helps.length === 0 ? ' again' : ''}` : oneLine(call);
  const after = helps.length === 0 ? '' : `, after ${helps.join(' and ')}`;
  return `${words}${after}${count === 1 ? '' : ` (${count} ×)`}`;
}

/** @returns the calls that came before it most often. One that came seldom helped by chance, if at all */
function helpsOf({ after, count }: Way): Help[] {
  return [...after.values()]
    .sort((left, right) => right.count - left.count)
    .filter((help) => 2 * help.count > count)
    .slice(0, MOST_HELPS);
}

function refusalLine({ call, count, said }: RefusalGroup): string {
  const words = [...said].map((each) => JSON.stringify(oneLine(each))).join(', ');
  return `  ${oneLine(call)}${count === 1 ? '' : ` (${count} ×)`}: ${words}`;
}

/** @returns what a caller who asks by a program gets of a failure */
export function failureValue({ days, worked, ...group }: FailureGroup, known: ReadonlySet<string>) {
  return {
    ...group,
    days: days.size,
    worked: [...worked.values()].map(({ after, ...way }) => ({ ...way, after: [...after.values()] })),
    added: known.has(group.id),
  };
}

/** @returns the roll-up: open actions first, then what was learned, the newest first */
export function rollUpLines(state: LearningsState, learnings: readonly Learning[], now: number): string[] {
  const ids = new Set(learnings.map(({ id }) => id));
  const actions = [...state.actions.values()].filter(({ learning }) => ids.has(learning));
  const open = actions.filter(({ done_at }) => done_at === null);
  const doneOf = (id: string) => actions.filter(({ learning, done_at }) => learning === id && done_at !== null).length;
  return [
    ...(open.length === 0 ? [] : ['Open actions:']),
    ...open.map(({ id, text, learning }) => `  ${shortId(id)}  ${oneLine(text)}  (of ${shortId(learning)})`),
    ...(learnings.length === 0 ? [] : ['Learnings:']),
    ...learnings.toReversed().map(({ id, text, tags, at }) => {
      const done = doneOf(id);
      const more = [
        ago(now - at),
        ...tags.map((tag) => `#${tag}`),
        ...(done > 0 ? [`${counted(done, 'action')} done`] : []),
      ];
      return `  ${shortId(id)}  ${oneLine(text)}  (${more.join(', ')})`;
    }),
  ];
}
