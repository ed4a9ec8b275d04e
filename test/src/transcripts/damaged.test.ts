/** Records with anything in any field: a transcript may be old, foreign or hostile, and must be readable all the same. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { assessPaths } from '../../../monitoring/offline/assessPaths.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { importTranscript } from '../../../src/transcripts/importTranscript.js';
import { testFolder } from '../../harness/folder.js';
import { type Random, seededRandom } from '../journal/random.js';
import { type Fields, RECORDED } from './told.js';

const ROUNDS = 120;
const ODD: readonly unknown[] = [
  null,
  0,
  -1,
  1e308,
  '',
  'x'.repeat(5_000),
  '\ud800',
  '../../etc',
  true,
  [],
  [[[]]],
  {},
  { type: {} },
  [null, 1, 'a', { type: 'tool_use' }, { type: 'tool_result' }, { type: 'text', text: 7 }],
  '9999-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00Z',
];

/** @returns the value with a few of its members, at any depth, replaced */
function damage(random: Random, value: unknown): unknown {
  if (random.below(25) === 0) return random.pick(ODD);
  if (Array.isArray(value)) return value.map((item) => damage(random, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, damage(random, member)]));
}

test('endless levels and names that every object has are read like anything else', async () => {
  const deep = (depth: number, inner: string) => `${'{"a":'.repeat(depth)}${inner}${'}'.repeat(depth)}`;
  const head = '"timestamp":"2026-02-05T09:00:00Z","sessionId":"c1","uuid":"u"';
  const progress = `{"type":"progress",${head},"data":{"agentId":"a","message":`;
  const result = `{"type":"tool_result","tool_use_id":"t","is_error":true,"content":${deep(20_000, '1')}}`;
  const path = join(testFolder(), 'deep.jsonl');
  const lines = [
    `{"type":"user",${head},"message":{"content":[${result}]},"toolDenialKind":"constructor"}`,
    `{"type":"user",${head},"message":{"content":${deep(20_000, '1')}}}`,
    `${progress.repeat(5_000)}1${'}}'.repeat(5_000)}`,
    `{"type":"assistant",${head},"message":{"content":[{"type":"tool_use","id":"t2","input":${deep(20_000, '1')}}]}}`,
  ];
  writeFileSync(path, lines.join('\n'));
  const journal: string[] = [];
  await importTranscript(
    path,
    (text) => text,
    (line) => journal.push(line),
  );
  expect(journal.map((line) => (JSON.parse(line) as Fields).outcome).filter(Boolean)).toEqual(['failed']);
  expect(journal.map((line) => (JSON.parse(line) as Fields).event)).toContain('pre_tool_use');
});

test.each(['claude', 'codex'])(
  `${ROUNDS} damaged transcripts of %s are read without a crash, the same each time`,
  async (program) => {
    const folder = testFolder();
    const path = join(folder, 'damaged.jsonl');
    const files = readdirSync(join(RECORDED, program)).filter((name) => name.endsWith('.jsonl'));
    for (let seed = 1; seed <= ROUNDS; seed += 1) {
      const random = seededRandom(seed);
      const lines = readFileSync(join(RECORDED, program, random.pick(files)), 'utf8')
        .trimEnd()
        .split('\n');
      const damaged = lines.map((line) => JSON.stringify(damage(random, JSON.parse(line) as Fields)));
      writeFileSync(path, damaged.join('\n'));
      const journal: string[] = [];
      const again: string[] = [];
      const keep = (text: string) => text;
      await importTranscript(path, keep, (line) => journal.push(line));
      await importTranscript(path, keep, (line) => again.push(line));
      expect([seed, again]).toEqual([seed, journal]);
      for (const line of journal) expect([seed, line.length < 16_384]).toEqual([seed, true]);
      const { sessions } = await assessPaths([path], {
        thresholds: DEFAULT_THRESHOLDS,
        now: null,
        replay: seed % 2 === 0,
      });
      expect([seed, sessions.length]).toEqual([seed, 1]);
    }
  },
);
