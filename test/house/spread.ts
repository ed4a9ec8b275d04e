/** Questions that one room of the code should answer, and how many places answer them for themselves. */
import { codeOnly } from '../architecture/sourceText.js';
import type { Sources } from './measure.js';

export interface SpreadQuestion {
  readonly name: string;
  readonly goal: string;
  /** @returns the places, `memory/show/list.ts:12` or a path */
  places(sources: Sources): string[];
}

/** Where the code of sessions in terminals is. */
const OF_SESSIONS = /^(?:memory|monitoring\/terminals|bridge\/(?:cli|command|hook|intake|doctor))\//;
/** The room that has the answer counts once. */
const RUNS = /^memory\/fold\/runs\.ts$/;
const CONDITION = /^memory\/condition\//;
/** Rules of events: they change a run, they do not judge it. */
const FOLDED = /^memory\/fold\/rules\//;

const GOING = /\bended_at [!=]== null\b|\blivenessOf\([^)]*\) [!=]==|\.includes\(livenessOf\(/;
const STATE_FIELD = /^\s*readonly (?:crashed|stuck|liveness|attention|mayWork|stuckSince)\??: (?!readonly)/;
const STATE_FUNCTION = /\bfunction conditionOf\(/;
const JUDGED = /\b(?:isCrashed|livenessOf)\(|\bnotices\.length > 0/;
const AGENT_PROGRAM = /'codex'|\bcodex:/;

export const SPREAD: readonly SpreadQuestion[] = [
  {
    name: 'files that take the whole `Memory`',
    goal: 'at most 9',
    places: (sources) => filesWith(sources, /: Memory\b/),
  },
  {
    name: 'places that compute "a run is going"',
    goal: '1',
    places: (sources) => oneFor(RUNS, linesWith(only(sources, OF_SESSIONS, FOLDED), GOING)),
  },
  {
    name: "files with a type or function for a session's state",
    goal: '1',
    places(sources) {
      const rooms = only(sources, OF_SESSIONS, FOLDED);
      const lines = [...linesWith(rooms, STATE_FIELD), ...linesWith(rooms, STATE_FUNCTION)];
      return oneFor(CONDITION, [...new Set(lines.map(fileOf))]);
    },
  },
  {
    name: 'files that judge it: crashed, alive, stuck',
    goal: '1',
    places(sources) {
      const lines = linesWith(only(sources, OF_SESSIONS, /^memory\/fold\//), JUDGED);
      return oneFor(CONDITION, [...new Set(lines.map(fileOf))]);
    },
  },
  {
    name: 'logs closed by hand',
    goal: 'at most 3',
    places: (sources) => linesWith(sources, /\blog\??\.close\(\)/),
  },
  {
    name: 'files that name an agent program, besides its own',
    goal: 'at most 5',
    places: (sources) => filesWith(only(sources, /./, /\/codex[./]/), AGENT_PROGRAM, (text) => text),
  },
];

function only(sources: Sources, within: RegExp, except: RegExp): Sources {
  return new Map([...sources].filter(([path]) => within.test(path) && !except.test(path)));
}

function filesWith(sources: Sources, sign: RegExp, read = codeOnly): string[] {
  return [...sources].filter(([, text]) => sign.test(read(text))).map(([path]) => path);
}

/** Comments and texts do not count. */
function linesWith(sources: Sources, sign: RegExp): string[] {
  return [...sources].flatMap(([path, text]) =>
    codeOnly(text)
      .split('\n')
      .flatMap((line, index) =>
        sign.test(line) && !/\bfunction (?:isCrashed|livenessOf)\(/.test(line) ? [`${path}:${index + 1}`] : [],
      ),
  );
}

function fileOf(place: string): string {
  return place.replace(/:\d+$/, '');
}

/** @returns the places, of which those in one room are a single one */
function oneFor(room: RegExp, places: readonly string[]): string[] {
  const inside = places.filter((place) => room.test(fileOf(place)));
  return [...places.filter((place) => !inside.includes(place)), ...inside.slice(0, 1)];
}
