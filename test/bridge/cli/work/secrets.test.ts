/**
 * Secrets in everything that the commands of session memory take in: they are in no file and no name of a file below the home, in
 * no export, and in nothing that is printed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { packageRoot } from '../../../../src/host/program.js';
import { testFolder } from '../../../harness/folder.js';
import { everythingBelow, piecesIn, plantedTexts, TOKENS } from '../../../secrets/planted.js';
import { watchkeeperAgain } from '../manyCalls.js';
import { type Caller, WorkScene } from './scene.js';

const TEXTS = plantedTexts();
const FIXTURES = join(packageRoot(), 'test/fixtures/transcripts');
const CONVERSATION = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';
const LIMIT_MS = 120_000;

let scene: WorkScene;
/** What was printed, by the words that were typed. */
let printed: Map<string, string>;

beforeEach(() => {
  scene = new WorkScene();
  printed = new Map();
});

/** Types words without a process of their own: what they print is not yet what people see. */
async function type(name: 'track' | 'work', args: readonly string[], caller: Caller = {}) {
  const said = await scene.say(name, args, caller);
  if (said.code === null || said.code > 1) throw new Error(`${name} ${args[0]} says ${said.code}: ${said.err}`);
  return said;
}

/** Runs the program as people do, and keeps what they see. */
function run(args: readonly string[], variables: Readonly<Record<string, string>> = {}): void {
  const said = watchkeeperAgain(scene.directory, args, {
    WATCHKEEPER_HOME: scene.home,
    // As the scene says.
    WATCHKEEPER_HOST: 'host',
    ...variables,
  });
  expect(said.code).not.toBeNull();
  printed.set(args.join(' '), said.out + said.err);
}

/** Every way in which a session is shown, kept and given out: to people, and as JSON before the last net, which is the printing. */
async function showAll(id: string, variables: Readonly<Record<string, string>> = {}): Promise<void> {
  for (const format of ['session-tracker', 'idumb', 'maestro', 'commandbase'])
    run(['work', 'export', id, '--format', format, '--out', join(scene.home, 'exports', format)], variables);
  for (const words of [
    ['work', 'rebuild', id],
    ['work', 'show', id],
    ['work', 'verify', id],
    ['work', 'export', id],
    ['work', 'list', '--all'],
    ['track', 'status', '--session', id],
    ['track', 'resume', id],
    ['track', 'sync', '--session', id],
    ['track', 'checkpoint', '--list', '--session', id],
    ['track', 'crash-detect'],
  ]) {
    run(words, variables);
    const [name, ...args] = words;
    const said = await scene.say(name as 'track' | 'work', [...args, '--json'], { variables });
    printed.set(`here ${words.join(' ')} --json`, said.out + said.err);
  }
}

function expectNoSecret(): void {
  const seen = new Map([...printed, ...everythingBelow(scene.home)]);
  const found = [...seen].map(
    ([where, text]) => [where.slice(0, 200), piecesIn(`${where.includes('/') ? where : ''}\n${text}`)] as const,
  );
  expect(found.filter(([, pieces]) => pieces.length > 0)).toEqual([]);
}

test(
  'what people type: purposes, steps, reasons, files, notes, lists of tasks, summaries, settings',
  async () => {
    for (const token of TOKENS) writeFileSync(join(scene.directory, `a-${token}.ts`), token);
    const agent = spawn('sh', ['-c', 'sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [said] = (await once(agent.stdout, 'data')) as [Buffer];
    const shell = Number(said.toString());
    const inShell = { pid: shell, variables: { CLAUDE_PID: String(agent.pid) } };
    const titles = TEXTS.flatMap((text) => ['--step', text]);
    const { session_id: id } = JSON.parse(
      (await type('track', ['init', TEXTS[0] ?? '', ...titles, '--json'], inShell)).out,
    );
    await type('track', ['scan']);
    for (const [index, text] of TEXTS.entries()) {
      // Every text becomes a step, a task of the list below, and part of a transcript; a third of them goes into every other field.
      if (index % 3 !== 0) continue;
      const step = String(index + 1);
      const began = JSON.parse(
        (await type('work', ['start', '--purpose', text, '--name', text, '--concurrent', '--json'])).out,
      );
      await type('work', ['end', '--summary', text, '--session', began.session_id]);
      await type('track', [
        'step',
        step,
        '--start',
        '--file',
        `src/x ${text}`,
        '--file',
        `a-${TOKENS[index % TOKENS.length]}.ts`,
      ]);
      await type('track', ['step', step, '--fail', text]);
      await type('track', ['step', step, '--retry']);
      await type('track', ['step', '--add', text]);
      await type('track', ['note', text, '--priority', 'critical']);
      await type('track', ['note', text, '--workspace']);
      await type('track', ['log', text, '--step', step]);
      await type('track', ['ping', '--detail', text]);
      await type('track', ['checkpoint', text]);
      await type('track', ['file', text, '--rename', `${text} new`]);
      await type('work', ['set', `purpose=${text}`, `name=${text}`, `role=${text}`, `language.documents=${text}`]);
    }
    const list = join(testFolder(), 'list.json');
    const tasks = TEXTS.map((content, index) => ({
      content,
      status: 'pending',
      id: `x-${TOKENS[index % TOKENS.length]}`,
    }));
    writeFileSync(list, JSON.stringify(tasks));
    await type('track', ['sync', list]);
    run(['track', 'sync', list]);
    run(['track', 'scan', '--json']);
    const exited = once(agent, 'exit');
    agent.kill('SIGKILL');
    process.kill(shell, 'SIGKILL');
    await exited;
    await showAll(id);
    expect(printed.get('track crash-detect')).toMatch(/is gone/);
    run(['work', 'list', '--all']);
    run(['track', 'init', 'next']);
    await type('track', ['done', '--as', 'failed', '--summary', TEXTS.at(-1) ?? '']);
    run(['work', 'archive', id]);
    run(['work', 'show', id]);
    expectNoSecret();
  },
  LIMIT_MS,
);

/** Every sentence and every file of a recorded transcript gets a secret. */
function plantIn(path: string): string {
  let next = 0;
  const text = () => {
    next += 1;
    return TEXTS[next % TEXTS.length] ?? '';
  };
  const plant = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => plant(item, name));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plant(item, key)]));
    if (typeof value !== 'string') return value;
    if (name === 'arguments') return JSON.stringify(plant(JSON.parse(value), ''));
    if (/path$/i.test(name)) return `${value}-${TOKENS[next % TOKENS.length]}`;
    return value.includes(' ') ? `${value} ${text()}` : value;
  };
  const lines = readFileSync(join(FIXTURES, path), 'utf8').trimEnd().split('\n');
  return lines.map((line) => `${JSON.stringify(plant(JSON.parse(line), ''))}\n`).join('');
}

test(
  'what agents wrote and read: prompts, answers, calls, outputs, tasks and files in their transcripts',
  async () => {
    const person = testFolder();
    const folders = [join(person, '.claude/projects/-home-me-popoto'), join(person, '.codex/sessions/2026/11/20')];
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    const variables = { HOME: person, CLAUDE_CODE_SESSION_ID: CONVERSATION };
    const claude = join(folders[0] ?? '', `${CONVERSATION}.jsonl`);
    for (const [path, name] of [
      [claude, 'claude/deeds.jsonl'],
      [join(person, 'work.jsonl'), 'claude/work.jsonl'],
      [join(person, 'retry.jsonl'), 'claude/retry.jsonl'],
      [join(person, 'interrupted.jsonl'), 'claude/interrupted.jsonl'],
      [join(folders[1] ?? '', 'rollout.jsonl'), 'codex/work.jsonl'],
    ] as const) {
      writeFileSync(path, plantIn(name));
      expect(piecesIn(readFileSync(path, 'latin1'))).not.toEqual([]);
      for (const words of [
        ['track', 'resume', path],
        ['track', 'resume', path, '--json'],
        ['import', path],
        ['assess', path, '--json'],
      ])
        run(words, variables);
    }
    run(['track', 'init', 'T', '--step', 'a', '--json'], variables);
    const { session_id: id } = JSON.parse(printed.get('track init T --step a --json') ?? '');
    const log = join(scene.home, 'sessions', id, 'worklog.jsonl');
    // The conversation belongs to the session from its beginning on.
    writeFileSync(log, readFileSync(log, 'utf8').replace(/"since":"[^"]+"/, '"since":null'));
    await showAll(id, variables);
    // Before the last net, which is the printing.
    for (const words of [
      ['show', id],
      ['show', id, '--json'],
    ])
      printed.set(`here ${words.join(' ')}`, (await type('work', words, { variables })).out);
    printed.set('here resume', (await type('track', ['resume', id], { variables })).out);
    expect(JSON.parse(printed.get(`here work show ${id} --json`) ?? '')).toMatchObject({ observed: 'transcript' });
    run(['track', 'done', '--complete', '--json'], variables);
    run(['work', 'archive', id], variables);
    expectNoSecret();
  },
  LIMIT_MS,
);

test(
  'what is refused: messages repeat what was typed, and the error of the system',
  () => {
    run(['track', 'init', 'T', '--step', 'a']);
    const typed: readonly ((token: string) => string[])[] = [
      (token) => ['track', 'step', token, '--start'],
      (token) => ['track', 'note', 'n', '--priority', token],
      (token) => ['track', 'log', 'n', '--step', token],
      (token) => ['track', 'status', '--session', token],
      (token) => ['track', 'sync', `/nowhere/${token}.json`],
      (token) => ['track', 'resume', token],
      (token) => ['track', token],
      (token) => ['work', 'set', token],
      (token) => ['work', 'export', '--format', token, '--out', 'x', '--session', token],
      (token) => ['work', 'list', '--dir', `/dev/null/${token}`],
      (token) => ['work', 'list', `--${token}`],
    ];
    for (const [index, words] of typed.entries()) run(words(`x-${TOKENS[index % TOKENS.length]}`));
    run(['track', 'status'], { WATCHKEEPER_SESSION: `x-${TOKENS[0]}` });
    // What was typed is the test's own.
    printed = new Map([...printed.values()].map((text, index) => [`command ${index}`, text]));
    expectNoSecret();
  },
  LIMIT_MS,
);
