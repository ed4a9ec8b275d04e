import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { command as assessCommand } from '../../../bridge/cli/assess.js';
import type { CommandContext } from '../../../bridge/command/command.js';
import type { AssessedSession } from '../../../monitoring/offline/assessPaths.js';
import { createRedactor } from '../../../src/log/redact.js';
import { patience } from '../../harness/patience.js';
import { call, line, prompt, result, toText } from '../../monitoring/verdict/journals.js';
import { watchkeeperAgain } from './manyCalls.js';
import { watchkeeper } from './program.js';
import { SOMEWHERE } from './surroundings.js';

// covers: monitoring/offline/assessPaths.ts

const folder = mkdtempSync(join(tmpdir(), 'assess-'));
const EMPTY = join(folder, 'no-journals');
const PIPE = join(folder, 'pipe');
const LONGEST_READING_MS = 7_500;

beforeAll(() => {
  mkdirSync(EMPTY);
  execFileSync('mkfifo', [PIPE]);
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write('logs/sessions/silent/tool_use.jsonl', toText([prompt(0), call(1, 'a'), result(2, 'a')]));
  write('logs/sessions/silent/notes.txt', 'no journal');
  write('logs/sessions/silent/worklog.jsonl', '{"v":1,"event":"run_started"}\n');
  write('logs/sessions/gap/tool_use.jsonl', toText([prompt(0), result(1_800, 'a')]));
  write('logs/empty.jsonl', '');
  write('logs/garbage.jsonl', 'not json\n\u0000\u0001\n');
  symlinkSync(join(folder, 'logs'), join(folder, 'logs/again'));
  write('thresholds.json', '{"silence_ms": 10000}');
  write('typo.json', '{"silense_ms": 10000, "loop_repeats": 0.5}');
  write('list.json', '[]');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const refused = () => Promise.reject(new Error('assess needs no settings'));
  const context: CommandContext = {
    io: {
      stdout: (text) => {
        out += text;
      },
      stderr: (text) => {
        err += text;
      },
    },
    readSettings: refused,
    surroundings: SOMEWHERE,
    openInput: () => null,
    input: process.stdin,
    startDetached: () => undefined,
    runProgram: () => Promise.reject(new Error('this command runs no program')),
    logStream: process.stderr,
    redact: createRedactor([]),
    untilStopped: () => new AbortController().signal,
    handleSignals: () => undefined,
  };
  const code = await assessCommand.run(args, context);
  return { code, out, err };
}

async function sessions(...args: string[]): Promise<{ code: number; sessions: AssessedSession[] }> {
  const { code, out } = await run(...args, '--json');
  return { code, sessions: (JSON.parse(out) as { sessions: AssessedSession[] }).sessions };
}

describe('watchkeeper assess', () => {
  test('judges every journal below a folder at its last event', async () => {
    const found = await sessions(join(folder, 'logs'));
    expect(found.code).toBe(0);
    expect(
      found.sessions.map(({ file, session_id, verdict, attention }) => [file, session_id, verdict, attention]),
    ).toEqual([
      ['empty.jsonl', 'empty', 'unknown', 'idle'],
      ['garbage.jsonl', 'garbage', 'unknown', 'idle'],
      ['sessions/gap/tool_use.jsonl', 's1', 'healthy', 'working'],
      ['sessions/silent/tool_use.jsonl', 's1', 'healthy', 'working'],
    ]);
    expect(found.sessions[1]?.diagnostics.garbage_lines).toBe(1);
    expect(found.sessions[3]).toMatchObject({
      next_deadline: '2026-02-05T09:10:02.001Z',
      tool_count: 1,
      last_tool_call: '2026-02-05T09:00:02.000Z',
    });
  });

  // rule: a-newer-line-is-left-out
  test('reports that a newer version wrote part of a journal, and accuses nobody because of the rest', async () => {
    const path = join(folder, 'newer.jsonl');
    const silent = readFileSync(join(folder, 'logs/sessions/silent/tool_use.jsonl'), 'utf8');
    writeFileSync(path, `${silent}{"v":2,"event":"wait_start","timestamp":"2026-02-05T09:00:03Z"}\n`);
    for (const more of [[], ['--replay']]) {
      const { code, out, err } = await run(path, '--now', '2026-02-05T10:15:02+01:00', ...more);
      expect(code).toBe(2);
      expect(out).toMatch(/unknown/);
      expect(out).toContain('lines of a newer version, left out: 1');
      expect(err).toMatch(/1 line of a newer version.*judge it with that version/);
    }
  });

  test('judges at the given instant, and exits with 1 if it found something', async () => {
    const path = join(folder, 'logs/sessions/silent/tool_use.jsonl');
    const late = await sessions(path, '--now', '2026-02-05T10:15:02+01:00');
    expect(late.code).toBe(1);
    expect(late.sessions[0]).toMatchObject({
      file: path,
      verdict: 'unhealthy',
      next_deadline: '2026-02-05T11:00:00.001Z',
    });
    expect(late.sessions[0]?.findings[0]).toMatchObject({
      rule: 'silence',
      reason: 'silent_for_15_minutes',
      waits_considered: [],
    });
    expect((await sessions(path, '--now', '2026-02-05T09:10:02Z')).code).toBe(0);
    expect(
      (await sessions(path, '--now', '2026-02-05T09:00:20Z', '--thresholds', join(folder, 'thresholds.json'))).code,
    ).toBe(1);
  });

  test('replays: a rule that was true between two lines is found, with its instant', async () => {
    const { code, sessions: found } = await sessions(join(folder, 'logs/sessions'), '--replay');
    expect(code).toBe(1);
    expect(found[0]).toMatchObject({
      verdict: 'unhealthy',
      findings: [{ rule: 'silence', since: '2026-02-05T09:10:00.001Z' }],
      replay: { from: '2026-02-05T09:00:00.000Z', to: '2026-02-05T09:30:00.000Z', still_true: [] },
    });
    expect(found[1]).toMatchObject({ verdict: 'healthy', findings: [], replay: { still_true: [] } });
    const later = await sessions(join(folder, 'logs/sessions/silent'), '--replay', '--now', '2026-02-05T12:00:00Z');
    expect(later.sessions[0]?.findings.map(({ rule, since }) => [rule, since])).toEqual([
      ['silence', '2026-02-05T09:10:02.001Z'],
      ['runaway', '2026-02-05T11:00:00.001Z'],
    ]);
  });

  test('prints plain sentences for people', async () => {
    const { out } = await run(join(folder, 'logs'), '--now', '2026-02-05T09:45:00Z');
    expect(out).toMatch(/VERDICT +ATTENTION/);
    expect(out).toContain('no activity of the agent for 44 min since 09:00:02 UTC (limit 10 min).');
    expect(out).toContain('garbage.jsonl: unreadable lines: 1');
    expect(out).toContain('4 sessions, 2 unhealthy');
  });

  test('reports that a terminal waits for a person, although its program does not record that', async () => {
    const path = join(folder, 'dialog.jsonl');
    writeFileSync(path, toText([{ ...prompt(0), permission_mode: 'default' }, call(1, 'a')]));
    const at = async (time: string) => (await run(path, '--now', `2026-02-05T${time}Z`)).out.split('\n');
    expect((await at('09:03:00')).join()).not.toContain('waits for a person');
    expect(await at('09:03:01')).toEqual(
      expect.arrayContaining([
        `${path}: clock: waits for a person since 09:00:01 UTC; last activity at 09:00:01 UTC`,
        `${path}: wait: permission, Bash (a), since 09:00:01 UTC, until 13:00:01 UTC: excuses, a person has probably been asked and has until 13:00:01 UTC`,
      ]),
    );
    const found = (await at('13:00:02')).find((text) => text.includes(': silence since'));
    expect(found).toContain(
      'Bash has waited for a permission since 09:00:01 UTC, but its limit of 4 h ended at 13:00:01 UTC',
    );
  });

  // rule: a-verdict-explains-itself
  test('shows how many batches of calls failed in a row', async () => {
    const path = join(folder, 'failing.jsonl');
    const failed = (from: number, id: string) => [call(from, id), result(from + 1, id, 'failed')];
    for (const [lines, words] of [
      [failed(1, 'a'), /since 09:00:02 UTC; its last batch of calls failed$/m],
      [[...failed(1, 'a'), ...failed(3, 'b')], /since 09:00:04 UTC; its last 2 batches of calls failed$/m],
    ] as const) {
      writeFileSync(path, toText([prompt(0), ...lines]));
      expect((await run(path, '--now', '2026-02-05T09:00:09Z')).out).toMatch(words);
    }
  });

  test('shows the clock of each agent, its waits, and what can become true next', async () => {
    const sub = { agent_id: 'a1', parent_tool_use_id: 'task' };
    const lines = [
      prompt(0),
      call(1, 'task', { tool_name: 'Task' }),
      call(2, 'build', { ...sub, timeout_ms: 3_600_000 }),
      call(3, 'ask', { ...sub, tool_name: 'Edit' }),
      line(4, 'wait_start', { kind: 'permission', tool_use_id: 'ask', ...sub }),
    ];
    const path = join(folder, 'clocks.jsonl');
    writeFileSync(path, toText(lines));
    const { out } = await run(path, '--now', '2026-02-05T09:20:04Z');
    const shown = out.split('\n').flatMap((text) => (text.startsWith(`${path}: `) ? text.slice(path.length + 2) : []));
    expect(shown).toEqual([
      'clock: excused by a wait; last activity at 09:00:04 UTC',
      'wait: tool, Task (task), since 09:00:01 UTC, until 09:15:01 UTC: excuses nothing, its limit of 15 min ended at 09:15:01 UTC',
      'wait: child, Task (task), since 09:00:01 UTC, until 10:01:02 UTC: excuses, sub-agent a1 may be silent until 10:01:02 UTC',
      'worked: for 4 s, waits for people not counted',
      'clock: sub-agent a1: waits for a person since 09:00:04 UTC; last activity at 09:00:04 UTC',
      'wait: tool, Bash of sub-agent a1 (build), since 09:00:02 UTC, until 10:01:02 UTC: excuses, it may run until 10:01:02 UTC',
      'wait: tool, Edit of sub-agent a1 (ask), since 09:00:03 UTC, open-ended: excuses, its clock is stopped until a person answers',
      'wait: permission, Edit of sub-agent a1 (ask), since 09:00:04 UTC, open-ended: excuses, a person must answer',
      'next: silence can become true at 10:01:02 UTC without new activity',
    ]);
    const found = await sessions(path, '--now', '2026-02-05T09:20:04Z');
    expect(found.sessions[0]).toMatchObject({
      next_rule: 'silence',
      next_deadline: '2026-02-05T10:01:02.001Z',
      agents: [
        {
          agent: null,
          silence_ms: 0,
          silent_from: '2026-02-05T10:01:02.001Z',
          waits: [{ kind: 'tool' }, { kind: 'child' }],
        },
        { agent: 'a1', counted_from: '2026-02-05T09:00:04.000Z', failing_batches: 0 },
      ],
    });
  });

  test.each([
    ['garbage', 'logs/garbage.jsonl', /garbage\.jsonl holds no line of a journal \(1 line of something else\)/],
    ['an empty file', 'logs/empty.jsonl', /empty\.jsonl holds no line of a journal: name a tool_use\.jsonl/],
    ['JSON of another kind', 'thresholds.json', /thresholds\.json holds no line of a journal/],
    ['a pipe', 'pipe', /pipe cannot be read: .*pipe is not a plain file/],
  ])('of %s accuses nobody, and is an error', async (_, name, words) => {
    for (const more of [[], ['--replay'], ['--now', '2026-02-05T09:45:00Z']]) {
      const { code, out, err } = await run(join(folder, name), '--json', ...more);
      expect([more, code]).toEqual([more, 2]);
      expect(err).toMatch(words);
      expect(JSON.parse(out)).toMatchObject({ sessions: [{ verdict: 'unknown', findings: [] }] });
    }
  });

  test('of a journal without a line yet is not an error', async () => {
    const path = join(folder, 'logs/sessions/silent/tool_use.jsonl');
    const early = await run(path, '--now', '2026-02-05T08:00:00Z', '--json');
    expect(early).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(early.out)).toMatchObject({ sessions: [{ verdict: 'unknown' }] });
  });

  test('shows the thresholds that it uses', async () => {
    const path = join(folder, 'logs/sessions/silent');
    const file = join(folder, 'thresholds.json');
    const { out } = await run(path, '--thresholds', file);
    expect(out).toContain('by the thresholds silence_ms 10000, error_batches 5, runaway_ms 7200000');
    expect(JSON.parse((await run(path, '--json', '--thresholds', file)).out)).toMatchObject({
      thresholds: { silence_ms: 10_000, error_batches: 5 },
    });
  });

  test.each([
    ['no path', [], 'which journals'],
    ['an absent path', ['absent'], 'absent cannot be read'],
    ['a folder without a journal', [EMPTY], 'holds no journal: there is no *.jsonl anywhere below it'],
    ['such a folder beside another one', [join(folder, 'logs'), EMPTY], 'holds no journal'],
    ['a pipe of thresholds', ['.', '--thresholds', PIPE], 'pipe cannot be read (it is a pipe, not a plain file)'],
    ['a bad instant', ['.', '--now', 'yesterday'], '"yesterday" is not an instant'],
    ['an unknown option', ['.', '--treshold', 'x'], 'did you mean "--thresholds"'],
    ['absent thresholds', ['.', '--thresholds', 'absent.json'], 'absent.json cannot be read'],
  ])('refuses %s', async (_name, args, message) => {
    await expect(run(...args)).rejects.toThrow(message);
  });

  test('refuses unknown thresholds, all of them at once', async () => {
    const refused = run(folder, '--thresholds', join(folder, 'typo.json'));
    await expect(refused).rejects.toThrow(
      /typo\.json has 2 faults:\n.*loop_repeats: must be a whole number of calls, at least 1; given 0\.5\n.*unknown key "silense_ms"; did you mean "silence_ms"\?/,
    );
    await expect(run(folder, '--thresholds', join(folder, 'list.json'))).rejects.toThrow('the file: must be an object');
  });

  test('says that crashes are not judged if a session crashed, with and without a replay', () => {
    const crashed = [prompt(0), call(1, 'a'), result(2, 'a'), line(3, 'session_end', { reason: 'failed' })];
    mkdirSync(join(folder, 'crashed'));
    writeFileSync(join(folder, 'crashed/tool_use.jsonl'), toText(crashed));
    for (const how of [[], ['--replay']]) {
      const words = watchkeeperAgain(folder, ['assess', 'crashed', ...how]);
      expect(words).toMatchObject({ code: 0, out: expect.stringMatching(/^healthy /m) });
      expect(words.out).toMatch(/^not judged: crash, orphan, backlog, provider_outage; /m);
      const data = JSON.parse(watchkeeperAgain(folder, ['assess', 'crashed', '--json', ...how]).out);
      expect(data).toMatchObject({
        sessions: [{ verdict: 'healthy' }],
        not_judged: ['crash', 'orphan', 'backlog', 'provider_outage'],
      });
    }
  });

  test('reads 25 MB of lines with one letter within seconds and without keeping them, and says that they cannot be read; so does `track resume`', () => {
    const path = join(folder, 'letters.jsonl');
    writeFileSync(path, `${toText([prompt(0), call(1, 'a'), result(2, 'a')])}${'{\n'.repeat(12_500_000)}`);
    // A process that kept five bytes for each of them would end for want of memory.
    const scant = { NODE_OPTIONS: '--max-old-space-size=64' };
    for (const [command, said] of [
      [['assess', path], 'unreadable lines: 12500000'],
      [['track', 'resume', path, '--dir', join(folder, 'memory')], '12500000 lines of the record could not be read'],
    ] as const) {
      const begun = performance.now();
      const { code, out } = watchkeeper(folder, command, scant);
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(said) });
      expect(performance.now() - begun).toBeLessThan(LONGEST_READING_MS * patience());
    }
    rmSync(path);
  });

  test('gives each case of the collection its verdict', async () => {
    const path = join(import.meta.dirname, '../../fixtures/vectors/cases.json');
    interface Case {
      readonly id: string;
      readonly thresholds: object;
      readonly now: string;
      readonly journal: readonly Readonly<Record<string, unknown>>[];
    }
    const each = (JSON.parse(readFileSync(path, 'utf8')) as Case[]).find(
      ({ id }) => id === 'own/tool_undeclared_plus_1ms',
    );
    if (each === undefined) throw new Error('the case is missing');
    mkdirSync(join(folder, 'case/s'), { recursive: true });
    writeFileSync(join(folder, 'case/s/tool_use.jsonl'), toText(each.journal));
    writeFileSync(join(folder, 'case.json'), JSON.stringify(each.thresholds));
    const found = await sessions(join(folder, 'case'), '--now', each.now, '--thresholds', join(folder, 'case.json'));
    expect(found.code).toBe(1);
    expect(found.sessions[0]?.findings.map(({ rule }) => rule)).toEqual(['silence']);
  });
});
