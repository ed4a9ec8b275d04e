import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { command as assessCommand } from '../../../bridge/cli/assess.js';
import { assessPaths } from '../../../monitoring/offline/assessPaths.js';
import { DEFAULT_ACTIONS } from '../../../src/config/projects.js';
import { DEFAULT_THRESHOLDS, type Thresholds } from '../../../src/config/rules.js';
import { isoTime } from '../../../src/time.js';
import { runCommand } from '../../bridge/cli/inProcess.js';
import { watchkeeper } from '../../bridge/cli/program.js';
import { toText } from './journals.js';
import { JUDGEMENT_CASES } from './judgementCases.js';

const FIXTURES = join(import.meta.dirname, '../../fixtures');

describe('recorded sessions, judged at every instant', () => {
  const outcomes = new Map<string, string>();
  for (const row of readFileSync(join(FIXTURES, 'sessions/labels.csv'), 'utf8').trim().split('\n').slice(1)) {
    const cells = row.split(',');
    outcomes.set(cells[0] ?? '', cells[5] ?? '');
  }

  // rule: no-healthy-session-is-accused
  test('none that ended well is accused by an acting rule; long host sleeps show as silence', async () => {
    const options = { thresholds: DEFAULT_THRESHOLDS, now: null, replay: true };
    const { sessions } = await assessPaths([join(FIXTURES, 'sessions')], options);
    expect(sessions).toHaveLength(92);
    const accused = sessions.flatMap(({ file, findings }) =>
      findings
        .filter(({ rule }) => DEFAULT_ACTIONS[rule] !== 'report')
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

interface Verdict {
  readonly verdict: string;
  readonly findings: readonly { readonly rule: string }[];
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cases-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @returns the command line's arguments for a journal, an instant and thresholds */
function lay(id: string, text: string, now: string, thresholds: Thresholds): string[] {
  const place = join(folder, id.replace(/[^\w]/g, '_'));
  mkdirSync(join(place, 's1'), { recursive: true });
  writeFileSync(join(place, 's1/tool_use.jsonl'), text);
  writeFileSync(join(place, 'thresholds.json'), JSON.stringify(thresholds));
  return [place, '--now', now, '--thresholds', join(place, 'thresholds.json'), '--json'];
}

function readVerdict(out: string): Verdict {
  const { sessions } = JSON.parse(out) as { sessions: (Verdict & { file: string })[] };
  expect(sessions.map(({ file }) => file)).toEqual(['s1/tool_use.jsonl']);
  return sessions[0] as Verdict;
}

async function assess(args: readonly string[]): Promise<Verdict> {
  const { code, out, err } = await runCommand(assessCommand, args);
  const found = readVerdict(out);
  expect([code, err]).toEqual([found.verdict === 'unhealthy' ? 1 : 0, '']);
  return found;
}

function expectRules(found: Verdict, unhealthy: boolean, rules: readonly string[] | null): void {
  expect(found.verdict === 'unhealthy').toBe(unhealthy);
  if (rules !== null) expect(found.findings.map(({ rule }) => rule).sort()).toEqual([...rules].sort());
}

describe('detection cases', () => {
  const cases = JSON.parse(readFileSync(join(FIXTURES, 'vectors/cases.json'), 'utf8')) as Case[];

  test.each(cases.map((each) => [each.id, each.why, each] as const))('%s: %s', async (id, _why, each) => {
    const found = await assess(lay(id, textOf(each.journal), each.now, each.thresholds));
    expectRules(found, each.expected.unhealthy, each.expected.rules);
  });

  test('the command in its own process says the same', () => {
    for (const each of cases.filter((_, index) => index % 30 === 0)) {
      const { code, out, err } = watchkeeper(folder, [
        'assess',
        ...lay(`process ${each.id}`, textOf(each.journal), each.now, each.thresholds),
      ]);
      expect([each.id, code, err]).toEqual([each.id, each.expected.unhealthy ? 1 : 0, '']);
      expectRules(readVerdict(out), each.expected.unhealthy, each.expected.rules);
    }
  });
});

describe('cases from the text of the judgement', () => {
  // rule: every-judgement-rule-is-recorded
  test('there is one for each of the 19 rules', () => {
    const numbers = new Set(JUDGEMENT_CASES.map(({ judgement }) => judgement));
    expect([...numbers].sort((left, right) => left - right)).toEqual(
      Array.from({ length: 19 }, (_, index) => index + 1),
    );
    const ids = JUDGEMENT_CASES.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test.each(JUDGEMENT_CASES.map((each) => [each.judgement, each.id, each] as const))(
    'rule %i: %s',
    async (number, id, each) => {
      const args = lay(`${number} ${id}`, toText(each.journal), isoTime(each.now), each.thresholds);
      expectRules(await assess(args), each.rules.length > 0, each.rules);
    },
  );
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
