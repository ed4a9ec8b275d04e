/** The figures of the product's code, beside their goals. A goal that begins with a number is held by a test. */
import { codeOnly } from '../architecture/sourceText.js';
import { anysIn, commentWords, linesOfCode, mutualFolders, quantile, routinesIn, type Sources } from './measure.js';
import { SPREAD } from './spread.js';

export interface Figure {
  readonly name: string;
  readonly here: string | number;
  readonly goal: string;
  /** What misses it. */
  readonly missing?: readonly string[];
}

export const RINGS = ['src', 'memory', 'monitoring', 'bridge'];
const LONGEST_FILE = 250;
const LONGEST_FUNCTION = 60;
const MOST_PARAMETERS = 4;
/** They carry other meanings in the field than a reader is used to. */
const HARD_WORDS = /^(?:where|stands?|standing|stood|tells?|telling|told)$/i;
const BAG = /\binterface \w*(?:Parts|Options|Context)\b[^{]*\{([\s\S]*?)\n\}/g;
const CALLBACK = /^ {2}(?:readonly )?\w+\??(?:\(|: \([^)]*\) =>)/gm;

export function figuresOf(sources: Sources): Figure[] {
  return [...sizesOf(sources), ...shapeOf(sources), ...spreadOf(sources)];
}

function sizesOf(sources: Sources): Figure[] {
  const lengths = [...sources].map(([path, text]) => ({ path, lines: linesOf(text) }));
  const routines = [...sources].flatMap(([path, text]) => routinesIn(path, text));
  const files = lengths.map(({ lines }) => lines);
  const functions = routines.map(({ lines }) => lines);
  const wide = routines.filter(({ parameters }) => parameters > MOST_PARAMETERS);
  const rings = RINGS.join(' / ');
  return [
    { name: 'files', here: sources.size, goal: '' },
    { name: 'lines', here: sum(files), goal: '' },
    { name: `of these ${rings}`, here: byRing(sources, linesOf), goal: '' },
    { name: 'lines of code: neither blank nor comment', here: sum([...sources.values()].map(linesOfCode)), goal: '' },
    { name: `of these ${rings}`, here: byRing(sources, linesOfCode), goal: '' },
    { name: 'file, median / p95 / max lines', here: quantiles(files), goal: `max ${LONGEST_FILE}` },
    missing(
      { name: `files over ${LONGEST_FILE} lines`, goal: '0' },
      lengths.filter(({ lines }) => lines > LONGEST_FILE).map(({ path, lines }) => `${path}: ${lines} lines`),
    ),
    { name: 'function, median / p95 / max lines', here: quantiles(functions), goal: `max ${LONGEST_FUNCTION}` },
    missing(
      { name: `functions over ${LONGEST_FUNCTION} lines`, goal: '0' },
      routines.filter(({ lines }) => lines > LONGEST_FUNCTION).map(({ place, lines }) => `${place}: ${lines} lines`),
    ),
    missing(
      { name: `functions with more than ${MOST_PARAMETERS} parameters`, goal: 'at most 4' },
      wide.map(({ place, parameters }) => `${place}: ${parameters} parameters`),
    ),
  ];
}

function shapeOf(sources: Sources): Figure[] {
  const texts = [...sources.values()];
  const words = texts.flatMap(commentWords);
  const hard = (1_000 * words.filter((word) => HARD_WORDS.test(word)).length) / words.length;
  const bags = texts.flatMap((text) => [...text.matchAll(BAG)].map(([, body = '']) => body));
  return [
    missing({ name: 'folder pairs that import each other', goal: '0' }, mutualFolders(sources)),
    { name: '`any`', here: sum(texts.map(anysIn)), goal: '0' },
    { name: '"where" + "stand" + "tell" per 1,000 words of comments', here: hard.toFixed(1), goal: 'at most 3' },
    { name: 'identifiers with "told" or "tell"', here: identifiersThatTell(texts), goal: '0, but for stored names' },
    { name: 'bags (Parts, Options, Context)', here: bags.length, goal: 'at most 85' },
    { name: 'functions in bags', here: sum(bags.map((body) => body.match(CALLBACK)?.length ?? 0)), goal: 'at most 53' },
    { name: 'Pick<', here: sum(texts.map((text) => text.match(/\bPick</g)?.length ?? 0)), goal: 'at most 290' },
  ];
}

function spreadOf(sources: Sources): Figure[] {
  return SPREAD.map(({ name, goal, places }) => missing({ name, goal }, places(sources)));
}

function missing(figure: Pick<Figure, 'name' | 'goal'>, places: readonly string[]): Figure {
  return { ...figure, here: places.length, missing: places };
}

function identifiersThatTell(texts: readonly string[]): number {
  const sign = /(?:^|_)(?:told|tells?|telling)(?![a-z])|(?<=[a-z])(?:Told|Tells?|Telling)(?![a-z])/;
  const names = new Set(texts.flatMap((text) => codeOnly(text).match(/[A-Za-z_]\w*/g) ?? []));
  return [...names].filter((name) => sign.test(name)).length;
}

function quantiles(numbers: readonly number[]): string {
  return [0.5, 0.95, 1].map((part) => quantile(numbers, part)).join(' / ');
}

function byRing(sources: Sources, count: (text: string) => number): string {
  return RINGS.map((ring) => sum(textsOf(sources, ring).map(count))).join(' / ');
}

/** @returns the texts of a ring's files */
export function textsOf(sources: Sources, ring: string): string[] {
  return [...sources].filter(([path]) => path.startsWith(`${ring}/`)).map(([, text]) => text);
}

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
