/** The GitHub behind the proxy: `emulate`, in this process, with one repository and two people. */
import { createEmulator } from 'emulate';

export interface UpstreamAnswer {
  readonly status: number;
  /** The addresses of other pages; empty where there are none. */
  readonly link: string;
  readonly headers: Headers;
  readonly text: string;
}

export interface UpstreamRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body?: string;
}

/** `product` is the holder of the token, `maintainer` a person, `nobody` comes without a token. */
export type Identity = 'product' | 'maintainer' | 'nobody';

export interface Upstream {
  request(request: UpstreamRequest, as: Identity): Promise<UpstreamAnswer>;
  stop(): Promise<void>;
}

const PRODUCT_LOGIN = 'watchkeeper-bot';
const MAINTAINER_LOGIN = 'maintainer';
/** emulate counts 5,000 requests an hour per token; a fresh token in time keeps that out of long tests. */
const REQUESTS_PER_TOKEN = 1_000;
const TOKENS_PER_IDENTITY = 200;

/**
 * @param repository `owner/name`
 * @param publicUrl the proxy's address: every address in an answer, those of the next pages too, leads there
 */
export async function startUpstream(
  repository: string,
  isPrivate: boolean,
  publicUrl: () => string,
): Promise<Upstream> {
  const [owner = '', name = ''] = repository.split('/');
  const emulator = await createEmulator({
    service: 'github',
    port: 0,
    seed: {
      tokens: { ...tokensOf('product', PRODUCT_LOGIN), ...tokensOf('maintainer', MAINTAINER_LOGIN) },
      github: {
        users: [{ login: PRODUCT_LOGIN }, { login: MAINTAINER_LOGIN }],
        orgs: [{ login: owner, members: [PRODUCT_LOGIN, MAINTAINER_LOGIN].map((login) => ({ login, role: 'admin' })) }],
        repos: [{ owner, name, private: isPrivate, auto_init: false }],
      },
    },
  });
  const { port } = new URL(emulator.url);
  const address = `http://127.0.0.1:${port}`;
  const ownAddresses = new RegExp(`http://(?:localhost|127\\.0\\.0\\.1):${port}(?!\\d)`, 'g');
  const translate = (text: string) => text.replace(ownAddresses, publicUrl());
  let requests = 0;
  return {
    async request({ method, path, body }, as) {
      const serial = Math.floor(requests / REQUESTS_PER_TOKEN) % TOKENS_PER_IDENTITY;
      requests += 1;
      const response = await fetch(address + path, {
        method,
        headers: {
          accept: 'application/vnd.github+json',
          ...(as !== 'nobody' && { authorization: `token ${as}-${serial}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      });
      return {
        status: response.status,
        link: translate(response.headers.get('link') ?? ''),
        headers: response.headers,
        text: translate(await response.text()),
      };
    },
    stop: () => emulator.close(),
  };
}

function tokensOf(identity: Identity, login: string): Record<string, { login: string; scopes: string[] }> {
  const serials = Array.from({ length: TOKENS_PER_IDENTITY }, (_, serial) => serial);
  return Object.fromEntries(serials.map((serial) => [`${identity}-${serial}`, { login, scopes: ['repo'] }]));
}
