/** The Bot API over HTTP: routes, token, faults, answers. What the methods do is theirs. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { FaultPlan } from '../faultPlan.js';
import { breakConnection, readBody } from '../loopback.js';
import { ApiError } from './apiError.js';
import { type Fault, type FaultyCall, refusal } from './faults.js';
import { findMethod } from './methods/allMethods.js';
import { type MethodParameters, parseParameters } from './parameters.js';
import type { World } from './world.js';

/** One request that came with the right token, as the peer's log shows it. */
export interface Call {
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly method: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The injected fault that hit it. */
  fault: Fault['kind'] | null;
  /** `pending` until answered; then `ok`, the refusal in words, or `unanswered`. */
  outcome: string;
}

export interface ServerParts {
  readonly world: World;
  readonly token: string;
  readonly faults: FaultPlan<Fault, FaultyCall>;
  readonly calls: Call[];
  /** Called after every change. */
  readonly changed: () => void;
}

/** @returns handles one HTTP request */
export function botApi(parts: ServerParts): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://peer');
    const file = /^\/file\/bot([^/]+)\/(.+)$/.exec(url.pathname);
    const route = /^\/bot([^/]+)\/(\w+)$/.exec(url.pathname);
    const body = await readBody(request);
    if (file) serveFile(parts, file[1] ?? '', file[2] ?? '', response);
    else if (!route) refuse(response, new ApiError(404, 'Not Found'));
    else await handleCall(parts, { token: route[1] ?? '', method: route[2] ?? '', url, body }, request, response);
  };
}

async function handleCall(
  parts: ServerParts,
  asked: { token: string; method: string; url: URL; body: Buffer },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const call: Call = {
    at: parts.world.clock.now(),
    method: asked.method,
    parameters: {},
    fault: null,
    outcome: 'pending',
  };
  try {
    if (asked.token !== parts.token) throw new ApiError(401, 'Unauthorized');
    const parameters = parseParameters(asked.url.searchParams, request.headers['content-type'] ?? '', asked.body);
    Object.assign(call, { parameters: parameters.forLog() });
    parts.calls.push(call);
    const fault = parts.faults.take({ method: asked.method, parameters });
    call.fault = fault?.kind ?? null;
    parts.changed();
    const perform = () => performMethod(parts, asked.method, parameters, response);
    if (fault) return await suffer(fault, call, perform, request, response);
    const result = await perform();
    call.outcome = 'ok';
    answer(response, 200, { ok: true, result });
  } catch (thrown) {
    const error = thrown instanceof ApiError ? thrown : new ApiError(500, `Internal Server Error: ${thrown}`);
    call.outcome = `${error.code} ${error.message}`;
    refuse(response, error);
  } finally {
    parts.changed();
  }
}

async function performMethod(
  parts: ServerParts,
  name: string,
  parameters: MethodParameters,
  response: ServerResponse,
): Promise<unknown> {
  const method = findMethod(name);
  if (!method) throw new ApiError(404, 'Not Found: method not found');
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const pending = method(parts.world, parameters, gone.signal);
  parts.changed();
  return await pending;
}

async function suffer(
  fault: Fault,
  call: Call,
  perform: () => Promise<unknown>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (fault.kind) {
    case 'too_many_requests':
    case 'forbidden':
    case 'conflict':
    case 'unauthorized':
    case 'bad_request':
    case 'chat_migrated':
      throw refusal(fault);
    case 'server_error': {
      const status = fault.status ?? 502;
      call.outcome = `${status}`;
      failInFront(response, status, fault.html ?? false);
      return;
    }
    case 'hang':
      call.outcome = 'unanswered';
      return;
    case 'reset':
      call.outcome = 'unanswered';
      breakConnection(request);
      return;
    case 'lost_answer':
      call.outcome = 'unanswered';
      // Also what the method refuses is lost.
      await perform().catch((thrown: unknown) => {
        call.outcome = `unanswered: ${thrown}`;
      });
      breakConnection(request);
      return;
    default:
      fault satisfies never;
  }
}

function failInFront(response: ServerResponse, status: number, html: boolean): void {
  const words = STATUS_CODES[status] ?? 'Error';
  if (html) {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(`<html><head><title>${status} ${words}</title></head><body><h1>${status} ${words}</h1></body></html>`);
  } else {
    answer(response, status, { ok: false, error_code: status, description: words });
  }
}

function serveFile({ world, token }: ServerParts, askedToken: string, path: string, response: ServerResponse): void {
  const file = [...world.files.values()].find((stored) => stored.path === path);
  if (askedToken !== token) refuse(response, new ApiError(401, 'Unauthorized'));
  else if (!file) refuse(response, new ApiError(404, 'Not Found'));
  else {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': file.data.length });
    response.end(file.data);
  }
}

function refuse(response: ServerResponse, { code, message, parameters }: ApiError): void {
  const body = { ok: false, error_code: code, description: message };
  answer(response, code, parameters === undefined ? body : { ...body, parameters });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
