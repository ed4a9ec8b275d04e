import { describe, expect, test } from '@jest/globals';
import { type Assessment, assessSessionHealth } from '../../../monitoring/verdict/assessSessionHealth.js';
import { describeFinding } from '../../../monitoring/verdict/describe.js';
import { lastingReason } from '../../../monitoring/verdict/detectors/reasons.js';
import type { SessionContext } from '../../../monitoring/verdict/owedWork.js';
import { toEntry } from '../../../monitoring/verdict/timeline/entry.js';
import { isPolling } from '../../../monitoring/verdict/timeline/polling.js';
import { Timeline } from '../../../monitoring/verdict/timeline/timeline.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { isoTime, MINUTE } from '../../../src/time.js';
import { at, call, type Line, line, prompt, result } from '../verdict/journals.js';

/** Seconds of ten minutes, fifteen minutes and two hours: the default limits. */
const SILENCE = 600;
const TOOL = 900;
const RUNAWAY = 7_200;

function assess(lines: readonly Line[], seconds: number, context: SessionContext = {}): Assessment {
  const timeline = new Timeline(64);
  timeline.add(
    lines.map((each) => toEntry(each)).filter((entry) => entry !== null),
    at(seconds),
  );
  return assessSessionHealth(timeline, DEFAULT_THRESHOLDS, at(seconds), context);
}

function rules(lines: readonly Line[], seconds: number, context: SessionContext = {}): string[] {
  return assess(lines, seconds, context).findings.map(({ rule }) => rule);
}

/** Asserts that silence becomes true exactly after `seconds`, and that this is the deadline a second earlier. */
function expectSilentAfter(lines: readonly Line[], seconds: number): void {
  expect(rules(lines, seconds)).not.toContain('silence');
  expect(rules(lines, seconds + 0.001)).toContain('silence');
  expect(assess(lines, seconds - 1).next_deadline).toBe(at(seconds) + 1);
}

function failing(from: number, count: number, rest: Line = {}): Line[] {
  return Array.from({ length: count }, (_, index) => index + from).flatMap((second) => [
    call(second, `f${second}`, rest),
    result(second + 0.5, `f${second}`, 'failed', rest),
  ]);
}

/** Lines of activity every five minutes, so that nothing is silent. */
function busy(from: number, to: number): Line[] {
  const lines: Line[] = [];
  for (let second = from; second <= to; second += 300) lines.push(line(second, 'assistant_message'));
  return lines;
}

const wait = (seconds: number, kind: string, rest: Line = {}) => line(seconds, 'wait_start', { kind, ...rest });
const waitEnd = (seconds: number, kind: string, rest: Line = {}) => line(seconds, 'wait_end', { kind, ...rest });
const turnEnd = (seconds: number, rest: Line = {}) => line(seconds, 'turn_end', { reason: 'end_turn', ...rest });
const start = (seconds: number, source: string) => line(seconds, 'session_start', { source });
const SUB: Line = { agent_id: 'sub', parent_tool_use_id: 'task' };

describe('owed work', () => {
  test('runs from the prompt to the end of the turn', () => {
    expect(assess([start(0, 'startup')], 5_000)).toMatchObject({
      verdict: 'healthy',
      attention: 'idle',
      next_deadline: null,
    });
    expectSilentAfter([start(0, 'startup'), prompt(10)], 10 + SILENCE);
    expect(assess([prompt(0), call(1, 'a'), turnEnd(2)], 5_000)).toMatchObject({
      verdict: 'healthy',
      attention: 'idle',
    });
    expectSilentAfter([prompt(0), turnEnd(2), prompt(100)], 100 + SILENCE);
  });

  test('starts again with a run, not with a compaction', () => {
    const before = [prompt(0), ...failing(1, 6), call(20, 'a')];
    expect(assess([...before, start(30, 'resume')], 5_000)).toMatchObject({
      verdict: 'healthy',
      attention: 'idle',
      tool_count: 7,
    });
    expect(assess([...before, start(30, 'compact')], 40)).toMatchObject({ verdict: 'unhealthy', attention: 'in_tool' });
  });

  test('belongs to one agent: a sub-agent ends its own turn only', () => {
    const lines = [prompt(0), call(1, 'task'), line(2, 'assistant_message', SUB), turnEnd(3, SUB), result(4, 'task')];
    expectSilentAfter(lines, 4 + SILENCE);
  });

  test('exists without a prompt from the first call, and for an active run from its start', () => {
    expectSilentAfter([{ tool_name: 'Read', timestamp: isoTime(at(5)) }], 5 + SILENCE);
    expect(rules([start(0, 'startup')], 601, { status: 'active' })).toEqual(['silence']);
    expect(rules([start(0, 'startup')], 601, { status: 'pending' })).toEqual([]);
    expect(rules([prompt(0)], 601, { status: 'completed' })).toEqual([]);
  });
});

describe('the silence clock', () => {
  test.each([
    'stream',
    'bash_progress',
    'mcp_progress',
    'hook_progress',
    'agent_progress',
    'sub_agent',
    'tool_event',
    'step',
  ])('starts again at a heartbeat of %s', (source) =>
    expectSilentAfter([prompt(0), line(500, 'heartbeat', { source })], 500 + SILENCE),
  );

  test.each(['record', 'hook', 'stop_hook', 'context', 'api_retry', 'queue', 'local_command', 'other', undefined])(
    'continues at a heartbeat of %s',
    (source) => expectSilentAfter([prompt(0), line(500, 'heartbeat', { source })], SILENCE),
  );

  test.each(['assistant_message', 'compaction'])('starts again at %s', (event) =>
    expectSilentAfter([prompt(0), line(500, event)], 500 + SILENCE),
  );

  test('starts again at a message of a person, not of the harness', () => {
    expectSilentAfter([prompt(0), prompt(500)], 500 + SILENCE);
    expectSilentAfter([prompt(0), prompt(500, 'machine')], SILENCE);
    expectSilentAfter([prompt(0), turnEnd(1), prompt(500, 'machine')], 500 + SILENCE);
  });

  test('starts again for all ancestors when a sub-agent acts', () => {
    const deep = { agent_id: 'deep', parent_tool_use_id: 'inner' };
    const lines = [
      prompt(0),
      call(1, 'task'),
      call(2, 'inner', SUB),
      result(2.5, 'task'),
      line(500, 'assistant_message', deep),
    ];
    expectSilentAfter(lines, 500 + SILENCE);
  });

  test('has a reason in whole minutes, below one in seconds', () => {
    const reasons = [40_900, 59_999, 60_000, 15 * 60_000].map((ms) => lastingReason('silent', ms));
    expect(reasons).toEqual([
      'silent_for_40_seconds',
      'silent_for_59_seconds',
      'silent_for_1_minutes',
      'silent_for_15_minutes',
    ]);
  });

  test('shows how long, since when, and why no wait excuses it', () => {
    const [finding] = assess([prompt(0), call(60, 'a')], 60 + 25 * 60).findings;
    expect(finding).toMatchObject({ reason: 'silent_for_25_minutes', since: isoTime(at(60 + TOOL) + 1) });
    expect(finding && describeFinding(finding)).toBe(
      'no activity of the agent for 25 min since 09:01:00 UTC (limit 10 min); Bash has been running since 09:01:00 UTC, but its limit of 15 min ended at 09:16:00 UTC.',
    );
  });
});

describe('a wait', () => {
  // rule: silence-is-excused-by-its-own-wait
  test('for a tool excuses until its limit, then the clock counts from the last activity', () => {
    expectSilentAfter([prompt(0), call(10, 'a')], 10 + TOOL);
    expectSilentAfter([prompt(0), call(10, 'a', { timeout_ms: 1_800_000 })], 10 + 1_800 + 60);
    expectSilentAfter([prompt(0), call(10, 'a', { timeout_ms: 60_000 })], 10 + SILENCE);
    expectSilentAfter([prompt(0), call(10, 'a', { timeout_ms: 'soon' })], 10 + TOOL);
    expect(assess([prompt(0), call(10, 'a', { timeout_ms: 1e12 })], 20).waits[0]?.until).toBe(
      isoTime(at(10 + 86_400 + 60)),
    );
  });

  // rule: silence-is-excused-by-its-own-wait
  test('excuses its own call only', () => {
    const lines = [prompt(0), call(1, 'late', { timeout_ms: 60_000 }), call(2, 'long', { timeout_ms: 3_600_000 })];
    expectSilentAfter(lines, 2 + SILENCE);
    const { findings } = assess(lines, 700);
    expect(findings[0]?.waits_considered.map(({ excuses, why }) => [excuses, why])).toEqual([
      [false, 'its limit of 2 min ended at 09:02:01 UTC'],
      [false, 'that does not excuse the silence'],
    ]);
    expect(rules([...lines.slice(0, 2), wait(3, 'rate_limit', { until: isoTime(at(5_000)) })], 700)).toEqual([
      'silence',
    ]);
  });

  test('for a person never ends by itself, and covers every open call if it names none', () => {
    const calls = [prompt(0), call(1, 'a'), call(1, 'b')];
    expect(assess([...calls, wait(2, 'permission')], 100_000)).toMatchObject({
      verdict: 'healthy',
      attention: 'waiting',
    });
    expect(rules([...calls, wait(2, 'user')], 100_000)).toEqual([]);
    expectSilentAfter([...calls, wait(2, 'permission', { tool_use_id: 'a' })], 1 + TOOL);
  });

  test('for a permission starts the time of the call at the grant, even if the grant is not recorded', () => {
    const asked = [prompt(0), call(1, 'a'), wait(2, 'permission', { tool_use_id: 'a' })];
    expectSilentAfter([...asked, waitEnd(5_000, 'permission', { tool_use_id: 'a' })], 5_000 + TOOL);
    expectSilentAfter([prompt(0), call(1, 'a'), wait(2, 'permission'), line(5_000, 'assistant_message')], 5_000 + TOOL);
    expect(rules([...asked, line(5_000, 'assistant_message')], 50_000)).toEqual([]);
    expectSilentAfter([...asked, result(5_000, 'a')], 5_000 + SILENCE);
  });

  test('for a person ends with its own end, not with a stray one', () => {
    const nested = [prompt(0), wait(1, 'permission'), wait(1, 'user'), waitEnd(100, 'permission')];
    expect(rules(nested, 50_000)).toEqual([]);
    expectSilentAfter([...nested, waitEnd(200, 'user')], 200 + SILENCE);
  });

  test('for a rate limit or a child ends at its end, and the clock counts from there', () => {
    expectSilentAfter([prompt(0), wait(1, 'rate_limit', { until: isoTime(at(5_000)) })], 5_000 + SILENCE);
    expectSilentAfter([prompt(0), wait(1, 'rate_limit')], 1 + TOOL + SILENCE);
    expectSilentAfter([prompt(0), wait(1, 'child', { until: isoTime(at(2_000)) })], 2_000 + SILENCE);
    expectSilentAfter([prompt(0), wait(1, 'child'), waitEnd(50, 'child')], 50 + SILENCE);
  });

  test('for a sub-agent lasts while that sub-agent is not silent', () => {
    const started = [prompt(0), call(1, 'task', { timeout_ms: 60_000 }), line(2, 'assistant_message', SUB)];
    expectSilentAfter(started, 2 + SILENCE);
    expectSilentAfter([...started, call(3, 'build', { ...SUB, timeout_ms: 3_600_000 })], 3 + 3_600 + 60);
    expect(
      rules([...started, call(3, 'ask', SUB), wait(4, 'permission', { ...SUB, tool_use_id: 'ask' })], 50_000),
    ).not.toContain('silence');
    expectSilentAfter([...started, turnEnd(400, SUB)], 400 + SILENCE);
  });

  test('for a model stream is granted twice in a row, and again after activity', () => {
    const record = (seconds: number) => line(seconds, 'heartbeat', { source: 'record' });
    expectSilentAfter([prompt(0), record(300), record(600), record(900), record(1_200)], 900);
    const working = [prompt(0), record(300), record(600), line(700, 'assistant_message'), record(1_000), record(1_300)];
    expectSilentAfter(working, 1_600);
  });

  test('for a retried model stream lasts the time of a stream', () => {
    const record = (seconds: number) => line(seconds, 'heartbeat', { source: 'record' });
    expectSilentAfter([prompt(0), record(302)], 602);
    expectSilentAfter([prompt(0), record(255), record(557)], 857);
    expectSilentAfter([prompt(0), record(100), record(200), record(300), record(400), record(500)], SILENCE);
    expectSilentAfter([prompt(0), record(302), line(310, 'assistant_message')], 310 + SILENCE);
    expectSilentAfter([prompt(0), call(1, 'a', { timeout_ms: 1_000 }), record(302)], 1 + SILENCE);
  });
});

describe('an error cascade', () => {
  // rule: an-error-cascade-is-failing-batches
  test('is more than five failing batches in a row', () => {
    expect(rules([prompt(0), ...failing(1, 5)], 10)).toEqual([]);
    const { findings, next_deadline } = assess([prompt(0), ...failing(1, 7)], 10);
    expect(findings).toEqual([
      expect.objectContaining({ rule: 'error_cascade', reason: 'error_cascade_of_7', since: isoTime(at(6.5)) }),
    ]);
    expect(next_deadline).not.toBeNull();
    expect(rules([prompt(0), ...failing(1, 7), call(8, 'x'), result(9, 'x')], 10)).toEqual([]);
  });

  test('counts a batch once, and not at all if one of its calls succeeded', () => {
    const batch = (index: number, outcomes: string[]): Line[] => [
      ...outcomes.map((_, each) => call(index, `${index}_${each}`, { batch: `b${index}` })),
      ...outcomes.map((outcome, each) => result(index + 0.5, `${index}_${each}`, outcome, { batch: `b${index}` })),
    ];
    const failed = ['failed', 'cancelled', 'failed'];
    const batches = (count: number, outcomes: string[], from = 1) =>
      Array.from({ length: count }, (_, index) => batch(index + from, outcomes)).flat();
    expect(rules([prompt(0), ...batches(5, failed)], 20)).toEqual([]);
    expect(rules([prompt(0), ...batches(6, failed)], 20)).toEqual(['error_cascade']);
    expect(rules([prompt(0), ...batches(9, ['failed', 'ok'])], 20)).toEqual([]);
    expect(rules([prompt(0), ...batches(9, ['rejected', 'cancelled', 'blocked'])], 20)).toEqual([]);
    const split = [...batches(3, failed), ...batches(4, ['rejected'], 4), ...batches(3, failed, 8)];
    expect(rules([prompt(0), ...split], 20)).toEqual(['error_cascade']);
  });

  test('judges a batch when the next one begins, and includes late results', () => {
    const hanging = [
      prompt(0),
      call(1, 'slow', { batch: 'b1' }),
      call(1, 'bad', { batch: 'b1' }),
      result(2, 'bad', 'failed'),
    ];
    expect(assess(hanging, 3).clock.failing_batches).toBe(0);
    const next = [...hanging, call(3, 'next')];
    expect(assess(next, 4).clock.failing_batches).toBe(1);
    expect(assess([...next, result(5, 'slow', 'failed')], 6).clock.failing_batches).toBe(1);
    expect(assess([...next, result(5, 'slow')], 6).clock.failing_batches).toBe(0);
    const parallel = [prompt(0), call(1, 'a'), call(1, 'b'), result(2, 'a', 'failed'), result(2, 'b', 'failed')];
    expect(assess(parallel, 3).clock.failing_batches).toBe(2);
  });

  test('is counted per agent, ends at a message of a person, and continues at one of a machine', () => {
    expect(rules([prompt(0), ...failing(1, 3), ...failing(10, 3, SUB)], 20)).toEqual([]);
    expect(rules([prompt(0), ...failing(1, 6, SUB)], 20)).toEqual(['error_cascade']);
    expect(rules([prompt(0), ...failing(1, 6), prompt(10)], 20)).toEqual([]);
    expect(rules([prompt(0), ...failing(1, 6), prompt(10, 'machine')], 20)).toEqual(['error_cascade']);
    expect(rules([prompt(0), ...failing(1, 6), turnEnd(10)], 20)).toEqual([]);
  });

  // rule: an-error-cascade-is-failing-batches
  test('uses the error flag, never a word in the output', () => {
    const results = (rest: Line) =>
      failing(1, 9).map((each) => (each.event === 'post_tool_use' ? { ...each, ...rest } : each));
    const flags = { is_error: undefined, outcome: undefined };
    expect(rules([prompt(0), ...results({ ...flags, tool_output_preview: 'Error: fatal' })], 20)).not.toContain(
      'error_cascade',
    );
    expect(rules([prompt(0), ...results({ ...flags, is_error: true })], 20)).toContain('error_cascade');
    expect(rules([prompt(0), ...results({ is_error: true, outcome: 'rejected' })], 20)).not.toContain('error_cascade');
  });
});

describe('a runaway', () => {
  // rule: a-runaway-is-owed-time
  test('is more than two hours of owed time since a person last wrote', () => {
    const lines = [prompt(0), ...busy(1, RUNAWAY)];
    expect(rules(lines, RUNAWAY)).toEqual([]);
    expect(assess(lines, RUNAWAY - 1).next_deadline).toBe(at(RUNAWAY) + 1);
    expect(assess(lines, RUNAWAY + 0.001).findings[0]).toMatchObject({
      rule: 'runaway',
      reason: 'running_for_120_minutes',
    });
    expect(rules([...lines, prompt(RUNAWAY - 5)], RUNAWAY + 100)).toEqual([]);
  });

  test('sums the turns that machines opened, without the time between', () => {
    const turns = [prompt(0), ...busy(1, 4_000), turnEnd(4_000), prompt(9_000, 'machine'), ...busy(9_001, 12_300)];
    expect(assess(turns, 12_200).clock.owed_ms).toBe(7_200_000);
    expect(rules(turns, 12_200)).toEqual([]);
    expect(rules(turns, 12_201)).toEqual(['runaway']);
  });

  test('does not count waits for people, of any agent, nor host sleep; rate limits count', () => {
    const asked = (kind: string, rest: Line = {}) => [
      prompt(0),
      call(1, 'task'),
      wait(2, kind, rest),
      waitEnd(3_602, kind, rest),
      ...busy(3_603, 8_000),
    ];
    expect(assess(asked('permission'), 8_000).clock.owed_ms).toBe(4_400_000);
    expect(assess(asked('user', SUB), 8_000).clock.owed_ms).toBe(4_400_000);
    expect(rules(asked('rate_limit'), 8_000)).toEqual(['runaway']);
    const gaps = [{ from: at(100), until: at(3_700) }];
    expect(rules([prompt(0), ...busy(1, 7_500)], 7_500, { gaps })).toEqual([]);
  });

  test('loses only the owed time within a gap, and only once if two gaps overlap', () => {
    const owedMs = (lines: Line[], ...gaps: [number, number][]) =>
      assess(lines, 8_000, { gaps: gaps.map(([from, until]) => ({ from: at(from), until: at(until) })) }).clock.owed_ms;
    const asked = [
      prompt(0),
      call(1, 'task'),
      wait(2, 'permission'),
      waitEnd(3_602, 'permission'),
      ...busy(3_603, 8_000),
    ];
    expect(owedMs(asked)).toBe(4_400_000);
    expect(owedMs(asked, [100, 3_500])).toBe(4_400_000);
    expect(owedMs(asked, [3_502, 3_702])).toBe(4_300_000);
    expect(owedMs(asked, [4_000, 5_000], [4_100, 5_100])).toBe(3_300_000);
    expect(owedMs(asked, [4_000, 5_000], [4_100, 4_200], [6_000, 6_100])).toBe(3_300_000);
  });
});

describe('a loop', () => {
  const again = (count: number, rest: (index: number) => Line = () => ({}), command = 'make'): Line[] =>
    Array.from({ length: count }, (_, index) => [
      call(10 + index, `l${index}`, { tool_input: { command, n: 1 }, ...rest(index) }),
      result(10.5 + index, `l${index}`, 'ok', { tool_output_preview: 'same', ...rest(index) }),
    ]).flat();

  // rule: a-loop-is-equal-calls
  test('is five equal calls with equal results at the end', () => {
    expect(rules([prompt(0), ...again(4)], 60)).toEqual([]);
    expect(assess([prompt(0), ...again(9)], 60).findings[0]).toMatchObject({ rule: 'loop', reason: 'loop_of_9' });
    expect(rules([prompt(0), ...again(9), call(50, 'other')], 60)).toEqual([]);
    expect(rules([prompt(0), ...again(9), call(50, 'l9', { tool_input: { n: 1, command: 'make' } })], 60)).toEqual([
      'loop',
    ]);
    expect(rules([prompt(0), ...again(9), prompt(50)], 60)).toEqual([]);
    expect(rules([prompt(0), ...again(9), prompt(50, 'machine')], 60)).toEqual(['loop']);
    expect(rules([prompt(0), ...again(9, () => SUB)], 60)).toEqual(['loop']);
  });

  test('is recognised by digests taken before anything was cut', () => {
    expect(rules([prompt(0), ...again(6, (index) => ({ output_digest: `d${index}` }))], 60)).toEqual([]);
    expect(rules([prompt(0), ...again(6, (index) => ({ input_digest: `d${index}` }))], 60)).toEqual([]);
    expect(
      rules([prompt(0), ...again(6, (index) => ({ input_digest: 'd', output_digest: 'e', tool_input: index }))], 60),
    ).toEqual(['loop']);
  });

  test('needs results: calls without a result equal nothing', () => {
    expect(rules([prompt(0), ...again(6).filter(({ event }) => event === 'pre_tool_use')], 60)).toEqual([]);
    expect(rules([prompt(0), ...again(6, () => ({ tool_output_preview: undefined }))], 60)).toEqual([]);
  });

  test('counts equal calls of one message once', () => {
    expect(rules([prompt(0), ...again(6, () => ({ batch: 'b' }))], 60)).toEqual([]);
    expect(rules([prompt(0), ...again(10, (index) => ({ batch: `b${Math.floor(index / 2)}` }))], 60)).toEqual(['loop']);
  });

  test('is found behind more calls than are remembered', () => {
    const earlier = Array.from({ length: 40 }, (_, index) => [
      call(0.1 + index / 10, `e${index}`, { tool_input: { earlier: index } }),
      result(0.15 + index / 10, `e${index}`),
    ]).flat();
    const rulesOf = (lines: Line[]) => rules([prompt(0), ...earlier, ...lines], 60);
    const [once, another] = [{ tool_input: { step: 'a' } }, { tool_input: { step: 'b' } }];
    expect(rulesOf(again(6, (index) => (index % 2 === 0 ? once : another)))).toEqual(['loop']);
    expect(rulesOf(again(6, (index) => (index === 3 ? { tool_input: { index } } : once)))).toEqual([]);
    expect(rulesOf(again(8, (index) => ({ batch: `b${Math.floor(index / 2)}` })))).toEqual([]);
  });

  test('is a cycle as well, even one that contains a call twice in a row', () => {
    const steps = (text: string) =>
      [...text].flatMap((step, index) => [
        call(10 + index, `s${index}`, { tool_input: { step } }),
        result(10.5 + index, `s${index}`, 'ok', { tool_output_preview: step }),
      ]);
    expect(rules([prompt(0), ...steps('xababab')], 60)).toEqual(['loop']);
    expect(rules([prompt(0), ...steps('aabaabaab')], 60)).toEqual(['loop']);
    expect(rules([prompt(0), ...steps('abcabcab')], 60)).toEqual([]);
    expect(rules([prompt(0), ...steps('ababab'), call(50, 's', { tool_input: { step: 'a' } })], 60)).toEqual(['loop']);
    expect(rules([prompt(0), ...steps('ababab'), call(50, 's', { tool_input: { step: 'b' } })], 60)).toEqual([]);
    expect(rules([prompt(0), ...steps('abcdefabcdefabcdef')], 60)).toEqual([]);
  });

  test('does not include polling, whose neighbours stay adjacent', () => {
    expect(rules([prompt(0), ...again(9, undefined, 'gh run view 1')], 60)).toEqual([]);
    expect(rules([prompt(0), ...again(9, () => ({ polling: true }))], 60)).toEqual([]);
    const mixed = again(5).flatMap((each, index) => [each, call(10.2 + index / 2, `p${index}`, { tool_name: 'wait' })]);
    expect(rules([prompt(0), ...mixed], 60)).toContain('loop');
  });

  test.each([
    ['wait', {}, true],
    ['TaskOutput', { id: 1 }, true],
    ['write_stdin', { session_id: 7, chars: '' }, true],
    ['write_stdin', { session_id: 7, chars: 'y\n' }, false],
    ['Bash', { command: '  sleep 5' }, true],
    ['Bash', { command: 'sleepy' }, false],
    ['Bash', { command: 'gh pr checks 12' }, true],
    ['Bash', { command: 'gh pr create' }, false],
    ['shell', { command: ['bash', '-lc', 'gh run watch 3'] }, true],
    ['shell', { command: ['sleep', '5'] }, true],
    ['exec', { polling: true }, true],
    ['exec', null, false],
  ])('recognises polling by tool and command: %s %j %s', (tool, input, expected) => {
    expect(isPolling(tool, input)).toBe(expected);
  });
});

describe('the record in the store', () => {
  // rule: silence-is-excused-by-its-own-wait
  test('decides if there is no journal', () => {
    expect(assess([], 5_000)).toMatchObject({ verdict: 'unknown', attention: 'idle', next_deadline: null });
    expect(assess([], 5_000, { status: 'active', last_activity: null }).verdict).toBe('unknown');
    const context = { status: 'active', last_activity: at(0) } as const;
    expect(assess([], 600, context)).toMatchObject({ verdict: 'healthy', next_deadline: at(600) + 1 });
    expect(assess([], 600.001, context).findings).toEqual([
      expect.objectContaining({ rule: 'silence', since: isoTime(at(600) + 1) }),
    ]);
    expect(rules([], 5_000, { status: 'pending', last_activity: at(0) })).toEqual([]);
  });

  test('keeps lines of an earlier run out of the present one', () => {
    const lines = [prompt(0), call(1, 'a')];
    expect(assess(lines, 5_000, { status: 'active', started_at: at(4_900), last_activity: at(1) })).toMatchObject({
      verdict: 'healthy',
      next_deadline: at(4_900) + 10 * MINUTE + 1,
    });
  });

  test('restarts every clock after a gap', () => {
    const gaps = [{ from: at(100), until: at(5_000) }];
    expect(rules([prompt(0), call(1, 'a')], 5_000 + TOOL, { gaps })).toEqual([]);
    expect(rules([prompt(0), call(1, 'a')], 5_001 + TOOL, { gaps })).toEqual(['silence']);
  });
});

describe('attention', () => {
  test.each([
    ['working', [prompt(0)]],
    ['in_tool', [prompt(0), call(1, 'a')]],
    ['waiting', [prompt(0), call(1, 'a'), wait(2, 'permission')]],
    ['idle', [prompt(0), turnEnd(1)]],
  ])('%s', (attention, lines) => expect(assess(lines, 5).attention).toBe(attention));

  test('is that of a person if a sub-agent asks, also in the background after the turn', () => {
    const of = { agent_id: 'ag', parent_tool_use_id: 'a' };
    const asked = [call(2, 'x', of), wait(3, 'permission', { ...of, tool_use_id: 'x' })];
    const awaited = assess([prompt(0), call(1, 'a'), ...asked], 5);
    const background = assess([prompt(0), call(1, 'a'), result(1, 'a'), ...asked, turnEnd(4)], 5);
    for (const { attention, agents } of [awaited, background]) {
      expect(attention).toBe('waiting');
      expect(agents.find(({ agent }) => agent === 'ag')?.waits).toMatchObject([
        { kind: 'tool' },
        { kind: 'permission', since: isoTime(at(3)), excuses: true },
      ]);
    }
    const answered = [...asked, result(4, 'x', 'ok', of), turnEnd(4)];
    expect(assess([prompt(0), call(1, 'a'), result(1, 'a'), ...answered], 5)).toMatchObject({
      attention: 'idle',
      agents: [],
    });
  });
});
