/** What the real program was not brought to say in claude.test.ts, in the messages that it would say it with. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Denials } from '../../../bridge/agents/claude/permissions.js';
import type { CanUseTool, SdkMessage } from '../../../bridge/agents/claude/sdk.js';
import { Translation } from '../../../bridge/agents/claude/translation.js';
import { ManualClock } from '../../harness/clock.js';

const AGENT = { agent_id: 'agent_7', parent_tool_use_id: 'call_1' };

let clock: ManualClock;
let denied: object[];
let translation: Translation;

beforeEach(() => {
  clock = new ManualClock();
  denied = [];
  translation = new Translation('thread', new Denials((line) => denied.push(line)), clock);
});

function translate(...messages: object[]): object[] {
  return messages.flatMap((message) => translation.translate(message as SdkMessage));
}

const system = (subtype: string, fields: object = {}) => ({ type: 'system', subtype, ...fields });
const part = (type: string, parent: string | null = null) => ({
  type: 'stream_event',
  event: { type },
  parent_tool_use_id: parent,
});
const result = (fields: object) => ({ type: 'result', subtype: 'success', is_error: false, result: 'done', ...fields });
const startsAgent = (isBackgrounded: boolean) =>
  system('task_started', {
    task_id: AGENT.agent_id,
    tool_use_id: AGENT.parent_tool_use_id,
    task_type: 'local_agent',
    is_backgrounded: isBackgrounded,
  });
const returns = (id: string) => ({
  type: 'user',
  parent_tool_use_id: null,
  message: { content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'ok' }] }] },
});

describe('a call that no rule allows', () => {
  test('is denied, reported while the agent works, and shown below its answer', async () => {
    const told: object[] = [];
    const denials = new Denials((line) => told.push(line));
    const asked = { decisionReason: undefined, requiresUserInteraction: false } as unknown as Parameters<CanUseTool>[2];
    expect(await denials.canUseTool('Bash', { command: 'rm -rf /' }, asked)).toMatchObject({ behavior: 'deny' });
    expect(told).toEqual([{ event: 'note', text: 'Denied: Bash: rm -rf / (no rule of this project allows it)' }]);
    expect(denials.addTo('done')).toMatch(/^done\n\nDenied, because .*:\n- Bash: rm -rf \/$/);
  });
});

describe('signs of life', () => {
  test('stream chunks are reported once per second and agent, pings never', async () => {
    expect(translate(startsAgent(false))).toEqual([{ event: 'user_prompt', ...AGENT }]);
    expect(translate(part('ping'))).toEqual([]);
    expect(translate(part('content_block_delta'), part('content_block_delta'))).toEqual([
      { event: 'heartbeat', source: 'stream' },
    ]);
    expect(translate(part('content_block_delta', 'call_1'))).toEqual([
      { event: 'heartbeat', source: 'stream', ...AGENT },
    ]);
    expect(translate(system('thinking_tokens'))).toEqual([]);
    await clock.advance(1_000);
    expect(translate(system('thinking_tokens'))).toEqual([{ event: 'heartbeat', source: 'stream' }]);
  });

  test('status messages of the harness, and its heartbeats while a tool runs, do not count', () => {
    const progress = { type: 'tool_progress', parent_tool_use_id: null };
    expect(translate(system('status'), { ...progress, heartbeat: true })).toEqual([]);
    expect(translate(progress)).toEqual([{ event: 'heartbeat', source: 'tool_event' }]);
  });

  test('unknown messages of later versions change nothing', () => {
    expect(translate(system('from_the_future'), { type: 'from_the_future' })).toEqual([]);
    expect(translation.end).toBeNull();
  });
});

describe('a call', () => {
  test.each([
    ['Bash', { timeout: 5_000 }, { timeout_ms: 5_000 }],
    ['Bash', { timeout: 0 }, {}],
    // Its server may count in any unit.
    ['mcp__db__query', { timeout: 30 }, {}],
  ])('of %s with the input %j declares %j', (name, input, declared) => {
    const content = [{ type: 'tool_use', id: 'call_1', name, input }];
    const call = { event: 'pre_tool_use', tool_use_id: 'call_1', tool_name: name, tool_input: input, batch: 'm' };
    expect(translate({ type: 'assistant', message: { id: 'm', content } })).toEqual([{ ...call, ...declared }]);
  });
});

describe('retries', () => {
  const retry = (error: string, retry_delay_ms = 5_000) =>
    system('api_retry', { error, error_status: 529, retry_delay_ms });

  test('are a wait until the next try; only the next message of the same agent ends it', () => {
    const until = new Date(clock.now() + 5_000).toISOString();
    expect(translate(retry('overloaded'))).toEqual([{ event: 'wait_start', kind: 'rate_limit', until }]);
    const ofAgent = {
      type: 'tool_progress',
      parent_tool_use_id: 'call_1',
      subagent_retry: { agent_id: 'agent_7', retry_delay_ms: 5_000 },
    };
    expect(translate(startsAgent(false), ofAgent).at(-1)).toEqual({
      event: 'wait_start',
      kind: 'rate_limit',
      until,
      ...AGENT,
    });
    expect(translate(part('message_start'))).toEqual([
      { event: 'wait_end', kind: 'rate_limit' },
      { event: 'heartbeat', source: 'stream' },
    ]);
    expect(translate(part('message_start', 'call_1'))[0]).toEqual({ event: 'wait_end', kind: 'rate_limit', ...AGENT });
  });

  test('for a rate limit are never given up here, however many there are', () => {
    for (let tries = 0; tries < 10; tries += 1) translate(retry('rate_limit'));
    expect(translation.end).toBeNull();
  });

  test('of refused credentials end at the third refusal in a row', () => {
    translate(retry('authentication_failed'), retry('authentication_failed'), part('message_start'));
    translate(retry('authentication_failed'), retry('authentication_failed'));
    expect(translation.isOver).toBe(false);
    translate(retry('authentication_failed'));
    expect(translation.end).toMatchObject({ kind: 'failed', cause: 'authentication' });
    expect(translation.isOver).toBe(true);
  });
});

describe('sub-agents', () => {
  test('end their turn before the result of their call, or with their notification if they run in the background', () => {
    expect(translate(startsAgent(false), returns('call_1')).slice(1)).toMatchObject([
      { event: 'turn_end', ...AGENT },
      { event: 'post_tool_use', tool_use_id: 'call_1' },
    ]);
    expect(translate(startsAgent(true), returns('call_1')).map((line) => 'event' in line && line.event)).toEqual([
      'user_prompt',
      'post_tool_use',
    ]);
    const ended = system('task_notification', { task_id: AGENT.agent_id });
    expect(translate(ended, ended)).toEqual([{ event: 'turn_end', reason: 'end_turn', ...AGENT }]);
  });

  test('a background command is not a sub-agent', () => {
    const command = system('task_started', { task_id: 'b', tool_use_id: 'call_2', task_type: 'local_bash' });
    expect(translate(command)).toEqual([]);
  });
});

describe('turns', () => {
  test('a turn that a background task opens follows the first, and its answer is the last one', () => {
    translate(system('background_tasks_changed', { tasks: [{}, { ambient: true }] }), result({ result: 'later' }));
    expect(translation.isOver).toBe(false);
    expect(translate(system('init', { session_id: 'thread' }))).toEqual([{ event: 'user_prompt' }]);
    translate(system('background_tasks_changed', { tasks: [{ ambient: true }] }), result({ result: ' done ' }));
    expect(translation.end).toEqual({ kind: 'answered', answer: 'done' });
    expect(translation.isOver).toBe(true);
  });

  test('one that goes on is not over, whatever an earlier one answered, and takes the place of one that said nothing', () => {
    expect(translation.isInTurn).toBe(true);
    translate(result({ result: 'first' }));
    expect([translation.isInTurn, translation.isOver]).toEqual([false, true]);
    translate(system('init', { session_id: 'thread' }));
    expect([translation.isInTurn, translation.isOver]).toEqual([true, false]);
    expect(translation.end).toMatchObject({ answer: 'first' });
    translate(result({ result: '' }), system('init', { session_id: 'thread' }));
    expect(translation.end).toBeNull();
    translate(result({ result: 'last' }));
    expect(translation.end).toMatchObject({ answer: 'last' });
    expect(translation.isOver).toBe(true);
  });

  test('a turn without text still has an answer', () => {
    translate(result({ result: '' }));
    expect(translation.end).toMatchObject({ kind: 'answered', answer: expect.stringMatching(/without a word/) });
  });

  test.each([
    [{ terminal_reason: 'prompt_too_long' }, 'context_overflow'],
    [{ startup_failure_reason: 'gateway_signin_required' }, 'authentication'],
    [{ api_error_status: 401 }, 'authentication'],
    [{ api_error_status: 429 }, 'rate_limit'],
    [{ api_error_status: 529, result: 'rate_limit' }, 'provider_unavailable'],
    [{ subtype: 'error_max_turns', terminal_reason: 'max_turns' }, 'crash'],
    [{ api_error_status: 500, result: 'credit balance is too low' }, 'provider_unavailable'],
  ])('%j is %s, regardless of the text', (fields, cause) => {
    translate(result({ is_error: true, ...fields }));
    expect(translation.end).toMatchObject({ kind: 'failed', cause });
  });
});

// rule: failures-are-read-by-table
describe('a refusal of what the agent is set up with', () => {
  const refused = (error: string, words: string) => {
    const message = { id: 'm', content: [{ type: 'text', text: words }] };
    translate({ type: 'assistant', error, message, parent_tool_use_id: null } as never);
    translate(result({ is_error: true, terminal_reason: 'api_error', result: words }));
    return translation.end;
  };

  test.each([
    ['model_not_found', "There's an issue with the selected model (claude-opus-9).", 'misconfigured'],
    ['invalid_request', 'Claude Opus is not available with the Claude Pro plan.', 'misconfigured'],
    ['invalid_request', 'Your apiKeyHelper script is failing', 'authentication'],
    ['invalid_request', 'Failed to refresh OAuth token: the disk that holds it is full.', 'host_exhausted'],
    ['server_error', 'API Error: Unable to connect to API: Self-signed certificate detected', 'misconfigured'],
    ['server_error', 'API Error: Unable to connect to API (ECONNREFUSED)', 'provider_unavailable'],
    ['server_error', 'API Error: 500 credit balance is too low', 'provider_unavailable'],
    ['rate_limit', 'Fable 5 requires usage credits.', 'credit'],
  ])('%s, %s: %s', (error, words, cause) => {
    expect(refused(error, words)).toMatchObject({ kind: 'failed', cause });
  });
});

describe('the sentence about a failure', () => {
  test.each([
    ['api_error', "Claude Code got an error from its model's API: API Error: 500"],
    ['prompt_too_long', 'Claude Code found the conversation too long: API Error: 500'],
    ['some_new_reason', 'Claude Code ended its turn: some new reason: API Error: 500'],
  ])('has no machine words: %s', (terminal_reason, detail) => {
    translate(result({ is_error: true, terminal_reason, result: 'API Error: 500' }));
    expect(translation.end).toMatchObject({ kind: 'failed', detail });
  });
});

describe('a limit', () => {
  const refused = (words: string) => result({ is_error: true, api_error_status: 429, result: words });

  test('of a plan has the end that the stream has named, whatever the words are', () => {
    const rate_limit_info = { status: 'rejected', resetsAt: 1_800_000_000 };
    translate({ type: 'rate_limit_event', rate_limit_info } as never, refused('API Error: 429 rate_limit_error'));
    expect(translation.end).toMatchObject({ cause: 'rate_limit', until: 1_800_000_000_000 });
  });

  test('of a plan has the end of its words, if the stream has named none', () => {
    translate(refused("You've hit your session limit · resets in 2h"));
    expect(translation.end).toMatchObject({ cause: 'rate_limit', until: expect.any(Number) });
  });

  test('of a minute passes', () => {
    translate(refused('API Error: Request rejected (429) · This request would exceed your rate limit.'));
    expect(translation.end).toMatchObject({ cause: 'provider_unavailable' });
  });
});

describe('the conversation', () => {
  test('is reported if it is not the requested one, and if it is reset', () => {
    expect(translate(system('init', { session_id: 'thread' }))).toEqual([]);
    const stated = system('init', { session_id: 'thread', claude_code_version: '2.1.150' });
    expect(translate(stated)).toEqual([{ event: 'agent', version: '2.1.150' }]);
    // `init` comes with each turn.
    expect(translate(stated)).toEqual([]);
    expect(translate(system('init', { session_id: 'other' }))).toEqual([
      { event: 'conversation', conversation_id: 'other' },
    ]);
    expect(translate({ type: 'conversation_reset', new_conversation_id: 'third' })).toEqual([
      { event: 'conversation', conversation_id: 'third' },
      { event: 'session_start', source: 'clear' },
    ]);
    expect(translate(system('compact_boundary'))).toEqual([{ event: 'compaction' }]);
  });

  test('a denial by Claude Code itself is shown as well', () => {
    translate(system('permission_denied', { tool_name: 'Bash', message: 'long', decision_reason: 'a rule denies it' }));
    expect(denied).toEqual([{ event: 'note', text: 'Denied: Bash (a rule denies it)' }]);
  });
});
