/**
 * The Responses API on this machine, as far as `codex exec` asks for it, with a model that is a function of the test
 * (https://platform.openai.com/docs/api-reference/responses-streaming).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LoopbackServer, listenOnLoopback, readBody } from '../loopback.js';
import type { Asked, Block } from '../modelBlocks.js';

type OpenaiFault = 'unauthorized' | 'no_credit' | 'rate_limited' | 'plan_used_up' | 'too_long' | 'hang';
export type OpenaiReply = readonly Block[] | { readonly kind: OpenaiFault };

export type OpenaiModel = (asked: Asked) => OpenaiReply;

interface InputItem {
  readonly type: string;
  readonly role?: string;
  readonly content?: readonly { readonly text?: string }[];
}

export interface OpenaiPeer extends LoopbackServer {
  /** Oldest first. */
  readonly requests: readonly Asked[];
  /** The same as they came. */
  readonly bodies: readonly string[];
}

export async function startOpenaiPeer(model: OpenaiModel): Promise<OpenaiPeer> {
  const requests: Asked[] = [];
  const bodies: string[] = [];
  const server = await listenOnLoopback(async (request, response) => {
    const body = (await readBody(request)).toString();
    if (!isAboutResponses(request)) {
      refuse(response, 404, { message: 'Not Found' });
      return;
    }
    const { input, tools = [] }: { input: InputItem[]; tools?: object[] } = JSON.parse(body);
    const asked = read(input, tools.length > 0);
    requests.push(asked);
    bodies.push(body);
    answer(response, model(asked), requests.length);
  });
  return { ...server, requests, bodies };
}

function read(input: readonly InputItem[], hasTools: boolean): Asked {
  const messages = input.filter(({ type, role }) => type === 'message' && role === 'user');
  return {
    texts: messages.flatMap(({ content = [] }) => content.map(({ text = '' }) => text)),
    hasTools,
    results: input.filter(({ type }) => type === 'function_call_output' || type === 'custom_tool_call_output').length,
  };
}

function isAboutResponses({ method, url = '' }: IncomingMessage): boolean {
  return method === 'POST' && url.endsWith('/responses');
}

function answer(response: ServerResponse, reply: OpenaiReply, number: number): void {
  if ('kind' in reply) suffer(response, reply.kind, number);
  else {
    const items = reply.map((block, index) => item(block, `${number}_${index}`));
    stream(response, number, items);
  }
}

function suffer(response: ServerResponse, kind: OpenaiFault, number: number): void {
  switch (kind) {
    case 'unauthorized':
      refuse(response, 401, { message: 'Incorrect API key provided', code: 'invalid_api_key' });
      break;
    case 'no_credit':
      refuse(response, 429, { message: 'You exceeded your current quota', type: 'insufficient_quota' });
      break;
    case 'rate_limited':
      refuse(response, 429, { message: 'Rate limit reached', type: 'tokens', code: 'rate_limit_exceeded' });
      break;
    case 'plan_used_up':
      refuse(response, 429, {
        message: 'The usage limit has been reached',
        type: 'usage_limit_reached',
        plan_type: 'plus',
      });
      break;
    case 'too_long': {
      const message = 'Your input exceeds the context window of this model.';
      stream(response, number, [], { code: 'context_length_exceeded', message });
      break;
    }
    case 'hang':
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      break;
    default:
      kind satisfies never;
  }
}

function stream(response: ServerResponse, number: number, items: readonly object[], error?: object): void {
  const tell = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const id = `resp_${number}`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  tell('response.created', { response: { id } });
  for (const done of items) tell('response.output_item.done', { item: done });
  const usage = {
    input_tokens: 1,
    input_tokens_details: null,
    output_tokens: 1,
    output_tokens_details: null,
    total_tokens: 2,
  };
  if (error === undefined) tell('response.completed', { response: { id, usage } });
  else tell('response.failed', { response: { id, error } });
  response.end();
}

function item(block: Block, id: string): object {
  if (block.type === 'text') {
    return {
      type: 'message',
      role: 'assistant',
      id: `msg_${id}`,
      content: [{ type: 'output_text', text: block.text }],
    };
  }
  const { name, input } = block;
  if (typeof input === 'string')
    return { type: 'custom_tool_call', id: `ctc_${id}`, call_id: `call_${id}`, name, input };
  const [tool, namespace] = name.split('.').reverse();
  const named = { name: tool, ...(namespace !== undefined && { namespace }) };
  return { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, ...named, arguments: JSON.stringify(input) };
}

function refuse(response: ServerResponse, status: number, error: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error }));
}
