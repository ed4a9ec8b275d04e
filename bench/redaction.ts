/**
 * What does redaction cost a line? Everything that leaves the bridge takes this way.
 *
 * Measured: the redactor, over log lines, journal lines, source code and prose; processor time, so that others who want the
 * same processor do not count.
 * Yardstick: `JSON.parse` of the same text; with `REDACTION_OF=…/dist`, the redactor of that other build, in the same process.
 * Target: at most 8 times `JSON.parse` for a log line; and twice the text in twice the time, whatever stands in it.
 */
import { pathToFileURL } from 'node:url';
import { createRedactor, type Redact } from '../src/log/redact.js';
import { OWN, texts } from './redactedTexts.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, figureOf, processed } from './rounds.js';

/** Characters per round. */
const ROUND = 400_000;
const MOST_TIMES_PARSING = 8;
const MOST_GROWTH = 2.5;
type Work = (text: string) => unknown;

async function otherBuild(folder: string): Promise<Work> {
  const other = (await import(pathToFileURL(`${folder}/src/log/redact.js`).href)) as {
    createRedactor: typeof createRedactor;
  };
  return other.createRedactor(OWN);
}

async function measure(redact: Redact, folder: string | undefined): Promise<void> {
  const other = folder === undefined ? null : await otherBuild(folder);
  for (const [name, all] of Object.entries(texts())) {
    const characters = all.reduce((sum, { length }) => sum + length, 0);
    const times = Math.ceil(ROUND / characters);
    const asJson = all.map((text) => (text.startsWith('{') ? text : JSON.stringify(text)));
    const repeat = (list: readonly string[], work: Work) => () =>
      processed(() => {
        for (let round = 0; round < times; round += 1) for (const text of list) work(text);
      });
    const compared = await compare({
      ours: repeat(all, redact),
      yardstick: other === null ? repeat(asJson, JSON.parse) : repeat(all, other),
      rounds: 40,
      warmUpRounds: 8,
      limitMs: 20_000,
    });
    const each = (compared.ours.least * 1e3) / (all.length * times);
    say(
      `redaction of ${name}: ${((compared.ours.least * 1e6) / (characters * times)).toFixed(1)} ns a character, ${each.toFixed(2)} µs each`,
    );
    sayCompared('redaction', other === null ? 'JSON.parse' : 'the other build', compared);
    if (name === 'log line' && other === null) {
      sayTarget({
        what: 'a log line, in JSON.parse',
        value: compared.ratio.median,
        atMost: MOST_TIMES_PARSING,
        unit: '',
      });
    }
  }
}

async function measureGrowth(redact: Redact): Promise<void> {
  for (const seed of [
    'TOKEN=',
    'password="',
    'cookie: a=',
    '-----BEGIN PRIVATE KEY-----',
    '\\',
    'eyJa.',
    'https://a:b',
    'AAAA\\n',
    '-p ',
  ]) {
    const [once, twice] = [200_000, 400_000].map((length) => seed.repeat(length / seed.length));
    const { ours, yardstick } = await compare({
      ours: () => processed(() => redact(twice ?? '')),
      yardstick: () => processed(() => redact(once ?? '')),
      rounds: 9,
      warmUpRounds: 2,
      limitMs: 5_000,
    });
    const growth = figureOf([ours.least / Math.max(yardstick.least, 0.1)]).median;
    sayTarget({
      what: `twice as much of ${JSON.stringify(seed)}`,
      value: growth,
      atMost: MOST_GROWTH,
      unit: ' times the time',
    });
  }
}

const redact = createRedactor(OWN);
await measure(redact, process.env.REDACTION_OF);
await measureGrowth(redact);
