import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { CodexDialect, type Totals } from '../../../bridge/agents/command/codex.js';
import { GeminiDialect } from '../../../bridge/agents/command/gemini.js';
import { commandOptions } from '../../../bridge/agents/command/settings.js';
import { commandLine, createCommandAgent } from '../../../bridge/agents/command.js';
import type { Agent, AgentRequest } from '../../../bridge/agents/program/contract.js';
import type { Dialect } from '../../../bridge/agents/program/programStream.js';
import { chooseScenario, readScenarioFile } from '../../../bridge/agents/scenario.js';
import { endRun } from '../../../bridge/runs/endRun.js';
import { newIncident } from '../../../monitoring/incident/newIncident.js';
import { failureText } from '../../../monitoring/incident/texts/chatTexts.js';
import { findCrash } from '../../../monitoring/verdict/detectors/crash.js';
import { DEFAULT_ACTIONS } from '../../../src/config/projects.js';
import { RUN_MARK } from '../../../src/host/processes.js';
import { compiledProgram } from '../../../src/host/program.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { createRedactor } from '../../../src/log/redact.js';
import { Newest } from '../../../src/newest.js';
import { type Clock, MINUTE, systemClock } from '../../../src/time.js';
import { describeAgentContract } from '../../contracts/agent.js';
import { conversationOf, endOf, journalOf, readOn } from '../../contracts/agentStream.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { describeWhereInstalled } from '../../harness/installed.js';
import { afterThisTest } from '../../harness/scope.js';
import { GEMINI, geminiEnvironment, geminiOptions } from '../../peers/gemini/geminiCli.js';
import { startGeminiPeer } from '../../peers/gemini/geminiPeer.js';
import { call, say } from '../../peers/modelBlocks.js';
import { CODEX, codexEnvironment, codexOptions } from '../../peers/openai/codexCli.js';
import { startOpenaiPeer } from '../../peers/openai/openaiPeer.js';
import { newRunId } from '../runs/processes.js';

const SCENARIOS = join(process.cwd(), 'test/fixtures/scenarios/contract.json');

/** A program that speaks the protocol and knows nothing else of us: the scripted agent's own. */
describeAgentContract('command', (behaviour) => {
  const place = chooseScenario(readScenarioFile(SCENARIOS), behaviour, 1);
  const program = [
    behaviour === 'cannot_start' ? '/nowhere/agent' : process.execPath,
    compiledProgram('bridge/agents/scriptedMain'),
    `--scenario=${SCENARIOS}`,
    `--place=${place}`,
  ];
  const resume = [...program, '--conversation={conversation}'];
  const options = commandOptions.parse({ command: program, resume, output: 'json_lines' });
  return { agent: createCommandAgent(options), prompt: behaviour };
});

async function run(options: object | Agent, changes: Partial<AgentRequest> = {}, stop = new AbortController()) {
  const events = await readOn(begin(options, changes, stop)[Symbol.asyncIterator]());
  return { events, journal: journalOf(events), end: endOf(events) };
}

/** @param options of a new agent, or an agent that has run before */
function begin(
  options: object | Agent,
  changes: Partial<AgentRequest> = {},
  stop = new AbortController(),
  clock: Clock = systemClock,
) {
  const runId = newRunId();
  const agent = 'start' in options ? options : createCommandAgent(commandOptions.parse(options), clock);
  const running = agent.start(
    {
      sessionId: `tg_test_1_${runId}`,
      runId,
      prompt: 'do it',
      workingDirectory: testFolder(),
      conversationId: null,
      attempt: 1,
      ...changes,
      environment: { PATH: process.env.PATH ?? '', ...changes.environment, [RUN_MARK]: runId },
    },
    stop.signal,
  );
  afterThisTest(async () => {
    await endRun({ runId, groupPid: running.pid }, { clock: systemClock, graceMs: 0 });
  });
  return running.events;
}

const node = (script: string, ...args: string[]) => [process.execPath, '-e', script, ...args];
/** A shell that its program left behind waits until the program's end is known here. A busy machine learns of it late. */
const UNTIL_REAPED = 'while kill -0 $$ 2> /dev/null; do sleep 0.02; done';

describe('a program that prints plain text', () => {
  // rule: evidence-is-in-our-words
  test('that fails is quoted with its standard error first, however much it printed', async () => {
    const script = String.raw`for (let line = 0; line < 3000; line += 1) console.log('uploading part ' + line);
      console.error('warning: slow\nERROR: disk quota exceeded'); process.exitCode = 1`;
    const { end } = await run({ command: node(script) });
    const detail = end.kind === 'failed' ? end.detail : '';
    expect(detail).toMatch(/^its last words: warning: slow\nERROR: disk quota exceeded; /);
    expect(detail).toContain('uploading part 2999');
  });

  test.each([
    ['standard error', 'console.error'],
    ['standard output', 'console.log'],
  ])('that fails shows the end of its %s in the chat, however much came before', async (_, write) => {
    const script = `for (let line = 0; line < 3000; line += 1) ${write}('uploading part ' + line);
      ${write}('ERROR: disk quota exceeded'); process.exitCode = 1`;
    const { end } = await run({ command: node(script) });
    if (end.kind !== 'failed') throw new Error(`it ended as ${end.kind}`);
    const incident = newIncident(systemClock, {
      session: { session_id: 'cli_local_1', project_key: 'local', attempt: 2 } as AgentSession,
      findings: [findCrash(end.reason, 0)],
      actions: DEFAULT_ACTIONS,
      notRevivedBecause: null,
      untrustedExcerpt: end.detail,
      toolCount: 0,
      lastToolCall: null,
    });
    expect(failureText(incident)).toContain('ERROR: disk quota exceeded');
  });

  test('reports a message that is too long to be an argument, and is not run again with it', async () => {
    const options = { command: node('', '{prompt}'), prompt: 'argument' } as const;
    const { end } = await run(options, { prompt: '漢'.repeat(60_000) });
    expect(end).toMatchObject({ kind: 'failed', cause: 'cannot_start' });
    expect(end.kind === 'failed' && end.detail).toMatch(
      / takes the message as an argument, and it is too long for one$/,
    );
  });

  test('is not started in a directory that is a file, and the reason names no path', async () => {
    const workingDirectory = join(testFolder(), 'file');
    writeFileSync(workingDirectory, '');
    const { end } = await run({ command: node('') }, { workingDirectory });
    expect(end).toMatchObject({ kind: 'failed', detail: 'the working directory is not a directory' });
  });

  test('is quoted without our secrets, even if the quotation begins inside one', async () => {
    const secret = `own-${'s3cret-'.repeat(20)}`;
    const script = `console.error(process.argv[1] + 'x'.repeat(950)); process.exitCode = 1`;
    const { end } = await run({ command: node(script, secret) }, { redact: createRedactor([secret]) });
    const detail = end.kind === 'failed' ? end.detail : '';
    expect(detail).toContain('xxx');
    expect(detail).not.toContain('s3cret');
  });

  test.each(['process.exitCode = 3', "process.kill(process.pid, 'SIGKILL')", ''])(
    'that ends by %j gives the reason in the words of its finding, shown only once in the chat',
    async (script) => {
      const { end } = await run({ command: node(script) });
      if (end.kind !== 'failed') throw new Error(`it ended as ${end.kind}`);
      expect(findCrash(end.reason, 0).evidence).toEqual([end.detail]);
    },
  );

  test('answers with its output, without terminal sequences and overwritten text', async () => {
    const script = String.raw`process.stdin.pipe(process.stdout); process.stdin.on('end', () =>
      process.stdout.write('\n10 %\r100 %\n\n\u001b[1mdone\u001b[0m\n'))`;
    const { end, journal } = await run({ command: node(script) });
    expect(end).toEqual({ kind: 'answered', answer: 'do it\n100 %\n\ndone' });
    expect(journal.at(-1)).toEqual({ event: 'turn_end', reason: 'end_turn' });
    expect(journal.at(-2)).toEqual({ event: 'heartbeat', source: 'stream' });
  });

  test('any output is a sign of life: half a line, or standard error alone', async () => {
    for (const stream of ['stdout', 'stderr']) {
      const script = `const dot = () => process.${stream}.write('.'); dot(); setTimeout(dot, 1_200); setTimeout(() => console.log('ok'), 1_300)`;
      const { journal } = await run({ command: node(script) });
      expect(journal.filter(({ event }) => event === 'heartbeat').length).toBeGreaterThanOrEqual(2);
    }
  });

  test.each([
    ['process.exit(0)', 'run_failed_without_answer'],
    ["console.log('half'); process.exitCode = 4", 'run_failed_exit_4'],
  ])('%s has failed', async (script, reason) => {
    expect((await run({ command: node(script) })).end).toMatchObject({ kind: 'failed', cause: 'crash', reason });
  });

  test('keeps the end of output that is too long', async () => {
    const script = "for (let i = 0; i < 30000; i += 1) console.log('line ' + i)";
    const { end } = await run({ command: node(script) });
    const answer = end.kind === 'answered' ? end.answer : '';
    expect(answer).toMatch(/^\[…\]\n/);
    expect(answer.endsWith('line 29999')).toBe(true);
    expect(answer.length).toBeLessThan(140_000);
  });

  test('answers with the end of a line that is too long, and with no part of a secret', async () => {
    const secret = `own-${'s3cret-'.repeat(20)}`;
    const request = { redact: createRedactor([secret]) };
    const printing = (script: string) => run({ command: node(`process.stdout.write(${script})`, secret) }, request);
    const answerOf = async (script: string) => {
      const { end } = await printing(script);
      return end.kind === 'answered' ? end.answer : '';
    };
    const plain = await answerOf("'first\\n' + 'QUJD'.repeat(1e5) + 'end'");
    // Quoting them whole would fill the report of a failure.
    expect([plain.slice(0, 4), plain.slice(-7)]).toEqual(['[…] ', 'QUJDend']);
    expect(plain.length).toBe(128 * 1024);
    const many = await answerOf("(process.argv[1] + ' ').repeat(10_000)");
    expect(many.slice(-22)).toContain('[redacted:own_secret]');
    expect(many.includes('s3cret')).toBe(false);
    const lineOfKey = `${'aB3+'.repeat(16)}\\n`;
    const key = await answerOf(
      `'x'.repeat(4e5) + ' -----BEGIN PRIVATE KEY----- aB3+aB3+\\n' + '${lineOfKey}'.repeat(5) + 'it broke'`,
    );
    expect(key.slice(-8)).toBe('it broke');
    expect(key.includes('aB3+')).toBe(false);
  });

  // rule: an-answer-ends-with-its-program
  test.each([
    [
      'a server that it left behind talks on',
      `( ${UNTIL_REAPED}; while :; do echo GET /health; sleep 0.02; done ) & echo answer`,
    ],
    ['a program that it left behind prints without end', `( ${UNTIL_REAPED}; exec yes ) & echo answer`],
    [
      'it pipes its words through a program that ends later',
      'exec > >(read -r word; sleep 0.05; echo "$word"); echo answer',
    ],
  ])('has its own words as its answer, although %s', async (_, script) => {
    const { end, journal } = await run({ command: ['bash', '-c', script] });
    expect(end).toEqual({ kind: 'answered', answer: 'answer' });
    expect(journal.at(-1)).toMatchObject({ event: 'turn_end' });
  });

  // rule: an-agent-leaves-others-a-turn
  test('waits after each piece of a flood, so that the runs beside it go first', async () => {
    let lines = 0;
    const pausedAfter: number[] = [];
    const clock: Clock = {
      ...systemClock,
      sleep(ms, signal) {
        if (ms === 5) pausedAfter.push(lines);
        return systemClock.sleep(ms === 5 ? 0 : ms, signal);
      },
    };
    // Lines of a KiB, 70 MiB of them.
    const flood = node(`const line = 'y'.repeat(1023) + '\\n';
      for (let at = 0; at < 70; at += 1) process.stdout.write(line.repeat(1024));`);
    for await (const _ of begin({ command: flood }, {}, new AbortController(), clock)) lines += 1;
    expect(pausedAfter[0]).toBeGreaterThan(60 * 1024);
    expect(pausedAfter.length).toBeGreaterThan(6);
  });

  // rule: an-agent-leaves-others-a-turn
  test('yields to other work, however many lines it prints at once', async () => {
    const lines = 100_000;
    let sinceTurn = 0;
    let mostInTurn = 0;
    let read = 0;
    const takeTurn = () => {
      sinceTurn = 0;
      next = setImmediate(takeTurn);
    };
    let next = setImmediate(takeTurn);
    for await (const _ of begin({ command: node(`process.stdout.write('y\\n'.repeat(${lines}))`) })) {
      sinceTurn += 1;
      mostInTurn = Math.max(mostInTurn, sinceTurn);
      read += 1;
    }
    clearImmediate(next);
    expect(read).toBeGreaterThan(lines);
    expect(mostInTurn).toBeLessThan(lines / 4);
  });

  test('takes time in proportion to its output, even for a line of nothing but carriage returns', async () => {
    const { end } = await run({ command: node(String.raw`process.stdout.write('\r'.repeat(1e6) + 'x\r\r\n')`) });
    expect(end).toEqual({ kind: 'answered', answer: 'x' });
  });
});

describe('a program that speaks the protocol', () => {
  const speaker = (...lines: object[]) => {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    return { command: node('process.stdout.write(process.argv[1])', text), output: 'json_lines' };
  };

  test.each([
    [{ event: 'answer', text: 'ok' }, 5_000, { kind: 'answered', answer: 'ok' }],
    [{ event: 'turn_end' }, 20 * MINUTE, { kind: 'failed', cause: 'crash', reason: 'run_failed_without_answer' }],
    [{ event: 'failure', cause: 'credit' }, 5_000, { kind: 'failed', cause: 'credit', reason: 'run_failed_credit' }],
  ])('that prints %j and then nothing more is ended, although no rule accuses it', async (line, patienceMs, end) => {
    const clock = new ManualClock();
    const command = node('console.log(process.argv[1]); setInterval(() => {}, 1e6)', JSON.stringify(line));
    const events = begin({ command, output: 'json_lines' }, {}, new AbortController(), clock);
    let isOver = false;
    const reading = readOn(events[Symbol.asyncIterator]()).finally(() => {
      isOver = true;
    });
    await clock.untilWaiting();
    expect(clock.nextInMs).toBe(patienceMs);
    while (!isOver) await clock.advance(MINUTE);
    expect(endOf(await reading)).toMatchObject(end);
  });

  test('cannot fill the chat with one answer', async () => {
    const script = "console.log(JSON.stringify({ event: 'answer', text: 'x'.repeat(7e6) }))";
    const { end } = await run({ command: node(script), output: 'json_lines' });
    const answer = end.kind === 'answered' ? end.answer : '';
    expect(answer).toMatch(/^x{131072}\n\n\[… 6868928 more characters are left out\]$/);
  });

  test.each(['-rf', 'x'.repeat(257), 'a\u0000b', 'a\nb', '\u202e'])('ignores a conversation id %j', async (id) => {
    const lines = [
      { event: 'conversation', conversation_id: id },
      { event: 'answer', text: 'ok' },
    ];
    const { events, end } = await run(speaker(...lines));
    expect(events.filter(({ type }) => type === 'conversation')).toEqual([]);
    expect(end).toEqual({ kind: 'answered', answer: 'ok' });
  });
});

describe('the command line', () => {
  const echo = 'console.log(JSON.stringify(process.argv.slice(1)))';
  const argumentsOf = async (options: object, changes: Partial<AgentRequest> = {}) => {
    const { end, events } = await run(options, changes);
    return { given: JSON.parse(end.kind === 'answered' ? end.answer : '[]') as string[], events };
  };

  test('takes the prompt as its last argument or at its placeholder, never as an option', async () => {
    const prompt = '--help; $(x) {conversation}';
    expect((await argumentsOf({ command: node(echo, '--'), prompt: 'argument' }, { prompt })).given).toEqual([
      ` ${prompt}`,
    ]);
    const named = { command: node(echo, 'ask={prompt}', 'x'), prompt: 'argument' };
    expect((await argumentsOf(named, { prompt: 'a "b"' })).given).toEqual(['ask=a "b"', 'x']);
  });

  test('chooses the id of a new conversation, and passes the id of a continued one', async () => {
    const options = { command: node(echo, 'new', '{conversation}'), resume: node(echo, 'old', '{conversation}') };
    const first = await argumentsOf(options);
    const id = conversationOf(first.events);
    expect(first.given).toEqual(['new', id]);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const second = await argumentsOf(options, { conversationId: id });
    expect(second.given).toEqual(['old', id]);
    expect(journalOf(second.events)[0]).toMatchObject({ source: 'resume' });
  });

  test('without a way to continue, every message begins a new conversation', async () => {
    const { journal } = await run({ command: node(echo) }, { conversationId: 'old' });
    expect(journal[0]).toMatchObject({ source: 'startup' });
  });

  test.each([
    [{ command: [] }, 'must begin with a program'],
    [{ command: 'codex exec' }, 'must be a list'],
    [{ command: ['a'], resume: ['a', '--last'] }, '{conversation}'],
    [{ command: ['a', '{prompt}'] }, 'must be "argument"'],
    [{ command: ['a'], output: 'xml' }, 'must be one of text, json_lines, codex, gemini'],
  ])('%j is refused', (options, words) => {
    const checked = commandOptions.safeParse(options);
    expect(checked.error?.issues.map(({ message }) => message).join()).toContain(words);
  });

  test('a prompt on standard input is not an argument', () => {
    const request = { prompt: 'hello', conversationId: null } as AgentRequest;
    const line = commandLine(commandOptions.parse({ command: ['a', '-'] }), request, () => 'id');
    expect(line).toEqual({ command: 'a', args: ['-'], input: 'hello', conversationId: null });
  });
});

test('the agent in the documents is valid', async () => {
  const text = readFileSync('docs/agents.md', 'utf8');
  const script = /```sh\n(#!\/bin\/sh\n.*?)```/s.exec(text)?.[1] ?? '';
  const folder = testFolder();
  writeFileSync(join(folder, 'agent.sh'), script);
  const { end, journal } = await run(
    { command: ['sh', 'agent.sh'], output: 'json_lines' },
    { workingDirectory: folder },
  );
  expect(end).toEqual({ kind: 'answered', answer: 'There are 1 files. You asked with 5 characters.' });
  expect(journal.find((line) => line.event === 'post_tool_use')).toMatchObject({ tool_name: 'bash', outcome: 'ok' });
});

/** Lines as the programs wrote them. */
describe('a dialect', () => {
  const read = (dialect: Dialect, lines: readonly object[]) =>
    lines.flatMap((line) => dialect.line(JSON.stringify(line)));

  test('of codex: calls that are only reported at their end, declined calls, retries', () => {
    const item = { id: 'item_1', type: 'file_change', changes: [{ path: 'a', kind: 'add' }], status: 'completed' };
    const declined = {
      id: 'item_2',
      type: 'command_execution',
      command: 'rm',
      aggregated_output: '',
      exit_code: null,
      status: 'declined',
    };
    const told = read(new CodexDialect(), [
      { type: 'item.completed', item },
      { type: 'item.started', item: { ...declined, status: 'in_progress' } },
      { type: 'item.completed', item: declined },
      { type: 'item.updated', item: { id: 'item_3', type: 'todo_list', items: [] } },
      { type: 'error', message: 'Reconnecting... 1/5' },
      { type: 'a.later.event' },
    ]);
    expect(told).toMatchObject([
      { event: { event: 'pre_tool_use', tool_name: 'file_change', tool_input: { changes: item.changes } } },
      { event: { event: 'post_tool_use', outcome: 'ok' } },
      { event: { event: 'files', tool_use_id: 'item_1', created: ['a'] } },
      { event: { event: 'pre_tool_use', tool_name: 'command_execution', tool_input: { command: 'rm' } } },
      { event: { event: 'post_tool_use', outcome: 'rejected' } },
      { event: { event: 'plan', mode: 'replace', items: [] } },
      { event: { event: 'heartbeat', source: 'step' } },
      { event: { event: 'heartbeat', source: 'api_retry' } },
      { kind: 'note' },
      { kind: 'ignored' },
    ]);
  });

  test('of codex: the plan at each change, the files of a patch that succeeded, the beginning of a message', () => {
    const todos = (completed: boolean) => ({
      id: 'item_1',
      type: 'todo_list',
      items: [
        { text: 'Look', completed },
        { text: 'Write', completed: false },
      ],
    });
    const changes = [
      { path: '/w/a', kind: 'add' },
      { path: '/w/b', kind: 'update' },
      { path: '/w/c', kind: 'delete' },
      { path: '/w/d', kind: { type: 'update', move_path: '/w/e' } },
    ];
    const patch = (id: string, status: string) => ({ id, type: 'file_change', changes, status });
    const told = read(new CodexDialect(), [
      { type: 'item.started', item: todos(false) },
      { type: 'item.updated', item: todos(true) },
      { type: 'item.completed', item: patch('item_2', 'completed') },
      { type: 'item.completed', item: patch('item_3', 'failed') },
      { type: 'item.completed', item: { id: 'item_4', type: 'agent_message', text: 'Done.' } },
    ]);
    const events = told.flatMap((line) => (line.kind === 'journal' ? [line.event] : []));
    expect(events.filter(({ event }) => ['plan', 'files', 'assistant_message'].includes(event))).toEqual([
      { event: 'plan', mode: 'replace', items: ['pending', 'pending'].map((status, at) => item(status, at)) },
      { event: 'plan', mode: 'replace', items: ['completed', 'pending'].map((status, at) => item(status, at)) },
      {
        event: 'files',
        tool_use_id: 'item_2',
        created: ['/w/a'],
        modified: ['/w/b'],
        deleted: ['/w/c'],
        renamed: [{ from: '/w/d', to: '/w/e' }],
      },
      { event: 'assistant_message', text: 'Done.' },
    ]);
    function item(status: string, at: number) {
      return { title: ['Look', 'Write'][at], status };
    }
  });

  test('of codex: the tokens of a run, although it reports those of the thread since it began', () => {
    const totals: Totals = new Newest(9);
    const used = (thread_id: string, isResumed: boolean, total: number) =>
      read(new CodexDialect({ isResumed, totals }), [
        { type: 'thread.started', thread_id },
        {
          type: 'turn.completed',
          usage: { input_tokens: 10 * total, cached_input_tokens: 4 * total, output_tokens: total },
        },
      ]).flatMap((line) => (line.kind === 'journal' && line.event.event === 'usage' ? [line.event] : []));
    expect(used('a', false, 7)).toMatchObject([{ input: 42, cached: 28, output: 7 }]);
    expect(used('a', true, 9)).toMatchObject([{ input: 12, cached: 8, output: 2 }]);
    // The run that used them was not seen.
    expect(used('b', true, 9)).toEqual([]);
    expect(used('b', true, 10)).toMatchObject([{ input: 6, cached: 4, output: 1 }]);
    expect(new Set([...used('c', false, 1), ...used('c', true, 2)].map(({ message_id }) => message_id)).size).toBe(2);
  });

  test('of gemini: a call that its policy forbids is rejected, one that failed has failed', () => {
    const failed = (type: string) => ({
      type: 'tool_result',
      tool_id: 't',
      status: 'error',
      error: { type, message: 'no' },
    });
    expect(read(new GeminiDialect(), [failed('policy_violation'), failed('tool_not_registered')])).toMatchObject([
      { event: { outcome: 'rejected', tool_output_preview: 'no' } },
      { event: { outcome: 'failed' } },
    ]);
    const warning = { type: 'error', severity: 'warning', message: 'Loop detected' };
    expect(read(new GeminiDialect(), [warning])).toEqual([{ kind: 'note', text: 'Loop detected' }]);
    // It deletes a conversation in which the model has said nothing when its turn fails.
    const init = { type: 'init', session_id: 'c' };
    const refused = { type: 'result', status: 'error', error: { type: 'unknown', message: 'no' } };
    const kinds = (...said: object[]) => read(new GeminiDialect(), [init, ...said]).map(({ kind }) => kind);
    expect(kinds({ type: 'message', role: 'user', content: 'do it' }, refused)).toEqual(['failure']);
    expect(kinds({ type: 'message', role: 'assistant', content: 'I' }, refused)[0]).toBe('conversation');
    expect(kinds({ type: 'tool_use', tool_id: 't', tool_name: 'a' }, refused)[0]).toBe('conversation');
    expect(new GeminiDialect().exited(41)).toMatchObject([{ kind: 'failure', cause: 'authentication' }]);
  });

  test.each([
    ['codex', () => new CodexDialect()],
    ['gemini', () => new GeminiDialect()],
  ])(
    'of %s treats a line that is not an event as garbage, and ignores an event of a later version',
    (_, newDialect) => {
      const kindsOf = (text: string) =>
        newDialect()
          .line(text)
          .map(({ kind }) => kind);
      expect(kindsOf('')).toEqual([]);
      expect(['{"type":', 'warning: x', '"x"', '{"type":7}', '{}'].flatMap(kindsOf)).toEqual(Array(5).fill('garbage'));
      expect(kindsOf('{"type":"of tomorrow"}')).toEqual(['ignored']);
    },
  );

  test('lets a program that writes events of a later version work on', async () => {
    const lines = [
      { type: 'of.tomorrow' },
      { type: 'item.completed', item: { id: 'i', type: 'agent_message', text: 'done' } },
    ];
    const script = `for (const line of ${JSON.stringify([...lines, { type: 'turn.completed' }])}) console.log(JSON.stringify(line))`;
    expect((await run({ command: node(script), output: 'codex' })).end).toEqual({ kind: 'answered', answer: 'done' });
  });

  test('treats a known event that lacks a field as garbage, so that no call is lost in silence', () => {
    expect(new GeminiDialect().line('{"type":"tool_use","tool_id":"a"}')).toEqual([{ kind: 'garbage' }]);
    expect(read(new GeminiDialect(), [{ type: 'tool_use', tool_id: 'a', tool_name: 'b' }])).toMatchObject([
      { event: { event: 'pre_tool_use', tool_input: {} } },
    ]);
  });
});

/** What is tried against the real program is what docs/agents.md says. */
describeWhereInstalled('the real codex', CODEX, () => {
  test('a job with calls is journaled and answered, and its conversation continues', async () => {
    const peer = await startOpenaiPeer(({ results }) =>
      results === 0
        ? [say('Looking'), call('exec_command', { cmd: 'echo hello' }), call('exec_command', { cmd: 'exit 3' })]
        : [say('All done')],
    );
    afterThisTest(() => peer.stop());
    const surroundings = { environment: codexEnvironment(testFolder()), workingDirectory: testFolder() };
    const { events, journal, end } = await run(codexOptions(peer.url), surroundings);
    expect(end).toEqual({ kind: 'answered', answer: 'All done' });
    const results = journal.filter((line) => line.event === 'post_tool_use');
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['failed', 'ok']);
    expect(results.map((line) => line.tool_output_preview).join()).toContain('hello');

    const conversationId = conversationOf(events);
    const second = await run(codexOptions(peer.url), { ...surroundings, conversationId, prompt: 'and then?' });
    expect(conversationOf(second.events)).toBe(conversationId);
    expect(peer.requests.at(-1)?.texts).toEqual(expect.arrayContaining(['do it', 'and then?']));
  });

  test('its plan, its files and its tokens are journaled, also when its conversation goes on', async () => {
    const patch = (text: string) =>
      call('exec_command', { cmd: `apply_patch <<'EOF'\n*** Begin Patch\n${text}\n*** End Patch\nEOF` });
    const plan = (status: string) => call('update_plan', { plan: [{ step: 'Write the tests', status }] });
    const replies = [
      [plan('in_progress'), patch('*** Add File: a.txt\n+one')],
      [patch('*** Delete File: a.txt'), plan('completed')],
    ];
    const peer = await startOpenaiPeer(({ results }) => replies[results / 2] ?? [say('All done')]);
    afterThisTest(() => peer.stop());
    const workingDirectory = testFolder();
    const surroundings = { environment: codexEnvironment(testFolder()), workingDirectory };
    const { command, resume } = codexOptions(peer.url) as { command: string[]; resume: string[] };
    const withPlans = (line: readonly string[]) => [
      ...line.slice(0, 2),
      '-c',
      'tools.update_plan.enabled=true',
      ...line.slice(2),
    ];
    const agent = createCommandAgent(
      commandOptions.parse({ command: withPlans(command), resume: withPlans(resume), output: 'codex' }),
    );
    const first = await run(agent, surroundings);
    const conversationId = conversationOf(first.events);
    const second = await run(agent, { ...surroundings, conversationId });

    const path = join(workingDirectory, 'a.txt');
    expect(first.journal.filter(({ event }) => ['plan', 'files', 'usage'].includes(event))).toMatchObject([
      { event: 'plan', items: [{ title: 'Write the tests', status: 'pending' }] },
      { event: 'files', created: [path] },
      { event: 'files', deleted: [path] },
      { event: 'plan', items: [{ title: 'Write the tests', status: 'completed' }] },
      { event: 'plan', items: [{ title: 'Write the tests', status: 'completed' }] },
      { event: 'usage', input: 3, output: 3, cached: 0 },
    ]);
    expect(peer.requests.length).toBe(4);
    expect(second.journal.filter(({ event }) => event === 'usage')).toMatchObject([{ input: 1, output: 1, cached: 0 }]);
  });

  test.each([
    ['unauthorized', 'authentication'],
    ['no_credit', 'credit'],
    ['rate_limited', 'provider_unavailable'],
    ['plan_used_up', 'rate_limit'],
    ['too_long', 'context_overflow'],
  ] as const)('%s is recognised as %s', async (kind, cause) => {
    const peer = await startOpenaiPeer(() => ({ kind }));
    afterThisTest(() => peer.stop());
    const { end } = await run(codexOptions(peer.url), { environment: codexEnvironment(testFolder()) });
    expect(end).toMatchObject({ kind: 'failed', cause, reason: `run_failed_${cause}` });
  });

  test('a conversation that it does not have cannot be continued', async () => {
    const peer = await startOpenaiPeer(() => [say('hello')]);
    afterThisTest(() => peer.stop());
    const conversationId = '0190c8e5-0000-7000-8000-000000000000';
    const { end } = await run(codexOptions(peer.url), { environment: codexEnvironment(testFolder()), conversationId });
    expect(end).toMatchObject({ kind: 'failed', cause: 'conversation_unusable' });
  });

  test('a model that hangs is silent, and the run can be stopped', async () => {
    const stop = new AbortController();
    const peer = await startOpenaiPeer(({ results }) => {
      if (results === 0) return [call('exec_command', { cmd: 'echo hello' })];
      stop.abort();
      return { kind: 'hang' };
    });
    afterThisTest(() => peer.stop());
    const { end, journal } = await run(codexOptions(peer.url), { environment: codexEnvironment(testFolder()) }, stop);
    expect(end).toEqual({ kind: 'stopped' });
    expect(journal.at(-1)).toMatchObject({ event: 'post_tool_use', outcome: 'ok' });
  });
});

describeWhereInstalled('the real gemini', GEMINI, () => {
  test('a job with a call is journaled and answered, and its conversation continues; where the model then hangs it is silent, and the run can be stopped', async () => {
    const stop = new AbortController();
    let lastAsked: readonly string[] = [];
    let askedOfSecond = 0;
    const peer = await startGeminiPeer(({ results, texts }) => {
      lastAsked = texts;
      const isSecond = texts.some((text) => text.includes('and then?'));
      const shell = call('run_shell_command', { command: 'echo hello' });
      if (!isSecond) return results === 0 ? [say('Looking'), shell] : [say('All done')];
      askedOfSecond += 1;
      if (askedOfSecond === 1) return [shell];
      stop.abort();
      return { kind: 'hang' };
    });
    afterThisTest(() => peer.stop());
    const surroundings = { environment: geminiEnvironment(peer.url, testFolder()), workingDirectory: testFolder() };
    const { events, journal, end } = await run(geminiOptions, surroundings);
    expect(end).toEqual({ kind: 'answered', answer: 'All done' });
    expect(journal.filter((line) => line.event === 'post_tool_use')).toMatchObject([
      { tool_name: 'run_shell_command', outcome: 'ok', tool_output_preview: 'hello' },
    ]);
    const conversationId = conversationOf(events);
    // With the process that it starts of itself, as in production.
    const environment = { ...surroundings.environment, GEMINI_CLI_NO_RELAUNCH: '' };
    const second = await run(
      geminiOptions,
      { ...surroundings, environment, conversationId, prompt: 'and then?' },
      stop,
    );
    expect(conversationOf(second.events)).toBe(conversationId);
    expect(lastAsked).toEqual(expect.arrayContaining(['do it', 'and then?']));
    expect(second.end).toEqual({ kind: 'stopped' });
    expect(second.journal.at(-1)).toMatchObject({ event: 'post_tool_use', outcome: 'ok' });
  });

  test('a conversation that it does not have cannot be continued', async () => {
    const peer = await startGeminiPeer(() => [say('hello')]);
    afterThisTest(() => peer.stop());
    const conversationId = '0190c8e5-0000-7000-8000-000000000000';
    const { end } = await run(geminiOptions, {
      environment: geminiEnvironment(peer.url, testFolder()),
      conversationId,
    });
    expect(end).toMatchObject({ kind: 'failed', cause: 'conversation_unusable' });
  });

  test('a refused key is recognised as authentication', async () => {
    const peer = await startGeminiPeer(() => ({ kind: 'unauthorized' }));
    afterThisTest(() => peer.stop());
    const { end, events } = await run(geminiOptions, { environment: geminiEnvironment(peer.url, testFolder()) });
    expect(events.some(({ type }) => type === 'conversation')).toBe(false);
    expect(end).toMatchObject({
      kind: 'failed',
      cause: 'authentication',
      detail: expect.stringContaining('API_KEY_INVALID'),
    });
  });
});
