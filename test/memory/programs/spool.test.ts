// covers: memory/programs/payload.ts
/** Ends that the launcher has noted, as its shell writes them, and what the next reader makes of them. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { takeSpool } from '../../../memory/programs/spool.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { markedPids, RUN_MARK } from '../../../src/host/processes.js';
import { packageRoot } from '../../../src/host/program.js';
import { DAY, MINUTE } from '../../../src/time.js';
import { eventually } from '../../e2e/eventually.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const SPOOL = join(packageRoot(), 'plugin/hooks/spool.sh');

function begin(scene: MemoryScene, conversation: string, agent: ProcessIdentity): string {
  const memory = scene.open();
  const { session } = startConversation(memory, {
    ...{ provider: 'claude', conversation, source: 'startup', transcript: null, agent, launchedIn: null },
  });
  // Without anything in it, it would end with its run.
  memory.sessions.addFacts(session, [worklogKind.line('note', { text: 'n' })]);
  session.log.close();
  return session.id;
}

const payload = (conversation: string, more: object = {}) =>
  JSON.stringify({ hook_event_name: 'SessionEnd', session_id: conversation, cwd: '/', reason: 'other', ...more });

/** As the launcher does, with this process as the agent. */
function spool(scene: MemoryScene, input: string, shell: readonly string[] = ['sh']): void {
  mkdirSync(scene.home, { recursive: true, mode: 0o700 });
  const [program = '', ...options] = shell;
  const { stderr } = spawnSync(program, [...options, '-c', '. "$0"', SPOOL], {
    input,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', home: scene.home },
  });
  expect(stderr).toBe('');
}

const runsOf = (scene: MemoryScene, id: string) => scene.open().look(id)?.log.state.runs;
const entriesIn = (scene: MemoryScene) => readdirSync(join(scene.home, 'spool'));
const ignored = () => undefined;

describe('an end that the launcher has noted', () => {
  test.each([['sh'], ['bash', '--norc']])('is recorded by the next reader, with its instant, by %s', (...shell) => {
    const scene = memoryScene();
    const id = begin(scene, 'c-1', readProcessIdentity('host'));
    spool(scene, `${payload('c-1')}\n`, shell);
    expect(runsOf(scene, id)).toMatchObject([{ ended_at: null }]);
    const [name = ''] = entriesIn(scene);
    const path = join(scene.home, 'spool', name);
    const then = scene.clock.now() - MINUTE;
    utimesSync(path, then / 1_000, then / 1_000);
    const ended: string[] = [];
    takeSpool(scene.open(), (session) => ended.push(session.id));
    expect(runsOf(scene, id)).toMatchObject([{ ended_at: then, reason: 'other' }]);
    expect([ended, entriesIn(scene)]).toEqual([[id], []]);
  });

  test.each([
    ['nothing', 'sh', '', []],
    ['nothing', 'bash', '', []],
    ['a payload without a line end', 'sh', payload('c-1'), ['other']],
    ['a payload without a line end', 'bash', payload('c-1'), ['other']],
  ])('is waited for two seconds, if the input stays open and brings %s to %s', async (_, program, words, reasons) => {
    const scene = memoryScene();
    const id = begin(scene, 'c-1', readProcessIdentity('host'));
    const options = program === 'bash' ? ['--norc'] : [];
    const shell = spawn(program, [...options, '-c', '. "$0"', SPOOL], {
      env: { PATH: process.env.PATH ?? '', home: scene.home },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    afterThisTest(() => void shell.kill('SIGKILL'));
    const begun = performance.now();
    shell.stdin.write(words);
    const [said, noted, [code]] = await Promise.all([text(shell.stderr), text(shell.stdout), once(shell, 'close')]);
    const waitedMs = performance.now() - begun;
    expect([code, said, noted]).toEqual([0, '', '']);
    // The machine of the tests has other work.
    expect([waitedMs >= 1_900, waitedMs < 6_000]).toEqual([true, true]);
    takeSpool(scene.open(), ignored);
    expect(runsOf(scene, id)?.flatMap(({ reason }) => reason ?? [])).toEqual(reasons);
  });

  test('leaves no program behind that would end its wait', async () => {
    const scene = memoryScene();
    const mark = `spool-${process.pid}-${Date.now()}`;
    const programs = testFolder();
    writeFileSync(join(programs, 'sleep'), '#!/bin/sh\nexec /bin/sleep 600\n', { mode: 0o755 });
    mkdirSync(scene.home, { recursive: true, mode: 0o700 });
    spawnSync('sh', ['-c', '. "$0"', SPOOL], {
      input: `${payload('c-1')}\n`,
      env: { PATH: `${programs}:${process.env.PATH}`, home: scene.home, [RUN_MARK]: mark },
    });
    expect(entriesIn(scene)).toHaveLength(1);
    await eventually(() => markedPids(mark).length === 0, { what: 'the end of its programs' });
  });

  test('leaves none behind that a signal does not end, as one that has not begun', async () => {
    const scene = memoryScene();
    const mark = `deaf-${process.pid}-${Date.now()}`;
    const programs = testFolder();
    const started = join(programs, 'started');
    const deaf = `#!/bin/sh\ntrap '' TERM\n: > '${started}'\nexec /bin/sleep 600\n`;
    writeFileSync(join(programs, 'sleep'), deaf, { mode: 0o755 });
    mkdirSync(scene.home, { recursive: true, mode: 0o700 });
    const shell = spawn('sh', ['-c', '. "$0"', SPOOL], {
      env: { PATH: `${programs}:${process.env.PATH}`, home: scene.home, [RUN_MARK]: mark },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    afterThisTest(() => {
      for (const pid of markedPids(mark)) process.kill(pid, 'SIGKILL');
    });
    await eventually(() => existsSync(started), { what: 'the program that waits' });
    shell.stdin.write(`${payload('c-1')}\n`);
    await once(shell, 'close');
    expect(entriesIn(scene)).toHaveLength(1);
    await eventually(() => markedPids(mark).length === 0, { what: 'the end of its programs' });
  });

  test('is understood in several lines, without a last line end, and while the input stays open', async () => {
    const scene = memoryScene();
    const id = begin(scene, 'c-1', readProcessIdentity('host'));
    const lines = JSON.stringify(JSON.parse(payload('c-1', { more: { nested: 1 } })), null, 2);
    spool(scene, lines);
    takeSpool(scene.open(), ignored);
    expect(runsOf(scene, id)).toMatchObject([{ reason: 'other' }]);
    const shell = spawn('sh', ['-c', '. "$0"', SPOOL], {
      env: { PATH: process.env.PATH ?? '', home: scene.home },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    afterThisTest(async () => {
      shell.kill('SIGKILL');
    });
    const over = new Promise((resolve) => shell.once('exit', resolve));
    shell.stdin.write(`${payload('c-2')}\n`);
    expect(await over).toBe(0);
    expect(entriesIn(scene)).toHaveLength(1);
  });

  test('of a program that continues with another conversation, or of one that nothing is known of, ends nothing', () => {
    const scene = memoryScene();
    const id = begin(scene, 'c-1', readProcessIdentity('host'));
    spool(scene, payload('c-1', { reason: 'clear' }));
    spool(scene, payload('of-nobody'));
    takeSpool(scene.open(), ignored);
    expect(runsOf(scene, id)).toMatchObject([{ ended_at: null }]);
    expect(entriesIn(scene)).toEqual([]);
  });

  test('ends only the run of the process that ended', () => {
    const scene = memoryScene();
    const id = begin(scene, 'c-1', { ...readProcessIdentity('host'), pid_start: '1' });
    spool(scene, payload('c-1'));
    takeSpool(scene.open(), ignored);
    expect(runsOf(scene, id)).toMatchObject([{ ended_at: null }]);
  });

  test('counts once, and never replaces another', () => {
    const scene = memoryScene();
    const id = begin(scene, 'c-1', readProcessIdentity('host'));
    for (let count = 0; count < 3; count += 1) spool(scene, payload('c-1'));
    expect(entriesIn(scene)).toHaveLength(3);
    const [reader, other] = [scene.open(), scene.open()];
    takeSpool(reader, ignored);
    takeSpool(other, ignored);
    expect(runsOf(scene, id)).toHaveLength(1);
    const log = readFileSync(join(scene.home, 'sessions', id, 'worklog.jsonl'), 'utf8');
    expect(log.match(/"run_ended"/g)).toHaveLength(1);
  });

  test('that cannot be read stays for a day, and one that others may write is not believed', async () => {
    const scene = memoryScene();
    const id = begin(scene, 'c-1', readProcessIdentity('host'));
    const folder = join(scene.home, 'spool');
    mkdirSync(folder, { mode: 0o700 });
    for (const [name, text] of Object.entries({ torn: '1 - 5', other: '9 x\n{}', binary: '\0\xff\n\0' }))
      writeFileSync(join(folder, name), text, { mode: 0o600 });
    spool(scene, payload('c-1'));
    const foreign = entriesIn(scene).find((name) => name.includes('.')) ?? '';
    chmodSync(join(folder, foreign), 0o666);
    takeSpool(scene.open(), ignored);
    expect(runsOf(scene, id)).toMatchObject([{ ended_at: null }]);
    expect(entriesIn(scene)).toHaveLength(4);
    const old = scene.clock.now() / 1_000;
    for (const name of ['torn', 'other', 'binary']) utimesSync(join(folder, name), old, old);
    await scene.clock.advance(DAY + MINUTE);
    takeSpool(scene.open(), ignored);
    expect(entriesIn(scene)).toEqual([foreign]);
  });
});
