/**
 * How many secrets leak, and how many look-alikes are lost, in each output: now, with another build, and with secretlint; how many
 * forms of a private key leak; and what a character costs.
 *
 * `npm run prove -- secrets [--seed N] [--before DIST] [--secretlint FOLDER] [--list]`. DIST is the dist/ of a built commit. FOLDER has
 * @secretlint/core and @secretlint/secretlint-rule-preset-recommend installed (`npm install --prefix FOLDER …`).
 */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OWN, texts } from '../../bench/redactedTexts.js';
import { compare, processed } from '../../bench/rounds.js';
import { createRedactor, type Redact } from '../../src/log/redact.js';
import { proofOptions } from '../harness/proofOptions.js';
import { type Corpus, heldOutCorpus, passingCorpus, tunedCorpus } from './corpus.js';
import { keyForms, legiblePieces } from './keyForms.js';
import { measure } from './measure.js';
import { OUTPUTS } from './outputs.js';
import type { Sample } from './template.js';

interface Found {
  readonly range: readonly [from: number, to: number];
}

interface Secretlint {
  lintSource(asked: unknown): Promise<{ readonly messages: readonly Found[] }>;
}

const values = proofOptions('secrets', {
  seed: [1, 'of the corpora'],
  before: [null, 'the dist/ of a built commit'],
  secretlint: [null, 'a folder with @secretlint/core and @secretlint/secretlint-rule-preset-recommend installed'],
  list: [false, 'names what leaks and what is lost'],
});

/** Of processor time, before and now. */
const MOST_TIMES = 1.2;
/** Characters per round. */
const ROUND = 400_000;
const say = (line: string) => process.stdout.write(`${line}\n`);
const corpora: readonly (readonly [name: string, corpus: Corpus])[] = [
  ['tuned', tunedCorpus(values.seed)],
  ['held out', heldOutCorpus(values.seed)],
  ['known to pass', passingCorpus(values.seed)],
];

function firstOfEach(samples: readonly Sample[]): Sample[] {
  return [...new Map(samples.map((sample) => [sample.kind, sample])).values()];
}

/** Secretlint takes 20 ms for each. */
const oneOfEachKind: typeof corpora = corpora.map(
  ([name, { secrets, lookAlikes }]) =>
    [name, { secrets: firstOfEach(secrets), lookAlikes: firstOfEach(lookAlikes) }] as const,
);

/** @param outputs which are measured; secretlint knows the texts only as they are */
function report(who: string, redact: Redact, outputs = OUTPUTS, measured = corpora): void {
  for (const [name, corpus] of measured) {
    for (const { name: output, show } of outputs) {
      const { leaks, losses } = measure(
        corpus,
        (text) => show(text, redact),
        (text) => show(text, (asItIs) => asItIs),
      );
      const kinds = new Set(leaks.map(({ kind }) => kind)).size;
      say(
        `| ${who} | ${name} | ${output} | ${leaks.length} of ${corpus.secrets.length} (${kinds} kinds) | ${losses.length} of ${corpus.lookAlikes.length} |`,
      );
      if (values.list && output === OUTPUTS[0]?.name) {
        for (const { text } of leaks) say(`  legible: ${JSON.stringify(redact(text))}`);
        for (const { text } of losses) say(`  lost: ${JSON.stringify(text)} -> ${JSON.stringify(redact(text))}`);
      }
    }
  }
}

/** @param who the redactor; of private keys one line for each output */
function reportKeys(who: string, redact: Redact): void {
  const forms = keyForms(values.seed);
  for (const { name, show } of OUTPUTS) {
    const legible = forms.filter((form) => legiblePieces(form, show(form.text, redact)) > 0);
    say(`| ${who} | forms of a private key | ${name} | ${legible.length} of ${forms.length} | |`);
    if (values.list && name === OUTPUTS[0]?.name) for (const form of legible) say(`  legible: ${form.name}`);
  }
}

async function reportCosts(now: Redact, before: Redact | null): Promise<void> {
  say('| text | ns per character | before | ratio |\n|---|---|---|---|');
  for (const [name, all] of Object.entries(texts())) {
    const characters = all.reduce((sum, { length }) => sum + length, 0);
    const times = Math.ceil(ROUND / characters);
    const repeat = (redact: Redact) => () =>
      processed(() => {
        for (let round = 0; round < times; round += 1) for (const text of all) redact(text);
      });
    const { ours, yardstick, ratio } = await compare({
      ours: repeat(now),
      yardstick: repeat(before ?? now),
      rounds: 40,
      warmUpRounds: 8,
      limitMs: 20_000,
    });
    const each = (ms: number) => ((ms * 1e6) / (characters * times)).toFixed(1);
    const compared =
      before === null
        ? '| |'
        : `${each(yardstick.median)} | ${ratio.median.toFixed(2)}${ratio.median > MOST_TIMES ? ` (more than ${MOST_TIMES})` : ''} |`;
    say(`| ${name} | ${each(ours.median)} | ${compared}`);
  }
}

async function otherBuild(dist: string): Promise<typeof createRedactor> {
  const other: { createRedactor: typeof createRedactor } = await import(
    pathToFileURL(join(resolve(dist), 'src', 'log', 'redact.js')).href
  );
  return other.createRedactor;
}

/** It finds and does not replace: what it finds is blanked here. */
async function blankedBySecretlint(folder: string): Promise<Redact> {
  const from = createRequire(join(resolve(folder), 'package.json'));
  const load = (name: string) => import(pathToFileURL(from.resolve(name)).href);
  const core: Secretlint = await load('@secretlint/core');
  const id = '@secretlint/secretlint-rule-preset-recommend';
  const { creator } = await load(id);
  const known = new Map<string, string>();
  const blank = async ({ text }: Sample) => {
    const source = { content: text, filePath: '/text.txt', ext: '.txt', contentType: 'text' };
    const { messages } = await core.lintSource({ source, options: { config: { rules: [{ id, rule: creator }] } } });
    const last = [...messages].sort((left, right) => right.range[0] - left.range[0]);
    const blanked = last.reduce(
      (left, { range: [begin, end] }) => `${left.slice(0, begin)}[found]${left.slice(end)}`,
      text,
    );
    known.set(text, blanked);
  };
  for (const [, { secrets, lookAlikes }] of oneOfEachKind)
    for (const sample of [...secrets, ...lookAlikes]) await blank(sample);
  return (text) => known.get(text) ?? text;
}

const before = values.before === null ? null : await otherBuild(values.before);
// First: the compiler has seen no other texts yet, as in a program that writes a log.
await reportCosts(createRedactor(OWN), before === null ? null : before(OWN));
for (const [name, { secrets, lookAlikes }] of corpora) {
  const kinds = (samples: readonly Sample[]) => new Set(samples.map(({ kind }) => kind)).size;
  say(
    `\n${name}: ${secrets.length} secrets of ${kinds(secrets)} kinds, ${lookAlikes.length} look-alikes of ${kinds(lookAlikes)} kinds`,
  );
}
say('\n| redactor | corpus | output | legible secrets | look-alikes destroyed |\n|---|---|---|---|---|');
if (before !== null) {
  report('before', before([]));
  reportKeys('before', before([]));
}
report('now', createRedactor([]));
reportKeys('now', createRedactor([]));
if (values.secretlint !== null) {
  report('secretlint', await blankedBySecretlint(values.secretlint), OUTPUTS.slice(0, 1), oneOfEachKind);
}
