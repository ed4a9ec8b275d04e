/** What may go wrong between the product and GitHub, by name. */

export type FaultKind =
  /** GitHub refuses, or a server in front of it fails; nothing happens. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An object is sent as JSON, text as an HTML page; by default GitHub's `{"message"}` with the status in words. */
      readonly body?: object | string;
    }
  /** The connection breaks, nothing happens. */
  | { readonly kind: 'reset' }
  /** No answer until the client or the peer gives up, nothing happens. */
  | { readonly kind: 'hang' }
  /** It happens, then the connection breaks. */
  | { readonly kind: 'lost_answer' };

export type GithubFault = FaultKind & {
  /** Every method where it is missing. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Tried on the path without the query. */
  readonly path?: RegExp;
  /** Only when it says so; asked for each request that the others let pass. */
  readonly when?: () => boolean;
  /** How many requests are hit, 1 by default; `Infinity` until removed. */
  readonly times?: number;
};

export interface FaultyRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
}

export function applies(fault: GithubFault, request: FaultyRequest): boolean {
  if (fault.method !== undefined && fault.method !== request.method) return false;
  if (fault.path !== undefined && request.path.search(fault.path) < 0) return false;
  return fault.when?.() ?? true;
}

/**
 * GitHub's secondary limit
 * (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit).
 * @param retryAfterS seconds
 */
export function secondaryLimit(retryAfterS: number): FaultKind {
  return {
    kind: 'status',
    status: 403,
    headers: { 'retry-after': String(retryAfterS) },
    body: {
      message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      documentation_url: 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api',
    },
  };
}
