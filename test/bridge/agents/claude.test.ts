/** The agent `claude`: the real SDK and its real program, against a Messages API on this machine. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findInstallation } from '../../../bridge/agents/claude/installation.js';
import { claudeOptions } from '../../../bridge/agents/claude/settings.js';
import { createClaudeAgent } from '../../../bridge/agents/claude.js';
import type { AgentEvent, AgentRequest } from '../../../bridge/agents/program/contract.js';
import { endRun } from '../../../bridge/runs/endRun.js';
import { RUN_MARK } from '../../../src/host/processes.js';
import { systemClock } from '../../../src/time.js';
import { type Behaviour, describeAgentContract } from '../../contracts/agent.js';
import { conversationOf, endOf, journalOf, readOn } from '../../contracts/agentStream.js';
import { eventually } from '../../e2e/eventually.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { AnthropicPeer, type Model } from '../../peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../../peers/anthropic/environment.js';
import {
  type MessagesRequest,
  newToolResults,
  resultText,
  toolResults,
  userTexts,
} from '../../peers/anthropic/messages.js';
import type { Reply } from '../../peers/anthropic/replies.js';
import { call, say } from '../../peers/modelBlocks.js';
import { newRunId } from '../runs/processes.js';

const FOR_EVER = 'setInterval(() => {}, 1e6)';
const LEFT_BEHIND = `node -e "process.on('SIGTERM', () => {}); ${FOR_EVER}" >/dev/null 2>&1 &`;
const UP: Reply = { kind: 'hang', after: [say('up')] };

/** Which behaviour a prompt asks for. */
const BEHAVIOURS: Partial<Record<Behaviour, (turn: number) => Reply>> = {
  answers: (turn) => (turn === 0 ? [say('On it'), call('Bash', { command: 'echo read' })] : [say('All done')]),
  fails: () => ({ kind: 'no_credit' }),
  hangs: () => UP,
  starts_tool_in_own_session: (turn) => (turn === 0 ? [call('Bash', { command: LEFT_BEHIND })] : UP),
  leaves_tool_behind: (turn) => (turn === 0 ? [call('Bash', { command: LEFT_BEHIND })] : [say('the tool goes on')]),
};

const playBehaviour: Model = (request) => {
  const last = userTexts(request).findLast((text) => text in BEHAVIOURS) as Behaviour;
  return BEHAVIOURS[last]?.(newToolResults(request).length) ?? [say('?')];
};

const ALLOWED = claudeOptions.parse({ allowedTools: ['Bash', 'Agent'] });

if (findInstallation().kind !== 'complete') {
  describe.skip('the agent claude (skipped: its SDK is not installed; `npm run add-claude` adds it)', () => {
    test('runs', () => {});
  });
} else {
  const peer = new AnthropicPeer(playBehaviour);
  beforeAll(() => peer.listen());
  afterAll(() => peer.stop());

  const programsOwn = 'what its program prints is made by a program of ours';
  describeAgentContract(
    'claude',
    (behaviour) => ({
      agent: createClaudeAgent(ALLOWED, systemClock, behaviour === 'cannot_start' ? 'no-such-sdk' : undefined),
      prompt: behaviour,
      environment: claudeEnvironment(peer, testFolder()),
    }),
    {
      cannot: {
        ignores_sigterm: 'Claude Code obeys SIGTERM',
        prints_garbage: programsOwn,
        only_garbage: programsOwn,
        prints_huge_line: programsOwn,
      },
    },
  );

  describe('the agent claude', () => {
    const run = async (model: Model, changes: Partial<AgentRequest> & { options?: object } = {}) => {
      peer.use(model);
      const { options = {}, ...request } = changes;
      const runId = newRunId();
      const folder = testFolder();
      const agent = createClaudeAgent(claudeOptions.parse({ ...ALLOWED, ...options }));
      const running = agent.start(
        {
          sessionId: `tg_test_1_${runId}`,
          runId,
          prompt: 'do it',
          workingDirectory: folder,
          conversationId: null,
          attempt: 1,
          environment: { PATH: process.env.PATH ?? '', ...claudeEnvironment(peer, folder), [RUN_MARK]: runId },
          ...request,
        },
        new AbortController().signal,
      );
      afterThisTest(async () => {
        await endRun({ runId, groupPid: running.pid }, { clock: systemClock, graceMs: 0 });
      });
      const events = await readOn(running.events[Symbol.asyncIterator]());
      return { events, journal: journalOf(events), end: endOf(events), notes: notesOf(events) };
    };

    test('reports batches, declared times and the result of each call of a parallel batch; one that a hook of the checkout forbids is blocked', async () => {
      const workingDirectory = testFolder();
      const forbid = { type: 'command', command: 'echo not here >&2; exit 2' };
      mkdirSync(join(workingDirectory, '.claude'));
      writeFileSync(
        join(workingDirectory, '.claude/settings.json'),
        JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'Write', hooks: [forbid] }] } }),
      );
      const { journal, end, notes } = await run(
        (request) =>
          toolResults(request).length === 0
            ? [
                call('Bash', { command: 'exit 3', timeout: 5_000 }),
                call('Bash', { command: 'curl http://example.invalid' }),
                call('Read', { nope: 1 }),
                call('AskUserQuestion', { questions: [question('Which one?')] }),
                call('Bash', { command: 'echo fine' }),
                call('Write', { file_path: './forbidden.txt', content: 'x' }),
              ]
            : [say('Done')],
        { options: { allowedTools: ['Bash(exit:*)'] }, workingDirectory },
      );
      const requests = journal.filter((line) => line.event === 'pre_tool_use');
      expect(new Set(requests.map((line) => line.batch)).size).toBe(1);
      expect(requests[0]).toMatchObject({ tool_name: 'Bash', tool_input: { command: 'exit 3' }, timeout_ms: 5_000 });
      const outcomes = Object.fromEntries(
        journal.flatMap((line) =>
          line.event === 'post_tool_use' ? [[line.tool_use_id.split('_').at(-1), [line.tool_name, line.outcome]]] : [],
        ),
      );
      expect(outcomes).toEqual({
        0: ['Bash', 'failed'],
        1: ['Bash', 'rejected'],
        2: ['Read', 'failed'],
        3: ['AskUserQuestion', 'rejected'],
        4: ['Bash', 'ok'],
        5: ['Write', 'blocked'],
      });
      expect(notes).toContainEqual(expect.stringContaining('Denied: Bash: curl http://example.invalid'));
      expect(notes).toContainEqual(expect.stringContaining('nobody can answer'));
      expect(end).toMatchObject({
        kind: 'answered',
        answer: expect.stringMatching(/^Done\n\nDenied.*\n- Bash: curl http:\/\/example\.invalid$/s),
      });
      const read = peer.requests.at(-1)?.request as MessagesRequest;
      expect(toolResults(read).map(resultText)).toContainEqual(
        expect.stringMatching(/^Denied: no rule of this project allows Bash: curl.*Nobody can approve it/),
      );
    });

    test('a sub-agent has its own lines, from its prompt to the end of its turn', async () => {
      const { journal, end } = await run((request) => {
        if (userTexts(request).some((text) => text.includes('SUBTASK')))
          return oneCall('Bash', { command: 'echo' })(request, 0);
        return oneCall('Agent', { description: 'look', prompt: 'SUBTASK', subagent_type: 'general-purpose' })(
          request,
          0,
        );
      });
      const parent = journal.find((line) => line.event === 'pre_tool_use' && line.tool_name === 'Agent');
      const own = journal.filter(
        ({ agent_id, event }) => agent_id !== undefined && event !== 'heartbeat' && event !== 'usage',
      );
      expect(own.map(({ event }) => event)).toEqual([
        'user_prompt',
        'pre_tool_use',
        'post_tool_use',
        ...own.slice(3, -1).map(() => 'assistant_message'),
        'turn_end',
      ]);
      expect(new Set(own.map(({ agent_id }) => agent_id)).size).toBe(1);
      const started = parent?.event === 'pre_tool_use' ? parent.tool_use_id : '';
      for (const line of own) expect(line.parent_tool_use_id).toBe(started);
      expect(journal.at(-1)).toMatchObject({ event: 'turn_end' });
      expect(end).toMatchObject({ kind: 'answered' });
    });

    test('a retry with a known delay is a wait for the rate limit; the next message ends it', async () => {
      peer.inject({ kind: 'rate_limited', retryAfterS: 1 });
      const before = systemClock.now();
      const { journal } = await run(() => [say('at last')]);
      const [start, ...rest] = journal.slice(3);
      expect(start).toMatchObject({ event: 'wait_start', kind: 'rate_limit' });
      const until = start?.event === 'wait_start' ? Date.parse(start.until ?? '') : 0;
      expect(until).toBeGreaterThan(before + 1_000);
      expect(rest[0]).toEqual({ event: 'wait_end', kind: 'rate_limit' });
    });

    test.each([
      ['unauthorized', 'authentication'],
      ['no_credit', 'credit'],
      ['too_long', 'context_overflow'],
    ] as const)('%s is recognised as %s', async (kind, cause) => {
      const { end } = await run(() => ({ kind }));
      expect(end).toMatchObject({ kind: 'failed', cause, reason: `run_failed_${cause}` });
      // The SDK's warning of a tool that is allowed as a whole is nothing to a chat.
      expect(end).toMatchObject({ detail: expect.not.stringContaining('Warning') });
    });

    // rule: a-limit-is-waited-for
    test('a limit that lasts longer than Claude Code waits is not a crash, and its end time is reported', async () => {
      const cause = 'provider_unavailable';
      const tooLong = await run(() => ({ kind: 'rate_limited', retryAfterS: 7_200 }));
      expect(tooLong.end).toMatchObject({ kind: 'failed', cause, reason: `run_failed_${cause}` });

      const untilS = Math.ceil(systemClock.now() / 1_000) + 3_600;
      const { ANTHROPIC_API_KEY: _, ...withoutKey } = claudeEnvironment(peer, testFolder());
      const plan = { ...withoutKey, PATH: process.env.PATH ?? '', CLAUDE_CODE_OAUTH_TOKEN: 'a-plan-of-nobody' };
      const usedUp = await run(() => ({ kind: 'plan_used_up', untilS }), { environment: plan });
      expect(usedUp.end).toMatchObject({
        cause: 'rate_limit',
        detail: expect.stringContaining(`the limit ends at ${new Date(untilS * 1_000).toISOString()}`),
      });
    });

    test('too many turns are a failure with that reason', async () => {
      const { end } = await run(() => [call('Bash', { command: 'echo again' })], { options: { maxTurns: 2 } });
      expect(end).toMatchObject({ kind: 'failed', cause: 'crash', detail: expect.stringContaining('max_turns') });
    });

    // Claude Code first plays a turn of its own about what an earlier run left, which says nothing.
    test('a conversation that holds an unfinished background task is answered by the turn of the prompt, however long its calls take', async () => {
      const workingDirectory = testFolder();
      const home = testFolder();
      const own = { PATH: process.env.PATH ?? '', ...claudeEnvironment(peer, home) };
      const isInner = (request: MessagesRequest) => userTexts(request).some((text) => text.includes('INNER'));
      const delegate = {
        description: 'look',
        prompt: 'INNER',
        subagent_type: 'general-purpose',
        run_in_background: true,
      };
      const first = newRunId();
      peer.use((request) => {
        if (isInner(request)) return { kind: 'hang' };
        return toolResults(request).length === 0 ? [call('Agent', delegate)] : [say('It is looked at.')];
      });
      const cut = createClaudeAgent(ALLOWED).start(
        {
          ...{ sessionId: 'tg_test_1_1', runId: first, prompt: 'delegate it', workingDirectory, conversationId: null },
          ...{ attempt: 1, environment: { ...own, CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '0', [RUN_MARK]: first } },
        },
        new AbortController().signal,
      );
      const reading = readOn(cut.events[Symbol.asyncIterator]());
      const kept = () => {
        const folder = join(home, '.claude', 'projects');
        const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
        const transcripts = names.filter((name) => name.endsWith('.jsonl') && !name.includes('subagents'));
        return transcripts.some((name) => readFileSync(join(folder, name), 'utf8').includes('It is looked at.'));
      };
      await eventually(kept, { what: 'the end of the turn in the transcript', withinMs: 30_000 });
      await peer.waitFor(() => peer.requests.some(({ request }) => isInner(request)), 30_000);
      await endRun({ runId: first, groupPid: cut.pid }, { clock: systemClock, graceMs: 0 });
      const conversationId = conversationOf(await reading);

      const { end, journal } = await run(
        (request) => {
          const isNew = userTexts(request).some((text) => text.includes('sleep now'));
          if (!isNew) return [say('?')];
          return newToolResults(request).length === 0 ? [call('Bash', { command: 'sleep 6' })] : [say('I slept.')];
        },
        { conversationId, workingDirectory, prompt: 'sleep now', environment: { ...own, [RUN_MARK]: newRunId() } },
      );
      expect(end).toMatchObject({ kind: 'answered', answer: 'I slept.' });
      expect(journal.filter(({ event }) => event === 'turn_end').length).toBeGreaterThan(1);
    }, 90_000);

    test('a conversation that was never written to disk begins under its id; a known one continues, but in another folder it begins anew and says so; a stream that breaks is requested again, and a compaction is reported and answered', async () => {
      const conversationId = '11111111-2222-4333-8444-555555555555';
      const workingDirectory = testFolder();
      const environment = {
        PATH: process.env.PATH ?? '',
        ...claudeEnvironment(peer, testFolder()),
        [RUN_MARK]: newRunId(),
      };
      const again = { conversationId, workingDirectory, environment };
      expect(conversationOf((await run(() => [say('one')], { ...again, prompt: 'first' })).events)).toBe(
        conversationId,
      );
      peer.inject({ kind: 'reset', after: [say('half')] });
      const second = await run(() => [say('two')], { ...again, prompt: 'second' });
      expect(second.end).toMatchObject({ kind: 'answered', answer: expect.stringContaining('two') });
      const { request } = peer.requests.at(-1) ?? {};
      expect(userTexts(request as MessagesRequest)).toEqual(expect.arrayContaining(['first', 'second']));
      expect(JSON.stringify(request?.messages.filter(({ role }) => role === 'assistant'))).toContain('one');

      const compacted = await run(() => [say('a summary')], { ...again, prompt: '/compact' });
      expect(compacted.journal).toContainEqual({ event: 'compaction' });
      expect(compacted.end).toMatchObject({ kind: 'answered' });

      const moved = { ...again, workingDirectory: testFolder() };
      const { end } = await run(() => [say('three')], { ...moved, prompt: 'third' });
      const begunAnew = /^three\n\nThe earlier messages of this conversation are kept for another folder/;
      expect(end).toMatchObject({ kind: 'answered', answer: expect.stringMatching(begunAnew) });
      const next = await run(() => [say('four')], { ...moved, prompt: 'fourth' });
      expect(next.end).toMatchObject({ kind: 'answered', answer: 'four' });
    });
  });
}

test('without its SDK, the agent says what to type', async () => {
  const agent = createClaudeAgent(claudeOptions.parse({}), systemClock, 'no-such-sdk');
  const request = { workingDirectory: testFolder(), environment: {}, conversationId: null } as unknown as AgentRequest;
  const run = agent.start(request, new AbortController().signal);
  const end = endOf(await readOn(run.events[Symbol.asyncIterator]()));
  expect(end).toMatchObject({
    reason: 'run_failed_to_start',
    detail: expect.stringContaining('npm run add-claude'),
  });
});

function oneCall(name: string, input: object): Model {
  return (request) => (toolResults(request).length === 0 ? [call(name, input)] : [say('Done')]);
}

function question(text: string): object {
  const option = (label: string) => ({ label, description: label });
  return { question: text, header: 'Choice', multiSelect: false, options: [option('this'), option('that')] };
}

function notesOf(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'note' ? [event.text] : []));
}
