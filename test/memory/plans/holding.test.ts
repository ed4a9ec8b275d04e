/** A step that another agent may have is started, refused or taken over. The agents are real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type WorklogLine, worklogKind } from '../../../memory/fold/rules/kind.js';
import type { RefusedError } from '../../../memory/logs/kind.js';
import { callerHolder, startFields } from '../../../memory/plans/holding.js';
import { Memory } from '../../../memory/sessions/memory.js';
import type { SurroundingVariable } from '../../../memory/sessions/surroundings.js';
import { writeOrRefuse } from '../../../memory/sessions/write.js';
import { show } from '../../../memory/verbs/show.js';
import { step } from '../../../memory/verbs/step.js';
import { sync } from '../../../memory/verbs/sync.js';
import { transitionPhase } from '../../../memory/verbs/transitionPhase.js';
import { ask, type Door } from '../../../memory/verbs/verb.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { redactShapes } from '../../../src/log/redact.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const DOOR: Door = {
  read: async () => '[]',
  startDetached: () => undefined,
  untilStopped: () => AbortSignal.abort(),
  isProgram: true,
  judge: async () => null,
  say: () => undefined,
};

let scene: MemoryScene;
let agents: ChildProcess[] = [];

beforeEach(() => {
  scene = memoryScene();
  const { lifecycle, workspace } = scene.open();
  const plan = ['1', '2'].map((id) => worklogKind.line('step_added', { step: id, title: `step ${id}` }));
  lifecycle.begin(workspace, { purpose: 'x', fields: {}, plan, concurrent: false });
});

afterEach(async () => {
  for (const agent of agents) await end(agent);
  agents = [];
});

interface Agent {
  readonly pid: number;
  readonly program: ChildProcess;
  /** The view of a command in the agent's shell. */
  open(variables?: Partial<Record<SurroundingVariable, string>>): Memory;
}

/** A process that has a child, as an agent has a shell. @param name of its program, as its command line shows it */
async function agent(name = 'sh'): Promise<Agent> {
  const program = spawn('sh', ['-c', 'sleep 600 & echo $!; wait'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
    argv0: name,
  });
  agents.push(program);
  const [shell] = await once(program.stdout ?? program, 'data');
  const pid = program.pid ?? 0;
  return { pid, program, open: (variables = {}) => view(Number(shell), { CLAUDE_PID: String(pid), ...variables }) };
}

function view(pid: number, variables: Partial<Record<SurroundingVariable, string>>): Memory {
  return new Memory({
    surroundings: {
      directory: scene.directory,
      process: readProcessIdentity('host', pid),
      variables: { WATCHKEEPER_HOME: scene.home, ...variables },
    },
    ...{ folder: null, clock: scene.clock, redact: redactShapes },
  });
}

/** With the processes that it has started. */
async function end(agent: ChildProcess): Promise<void> {
  if (agent.exitCode !== null || agent.signalCode !== null) return;
  const ended = once(agent, 'exit');
  process.kill(-(agent.pid ?? 0), 'SIGKILL');
  await ended;
}

const start = (memory: Memory) => ask(step, memory, { step: '1', to: 'in_progress' }, DOOR);
const stateOf = (memory: Memory) => memory.which(null).log.state;
const stepOf = (memory: Memory) => stateOf(memory).steps.get('1');

test('of two agents that give no name, one starts a step, and the other learns which, and that it lives', async () => {
  const [one, other] = [await agent(), await agent()];
  await start(one.open());
  await start(one.open());
  expect(stepOf(one.open())?.holder).toMatchObject({ process: { pid: one.pid } });
  await expect(start(other.open())).rejects.toMatchObject({
    ...{ code: 'taken', message: `step 1 is in progress: process ${one.pid} has it, and it is alive` },
    details: { holder: { process: { pid: one.pid } }, agent: null, alive: true },
  });
  expect(stateOf(other.open()).refused).toBe(1);
});

test('an agent takes over the step of one that was killed; that is no retry, and its time continues', async () => {
  const [one, other] = [await agent(), await agent()];
  await start(one.open());
  const before = stepOf(one.open());
  await end(one.program);
  scene.clock.advance(60_000);
  const former = `taken over from process ${one.pid}, which is dead`;
  expect(await start(other.open())).toMatchObject({ lines: ['step 1 is in progress: step 1', former] });
  const after = stepOf(other.open());
  const recent = stateOf(other.open()).recent.map(({ words }) => words);
  expect(recent).toContain('step 1: taken over from an agent that is dead');
  expect(after).toMatchObject({ holder: { process: { pid: other.pid } }, retries: 0, started_at: before?.started_at });
  expect(after?.spans).toEqual(before?.spans);
  expect(after?.held_by).not.toBe(before?.held_by);
});

test('a step that a person has started is taken by an agent, and then not by a person', async () => {
  const one = await agent();
  const person = view(1, {});
  await start(person);
  expect(stepOf(person)).toMatchObject({ holder: null, held_by: expect.any(String) });
  await start(one.open());
  expect(stepOf(person)).toMatchObject({ holder: { process: { pid: one.pid } }, retries: 0 });
  await expect(start(person)).rejects.toMatchObject({ code: 'taken' });
});

test('two names in one process are two agents', async () => {
  const one = await agent();
  const memory = one.open();
  const session = memory.which(null);
  const begin = (name: string | null) => {
    const claim = { step: '1', agent: name, holder: callerHolder(memory) };
    writeOrRefuse(session, memory.stamp, (state) => [
      worklogKind.line('step', {
        ...{ step: '1', to: 'in_progress', agent: name ?? undefined, call: 'toolu_1' },
        ...startFields(memory.surroundings.process, state, claim),
      }),
    ]);
  };
  begin('coder');
  begin('coder');
  expect(session.log.state.steps.get('1')).toMatchObject({ agent: 'coder', call: 'toolu_1' });
  for (const name of ['tester', null]) expect(() => begin(name)).toThrow(`process ${one.pid} (agent coder) has it`);
});

describe('an orchestrator', () => {
  const PHASES = [
    { id: 1, name: 'Design' },
    { id: 2, name: 'Server', blocked_by: [1] },
    { id: 3, name: 'Form', blocked_by: [1] },
  ];
  const move = (memory: Memory, fields: object) => ask(transitionPhase, memory, { ...fields }, DOOR);
  const agentsOf = (memory: Memory) => [...stateOf(memory).steps.values()].slice(-3).map(({ agent }) => agent);

  beforeEach(async () => {
    const session = scene.open().which(null);
    session.log.write(
      () =>
        PHASES.map(({ id, name, blocked_by = [] }) =>
          worklogKind.line('step_added', {
            step: `p${id}`,
            title: name,
            blocked_by: blocked_by.map((one) => `p${one}`),
          }),
        ),
      scene.open().stamp,
    );
  });

  test('ends a phase of one agent, and hands the phases that it starts then to others of its process', async () => {
    const one = await agent();
    await move(one.open(), { next_phase_id: 'p1', agent: 'architect' });
    const ended = { completed_phase_id: 'p1', agent: 'architect', next_phase_ids: ['p2', 'p3'] };
    expect((await move(one.open(), ended)).value).toMatchObject({ completed: ['p1'], started: ['p2', 'p3'] });
    expect(agentsOf(one.open())).toEqual(['architect', null, null]);
    const before = stateOf(one.open()).steps.get('p2');
    expect((await move(one.open(), { next_phase_id: 'p2', agent: 'coder' })).value).toMatchObject({ started: ['p2'] });
    const after = stateOf(one.open()).steps.get('p2');
    expect(after).toMatchObject({ agent: 'coder', holder: { process: { pid: one.pid } }, retries: 0 });
    expect(after?.spans).toEqual(before?.spans);
    await expect(move(one.open(), { next_phase_id: 'p2', agent: 'tester' })).rejects.toMatchObject({
      code: 'taken',
      details: { agent: 'coder', alive: true },
    });
  });

  test('of another process gets no phase that one has without a name', async () => {
    const [one, other] = [await agent(), await agent()];
    await move(one.open(), { next_phase_id: 'p1' });
    await expect(move(other.open(), { next_phase_id: 'p1', agent: 'coder' })).rejects.toMatchObject({ code: 'taken' });
    await move(one.open({ CODEX_THREAD_ID: 'c1' }), { completed_phase_id: 'p1', next_phase_id: 'p2' });
    const [own, foreign] = [{ CODEX_THREAD_ID: 'c1' }, { CODEX_THREAD_ID: 'c2' }];
    const start = { next_phase_id: 'p2', agent: 'coder' };
    await expect(move(one.open(foreign), start)).rejects.toMatchObject({ code: 'taken' });
    await move(one.open(own), start);
    expect(stateOf(one.open()).steps.get('p2')).toMatchObject({ agent: 'coder' });
  });
});

test('work show says which agent has a step, and whether it lives', async () => {
  const one = await agent();
  const lines = async () => (await ask(show, scene.open(), {}, DOOR)).lines;
  expect(await lines()).not.toContain('steps in progress are held by:');
  await start(one.open());
  expect(await lines()).toContain(`  step 1: process ${one.pid}, and it is alive`);
  await end(one.program);
  expect(await lines()).toContain(`  step 1: process ${one.pid}, and it is dead`);
});

test('a conversation that no hook reported lives as long as the process in which it started the step', async () => {
  const [one, other] = [await agent(), await agent()];
  await start(one.open({ CODEX_THREAD_ID: 'c1' }));
  await expect(start(other.open())).rejects.toMatchObject({ code: 'taken', details: { alive: true } });
  await start(one.open({ CODEX_THREAD_ID: 'c1' }));
  await end(one.program);
  await start(other.open());
  expect(stepOf(other.open())?.holder).toMatchObject({ process: { pid: other.pid } });
});

test('a conversation lives as long as the process that the log knows of it', async () => {
  const [one, other] = [await agent(), await agent()];
  const memory = one.open();
  const session = memory.which(null);
  const thread = { conversation: { provider: 'codex', conversation: 'c1' } };
  const write = (line: WorklogLine) => writeOrRefuse(session, memory.stamp, () => [line]);
  write(worklogKind.line('step', { step: '1', to: 'in_progress', holder: thread }));
  const second = { step: '1', holder: callerHolder(other.open()) };
  const refusal = () => {
    try {
      return startFields(memory.surroundings.process, session.log.state, second);
    } catch (error) {
      return error as RefusedError;
    }
  };
  expect(refusal()).toMatchObject({
    message: 'step 1 is in progress: conversation c1 of codex has it, and whether it is alive cannot be seen from here',
    details: { holder: thread, alive: null },
  });
  const process = readProcessIdentity('host', one.pid);
  const { conversation } = thread;
  write(worklogKind.line('conversation', { ...conversation, source: 'startup', process }));
  expect(refusal()).toMatchObject({ code: 'taken', details: { alive: true } });
  await end(one.program);
  expect(refusal()).toEqual({ holder: second.holder, takes: session.log.state.steps.get('1')?.held_by });
});

test('the caller is its process; its conversation if its program shares processes, or a server names it; a person is none', async () => {
  const one = await agent();
  const thread = { provider: 'codex', conversation: 'c1' };
  expect(callerHolder(one.open())).toMatchObject({ process: { pid: one.pid } });
  expect(callerHolder(one.open({ CODEX_THREAD_ID: 'c1' }))).toMatchObject({
    conversation: thread,
    process: { pid: one.pid },
  });
  expect(callerHolder(one.open({ CLAUDE_CODE_SESSION_ID: 'x', CODEX_THREAD_ID: 'c1' }))).toMatchObject({ process: {} });
  expect(callerHolder(one.open(), thread)).toMatchObject({ conversation: thread, process: { pid: one.pid } });
  expect(callerHolder(view(1, {}))).toBeNull();
});

test('if one program runs in a shell of the other, the nearer one calls', async () => {
  const both = { CLAUDE_CODE_SESSION_ID: 'x', CODEX_THREAD_ID: 'c1' };
  const [codex, claude] = [await agent('codex'), await agent('claude')];
  expect(callerHolder(codex.open(both))).toMatchObject({
    conversation: { provider: 'codex', conversation: 'c1' },
    process: { pid: codex.pid },
  });
  expect(callerHolder(claude.open({ CODEX_THREAD_ID: 'c1' }))).toMatchObject({ process: { pid: claude.pid } });
});

test('a step of an agent on another host is not taken over', async () => {
  const one = await agent();
  const memory = one.open();
  const holder = { process: { ...readProcessIdentity('elsewhere', one.pid), pid: 77 } };
  writeOrRefuse(memory.which(null), memory.stamp, () => [
    worklogKind.line('step', { step: '1', to: 'in_progress', holder }),
  ]);
  await expect(start(memory)).rejects.toMatchObject({ code: 'taken', details: { alive: null } });
  expect(stepOf(memory)?.holder).toEqual(holder);
});

test('an agent has the steps that its own list starts', async () => {
  const one = await agent();
  const read = async () => JSON.stringify([{ id: '1', content: 'Find it', status: 'in_progress' }]);
  await ask(sync, one.open(), { source: '-' }, { ...DOOR, read });
  expect(stepOf(one.open())).toMatchObject({ title: 'Find it', holder: { process: { pid: one.pid } } });
});
