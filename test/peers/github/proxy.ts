/** Between the product and GitHub: checks the token, orders the faults, remembers every request. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Clock, isoTime } from '../../../src/time.js';
import type { FaultPlan } from '../faultPlan.js';
import { breakConnection, readBody } from '../loopback.js';
import type { FaultKind, FaultyRequest, GithubFault } from './faults.js';
import { breaksLimit } from './limits.js';
import type { Identity, Upstream, UpstreamAnswer } from './upstream.js';

export interface SeenRequest {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Parsed where it is JSON. */
  readonly body: unknown;
  /** What GitHub made of it; null while it works, and where it never got the request. */
  status: number | null;
  /** The injected fault that hit it. */
  fault: FaultKind['kind'] | null;
}

export interface ProxyParts {
  readonly upstream: Upstream;
  readonly token: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly faults: FaultPlan<GithubFault, FaultyRequest>;
  readonly requests: SeenRequest[];
  /** Former names of the repository, `owner/name`, and where they lead. */
  readonly formerNames: ReadonlyMap<string, string>;
  /** Called when a request's outcome is known, before the client hears of it. */
  readonly settled: (request: SeenRequest) => Promise<void>;
}

const DOCS = 'https://docs.github.com/rest';
const PASSED_HEADERS = [
  'content-type',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-ratelimit-resource',
];

export function isWrite({ method }: Pick<SeenRequest, 'method'>): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

/** @returns handles one HTTP request */
export function githubProxy(parts: ProxyParts): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const text = (await readBody(request)).toString();
    const seen: SeenRequest = {
      time: isoTime(parts.clock.now()),
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      body: parseBody(text),
      status: null,
      fault: null,
    };
    parts.requests.push(seen);
    const fault = parts.faults.take({ method: seen.method, path: pathOf(seen) });
    seen.fault = fault?.kind ?? null;
    const perform = async () => {
      const answer = await decide(parts, seen, text, identify(request.headers.authorization, parts.token));
      seen.status = answer.status;
      await parts.settled(seen);
      return answer;
    };
    if (fault) await suffer(parts, fault, seen, perform, request, response);
    else send(response, await perform());
  };
}

interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** What GitHub makes of the request: most of it is up to `emulate`. */
async function decide(
  parts: ProxyParts,
  seen: SeenRequest,
  text: string,
  identity: Identity | null,
): Promise<ProxyAnswer> {
  if (identity === null) return json(401, { message: 'Bad credentials', documentation_url: DOCS, status: '401' });
  const moved = newPlaceOf(seen, parts.formerNames);
  if (moved !== null)
    return { ...json(301, { message: 'Moved Permanently', url: moved }), headers: { location: moved } };
  const refused = isWrite(seen) ? breaksLimit(pathOf(seen), seen.body) : null;
  if (refused) return json(422, refused);
  const asked = { method: seen.method, path: seen.path, ...(text !== '' && { body: text }) };
  const answer = await parts.upstream.request(asked, identity);
  // GitHub does not tell strangers that a private repository exists; emulate asks them who they are.
  if (answer.status === 401 && !isWrite(seen)) return json(404, { message: 'Not Found', documentation_url: DOCS });
  return passOn(answer);
}

function newPlaceOf({ path }: SeenRequest, formerNames: ReadonlyMap<string, string>): string | null {
  for (const [former, name] of formerNames) {
    const rest = path.startsWith(`/repos/${former}`) ? path.slice(`/repos/${former}`.length) : null;
    if (rest !== null && /^(?:[/?]|$)/.test(rest)) return `/repos/${name}${rest}`;
  }
  return null;
}

/** @returns null for a token that GitHub does not know; `emulate` would take any */
function identify(authorization: string | undefined, token: string): Identity | null {
  if (authorization === undefined) return 'nobody';
  return authorization.replace(/^(bearer|token)\s+/i, '') === token ? 'product' : null;
}

function passOn({ status, headers: all, link, text }: UpstreamAnswer): ProxyAnswer {
  const headers: Record<string, string> = link === '' ? {} : { link };
  for (const name of PASSED_HEADERS) {
    const value = all.get(name);
    if (value !== null) headers[name] = value;
  }
  return { status, headers, text };
}

async function suffer(
  parts: ProxyParts,
  fault: GithubFault,
  seen: SeenRequest,
  perform: () => Promise<ProxyAnswer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (fault.kind) {
    case 'status': {
      const answer = refusal(fault);
      seen.status = answer.status;
      await parts.settled(seen);
      send(response, answer);
      return;
    }
    case 'hang':
      await parts.settled(seen);
      return;
    case 'reset':
      await parts.settled(seen);
      breakConnection(request);
      return;
    case 'lost_answer':
      await perform();
      breakConnection(request);
      return;
    default:
      fault satisfies never;
  }
}

function refusal({ status, headers, body }: Extract<FaultKind, { kind: 'status' }>): ProxyAnswer {
  const content = body ?? { message: STATUS_CODES[status] ?? 'Error', documentation_url: DOCS, status: String(status) };
  const answer = typeof content === 'string' ? page(status, content) : json(status, content);
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function json(status: number, body: object): ProxyAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, text: JSON.stringify(body) };
}

function page(status: number, text: string): ProxyAnswer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, text };
}

/** 204 and 304 carry no body. */
function send(response: ServerResponse, { status, headers, text }: ProxyAnswer): void {
  response.writeHead(status, headers);
  response.end(text === '' ? undefined : text);
}

function pathOf({ path }: SeenRequest): string {
  return new URL(path, 'http://peer').pathname;
}

function parseBody(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
