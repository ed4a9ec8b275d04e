/** Whatever wrote it and however it was damaged: a transcript gets the verdict of its journal, through the command line. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AssessedSession, assessPaths } from '../../../monitoring/offline/assessPaths.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { HOUR, MINUTE } from '../../../src/time.js';
import { watchkeeper } from '../../bridge/cli/program.js';
import { testFolder } from '../../harness/folder.js';
import { type Random, seededRandom } from '../journal/random.js';
import { asks, at, calls, codex, type Fields, RECORDED, returns, START, says, transcript } from './told.js';

// covers: bridge/cli/import.ts
// covers: src/transcripts/lineFile.ts

/** Of older shapes, in which neighbours decide most. */
const OLDER: Readonly<Record<string, readonly Fields[]>> = {
  claude: [
    asks(0, 'delegate'),
    calls(1, 't1', 'Task', { prompt: 'look' }),
    asks(2, 'look', { isSidechain: true, uuid: 'a1' }),
    calls(3, 'x', 'Bash', { command: 'make', timeout: 60_000 }, { isSidechain: true, uuid: 'a2', parentUuid: 'a1' }),
    returns(800, 'x', 'Exit code 2', true, { isSidechain: true, uuid: 'a3', parentUuid: 'a2' }),
    returns(801, 't1'),
    says(802, 'Done'),
    asks(3_000, 'more'),
    says(3_001, 'Looking'),
    calls(3_002, 't2'),
  ],
  codex: [
    codex(0, 'session_meta', { id: 'r1', source: 'cli' }),
    codex(1, 'event_msg', { type: 'user_message', message: 'go' }),
    ...Array.from({ length: 12 }, (_, index) => index * 10 + 2).flatMap((seconds) => [
      codex(seconds, 'response_item', {
        type: 'function_call',
        name: 'shell',
        arguments: '{}',
        call_id: `c${seconds}`,
      }),
      codex(seconds + 5, 'response_item', {
        type: 'function_call_output',
        call_id: `c${seconds}`,
        output: '{"output":"no","metadata":{"exit_code":1}}',
      }),
      codex(seconds + 6, 'event_msg', { type: 'token_count' }),
    ]),
    codex(200, 'response_item', { type: 'message', role: 'assistant', content: [{ text: 'Hm' }] }),
    codex(900, 'event_msg', { type: 'user_message', message: 'go on' }),
  ],
};

const recordedFiles = ['claude', 'codex'].flatMap((program) =>
  readdirSync(join(RECORDED, program))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(program, name)),
);

/** @returns the path of a copy with these lines, its sub-agents beside it */
function copyOf(file: string, lines: readonly string[]): string {
  const folder = testFolder();
  const path = join(folder, basename(file));
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  const subAgents = join(RECORDED, file.replace(/\.jsonl$/, ''));
  if (existsSync(subAgents)) cpSync(subAgents, path.replace(/\.jsonl$/, ''), { recursive: true });
  return path;
}

/** Verdicts as the file stands, an hour after its end, and at every instant between. */
async function judge(path: string, end: number): Promise<Fields[]> {
  const judged: AssessedSession[] = [];
  for (const [now, replay] of [
    [null, false],
    [end + HOUR, false],
    [end + HOUR, true],
  ] as const) {
    judged.push(...(await assessPaths([path], { thresholds: DEFAULT_THRESHOLDS, now, replay })).sessions);
  }
  return judged.map(({ file: _, diagnostics: _d, ...verdict }) => verdict);
}

function sourcesOf(): [string, string[]][] {
  const recorded = recordedFiles.map((file): [string, string[]] => [
    file,
    readFileSync(join(RECORDED, file), 'utf8').trimEnd().split('\n'),
  ]);
  const older = Object.entries(OLDER).map(([name, records]): [string, string[]] => [
    `older ${name}.jsonl`,
    records.map((record) => JSON.stringify(record)),
  ]);
  return [...recorded, ...older];
}

/** Mixes lines of different instants only: nobody can know the order of others. */
function mixed(random: Random, lines: readonly string[]): string[] {
  const groups = new Map<string, string[]>();
  for (const line of lines) {
    const instant = String((JSON.parse(line) as Fields).timestamp ?? `none ${groups.size}`);
    groups.set(instant, [...(groups.get(instant) ?? []), line]);
  }
  return random.shuffle([...groups.values()]).flat();
}

describe('the verdict of a transcript', () => {
  // rule: a-transcript-reads-like-a-journal
  test.each(sourcesOf())('%s: is the same mixed, doubled, damaged and imported', async (file, lines) => {
    const random = seededRandom(lines.length);
    const end = Math.max(...lines.map((line) => Date.parse(String((JSON.parse(line) as Fields).timestamp)) || START));
    const expected = await judge(copyOf(file, lines), end);
    const garbage = ['{"type":"user","mess', 'not json', '{"type":"tomorrow","sessionId":"c1"}', '[]', '{}'];
    for (const other of [
      ...Array.from({ length: 5 }, () => mixed(random, lines)),
      lines.flatMap((line) => [line, line]),
      mixed(random, [...lines, ...lines]),
      lines.flatMap((line, index) => [line, garbage[index % garbage.length] ?? '']),
    ]) {
      expect(await judge(copyOf(file, other), end)).toEqual(expected);
    }
    const folder = testFolder();
    const { code } = watchkeeper(folder, ['import', copyOf(file, lines), '--out', 'journal.jsonl']);
    expect(code).toBe(0);
    const imported = await judge(join(folder, 'journal.jsonl'), end);
    expect(imported).toEqual(expected.map((verdict) => ({ ...verdict, format: 'journal' })));
  });

  test('finds a cascade, and a silence after a message that ended nothing', async () => {
    const failing = transcript(OLDER.codex ?? []);
    const [session] = (await assessPaths([failing], { thresholds: DEFAULT_THRESHOLDS, now: null, replay: true }))
      .sessions;
    expect(session?.findings.map(({ rule, since }) => [rule, since])).toEqual([
      ['loop', at(47)],
      ['error_cascade', at(57)],
    ]);
    const silent = transcript(OLDER.claude ?? []);
    const judgedAfter = async (ms: number) => {
      const options = { thresholds: DEFAULT_THRESHOLDS, now: START + 3_002_000 + ms, replay: false };
      return (await assessPaths([silent], options)).sessions[0];
    };
    // What a person may be asked for, in a version that does not write its dialogs down.
    expect(await judgedAfter(16 * MINUTE)).toMatchObject({ findings: [], attention: 'waiting' });
    expect((await judgedAfter(241 * MINUTE))?.findings.map(({ rule }) => rule)).toEqual(['silence']);
  });

  // rule: a-sub-agent-is-not-silence
  test('of a call that started a sub-agent is not silent while that one works', async () => {
    const side = { isSidechain: true, agentId: 'ag' };
    const path = transcript([asks(0, 'go'), calls(1, 't1', 'Task', { prompt: 'look' })], 'main.jsonl');
    const folder = join(path, '../main/subagents');
    mkdirSync(folder, { recursive: true });
    const steps = Array.from({ length: 60 }, (_, index) => calls(index * 60 + 2, `x${index}`, 'Read', {}, side));
    const results = steps.map((_, index) => returns(index * 60 + 3, `x${index}`, 'text', false, side));
    const records = [asks(1, 'look', side), ...steps, ...results];
    writeFileSync(join(folder, 'agent-ag.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const { sessions } = await assessPaths([join(path, '..')], {
      thresholds: DEFAULT_THRESHOLDS,
      now: null,
      replay: true,
    });
    expect(sessions.map(({ file, findings, tool_count }) => [file, findings, tool_count])).toEqual([
      ['main.jsonl', [], 61],
    ]);
  });
});

const SECRET = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';

describe('watchkeeper', () => {
  test('assess recognises every format by content, in a folder and by name', () => {
    const folder = testFolder();
    for (const program of ['claude', 'codex'])
      cpSync(join(RECORDED, program), join(folder, 'all', program), { recursive: true });
    writeFileSync(join(folder, 'all/journal.jsonl'), `{"v":1,"timestamp":"${at(0)}","event":"user_prompt"}\n`);
    writeFileSync(
      join(folder, 'all/older.jsonl'),
      '{"tool_name":"Bash","start_time":1700000000.5,"end_time":1700000001}\n',
    );
    writeFileSync(join(folder, 'all/other.jsonl'), '{"hello":"world"}\n');
    writeFileSync(join(folder, 'all/agent-begun.jsonl'), '');
    const { code, out } = watchkeeper(folder, ['assess', 'all', '--json']);
    expect(code).toBe(0);
    const { sessions } = JSON.parse(out) as { sessions: AssessedSession[] };
    const formats = sessions.map(({ file, format, verdict }) => [file, format, verdict]);
    expect(formats).toContainEqual(['journal.jsonl', 'journal', 'healthy']);
    expect(formats).toContainEqual(['older.jsonl', 'journal', 'healthy']);
    expect(formats).toContainEqual(['other.jsonl', null, 'unknown']);
    expect(formats).toContainEqual(['agent-begun.jsonl', null, 'unknown']);
    expect(formats.filter(([, format]) => format === 'claude')).toHaveLength(9);
    expect(formats.filter(([, format]) => format === 'codex')).toHaveLength(4);
    const named = watchkeeper(folder, ['assess', 'all/claude/delegate.jsonl', '--json']);
    expect(JSON.parse(named.out)).toMatchObject({
      sessions: [{ session_id: '22222222-2222-4222-8222-222222222222', tool_count: 4 }],
    });
    expect(watchkeeper(folder, ['assess', 'all/other.jsonl']).code).toBe(2);
  });

  // rule: a-transcript-reads-like-a-journal
  test('import writes the same bytes each time, without secrets, and no more than a journal allows', () => {
    const own = 'a-password-of-ours';
    const path = transcript([
      asks(0, 'go'),
      calls(1, 't1', 'Bash', { command: `echo ${SECRET} ${own}`, long: 'x'.repeat(50_000) }),
      returns(2, 't1', `${SECRET} ${own} ${'y'.repeat(50_000)}`),
    ]);
    const folder = testFolder();
    const run = (...more: string[]) => watchkeeper(folder, ['import', path, ...more], { TELEGRAM_BOT_TOKEN: own });
    expect(run('--out', 'a.jsonl')).toMatchObject({ code: 0, out: expect.stringContaining('4 lines of session c1') });
    const first = readFileSync(join(folder, 'a.jsonl'), 'utf8');
    const again = JSON.parse(run('--out', 'a.jsonl', '--json').out);
    expect(again).toMatchObject({ out: 'a.jsonl', format: 'claude', session_id: 'c1', lines: 4, files: 1 });
    expect(readFileSync(join(folder, 'a.jsonl'), 'utf8')).toBe(first);
    expect(run().out).toBe(first);
    expect(first).not.toContain(SECRET);
    expect(first).not.toContain(own);
    expect(first.length).toBeLessThan(10_000);
    expect(readdirSync(folder)).toEqual(['a.jsonl']);
  });

  test('import of an older journal writes one of the newest format', () => {
    const folder = testFolder();
    const line = {
      tool_name: 'Bash',
      start_time: 1_700_000_000.25,
      end_time: 1_700_000_001.5,
      tool_input: { a: 1 },
      tool_output_preview: `key: ${SECRET} ${'y'.repeat(50_000)}`,
      extra: 1,
    };
    writeFileSync(join(folder, 'old.jsonl'), `${JSON.stringify(line)}\nnot json\n{"event":"mystery"}\n`);
    const { out } = watchkeeper(folder, ['import', 'old.jsonl']);
    expect(JSON.parse(out)).toEqual({
      v: 1,
      timestamp: '2023-11-14T22:13:21.500Z',
      event: 'post_tool_use',
      session_id: 'old',
      tool_name: 'Bash',
      extra: 1,
      tool_input: { a: 1 },
      input_digest: expect.stringMatching(/^[0-9a-f]{16}$/),
      tool_output_preview: expect.stringMatching(/^key: \[redacted:github_token\] y/),
      output_digest: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(out.length).toBeLessThan(10_000);
  });

  test.each([
    ['no file', [], /which transcript\?/],
    ['an absent file', ['absent.jsonl'], /absent\.jsonl cannot be read \(ENOENT\)/],
    ['a directory', ['.'], /\. is a directory; import takes one file/],
    ['a file of something else', ['else.jsonl'], /else\.jsonl holds no record of a transcript or a journal/],
    ['something else, and touches nothing', ['else.jsonl', '--out', 'kept.jsonl'], /else\.jsonl holds no record/],
    ['itself as its output', ['kept.jsonl', '--out', 'link.jsonl'], /--out: link\.jsonl is the transcript itself/],
    ['a directory as its output', ['kept.jsonl', '--out', '..'], /--out: \.\. cannot be written \(it is there already/],
    [
      'a folder that is not there',
      ['kept.jsonl', '--out', 'no/a.jsonl'],
      /--out: no\/a\.jsonl cannot be written \(ENOENT\)/,
    ],
  ])('import refuses %s', (_, args, words) => {
    const folder = testFolder();
    const kept = `{"v":1,"timestamp":"${at(0)}","event":"user_prompt"}\n`;
    writeFileSync(join(folder, 'kept.jsonl'), kept);
    writeFileSync(join(folder, 'else.jsonl'), '{"hello":"world"}\n');
    symlinkSync('kept.jsonl', join(folder, 'link.jsonl'));
    const { code, out, err } = watchkeeper(folder, ['import', ...args]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(words);
    expect(readFileSync(join(folder, 'kept.jsonl'), 'utf8')).toBe(kept);
    expect(readdirSync(folder).sort()).toEqual(['else.jsonl', 'kept.jsonl', 'link.jsonl']);
  });
});
