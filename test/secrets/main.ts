/**
 * How many secrets leak, and how many look-alikes are lost, in each output: now, with another build, and with secretlint.
 *
 * `npm run secrets -- [--seed N] [--before DIST] [--secretlint FOLDER] [--list]`. DIST is the dist/ of a built commit. FOLDER has
 * @secretlint/core and @secretlint/secretlint-rule-preset-recommend installed (`npm install --prefix FOLDER …`).
 */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createRedactor, type Redact } from '../../src/log/redact.js';
import { heldOutCorpus, tunedCorpus } from './corpus.js';
import { measure } from './measure.js';
import { OUTPUTS } from './outputs.js';
import type { Sample } from './template.js';

interface Found {
  readonly range: readonly [from: number, to: number];
}

interface Secretlint {
  lintSource(asked: unknown): Promise<{ readonly messages: readonly Found[] }>;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    before: { type: 'string' },
    secretlint: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
const corpora = [
  ['tuned', tunedCorpus(Number(values.seed))],
  ['held out', heldOutCorpus(Number(values.seed))],
] as const;

/** @param outputs which are measured; secretlint knows the texts only as they are */
function report(who: string, redact: Redact, outputs = OUTPUTS): void {
  for (const [name, corpus] of corpora) {
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

async function otherBuild(dist: string): Promise<Redact> {
  const other: { createRedactor: typeof createRedactor } = await import(
    pathToFileURL(join(resolve(dist), 'src', 'log', 'redact.js')).href
  );
  return other.createRedactor([]);
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
  for (const [, { secrets, lookAlikes }] of corpora)
    for (const sample of [...secrets, ...lookAlikes]) await blank(sample);
  return (text) => known.get(text) ?? text;
}

say('| redactor | corpus | output | legible secrets | look-alikes destroyed |\n|---|---|---|---|---|');
if (values.before !== undefined) report('before', await otherBuild(values.before));
report('now', createRedactor([]));
if (values.secretlint !== undefined) {
  report('secretlint', await blankedBySecretlint(values.secretlint), OUTPUTS.slice(0, 1));
}
