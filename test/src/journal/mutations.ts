/** Damages journals in the ways in which files, programs and attackers do. Everything follows from the seed. */
import { type Line, toText } from '../../monitoring/verdict/journals.js';
import { workingJournal } from '../../monitoring/verdict/workingJournals.js';
import { type Random, seededRandom } from './random.js';

/** Every field that anybody looks at. */
const FIELDS = [
  'v',
  'timestamp',
  'start_time',
  'end_time',
  'event',
  'session_id',
  'agent_id',
  'parent_tool_use_id',
  'tool_use_id',
  'tool_name',
  'tool_input',
  'tool_output_preview',
  'input_digest',
  'output_digest',
  'timeout_ms',
  'duration_ms',
  'batch',
  'polling',
  'is_error',
  'outcome',
  'kind',
  'until',
  'source',
  'origin',
  'reason',
];
const UNPRINTABLE = '{"toString":1,"valueOf":1,"toJSON":1}';
/** JSON texts of values that no program of ours would write. */
const ODD_VALUES = [
  'null',
  'true',
  '[]',
  '{}',
  '""',
  '0',
  '-1',
  '1e999',
  '-1e999',
  '1e308',
  '5e-324',
  '9007199254740993',
  '253402300800000',
  '-62135596800',
  '1738749600.123456',
  '"\\ud800"',
  '"\\udfff\\u0000\\u2028"',
  '"1970-01-01T00:00:00Z"',
  '"9999-12-31T23:59:59.999Z"',
  '"2026-02-05T09:00:60Z"',
  '"2026-02-30T25:61:00Z"',
  '"-000001-01-01T00:00:00Z"',
  '"2026-02-05T11:00:00+02:00"',
  '"__proto__"',
  '"constructor"',
  UNPRINTABLE,
  `[${UNPRINTABLE}]`,
  `{"command":["bash","-lc",${UNPRINTABLE}]}`,
  `{"command":["sh",[[["sleep"],${UNPRINTABLE}]]]}`,
  '{"__proto__":{"polling":true,"event":"turn_end"}}',
  '{"command":"sleep 1","chars":{},"constructor":{"prototype":null}}',
];
const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', '\\ud800', '', ...FIELDS];
const LONGEST_SPAN = 200;

export interface MutatedJournal {
  readonly bytes: Buffer;
  /** How it was damaged, in order. */
  readonly mutations: readonly string[];
}

type Mutation = (bytes: Buffer, random: Random) => Buffer;

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  bitFlips(bytes, random) {
    const changed = Buffer.from(bytes);
    for (let count = 1 + random.below(8); count > 0 && changed.length > 0; count -= 1) {
      const at = random.below(changed.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
    }
    return changed;
  },
  truncation: (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  missingSpan(bytes, random) {
    const at = random.below(bytes.length + 1);
    return splice(bytes, at, random.below(LONGEST_SPAN), Buffer.alloc(0));
  },
  binary(bytes, random) {
    const noise = Buffer.from(Array.from({ length: random.below(LONGEST_SPAN) }, () => random.below(256)));
    return splice(bytes, random.below(bytes.length + 1), 0, noise);
  },
  zeros: (bytes, random) => splice(bytes, random.below(bytes.length + 1), 0, Buffer.alloc(random.below(LONGEST_SPAN))),
  byteOrderMark: (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes]),
  carriageReturns: (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1'),
  utf16: (bytes) => Buffer.from(bytes.toString('latin1'), 'utf16le'),
  gluedLines: (bytes, random) => onOneLine(bytes, random, (line) => `${line}${line}`),
  oddValue(bytes, random) {
    const member = `"${random.pick(FIELDS)}":${random.pick(ODD_VALUES)}`;
    return onOneLine(bytes, random, (line) => line.replace(/\}$/, `,${member}}`));
  },
  repeatedKey(bytes, random) {
    const member = `"${random.pick(KEYS)}":${random.pick(ODD_VALUES)}`;
    return onOneLine(bytes, random, (line) => line.replace(/^\{/, `{${member},`));
  },
  everyOddValue(bytes, random) {
    const field = random.pick(FIELDS);
    return onEveryLine(bytes, (line) => line.replace(/\}$/, `,"${field}":${random.pick(ODD_VALUES)}}`));
  },
  deepNesting(bytes, random) {
    const levels = random.pick([60, 65, 1_000, 5_000]);
    const [open, close] = random.pick([
      ['[', ']'],
      ['{"a":', '}'],
      ['["bash",', ']'],
    ]) as [string, string];
    const nested = `${open.repeat(levels)}1${close.repeat(levels)}`;
    const member = `"tool_input":{"command":${nested}},"${random.pick(FIELDS)}":${nested}`;
    return onOneLine(bytes, random, (line) => line.replace(/\}$/, `,${member}}`));
  },
  longLine(bytes, random) {
    const text = random.pick(['x', '\\ud800', '€']).repeat(random.pick([1_000, 6_000]));
    return onOneLine(bytes, random, (line) => line.replace(/\}$/, `,"tool_output_preview":"${text}"}`));
  },
  disorder: (bytes, random) => Buffer.from(random.shuffle(bytes.toString('latin1').split('\n')).join('\n'), 'latin1'),
  repeatedLines(bytes) {
    return onEveryLine(bytes, (line) => `${line}\n${line}`);
  },
};

/** @returns a journal with one to four damages, the same one for the same seed */
export function mutatedJournal(seed: number): MutatedJournal {
  const random = seededRandom(seed);
  let bytes = Buffer.from(toText(workingJournal(random) as Line[]));
  const mutations: string[] = [];
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const name = random.pick(Object.keys(MUTATIONS));
    mutations.push(name);
    bytes = Buffer.from(MUTATIONS[name]?.(bytes, random) ?? bytes);
  }
  return { bytes, mutations };
}

function splice(bytes: Buffer, at: number, removed: number, inserted: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
}

function onOneLine(bytes: Buffer, random: Random, change: (line: string) => string): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  const chosen = random.below(lines.length);
  return toLatin1(lines.map((line, index) => (index === chosen ? changeInUtf8(line, change) : line)));
}

function onEveryLine(bytes: Buffer, change: (line: string) => string): Buffer {
  return toLatin1(
    bytes
      .toString('latin1')
      .split('\n')
      .map((line) => changeInUtf8(line, change)),
  );
}

/** Damaged bytes stay as they are; what is put in is UTF-8. */
function changeInUtf8(line: string, change: (line: string) => string): string {
  return change(line).replace(/[\u0100-\uffff]+/g, (text) => Buffer.from(text).toString('latin1'));
}

function toLatin1(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join('\n'), 'latin1');
}
