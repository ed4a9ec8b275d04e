import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { AgentEnd, AgentEvent, AgentRequest } from '../../../bridge/agents/program/contract.js';
import { createScriptedAgent } from '../../../bridge/agents/scripted.js';
import { RUN_MARK } from '../../../src/host/processes.js';
import type { JournalEvent } from '../../../src/journal/schema.js';
import { describeAgentContract } from '../../contracts/agent.js';
import { testFolder } from '../../harness/folder.js';
import { newRunId } from '../runs/processes.js';

// covers: bridge/agents/scenarioPlayer.ts
// covers: bridge/agents/scriptedMain.ts

const scenario = 'test/fixtures/scenarios/contract.json';

describeAgentContract('scripted', (behaviour) => ({
  agent: createScriptedAgent(behaviour === 'cannot_start' ? 'missing.json' : scenario),
  prompt: behaviour,
}));

interface Played {
  readonly folder: string;
  readonly events: AgentEvent[];
  readonly journal: JournalEvent[];
  readonly end: AgentEnd | undefined;
}

/** @param scenarios the file's content; undefined plays the default scenario */
async function play(
  scenarios: unknown[] | undefined,
  changes: Partial<AgentRequest> & { variables?: Record<string, string> } = {},
): Promise<Played> {
  const folder = changes.workingDirectory ?? testFolder();
  const { variables, ...request } = changes;
  const path = join(folder, 'scenario.json');
  if (scenarios !== undefined) writeFileSync(path, JSON.stringify({ scenarios }));
  const runId = newRunId();
  const agent = createScriptedAgent(scenarios === undefined ? undefined : 'scenario.json', folder);
  const run = agent.start(
    {
      sessionId: 'tg_test_1_1',
      runId,
      prompt: 'hello',
      workingDirectory: folder,
      conversationId: null,
      attempt: 1,
      environment: { ...variables, [RUN_MARK]: runId },
      ...request,
    },
    new AbortController().signal,
  );
  const events: AgentEvent[] = [];
  for await (const event of run.events) events.push(event);
  const last = events.at(-1);
  return {
    folder,
    events,
    journal: events.flatMap((event) => (event.type === 'journal' ? [event.line] : [])),
    end: last?.type === 'end' ? last.end : undefined,
  };
}

const steps = (...list: unknown[]) => [{ steps: list }];
const answered = (answer: string) => ({ kind: 'answered', answer });

describe('a scenario', () => {
  test('the default scenario answers, without any file or account', async () => {
    const { end, journal } = await play(undefined, { prompt: 'Guten Tag' });
    expect(end).toMatchObject({ answer: expect.stringContaining('Guten Tag') });
    expect(journal.filter((line) => line.event === 'post_tool_use')).toHaveLength(2);
  });

  test('the default scenario repeats only the first line of the message', async () => {
    const prompt = 'Guten Tag\n\n---\n\nThis is the second and last attempt.';
    const { end } = await play(undefined, { prompt, attempt: 2 });
    expect(end).toMatchObject({
      answer: expect.stringMatching(/^You wrote: Guten Tag \[…\]\n\n\(Scripted agent, attempt 2/),
    });
  });

  test('is chosen by the message and the attempt; if none fits, the default one is played', async () => {
    const file = [
      { when: { message: 'deploy', attempt: 2 }, steps: [{ do: 'answer', text: 'second' }] },
      { when: { message: 'deploy' }, steps: [{ do: 'answer', text: 'first' }] },
    ];
    expect((await play(file, { prompt: 'Please DEPLOY it' })).end).toEqual(answered('first'));
    expect((await play(file, { prompt: 'Please deploy it', attempt: 2 })).end).toEqual(answered('second'));
    expect((await play(file, { prompt: 'hello' })).end).toMatchObject({ answer: expect.stringContaining('You wrote') });
  });

  test('reports a parallel batch as one message: the requests, then the results', async () => {
    const calls = [
      { tool: 'read', input: { path: '{{prompt}}' }, timeout_ms: 5000, polling: true },
      { tool: 'bash', outcome: 'failed', output: 'no' },
      { tool: 'edit', outcome: 'rejected' },
    ];
    const { journal } = await play(steps({ do: 'batch', calls }));
    const [message, ...rest] = journal.slice(3);
    expect(message).toEqual({ event: 'assistant_message', stop_reason: 'tool_use' });
    const batch = { batch: 'batch_1' };
    expect(rest.slice(0, 3)).toMatchObject([
      {
        event: 'pre_tool_use',
        tool_name: 'read',
        tool_input: { path: 'hello' },
        timeout_ms: 5000,
        polling: true,
        ...batch,
      },
      { event: 'pre_tool_use', tool_name: 'bash', ...batch },
      { event: 'pre_tool_use', tool_name: 'edit', ...batch },
    ]);
    expect(rest.slice(3)).toMatchObject([
      { event: 'post_tool_use', tool_name: 'read', is_error: false, outcome: 'ok', ...batch },
      { tool_name: 'bash', is_error: true, outcome: 'failed', tool_output_preview: 'no', ...batch },
      { tool_name: 'edit', is_error: false, outcome: 'rejected', ...batch },
    ]);
  });

  test('reports sub-agents, waits, heartbeats, compactions and its list of tasks', async () => {
    const { journal } = await play(
      steps(
        { do: 'sub_agent', agent_id: 'child', calls: [{ tool: 'read' }] },
        { do: 'wait_start', kind: 'rate_limit', until_ms: 60_000 },
        { do: 'wait_end', kind: 'rate_limit' },
        { do: 'heartbeat', source: 'stream' },
        { do: 'compaction' },
        { do: 'plan', items: [{ title: 'Look', status: 'pending' }] },
      ),
    );
    const lineage = { agent_id: 'child', parent_tool_use_id: 'call_1' };
    expect(journal.slice(3)).toMatchObject([
      { event: 'assistant_message' },
      { event: 'pre_tool_use', tool_name: 'task', tool_use_id: 'call_1' },
      { event: 'user_prompt', origin: 'machine', ...lineage },
      { event: 'assistant_message', ...lineage },
      { event: 'pre_tool_use', tool_name: 'read', ...lineage },
      { event: 'post_tool_use', tool_name: 'read', ...lineage },
      { event: 'turn_end', ...lineage },
      { event: 'post_tool_use', tool_name: 'task', tool_use_id: 'call_1' },
      { event: 'wait_start', kind: 'rate_limit', until: expect.stringMatching(/Z$/) },
      { event: 'wait_end', kind: 'rate_limit' },
      { event: 'heartbeat', source: 'stream' },
      { event: 'compaction' },
      { event: 'plan', mode: 'replace', items: [{ title: 'Look', status: 'pending' }] },
    ]);
  });

  test('repeats steps and counts them', async () => {
    const call = { do: 'call', tool: 'bash', outcome: 'failed', output: 'try {{index}}' };
    const { journal } = await play(steps({ do: 'repeat', times: 3, steps: [call] }));
    const outputs = journal.flatMap((line) => (line.event === 'post_tool_use' ? [line.tool_output_preview] : []));
    expect(outputs).toEqual(['try 1', 'try 2', 'try 3']);
  });

  test('writes files in the directory of the agent', async () => {
    const { folder } = await play(steps({ do: 'write_file', path: 'src/made.txt', text: 'by {{session}}' }));
    expect(readFileSync(join(folder, 'src/made.txt'), 'utf8')).toBe('by tg_test_1_1');
  });

  test.each([
    [{ do: 'exit', code: 7, stderr: 'no disk' }, 'crash', 'run_failed_exit_7', 'no disk'],
    [{ do: 'exit', code: 0 }, 'crash', 'run_failed_without_answer', 'without an answer'],
    [{ do: 'crash', signal: 'SIGSEGV' }, 'crash', 'run_failed_signal_SIGSEGV', 'SIGSEGV'],
    [{ do: 'crash', signal: 'SIGTERM' }, 'crash', 'run_failed_signal_SIGTERM', 'SIGTERM'],
    [{ do: 'failure', cause: 'credit', detail: 'no money' }, 'credit', 'run_failed_credit', 'no money'],
    [{ do: 'garbage', text: 'oh' }, 'crash', 'run_failed_without_answer', '1 line of its output could not be read'],
  ])('ends as specified: %j', async (step, cause, reason, words) => {
    const { end } = await play(steps({ do: 'call', tool: 'read' }, step));
    expect(end).toMatchObject({ kind: 'failed', cause, reason, detail: expect.stringContaining(words) });
  });

  test('every fault of the file is reported, and nothing is started', async () => {
    const list = [{ do: 'call', tool: 'bash', outcome: 'good' }, { do: 'dance' }, { do: 'sleep', ms: 1, s: 2 }];
    const { end, events } = await play([{ when: { message: '(' }, steps: list }]);
    expect(events).toHaveLength(1);
    expect(end).toMatchObject({ reason: 'run_failed_to_start' });
    const detail = end?.kind === 'failed' ? end.detail : '';
    for (const place of ['when.message', 'steps.0.outcome', 'steps.1.do', 'steps.2']) {
      expect(detail).toContain(`scenarios.0.${place}: `);
    }
  });
});

describe('the traces of a run', () => {
  test('a conversation with its turns, per id', async () => {
    const file = steps({ do: 'answer', text: 'turn {{turn}} of {{conversation}}' });
    const first = await play(file, { conversationId: '../evil' });
    const again = { conversationId: '../evil', workingDirectory: first.folder };
    expect(first.end).toEqual(answered('turn 1 of ../evil'));
    expect((await play(file, again)).end).toEqual(answered('turn 2 of ../evil'));
    expect((await play(file, { ...again, conversationId: 'other' })).end).toEqual(answered('turn 1 of other'));
    expect(existsSync(join(first.folder, 'evil.json'))).toBe(false);
  });

  test('a record of its start and its stop, if a file for it is configured', async () => {
    const path = join(testFolder(), 'runs.jsonl');
    const file = steps({ do: 'answer', text: 'done' });
    await play(file, { variables: { SCRIPTED_RECORD: path }, attempt: 2 });
    await play(steps({ do: 'exit', code: 1 }), { variables: { SCRIPTED_RECORD: path } });
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'start', session: 'tg_test_1_1', run: expect.any(String), pid: expect.any(Number), attempt: 2 },
      { event: 'stop', attempt: 2, at: expect.any(Number) },
      { event: 'start', attempt: 1 },
      { event: 'stop', attempt: 1 },
    ]);
  });
});
