/**
 * A Messages API on this machine whose model is a function of the test. It knows one account and keeps nothing but a log.
 *
 * What it does not do: check what it is asked (only its list of models wants the right key), count tokens exactly, think.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock } from '../../../src/time.js';
import { FaultPlan, type InjectedFault } from '../faultPlan.js';
import { breakConnection, type LoopbackServer, listenOnLoopback, readBody } from '../loopback.js';
import type { Block } from '../modelBlocks.js';
import { Watchers } from '../watchers.js';
import { type Answer, OUTPUT_TOKENS, sendAnswer, streamAnswer } from './answerStream.js';
import type { MessagesRequest, SeenRequest } from './messages.js';
import { type Fault, isFault, type Reply, refusal } from './replies.js';

/** @param turn how many requests this model has answered before, over all conversations */
export type Model = (request: MessagesRequest, turn: number) => Reply | Promise<Reply>;

const BYTES_PER_TOKEN = 4;
const DEFAULT_TIMEOUT_MS = 10_000;

/** Answers with its model whatever no injected fault hits. */
export class AnthropicPeer {
  readonly apiKey = 'sk-local-peer';
  /** Requests for a message, oldest first. */
  readonly requests: SeenRequest[] = [];
  #model: Model;
  #server: LoopbackServer | null = null;
  readonly #faults = new FaultPlan<Fault, MessagesRequest>();
  readonly #watchers = new Watchers();

  constructor(model: Model) {
    this.#model = model;
  }

  get url(): string {
    if (this.#server === null) throw new Error('the peer does not listen');
    return this.#server.url;
  }

  async listen(): Promise<void> {
    this.#server = await listenOnLoopback((request, response) => this.#handle(request, response));
  }

  /** Another model, from the next request on. */
  use(model: Model): void {
    this.#model = model;
  }

  inject(fault: Fault, times = 1, applies: (request: MessagesRequest) => boolean = () => true): InjectedFault {
    return this.#faults.add(fault, applies, times);
  }

  waitFor<T>(look: () => T | false | null | undefined, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<T> {
    return this.#watchers.waitFor(look, timeoutMs, () => `requests: ${this.requests.map(({ outcome }) => outcome)}`);
  }

  async stop(): Promise<void> {
    this.#watchers.stop();
    await this.#server?.stop();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { pathname } = new URL(request.url ?? '/', 'http://peer');
    if (pathname === '/v1/messages/count_tokens') sendJson(response, 200, { input_tokens: tokensOf(body) });
    else if (pathname === '/v1/models') this.#listModels(request, response);
    else if (pathname !== '/v1/messages') sendError(response, 404, 'not_found_error', 'Not Found');
    else await this.#answer(JSON.parse(body.toString()) as MessagesRequest, tokensOf(body), request, response);
  }

  #listModels({ headers }: IncomingMessage, response: ServerResponse): void {
    const isKnown = [headers['x-api-key'], headers.authorization].some(
      (given) => given === this.apiKey || given === `Bearer ${this.apiKey}`,
    );
    if (isKnown) sendJson(response, 200, { data: [], has_more: false, first_id: null, last_id: null });
    else sendError(response, 401, 'authentication_error', 'invalid x-api-key');
  }

  async #answer(
    asked: MessagesRequest,
    inputTokens: number,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const seen = this.#note(asked, request);
    response.once('close', () => {
      seen.isOver = true;
      this.#watchers.check();
    });
    const reply = this.#faults.take(asked) ?? (await this.#model(asked, this.requests.length - 1));
    seen.outcome = isFault(reply) ? reply.kind : 'answered';
    if (!isFault(reply)) seen.tokens = { input: inputTokens, output: OUTPUT_TOKENS };
    this.#watchers.check();
    const answer = (blocks: readonly Block[]): Answer => {
      return { number: this.requests.indexOf(seen) + 1, model: asked.model, inputTokens, blocks };
    };
    if (isFault(reply)) suffer(reply, answer('after' in reply ? (reply.after ?? []) : []), request, response);
    else if (asked.stream === true) streamAnswer(response, answer(reply));
    else sendAnswer(response, answer(reply));
  }

  #note(asked: MessagesRequest, { headers }: IncomingMessage): SeenRequest {
    const credential = String(headers['x-api-key'] ?? headers.authorization ?? '');
    const tokens = { input: 0, output: 0 };
    const seen = { at: systemClock.now(), request: asked, credential, outcome: 'pending', tokens, isOver: false };
    this.requests.push(seen);
    this.#watchers.check();
    return seen;
  }
}

function suffer(fault: Fault, half: Answer, request: IncomingMessage, response: ServerResponse): void {
  const refused = refusal(fault);
  if (refused !== null) sendError(response, refused.status, refused.type, refused.message, refused.headers);
  else if (half.blocks.length > 0) streamAnswer(response, half, { isBroken: true });
  if (fault.kind === 'reset') breakConnection(request);
}

function sendError(response: ServerResponse, status: number, type: string, message: string, headers = {}): void {
  sendJson(response, status, { type: 'error', error: { type, message } }, headers);
}

function sendJson(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function tokensOf(body: Buffer): number {
  return Math.ceil(body.length / BYTES_PER_TOKEN);
}
