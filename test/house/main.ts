/** `npm run prove -- house`: the figures of the product's code beside their goals, and the patterns of its English per ring. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { renderTable } from '../../bridge/command/table.js';
import { packageRoot } from '../../src/host/program.js';
import { readSources } from '../architecture/sourceFiles.js';
import { proofOptions } from '../harness/proofOptions.js';
import { commentsIn, findingsIn, PATTERNS, ratesOf } from './english.js';
import { type Figure, figuresOf, RINGS, textsOf } from './figures.js';
import type { Sources } from './measure.js';

const ENGLISH_GOAL = '0.5 each';

function sourcesOfCommit(commit: string): Sources {
  const folder = mkdtempSync(join(tmpdir(), 'wk-house-'));
  try {
    const git = ['-C', packageRoot(), 'archive', commit, ...RINGS];
    const files = execFileSync('git', git, { maxBuffer: Number.POSITIVE_INFINITY });
    execFileSync('tar', ['-x', '-C', folder], { input: files });
    return readSources(RINGS, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function printFigures(figures: readonly Figure[], former: readonly Figure[] | null, from: string): void {
  const before = former === null ? [] : [from];
  const rows = figures.map(({ name, here, goal }, index) => [
    name,
    ...(former === null ? [] : [String(former[index]?.here)]),
    String(here),
    goal,
  ]);
  print(renderTable(['FIGURE', ...before, 'HERE', 'GOAL'], rows));
}

function printEnglish(sources: Sources, former: Sources | null): void {
  const rates = (all: Sources) => RINGS.map((ring) => ratesOf(textsOf(all, ring)));
  const [now, then] = [rates(sources), former === null ? null : rates(former)];
  const rows = PATTERNS.map(({ name }, index) => [
    name,
    ...RINGS.map((_, ring) => {
      const before = then === null ? '' : `${then[ring]?.[index]?.toFixed(1)} → `;
      return `${before}${now[ring]?.[index]?.toFixed(1)}`;
    }),
    ENGLISH_GOAL,
  ]);
  print(renderTable(['PER 1,000 WORDS OF COMMENTS', ...RINGS, 'GOAL'], rows));
}

function printPlaces(sources: Sources, below: string): void {
  for (const [path, text] of sources) {
    if (!path.startsWith(below)) continue;
    for (const comment of commentsIn(text))
      for (const pattern of PATTERNS)
        for (const found of findingsIn(comment, pattern))
          print(`${path}:${comment.line}: ${found} (${pattern.instead})`);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const values = proofOptions('house', {
  from: [null, 'a commit, whose figures are printed as well'],
  at: [null, 'another checkout that is read'],
  list: [false, 'names what misses a goal'],
  english: [null, 'a path, such as memory/show; prints each place of a pattern below it'],
});
const sources = readSources(RINGS, values.at === null ? packageRoot() : resolve(values.at));
if (values.english !== null) printPlaces(sources, values.english);
else {
  const former = values.from === null ? null : sourcesOfCommit(values.from);
  const figures = figuresOf(sources);
  printFigures(figures, former === null ? null : figuresOf(former), values.from ?? '');
  print('');
  printEnglish(sources, former);
  if (values.list) for (const { name, missing = [] } of figures) for (const line of missing) print(`${name}: ${line}`);
}
