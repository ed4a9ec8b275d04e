import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AnthropicPeer } from './anthropic/anthropicPeer.js';
import { newToolResults, resultText, toolResults, userTexts } from './anthropic/messages.js';
import type { Fault } from './anthropic/replies.js';
import { call, say } from './modelBlocks.js';

let peer: AnthropicPeer;

beforeEach(async () => {
  peer = new AnthropicPeer(() => [say('a longer text, cut into parts 😀'), call('Bash', { command: 'ls' })]);
  await peer.listen();
});
afterEach(() => peer.stop());

const HELLO = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };

function ask(body: object = HELLO, path = '/v1/messages'): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-api-key': 'mine' };
  return fetch(`${peer.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** The data of each event of a stream. */
async function eventsOf(response: Response): Promise<{ type: string; delta?: { text?: string } }[]> {
  return [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
}

describe('an answer', () => {
  test('comes whole', async () => {
    expect(await (await ask()).json()).toMatchObject({
      id: 'msg_0001',
      role: 'assistant',
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'a longer text, cut into parts 😀' },
        { type: 'tool_use', id: 'toolu_1_1', name: 'Bash', input: { command: 'ls' } },
      ],
    });
    expect(peer.requests).toMatchObject([{ credential: 'mine', outcome: 'answered', request: HELLO }]);
  });

  test('comes as a stream', async () => {
    const events = await eventsOf(await ask({ ...HELLO, stream: true }));
    expect(events[0]).toMatchObject({ type: 'message_start' });
    expect(events.map(({ delta }) => delta?.text ?? '').join('')).toBe('a longer text, cut into parts 😀');
    expect(events.filter(({ type }) => type === 'content_block_stop')).toHaveLength(2);
    expect(events.at(-2)).toMatchObject({ type: 'message_delta', delta: { stop_reason: 'tool_use' } });
    expect(events.at(-1)).toEqual({ type: 'message_stop' });
  });

  test('of another kind: tokens are counted, nothing else exists', async () => {
    expect(await (await ask(HELLO, '/v1/messages/count_tokens')).json()).toEqual({ input_tokens: expect.any(Number) });
    expect((await ask(HELLO, '/v1/files')).status).toBe(404);
    expect(peer.requests).toEqual([]);
  });

  test('about its models: only for the one credential', async () => {
    const askedWith = (key: string) => fetch(`${peer.url}/v1/models`, { headers: { 'x-api-key': key } });
    expect((await askedWith(peer.apiKey)).status).toBe(200);
    expect((await askedWith('another')).status).toBe(401);
  });
});

describe('a fault', () => {
  test.each<[Fault, number, string]>([
    [{ kind: 'unauthorized' }, 401, 'authentication_error'],
    [{ kind: 'no_credit' }, 400, 'invalid_request_error'],
    [{ kind: 'too_long' }, 400, 'invalid_request_error'],
    [{ kind: 'overloaded' }, 529, 'overloaded_error'],
    [{ kind: 'rate_limited', retryAfterS: 7 }, 429, 'rate_limit_error'],
  ])('%j is a refusal, once', async (fault, status, type) => {
    peer.inject(fault);
    const response = await ask();
    expect(response.status).toBe(status);
    expect(response.headers.get('retry-after')).toBe(fault.kind === 'rate_limited' ? '7' : null);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type } });
    expect((await ask()).status).toBe(200);
  });

  test('can break the connection, at once or in the middle', async () => {
    peer.inject({ kind: 'reset' });
    await expect(ask()).rejects.toThrow();
    peer.inject({ kind: 'reset', after: [say('half')] });
    await expect(ask().then((response) => response.text())).rejects.toThrow();
  });

  test('can be silence, until the client goes away', async () => {
    peer.inject({ kind: 'hang', after: [say('half')] });
    const gone = new AbortController();
    const response = await fetch(`${peer.url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify(HELLO),
      signal: gone.signal,
    });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('message_start');
    expect(peer.requests[0]).toMatchObject({ outcome: 'hang', isOver: false });
    gone.abort();
    await peer.waitFor(() => peer.requests[0]?.isOver);
  });
});

test('requests can be read', () => {
  const result = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content });
  const request = {
    model: 'm',
    messages: [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a' }] },
      { role: 'user', content: [result('a', 'one'), { type: 'text', text: 'second' }] },
      { role: 'assistant', content: 'x' },
      { role: 'user', content: [result('b', [{ type: 'text', text: 'two' }])] },
    ],
  } as Parameters<typeof userTexts>[0];
  expect(userTexts(request)).toEqual(['first', 'second']);
  expect(toolResults(request).map(resultText)).toEqual(['one', 'two']);
  expect(newToolResults(request).map(resultText)).toEqual(['two']);
});
