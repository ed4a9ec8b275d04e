import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { assessPaths } from '../../monitoring/assessPaths.js';
import { DEFAULT_THRESHOLDS, type Thresholds } from '../../src/model.js';

const FIXTURES = join(import.meta.dirname, '../fixtures');
/** Rules that only report; the others end a run. */
const REPORTING = ['loop'];

describe('recorded sessions, judged at every instant', () => {
  const outcomes = new Map<string, string>();
  for (const row of readFileSync(join(FIXTURES, 'sessions/labels.csv'), 'utf8').trim().split('\n').slice(1)) {
    const cells = row.split(',');
    outcomes.set(cells[0] ?? '', cells[5] ?? '');
  }

  test('none that ended well is accused by an acting rule; long host sleeps show as silence', async () => {
    const options = { thresholds: DEFAULT_THRESHOLDS, now: null, replay: true };
    const { sessions } = await assessPaths([join(FIXTURES, 'sessions')], options);
    expect(sessions).toHaveLength(92);
    const accused = sessions.flatMap(({ file, findings }) =>
      findings
        .filter(({ rule }) => !REPORTING.includes(rule))
        .map(({ rule }) => `${outcomes.get(file)} ${file} ${rule}`),
    );
    expect(accused).toEqual([
      'host_sleep jdx+mise/s7a9f4722a7.jsonl silence',
      'host_sleep jdx+mise/se3324ab2cc.jsonl silence',
      'host_sleep jdx+mise/se7dbe5f14a.jsonl silence',
    ]);
  });
});

interface Case {
  readonly id: string;
  readonly thresholds: Thresholds;
  readonly now: string;
  readonly journal: readonly ({ readonly raw: string } | Readonly<Record<string, unknown>>)[];
  readonly expected: { readonly unhealthy: boolean; readonly rules: readonly string[] | null };
  readonly why: string;
}

describe('detection cases', () => {
  const cases = JSON.parse(readFileSync(join(FIXTURES, 'vectors/cases.json'), 'utf8')) as Case[];
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'cases-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(cases.map((each) => [each.id, each.why, each] as const))('%s: %s', async (id, _why, each) => {
    const session = join(folder, id.replace(/[^\w]/g, '_'), 's1');
    mkdirSync(session, { recursive: true });
    writeFileSync(join(session, 'tool_use.jsonl'), textOf(each.journal));
    const options = { thresholds: each.thresholds, now: Date.parse(each.now), replay: false };
    const {
      sessions: [assessed],
    } = await assessPaths([join(session, '..')], options);
    expect(assessed?.file).toBe('s1/tool_use.jsonl');
    expect(assessed?.verdict === 'unhealthy').toBe(each.expected.unhealthy);
    if (each.expected.rules === null) return;
    expect(assessed?.findings.map(({ rule }) => rule).sort()).toEqual([...each.expected.rules].sort());
  });
});

/** Every line ends with a newline, but a raw one in the last place is torn. */
function textOf(journal: Case['journal']): string {
  return journal
    .map((each, index) => {
      if (!('raw' in each)) return `${JSON.stringify(each)}\n`;
      return index === journal.length - 1 ? String(each.raw) : `${String(each.raw)}\n`;
    })
    .join('');
}
