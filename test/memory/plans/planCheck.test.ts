import { describe, expect, test } from '@jest/globals';
import { checkPlan, type PlannedPhase } from '../../../memory/plans/planCheck.js';

function phase(id: string, more: Partial<PlannedPhase> = {}): PlannedPhase {
  return { id, name: `phase ${id}`, agents: [], parallel: false, blocked_by: [], files: [], ...more };
}

const rulesOf = (phases: readonly PlannedPhase[]) => checkPlan(phases).violations.map(({ rule }) => rule);

describe('the order of a valid plan', () => {
  test('each phase follows its blockers, else the order of the plan', () => {
    const plan = [phase('3', { blocked_by: ['1', '2'] }), phase('2'), phase('1'), phase('4')];
    expect(checkPlan(plan)).toMatchObject({ violations: [], order: ['2', '1', '3', '4'] });
  });

  test('parallel phases of one depth make a batch, each other one is alone', () => {
    const parallel = { parallel: true, blocked_by: ['a'] };
    const plan = [phase('a'), phase('b', parallel), phase('c', parallel), phase('d', { blocked_by: ['a'] })];
    expect(checkPlan(plan).batches).toEqual([['a'], ['b', 'c'], ['d']]);
  });
});

describe('faults', () => {
  test('all come in one answer', () => {
    const plan = [
      phase('1', { blocked_by: ['1'] }),
      phase('2', { blocked_by: ['9'], name: ' ' }),
      phase('2'),
      phase('t4'),
      phase('a\nb'),
    ];
    expect(rulesOf(plan).sort()).toEqual([
      ...['bad_id', 'bad_id', 'duplicate_id', 'no_name', 'own_blocker', 'unknown_blocker'],
    ]);
    expect(checkPlan(plan)).toMatchObject({ order: [], batches: [] });
  });

  test('ids that look the same are one id twice, however their accents are written', () => {
    expect(rulesOf([phase('caf\u00e9'), phase('cafe\u0301')])).toEqual(['duplicate_id']);
  });

  test.each([
    [['1', '2', '3', '1'], 3],
    [['2', '3', '2'], 2],
  ])('a circle is named: %j', (circle) => {
    const waits = new Map(circle.slice(0, -1).map((id, index) => [id, circle[index + 1] ?? '']));
    const plan = ['1', '2', '3', '4'].map((id) => phase(id, { blocked_by: [waits.get(id) ?? []].flat() }));
    const [fault] = checkPlan([...plan, phase('5', { blocked_by: ['2'] })]).violations;
    expect(fault).toMatchObject({ rule: 'cycle' });
    expect(fault?.message).toContain(circle.join(' → '));
  });

  test.each([' 1', '1 ', '', '\u202e1', '1\u200b', 'a\u2028b', '\u00851', 'a\u0000', 'i'.repeat(101)])(
    'an id that looks like another one, or cannot be repeated: %j',
    (id) => {
      const { violations } = checkPlan([phase('1'), phase(id)]);
      expect(violations).toMatchObject([{ rule: 'bad_id', message: expect.stringContaining('visible characters') }]);
      expect(violations[0]?.message.length).toBeLessThan(400);
    },
  );

  test.each(['__proto__', 'constructor', '1.0', '-1', 'é', 'phase one', '☕'])('no fault of the id %j', (id) => {
    expect(checkPlan([phase(id), phase('2', { blocked_by: [id] })])).toMatchObject({
      violations: [],
      order: [id, '2'],
    });
  });

  test('a file without a path', () => {
    expect(rulesOf([phase('1', { files: ['a', ''] })])).toEqual(['no_path']);
  });

  test('no phase, and one too many', () => {
    expect(rulesOf([])).toEqual(['no_phases']);
    const phases = (count: number) => Array.from({ length: count }, (_, index) => phase(String(index + 1)));
    expect(rulesOf(phases(500))).toEqual([]);
    expect(checkPlan(phases(501)).violations).toMatchObject([{ rule: 'too_many_phases', phase: null }]);
    expect(checkPlan(phases(501)).violations[0]?.message).toContain('at most 500');
  });

  test('more files than a phase may have, and more than fit in a line', () => {
    const named = (count: number, path: string) => Array.from({ length: count }, (_, index) => `${path}${index}`);
    expect(rulesOf([phase('1', { files: named(2_000, 'a') })])).toEqual([]);
    expect(checkPlan([phase('1', { files: named(5_000, 'a') })]).violations[0]).toMatchObject({
      rule: 'too_many_files',
      message: expect.stringContaining('at most 2000'),
    });
    expect(rulesOf([phase('1', { files: named(1_000, 'long/'.repeat(20)) })])).toEqual(['too_long']);
  });

  test('parallel phases must not change one file, unless one waits for the other', () => {
    const both = { parallel: true, files: ['src/a.ts', 'src/b.ts'] };
    const conflict = checkPlan([phase('1', both), phase('2', both)]).violations;
    expect(conflict).toEqual([
      {
        rule: 'file_conflict',
        phase: '2',
        message: 'phases 1 and 2 may run at the same time, and both change src/a.ts and 1 other file',
      },
    ]);
    expect(rulesOf([phase('1', both), phase('2', { files: both.files })])).toEqual([]);
    const chain = [phase('1', both), phase('2', { blocked_by: ['1'] }), phase('3', { ...both, blocked_by: ['2'] })];
    expect(rulesOf(chain)).toEqual([]);
  });
});
