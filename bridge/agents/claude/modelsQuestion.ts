/** Requests the list of models, at no cost, to see whether a credential is accepted. No words of the provider are in the answer. */
import { errorCode, rootCauses } from '../../../src/errors.js';
import { type Clock, SECOND } from '../../../src/time.js';
import { withoutEnd } from '../../../src/withoutEnd.js';

const DEFAULT_BASE_URL = 'https://api.anthropic.com';
const API_VERSION = '2023-06-01';
/** The header that the API requires with an account's token instead of a key. */
const OAUTH_BETA = 'oauth-2025-04-20';
const LIMIT_MS = 8 * SECOND;

export interface Credential {
  readonly kind: 'api_key' | 'token';
  readonly value: string;
}

/** `words` are a clause for people. */
interface ProviderAnswer {
  readonly kind: 'accepted' | 'refused' | 'cannot_say' | 'troubled';
  readonly words: string;
}

/** @param baseUrl as in ANTHROPIC_BASE_URL; undefined for the provider's own */
export async function askForModels(
  credential: Credential,
  baseUrl: string | undefined,
  signal: AbortSignal,
  clock: Clock,
): Promise<ProviderAnswer> {
  const url = modelsUrl(baseUrl || DEFAULT_BASE_URL);
  if (url === null) return { kind: 'troubled', words: 'ANTHROPIC_BASE_URL is no address that can be asked' };
  const stopped = new AbortController();
  const timer = clock.after(LIMIT_MS, () => stopped.abort());
  try {
    const response = await fetch(url, {
      headers: headersFor(credential),
      // Redirects are not followed: a credential must not go to another host.
      redirect: 'manual',
      signal: AbortSignal.any([signal, stopped.signal]),
    });
    await response.body?.cancel();
    return judge(response.status, url.host);
  } catch (error) {
    const why = stopped.signal.aborted ? `no answer within ${LIMIT_MS / SECOND} s` : causeCode(error);
    return { kind: 'troubled', words: `${url.host} could not be asked (${why})` };
  } finally {
    timer.cancel();
  }
}

function modelsUrl(baseUrl: string): URL | null {
  const text = `${withoutEnd(baseUrl.trim(), /\//)}/v1/models?limit=1`;
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : null;
}

function headersFor({ kind, value }: Credential): Record<string, string> {
  const version = { 'anthropic-version': API_VERSION };
  if (kind === 'api_key') return { ...version, 'x-api-key': value };
  return { ...version, authorization: `Bearer ${value}`, 'anthropic-beta': OAUTH_BETA };
}

function judge(status: number, host: string): ProviderAnswer {
  if (status >= 200 && status < 300) return { kind: 'accepted', words: `${host} accepts it` };
  if (status === 401) return { kind: 'refused', words: `${host} refuses it (401)` };
  // A gateway need not offer such a list.
  if (status === 404 || status === 405 || status === 501) {
    return { kind: 'cannot_say', words: `${host} has no list of models (${status}), so that it is only seen at work` };
  }
  return { kind: 'troubled', words: `${host} answers with ${status}` };
}

function causeCode(error: unknown): string {
  const codes = rootCauses(error).map(errorCode).filter(Boolean);
  return codes[0] ?? (errorCode(error) || 'the request could not be made');
}
