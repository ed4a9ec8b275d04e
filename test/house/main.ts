/** `npm run house [-- --list]`: the figures of the product's code beside their goals. `--list` names what misses a goal. */
import { parseArgs } from 'node:util';
import { renderTable } from '../../bridge/command/table.js';
import { readSources } from '../architecture/sourceFiles.js';
import { anysIn, commentWords, linesOfCode, mutualFolders, quantile, routinesIn, type Sources } from './measure.js';

const RINGS = ['src', 'memory', 'monitoring', 'bridge'];
const LONGEST_FILE = 250;
const LONGEST_FUNCTION = 60;
const MOST_PARAMETERS = 4;
/** They carry other meanings in the field than a reader is used to. */
const HARD_WORDS = /^(?:where|stands?|standing|stood|tells?|telling|told)$/i;
const BAG = /\binterface \w*(?:Parts|Options|Context)\b[^{]*\{([\s\S]*?)\n\}/g;
const CALLBACK = /^ {2}(?:readonly )?\w+\??(?:\(|: \([^)]*\) =>)/gm;

interface Figure {
  readonly name: string;
  readonly here: string | number;
  readonly goal: string;
  /** What misses it. */
  readonly missing?: readonly string[];
}

function figuresOf(sources: Sources): Figure[] {
  const texts = [...sources.values()];
  const lengths = [...sources].map(([path, text]) => ({ path, lines: text.split('\n').length - 1 }));
  const routines = [...sources].flatMap(([path, text]) => routinesIn(path, text));
  const words = texts.flatMap(commentWords);
  const bags = texts.flatMap((text) => [...text.matchAll(BAG)].map(([, body = '']) => body));
  const mutual = mutualFolders(sources);
  const files = lengths.map(({ lines }) => lines);
  const functions = routines.map(({ lines }) => lines);
  const longFiles = lengths.filter(({ lines }) => lines > LONGEST_FILE);
  const longRoutines = routines.filter(({ lines }) => lines > LONGEST_FUNCTION);
  const wide = routines.filter(({ parameters }) => parameters > MOST_PARAMETERS);
  return [
    { name: 'files', here: sources.size, goal: '' },
    { name: 'lines', here: sum(files), goal: '' },
    { name: 'lines of code: neither blank nor comment', here: sum(texts.map(linesOfCode)), goal: '' },
    { name: `of these ${RINGS.join(' / ')}`, here: RINGS.map((ring) => codeOf(sources, ring)).join(' / '), goal: '' },
    { name: 'file, median / p95 / max lines', here: spread(files), goal: `max ${LONGEST_FILE}` },
    {
      name: `files over ${LONGEST_FILE} lines`,
      here: longFiles.length,
      goal: '0, but for lists',
      missing: longFiles.map(({ path, lines }) => `${path}: ${lines} lines`),
    },
    { name: 'function, median / p95 / max lines', here: spread(functions), goal: `max ${LONGEST_FUNCTION}` },
    {
      name: `functions over ${LONGEST_FUNCTION} lines`,
      here: longRoutines.length,
      goal: '0',
      missing: longRoutines.map(({ place, lines }) => `${place}: ${lines} lines`),
    },
    {
      name: `functions with more than ${MOST_PARAMETERS} parameters`,
      here: wide.length,
      goal: 'at most 5',
      missing: wide.map(({ place, parameters }) => `${place}: ${parameters} parameters`),
    },
    { name: 'folder pairs that import each other', here: mutual.length, goal: '0', missing: mutual },
    { name: '`any`', here: sum(texts.map(anysIn)), goal: '0' },
    {
      name: '"where" + "stand" + "tell" per 1,000 words of comments',
      here: ((1_000 * words.filter((word) => HARD_WORDS.test(word)).length) / words.length).toFixed(1),
      goal: 'at most 3',
    },
    { name: 'bags (Parts, Options, Context)', here: bags.length, goal: '' },
    { name: 'functions in bags', here: sum(bags.map((body) => body.match(CALLBACK)?.length ?? 0)), goal: '' },
    { name: 'Pick<', here: sum(texts.map((text) => text.match(/\bPick</g)?.length ?? 0)), goal: '' },
  ];
}

function spread(numbers: readonly number[]): string {
  return [0.5, 0.95, 1].map((part) => quantile(numbers, part)).join(' / ');
}

/** @returns the lines of code of a ring */
function codeOf(sources: Sources, ring: string): number {
  return sum([...sources].filter(([path]) => path.startsWith(`${ring}/`)).map(([, text]) => linesOfCode(text)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const { values } = parseArgs({ options: { list: { type: 'boolean' } } });
const figures = figuresOf(readSources(RINGS));
const rows = figures.map(({ name, here, goal }) => [name, String(here), goal]);
process.stdout.write(`${renderTable(['FIGURE', 'HERE', 'GOAL'], rows)}\n`);
if (values.list === true)
  for (const line of figures.flatMap(({ missing = [] }) => missing)) process.stdout.write(`${line}\n`);
