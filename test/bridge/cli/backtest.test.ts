import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { command as backtestCommand } from '../../../bridge/cli/backtest.js';
import type { BacktestResult } from '../../../monitoring/offline/backtest/backtestPaths.js';
import { call, line, prompt, result, toText } from '../../monitoring/verdict/journals.js';
import { runCommand } from './inProcess.js';
import { watchkeeper } from './program.js';

// covers: monitoring/offline/backtest/backtestPaths.ts
// covers: monitoring/offline/backtest/labels.ts
// covers: monitoring/offline/backtest/readings.ts
// covers: monitoring/offline/backtest/tally.ts

const folder = mkdtempSync(join(tmpdir(), 'backtest-'));
const RUNS = join(folder, 'runs');
const RECORDED = join(import.meta.dirname, '../../fixtures/sessions');

beforeAll(() => {
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const run = (id: string, ...lines: readonly object[]) =>
    write(`runs/${id}/tool_use.jsonl`, toText(lines.map((each) => ({ ...each, session_id: id }))));
  const end = (seconds: number) => line(seconds, 'turn_end', { reason: 'end_turn' });
  run('quick', prompt(0), call(10, 'a'), result(20, 'a'), end(30));
  run('slow', prompt(0), call(10, 'a'), result(20, 'a'), end(320));
  run('hung', prompt(0), call(10, 'a'), result(20, 'a'), end(1_000));
  run('odd', prompt(0), end(700));
  write('strict.json', '{"silence_ms": 60000}');
  write('calm.json', '{"silence_ms": 600000}');
  write('deaf.json', '{"silence_ms": 6000000}');
  const labels = {
    'quick/tool_use.jsonl': 'committed',
    slow: 'healthy',
    hung: { rule: 'silence', since: '2026-02-05T09:00:30Z' },
  };
  write('labels.json', JSON.stringify(labels));
  write('sloppy.json', '{"quick": "fine", "absent": "healthy"}');
  write('list.json', '[]');
  write('when.json', '{"hung": {"rule": "silence", "since": "noon"}}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string) => join(folder, name);

async function backtest(...args: string[]): Promise<{ code: number | null; found: BacktestResult; err: string }> {
  const { code, out, err } = await runCommand(backtestCommand, [...args, '--json']);
  return { code, found: JSON.parse(out) as BacktestResult, err };
}

const silenceOf = ({ trials }: BacktestResult) =>
  trials.map(({ rules }) => rules.find(({ rule }) => rule === 'silence'));

describe('watchkeeper backtest', () => {
  // rule: thresholds-can-be-tried
  test('counts false alarms, findings and delays, for several files of thresholds at once', async () => {
    const files = ['strict', 'calm', 'deaf'].flatMap((name) => ['--thresholds', file(`${name}.json`)]);
    const { code, found, err } = await backtest(RUNS, '--labels', file('labels.json'), ...files);
    expect([code, err, found.runs]).toEqual([1, '', 4]);
    expect(found.trials.map(({ name }) => name)).toEqual(['strict.json', 'calm.json', 'deaf.json']);
    const [strict, calm, deaf] = silenceOf(found);
    expect(strict).toMatchObject({ false_alarms: 1, healthy: 2, found: 1, expected: 1, unlabelled: 1 });
    expect(calm).toMatchObject({ false_alarms: 0, healthy: 2, found: 1, expected: 1, unlabelled: 1 });
    expect(calm?.delay_ms).toMatchObject({ count: 1, max: 590_001 });
    expect(deaf).toMatchObject({ false_alarms: 0, found: 0, expected: 1, unlabelled: 0 });
    expect(found.trials[0]?.accusations).toEqual([
      {
        file: 'hung/tool_use.jsonl',
        session_id: 'hung',
        rule: 'silence',
        judgement: 'found',
        since: '2026-02-05T09:01:20.001Z',
      },
      {
        file: 'odd/tool_use.jsonl',
        session_id: 'odd',
        rule: 'silence',
        judgement: 'unlabelled',
        since: '2026-02-05T09:01:00.001Z',
      },
      {
        file: 'slow/tool_use.jsonl',
        session_id: 'slow',
        rule: 'silence',
        judgement: 'false_alarm',
        since: '2026-02-05T09:01:20.001Z',
      },
    ]);
    expect(found.trials[2]?.accusations.map(({ judgement }) => judgement)).toEqual(['missed']);
  });

  test('shows how high readings rise in runs that are not labelled sick', async () => {
    const { found } = await backtest(RUNS, '--labels', file('labels.json'));
    const [silence] = silenceOf(found);
    expect(silence?.readings).toMatchObject({ count: 5, max: 700_000 });
    expect(silence?.readings.p50).toBeGreaterThanOrEqual(10_000);
    expect(silence?.readings.p50).toBeLessThanOrEqual(10_100);
    const runaway = found.trials[0]?.rules.find(({ rule }) => rule === 'runaway');
    expect(runaway?.readings).toMatchObject({ count: 3, max: 700_000 });
  });

  test('of recorded sessions accuses no healthy one', async () => {
    const rows = readFileSync(join(RECORDED, 'labels.csv'), 'utf8').trim().split('\n').slice(1);
    const labels = Object.fromEntries(rows.map((row) => [row.split(',')[0], row.split(',')[5]]));
    writeFileSync(file('recorded.json'), JSON.stringify(labels));
    const { code, found, err } = await backtest(RECORDED, '--labels', file('recorded.json'));
    expect([code, found.runs]).toEqual([2, 92]);
    expect(err).toBe('watchkeeper: labels that name neither health nor a rule count as none: host_sleep\n');
    expect(
      found.trials[0]?.rules.map((score) => [score.rule, score.false_alarms, score.healthy, score.unlabelled]),
    ).toEqual([
      ['silence', 0, 88, 3],
      ['error_cascade', 0, 88, 0],
      ['runaway', 0, 88, 0],
      ['loop', found.trials[0]?.rules[3]?.false_alarms, 88, 0],
    ]);
    const errors = found.trials[0]?.rules[1]?.readings;
    expect(errors?.max).toBeLessThanOrEqual(5);
  });

  test('prints a table for people, in its own process', () => {
    const { code, out, err } = watchkeeper(folder, [
      'backtest',
      'runs',
      '--labels',
      'labels.json',
      '--thresholds',
      'calm.json',
    ]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^THRESHOLDS +RULE +FALSE ALARMS +FOUND +DELAY p50/);
    expect(out).toMatch(/calm\.json +silence +0 of 2 +1 of 1 +9 min/);
    expect(out).toContain('calm.json: odd/tool_use.jsonl: silence first true at 2026-02-05T09:10:00.001Z (unlabelled)');
  });

  test('reports labels that fit no run, and labels that say nothing', async () => {
    const { code, err } = await backtest(RUNS, '--labels', file('sloppy.json'));
    expect(code).toBe(2);
    expect(err).toContain('1 of the labels belong to none of these runs: absent');
    expect(err).toContain('count as none: fine');
  });

  test.each([
    ['no path', [], 'which runs'],
    ['labels that are not an object', [RUNS, '--labels', file('list.json')], 'must hold an object'],
    ['a label with an invalid time', [RUNS, '--labels', file('when.json')], 'the "since" of "hung" is not an instant'],
    ['absent labels', [RUNS, '--labels', 'absent.json'], 'absent.json cannot be read'],
    ['absent thresholds', [RUNS, '--thresholds', 'absent.json'], 'absent.json cannot be read'],
    ['a file without a journal', [file('labels.json')], 'holds no line of a journal'],
  ])('refuses %s', async (_name, args, message) => {
    await expect(runCommand(backtestCommand, args)).rejects.toThrow(message);
  });
});
