/**
 * What every agent must do, whatever it is made of. An agent's own test names the prompts that make it behave so, and says
 * of the behaviours that it cannot be brought to why.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Agent, AgentEvent, AgentRequest, AgentRun } from '../../bridge/agents/program/contract.js';
import { endRun } from '../../bridge/runs/endRun.js';
import { markedPids, RUN_MARK } from '../../src/host/processes.js';
import { readStat } from '../../src/host/procfs.js';
import { systemClock } from '../../src/time.js';
import { newRunId } from '../bridge/runs/processes.js';
import { testFolder } from '../harness/folder.js';
import { readProcessTree } from '../harness/processTree.js';
import { afterThisTest } from '../harness/scope.js';
import {
  conversationOf,
  endOf,
  firstResult,
  journalOf,
  readOn,
  untilGone,
  untilGroupGone,
  untilNote,
} from './agentStream.js';

export const BEHAVIOURS = [
  /** Makes at least one successful call, then answers. */
  'answers',
  /** Ends by itself without an answer. */
  'fails',
  /** Says a note, then nothing more; ends on SIGTERM. */
  'hangs',
  /** Says a note, then nothing more; only SIGKILL ends it. */
  'ignores_sigterm',
  /** Writes what nobody can read, then makes a call and answers. */
  'prints_garbage',
  /** Writes what nobody can read, and ends. */
  'only_garbage',
  /** Writes a line of 50 MB, then makes a call and answers. */
  'prints_huge_line',
  /** Its tool lives in a process session of its own, ignores SIGTERM and does not end. */
  'starts_tool_in_own_session',
  /** Answers and exits, while its tool goes on and holds its standard output open. */
  'leaves_tool_behind',
  /** Its program is not there. */
  'cannot_start',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

export interface Subject {
  readonly agent: Agent;
  readonly prompt: string;
  /** What the agent needs beyond `PATH` and the run's mark. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface ContractOptions {
  /** Behaviours that this agent cannot be brought to, and why. */
  readonly cannot?: Partial<Record<Behaviour, string>>;
}

const GRACE_MS = 300;

interface Started {
  readonly request: AgentRequest;
  readonly run: AgentRun;
  readonly events: AsyncIterator<AgentEvent>;
  readonly stop: AbortController;
}

/**
 * @param kind as in a project's configuration
 * @param makeSubject an agent and the prompt that makes it behave so
 */
export function describeAgentContract(
  kind: string,
  makeSubject: (behaviour: Behaviour) => Subject,
  { cannot = {} }: ContractOptions = {},
): void {
  const start: Start = (behaviour, changes = {}, stop = new AbortController()) => {
    const { agent, prompt, environment = {} } = makeSubject(behaviour);
    const runId = newRunId();
    const request: AgentRequest = {
      sessionId: `tg_contract_1_${runId}`,
      runId,
      prompt,
      workingDirectory: testFolder(),
      conversationId: null,
      attempt: 1,
      environment: { PATH: process.env.PATH ?? '', ...environment, [RUN_MARK]: runId },
      ...changes,
    };
    const run = agent.start(request, stop.signal);
    const events = run.events[Symbol.asyncIterator]();
    afterThisTest(async () => {
      await endRun({ runId, groupPid: run.pid }, { clock: systemClock, graceMs: 0 });
      await readOn(events);
    });
    return { request, run, events, stop };
  };
  const can = (name: string, behaviour: Behaviour, body: () => Promise<void>): void => {
    const reason = cannot[behaviour];
    if (reason === undefined) test(name, body);
    else test.skip(`${name} (${reason})`, body);
  };

  describe(`the agent ${kind} keeps the contract:`, () => {
    describeStories(start, can);
    describeEnds(start, can);
    describeOutput(start, can);
    describeProcesses(start, can);
  });
}

type Start = (behaviour: Behaviour, changes?: Partial<AgentRequest>, stop?: AbortController) => Started;
type Can = (name: string, behaviour: Behaviour, body: () => Promise<void>) => void;

function describeStories(start: Start, can: Can): void {
  can(
    'it answers: prompt, calls, each result after its request, the end of the turn, and exactly one end; it goes on in its conversation',
    'answers',
    async () => {
      const first = start('answers');
      const events = await readOn(first.events);
      const lines = journalOf(events);
      expect(lines.slice(0, 2)).toMatchObject([
        { event: 'session_start', source: 'startup' },
        { event: 'user_prompt', origin: 'human' },
      ]);
      expect(lines.at(-1)).toMatchObject({ event: 'turn_end' });
      expect(firstResult(lines)).toMatchObject({
        is_error: false,
        outcome: 'ok',
        tool_name: expect.stringMatching(/./),
      });
      expect(endOf(events)).toMatchObject({ kind: 'answered', answer: expect.stringMatching(/./) });

      const open = new Map<string, string>();
      for (const line of lines) {
        if (line.event === 'pre_tool_use') open.set(line.tool_use_id, line.tool_name);
        if (line.event === 'post_tool_use') expect(open.get(line.tool_use_id)).toBe(line.tool_name);
      }
      expect(open.size).toBeGreaterThan(0);

      const conversationId = conversationOf(events);
      const { workingDirectory } = first.request;
      const second = await readOn(start('answers', { conversationId, workingDirectory }).events);
      expect(conversationOf(second)).toBe(conversationId);
      expect(journalOf(second)[0]).toMatchObject({ event: 'session_start', source: 'resume' });
      expect(endOf(second)).toMatchObject({ kind: 'answered' });
    },
  );

  can(
    'the prompt of a second attempt does not come from a person; a reader may stall until the agent has long ended, and loses nothing',
    'answers',
    async () => {
      const { run, events } = start('answers', { attempt: 2 });
      const first = await events.next();
      await untilGone(run.pid ?? 0);
      const all = [first.value, ...(await readOn(events))];
      expect(journalOf(all)[1]).toMatchObject({ event: 'user_prompt', origin: 'machine' });
      expect(endOf(all)).toMatchObject({ kind: 'answered' });
    },
  );
}

function describeEnds(start: Start, can: Can): void {
  can('a run without an answer has failed, for a reason without spaces', 'fails', async () => {
    const end = endOf(await readOn(start('fails').events));
    expect(end).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^run_failed_\S+$/) });
    expect(end).toMatchObject({ detail: expect.stringMatching(/./) });
  });

  can('a missing program has failed to start, and nothing is thrown', 'cannot_start', async () => {
    const { run, events } = start('cannot_start');
    expect(run.pid).toBeNull();
    const end = endOf(await readOn(events));
    expect(end).toMatchObject({ kind: 'failed', cause: 'cannot_start', reason: 'run_failed_to_start' });
  });

  can('a missing working directory is named in the log, not in the chat', 'answers', async () => {
    const workingDirectory = join(testFolder(), 'missing');
    const end = endOf(await readOn(start('answers', { workingDirectory }).events));
    expect(end).toMatchObject({
      reason: 'run_failed_to_start',
      detail: 'the working directory was not found',
      forLog: expect.stringMatching(/^its working directory is .*missing \(ENOENT\)$/),
    });
  });

  can('aborting its signal stops it and ends the stream', 'hangs', async () => {
    const { run, events, stop } = start('hangs');
    await untilNote(events);
    stop.abort();
    expect(endOf(await readOn(events))).toEqual({ kind: 'stopped' });
    await untilGone(run.pid ?? 0);
  });

  can('nothing is started if its signal was aborted before', 'answers', async () => {
    const stop = new AbortController();
    stop.abort();
    const { run, events } = start('answers', {}, stop);
    expect(run.pid).toBeNull();
    expect(await readOn(events)).toEqual([{ type: 'end', end: { kind: 'stopped' } }]);
  });

  can('an agent that ignores SIGTERM is ended with its run, and so is its stream', 'ignores_sigterm', async () => {
    const { request, run, events, stop } = start('ignores_sigterm');
    await untilNote(events);
    stop.abort();
    const report = await endRun({ runId: request.runId, groupPid: run.pid }, { clock: systemClock, graceMs: GRACE_MS });
    expect(report).toMatchObject({ proven: true });
    expect(report.killed).toBeGreaterThan(0);
    expect(endOf(await readOn(events))).toEqual({ kind: 'stopped' });
  });
}

function describeOutput(start: Start, can: Can): void {
  can('garbage does not end the run', 'prints_garbage', async () => {
    const events = await readOn(start('prints_garbage').events);
    expect(firstResult(journalOf(events))).toMatchObject({ outcome: 'ok' });
    expect(endOf(events)).toMatchObject({ kind: 'answered' });
  });

  can('garbage alone is not an answer', 'only_garbage', async () => {
    const end = endOf(await readOn(start('only_garbage').events));
    expect(end).toMatchObject({ kind: 'failed', reason: 'run_failed_without_answer' });
  });

  can('a line of 50 MB is dropped; the person is notified, the run continues', 'prints_huge_line', async () => {
    const events = await readOn(start('prints_huge_line').events);
    expect(events).toContainEqual({ type: 'note', text: expect.stringContaining('50.0 MiB') });
    expect(firstResult(journalOf(events))).toMatchObject({ outcome: 'ok' });
    expect(endOf(events)).toMatchObject({ kind: 'answered' });
  });

  can('a tool that holds the output open does not delay the end of the run', 'leaves_tool_behind', async () => {
    const { request, events } = start('leaves_tool_behind');
    expect(endOf(await readOn(events))).toMatchObject({ kind: 'answered' });
    expect(markedPids(request.runId)).toHaveLength(1);
  });
}

function describeProcesses(start: Start, can: Can): void {
  can(
    'its environment is exactly the given one, it leads its own process group and session, and a signal that kills it is its failure',
    'hangs',
    async () => {
      const { request, run, events } = start('hangs');
      await untilNote(events);
      const entries = readFileSync(`/proc/${run.pid}/environ`, 'utf8').split('\0').filter(Boolean);
      expect(entries.sort()).toEqual(
        Object.entries(request.environment)
          .map(([name, value]) => `${name}=${value}`)
          .sort(),
      );
      expect(readStat(run.pid ?? 0)).toMatchObject({
        pid: run.pid,
        group: run.pid,
        session: run.pid,
        parent: process.pid,
      });
      process.kill(run.pid ?? 0, 'SIGKILL');
      const end = endOf(await readOn(events));
      expect(end).toMatchObject({ kind: 'failed', cause: 'crash', reason: 'run_failed_signal_SIGKILL' });
    },
  );

  can(
    'every process below it carries the mark; its tool outlives its group, is found by the mark, and ends with the run',
    'starts_tool_in_own_session',
    async () => {
      const { request, run, events } = start('starts_tool_in_own_session');
      await untilNote(events);
      const tree = readProcessTree(run.pid ?? 0).map((found) => found.pid);
      expect(tree.length).toBeGreaterThan(1);
      // More may carry it: whoever lost its parent is in no tree.
      expect(markedPids(request.runId)).toEqual(expect.arrayContaining(tree));
      process.kill(-(run.pid ?? 0), 'SIGKILL');
      await readOn(events);

      const left = await untilGroupGone(request.runId, run.pid);
      expect(left.length).toBeGreaterThan(0);

      const target = { runId: request.runId, groupPid: run.pid };
      expect(await endRun(target, { clock: systemClock, graceMs: GRACE_MS })).toMatchObject({ proven: true });
      expect(markedPids(request.runId)).toEqual([]);
    },
  );
}
