/** Runs within bubblewrap, seen and ended from outside as any others are. */
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { commandOptions } from '../../../../bridge/agents/command/settings.js';
import { createCommandAgent } from '../../../../bridge/agents/command.js';
import type { AgentEnd, AgentRun, Confinement } from '../../../../bridge/agents/program/contract.js';
import { whyNoSandbox } from '../../../../bridge/agents/program/sandbox.js';
import { endRun } from '../../../../bridge/runs/endRun.js';
import { markedPids, RUN_MARK } from '../../../../src/host/processes.js';
import { systemClock } from '../../../../src/time.js';
import { ORDINARY_USER } from '../../../e2e/ordinaryUser.js';
import { openToOthers, testFolder } from '../../../harness/folder.js';
import { afterThisTest } from '../../../harness/scope.js';
import { killLeftovers, newRunId } from '../../runs/processes.js';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const trouble = whyNoSandbox(ORDINARY_USER);

afterEach(killLeftovers);

interface Started {
  readonly runId: string;
  readonly run: AgentRun;
  readonly stop: AbortController;
  readonly folder: string;
}

function start(script: string, changes: Partial<Confinement> = {}, folder = testFolder()): Started {
  const work = join(folder, 'work');
  const home = join(folder, 'home');
  for (const path of [work, home]) mkdirSync(path, { recursive: true });
  if (ORDINARY_USER !== null) {
    for (const path of [work, home]) chownSync(path, ORDINARY_USER.uid, ORDINARY_USER.gid);
    openToOthers(folder);
  }
  const agent = createCommandAgent(commandOptions.parse({ command: ['/bin/bash', '-c', script], output: 'text' }));
  const runId = newRunId();
  const stop = new AbortController();
  const request = {
    sessionId: 's',
    runId,
    prompt: '',
    workingDirectory: work,
    conversationId: null,
    attempt: 1 as const,
  };
  const environment = { PATH, HOME: home, [RUN_MARK]: runId };
  const confinement = {
    directories: [],
    repositories: [],
    kept: [],
    masked: [],
    hidden: [],
    readable: [],
    home: null,
    ...changes,
  };
  const run = agent.start({ ...request, environment, confinement, user: ORDINARY_USER }, stop.signal);
  afterThisTest(async () => void (await endRun({ runId, groupPid: run.pid }, { clock: systemClock, graceMs: 0 })));
  return { runId, run, stop, folder };
}

async function endOf({ run }: Started): Promise<AgentEnd | undefined> {
  let end: AgentEnd | undefined;
  for await (const event of run.events) if (event.type === 'end') end = event.end;
  return end;
}

const turn = () => new Promise(setImmediate);

async function untilThere(path: string): Promise<void> {
  while (!existsSync(path)) await turn();
}

const describeSandbox = trouble === null ? describe : describe.skip;

describeSandbox(`an agent in a sandbox${trouble === null ? '' : ` (skipped: ${trouble.why})`}`, () => {
  // rule: a-sandbox-ends-whole
  test('is ended whole, including a tool that has left its environment, its session and its parents', async () => {
    const started = start(
      `(env -i setsid /bin/sh -c 'trap "" TERM; echo >up; sleep 61; sleep 62' &) ; trap "" TERM; wait; sleep 61`,
    );
    const ended = endOf(started);
    await untilThere(join(started.folder, 'work', 'up'));
    const { runId, run } = started;
    expect(markedPids(runId).length).toBeGreaterThan(3);
    const report = await endRun({ runId, groupPid: run.pid }, { clock: systemClock, graceMs: 200 });
    expect(report).toMatchObject({ proven: true, by: 'mark', survivors: [] });
    expect(markedPids(runId)).toEqual([]);
    await ended;
  });

  // rule: a-sandbox-ends-whole
  test('takes everything inside with it when only its outermost process is killed', async () => {
    const started = start(`env -i setsid /bin/sh -c 'echo >up; exec sleep 61' & wait`);
    const ended = endOf(started);
    await untilThere(join(started.folder, 'work', 'up'));
    process.kill(started.run.pid ?? 0, 'SIGKILL');
    await ended;
    while (markedPids(started.runId).length > 0) await turn();
  });

  // rule: a-sandbox-ends-whole
  test('receives SIGTERM itself, and has time to end', async () => {
    const started = start(`trap 'echo bye >last; exit 0' TERM; echo >up; while :; do sleep 0.05; done`);
    const ended = endOf(started);
    await untilThere(join(started.folder, 'work', 'up'));
    started.stop.abort();
    expect(await ended).toEqual({ kind: 'stopped' });
    expect(readFileSync(join(started.folder, 'work', 'last'), 'utf8')).toBe('bye\n');
  });

  test('reports the signal that ended it, and a missing program as one that cannot start', async () => {
    expect(await endOf(start('kill -SEGV $$'))).toMatchObject({ reason: 'run_failed_signal_SIGSEGV' });
    expect(await endOf(start('exit 3'))).toMatchObject({ reason: 'run_failed_exit_3' });
  });

  test('has the home of the user that it runs as, if it has none of its own', async () => {
    const started = start('echo x >~/mine; cat ~/mine');
    expect(await endOf(started)).toMatchObject({ kind: 'answered', answer: 'x' });
    expect(existsSync(join(started.folder, 'home', 'mine'))).toBe(true);
  });

  test('that cannot be created shows no path to the chat', async () => {
    const end = await endOf(start('echo hi', { masked: ['/proc/self/status'] }));
    expect(end).toMatchObject({ kind: 'failed', detail: expect.not.stringContaining('/') });
  });

  test('does not see what is masked, by any name', async () => {
    const folder = testFolder();
    mkdirSync(join(folder, 'work', 'logs'), { recursive: true });
    writeFileSync(join(folder, 'work', 'logs', 'a.log'), 'words');
    writeFileSync(join(folder, 'work', 'token'), 'secret');
    symlinkSync(join(folder, 'work', 'logs'), join(folder, 'work', 'linked'));
    const masked = [join(folder, 'work', 'linked'), join(folder, 'work', 'token'), join(folder, 'nowhere')];
    const end = await endOf(start('cat token; ls logs linked; mv logs elsewhere || echo kept', { masked }, folder));
    expect(end).toMatchObject({ kind: 'answered', answer: expect.not.stringMatching(/secret|a\\.log/) });
    expect(end).toMatchObject({ answer: expect.stringContaining('kept') });
    expect(() => renameSync(join(folder, 'work', 'logs'), join(folder, 'work', 'moved'))).not.toThrow();
  });
});
