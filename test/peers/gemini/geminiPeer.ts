/**
 * The Gemini API on this machine, as far as gemini-cli asks for it, with a model that is a function of the test
 * (https://ai.google.dev/api/generate-content).
 */
import type { ServerResponse } from 'node:http';
import { type LoopbackServer, listenOnLoopback, readBody } from '../loopback.js';
import type { Asked, Block } from '../modelBlocks.js';

export type GeminiReply = readonly Block[] | { readonly kind: 'unauthorized' } | { readonly kind: 'hang' };

export type GeminiModel = (asked: Asked) => GeminiReply;

interface Content {
  readonly role?: string;
  readonly parts: readonly { readonly text?: string; readonly functionResponse?: object }[];
}

export async function startGeminiPeer(model: GeminiModel): Promise<LoopbackServer> {
  return listenOnLoopback(async (request, response) => {
    const body = (await readBody(request)).toString();
    const { contents = [] }: { contents?: Content[] } = body === '' ? {} : JSON.parse(body);
    if (!(request.url ?? '').includes(':streamGenerateContent')) sendJson(response, 200, { totalTokens: 1 });
    else answer(response, model(read(contents)));
  });
}

function read(contents: readonly Content[]): Asked {
  const parts = contents.flatMap(({ role, parts }) => (role === 'user' ? parts : []));
  return {
    texts: parts.flatMap(({ text }) => (text === undefined ? [] : [text])),
    results: parts.filter((part) => part.functionResponse !== undefined).length,
  };
}

function answer(response: ServerResponse, reply: GeminiReply): void {
  if ('kind' in reply) suffer(response, reply.kind);
  else {
    const content = { role: 'model', parts: reply.map(part) };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const candidates = [{ content, finishReason: 'STOP', index: 0 }];
    response.end(`data: ${JSON.stringify({ candidates, usageMetadata })}\n\n`);
  }
}

function part(block: Block): object {
  return block.type === 'text' ? { text: block.text } : { functionCall: { name: block.name, args: block.input } };
}

function suffer(response: ServerResponse, kind: 'unauthorized' | 'hang'): void {
  if (kind === 'hang') return;
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
  sendJson(response, 400, { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT', details } });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
