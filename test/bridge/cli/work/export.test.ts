// covers: memory/verbs/export.ts memory/exchange/export.ts memory/exchange/sessionTracker.ts memory/exchange/idumb.ts memory/exchange/maestro.ts memory/exchange/commandbase.ts
/** The record of a session for others. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../../memory/fold/rules/kind.js';
import { Log } from '../../../../memory/logs/log.js';
import { combinedState } from '../../../../memory/observed/combined.js';
import { HOUR, systemClock } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';
import { asks, calls, returns, START, transcript } from '../../../src/transcripts/told.js';
import { WorkScene } from './scene.js';

let scene: WorkScene;
let out = '';

beforeEach(() => {
  scene = new WorkScene();
  out = join(testFolder(), 'out');
});

const read = (name: string) => readFileSync(join(out, name), 'utf8');
const exportAs = (format: string, id: string) => scene.say('work', ['export', id, '--format', format, '--out', out]);

test('the whole record is one JSON, from whose log the same state can be folded again', async () => {
  const id = await scene.begin('T');
  await scene.say('track', ['step', '1', '--start', '--file', 'a.ts']);
  await scene.say('work', ['archive', id]);
  const { logs, state, markdown } = JSON.parse((await scene.say('work', ['export', id])).out);
  const path = join(testFolder(), 'again.jsonl');
  writeFileSync(path, logs['worklog.jsonl']);
  const log = Log.read(path, worklogKind);
  const none = { observed: 'none', fold: null, isUnseen: true } as const;
  const folded = JSON.parse(JSON.stringify(log && combinedState(log.state, log.at, none)));
  const covered = { log: { lines: 4, applied: 4, refused: 0, unreadable: 0 }, kept: 0 };
  expect(state).toEqual({ ...folded, ...covered });
  expect(markdown).toMatch(/^---\nsession_id: /);
});

test('a format without a folder, or of another name, is refused', async () => {
  const id = await scene.begin('T');
  expect((await scene.say('work', ['export', id, '--format', 'idumb'])).code).toBe(2);
  expect((await scene.say('work', ['export', id, '--out', out])).code).toBe(2);
  expect((await exportAs('idum', id)).err).toContain('one of session-tracker, idumb, maestro, commandbase');
  expect(existsSync(out)).toBe(false);
});

describe('--format session-tracker', () => {
  test('has the files of the older tracker, and SESSION_ACTIVE exactly while the session is active', async () => {
    const id = await scene.begin('T');
    await exportAs('session-tracker', id);
    expect(existsSync(join(out, 'SESSION_ACTIVE'))).toBe(false);
    await scene.say('track', ['step', '1', '--start', '--file', 'src/a.ts']);
    await scene.say('track', ['file', 'src/a.ts', '--rename', 'b.ts']);
    await scene.say('track', ['log', 'half\ndone <b> of @ann']);
    expect((await exportAs('session-tracker', id)).code).toBe(0);
    expect(
      readdirSync(out)
        .filter((name) => !name.startsWith('.'))
        .sort(),
    ).toEqual(['SESSION_ACTIVE', 'state.json', 'todo.json', 'worklog.jsonl', 'worklog.md']);
    expect(JSON.parse(read('state.json'))).toMatchObject({
      task: 'T',
      status: 'active',
      current_step_id: '1',
      current_files: ['b.ts'],
      files: { 'b.ts': { purpose: 'a', status: 'working' } },
      completed_at: null,
    });
    expect(JSON.parse(read('todo.json'))).toEqual([
      { id: '1', content: 'a', status: 'in_progress', priority: 'normal', files: ['b.ts'] },
    ]);
    const actions = read('worklog.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).action);
    expect(actions).toEqual(['init', 'sync_add', 'step_start', 'file_working', 'file_rename', 'log']);
    expect(read('worklog.md')).toContain('log (message: half\\ndone \\<b> of `@ann`)');
    await scene.say('track', ['done', '--complete']);
    await exportAs('session-tracker', id);
    expect(existsSync(join(out, 'SESSION_ACTIVE'))).toBe(false);
    expect(JSON.parse(read('state.json')).status).toBe('completed');
  });

  test('marks a crash, and only a crash', async () => {
    const agent = spawn('sh', ['-c', 'sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [said] = (await once(agent.stdout, 'data')) as [Buffer];
    const inShell = { pid: Number(said.toString()), variables: { CLAUDE_PID: String(agent.pid) } };
    const { session_id: id } = await scene.json('track', ['init', 'T'], inShell);
    await exportAs('session-tracker', id);
    expect(read('worklog.md')).not.toContain('META-CRASH');
    const exited = once(agent, 'exit');
    agent.kill('SIGKILL');
    await exited;
    process.kill(inShell.pid, 'SIGKILL');
    await exportAs('session-tracker', id);
    expect(read('worklog.md')).toMatch(new RegExp(`^## META-CRASH DETECTED$.*process ${agent.pid} is gone`, 'ms'));
  });

  test('overwrites no file of another origin: by hand, changed, of another session, or a link', async () => {
    const id = await scene.begin('T');
    await exportAs('session-tracker', id);
    writeFileSync(join(out, 'todo.json'), 'mine');
    await scene.say('track', ['log', 'more']);
    const before = read('worklog.jsonl');
    const refused = await exportAs('session-tracker', id);
    expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/todo\.json: made or changed by somebody/)]);
    expect([read('todo.json'), read('worklog.jsonl')]).toEqual(['mine', before]);
    await scene.say('work', ['archive', id]);
    const other = await scene.begin('another');
    expect((await exportAs('session-tracker', other)).code).toBe(2);
    out = join(testFolder(), 'links');
    mkdirSync(out);
    symlinkSync(join(scene.directory, 'target'), join(out, 'state.json'));
    expect((await exportAs('session-tracker', other)).code).toBe(2);
    expect(readdirSync(scene.directory)).toEqual([]);
  });
});

describe('--format idumb', () => {
  test('has the session, its anchors and a checkpoint for each completed phase, and no path leads out', async () => {
    const id = await scene.begin('T');
    await scene.say('work', ['set', 'role=reviewer', 'language.documents=de', 'governance_level=strict']);
    await scene.say('track', ['note', 'the API wants UTC', '--priority', 'critical']);
    await scene.say('track', ['checkpoint', '../../out of here']);
    await scene.say('track', ['step', '1', '--start']);
    await scene.say('track', ['step', '1', '--done']);
    const files: string[] = (await scene.json('work', ['export', id, '--format', 'idumb', '--out', out])).files;
    expect(files.map((path) => path.substring(out.length + 1))).toEqual([
      `sessions/${id}.json`,
      'brain/state.json',
      'execution/1/checkpoint-phase-1.json',
      expect.stringMatching(/^execution\/none\/checkpoint--out-of-here-[0-9a-f]{8}\.json$/),
    ]);
    expect(JSON.parse(read(`sessions/${id}.json`))).toMatchObject({
      sessionId: id,
      governanceLevel: 'strict',
      language: { communication: null, documents: 'de' },
      delegationDepth: 0,
      tracker: { agentRole: 'reviewer', sessionLevel: 1, violationCount: 0 },
    });
    expect(JSON.parse(read('brain/state.json')).anchors).toMatchObject([
      { content: 'the API wants UTC', priority: 'critical' },
    ]);
  });

  test('names the first tool that the transcript shows', async () => {
    const id = await scene.begin('T');
    const path = transcript([asks(0, 'go'), calls(1, 't1', 'Read', { file_path: '/w/a' })]);
    const line = { v: 1, id: 'x1', timestamp: '2026-11-22T10:00:00.000Z', origin: 'program', event: 'conversation' };
    const talk = { ...line, provider: 'claude', conversation: 'c1', source: 'startup', transcript: path };
    appendFileSync(join(scene.home, 'sessions', id, 'worklog.jsonl'), `${JSON.stringify(talk)}\n`);
    await exportAs('idumb', id);
    expect(JSON.parse(read(`sessions/${id}.json`)).tracker).toMatchObject({
      firstToolUsed: true,
      firstToolName: 'Read',
    });
  });

  test('does not write through a link in the place of one of its folders', async () => {
    const id = await scene.begin('T');
    mkdirSync(out);
    symlinkSync(scene.directory, join(out, 'brain'));
    expect((await exportAs('idumb', id)).err).toContain('is a link');
    expect(readdirSync(scene.directory)).toEqual([]);
  });
});

test('--format maestro has the text of the session, under the name that it has before and after the archive', async () => {
  const id = await scene.begin('T');
  const files = async () => (await scene.json('work', ['export', id, '--format', 'maestro', '--out', out])).files;
  expect(await files()).toEqual([join(out, 'state/active-session.md')]);
  const { markdown } = JSON.parse((await scene.say('work', ['export', id])).out);
  expect(read('state/active-session.md')).toBe(markdown);
  await scene.say('work', ['archive', id]);
  expect(await files()).toEqual([join(out, 'state/archive', `${id}.md`)]);
  expect(existsSync(join(out, 'state/active-session.md'))).toBe(false);
});

test('--format commandbase has the map, the conversations, and errors and checkpoints as JSON lines', async () => {
  const from = (Date.now() - HOUR - START) / 1_000;
  const path = transcript([
    asks(from, 'Paint'),
    calls(from + 1, 't1', 'Bash', { command: 'npm test' }),
    returns(from + 2, 't1', 'Exit code 1\nno paint', true),
  ]);
  spawnSync('git', ['init', '-q', '-b', 'main', scene.directory]);
  const { session_id: id } = await scene.json('work', ['start', '--purpose', 'Paint the door', '--name', 'door']);
  const log = Log.open(join(scene.home, 'sessions', id, 'worklog.jsonl'), worklogKind);
  const stamp = { clock: systemClock, redact: (text: string) => text, origin: 'watchkeeper' } as const;
  for (const [provider, conversation] of [
    ['claude', 'c1'],
    ['codex', 'x1'],
    ['claude', 'c2'],
  ] as const)
    log?.write(
      () => [
        worklogKind.line('conversation', {
          provider,
          conversation,
          source: 'startup',
          transcript: conversation === 'c1' ? path : undefined,
          since: null,
        }),
      ],
      stamp,
    );
  log?.close();
  await scene.say('track', ['checkpoint', 'before', '--session', id]);
  await scene.say('work', ['end', id, '--summary', 'It is green.']);
  expect((await exportAs('commandbase', id)).code).toBe(0);
  const [map, meta] = [JSON.parse(read('session-map.json')), JSON.parse(read(`${id}/meta.json`))];
  const common = { name: 'door', branch: 'main', worktree: scene.directory, created: expect.any(String) };
  expect(map).toEqual({ door: { ...common, status: 'ended' } });
  expect(meta).toEqual({
    ...{ sessionId: id, claudeSessionIds: ['c1', 'c2'], ...common, gitBranch: 'main', summary: 'It is green.' },
  });
  const linesOf = (name: string) =>
    read(`${id}/${name}`)
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  expect(linesOf('errors.log')).toEqual([
    {
      ...{ timestamp: expect.any(String), session_id: id, tool: 'Bash', input: 'npm test' },
      ...{ error: 'Exit code 1: no paint', source: 'observed' },
    },
  ]);
  expect(linesOf('checkpoints.log')).toMatchObject([{ name: 'before', commit: null, branch: 'main' }]);
});
