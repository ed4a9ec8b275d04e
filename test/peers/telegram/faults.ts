/** What may go wrong at the server, by name. */
import { ApiError } from './apiError.js';
import type { MethodName } from './methods/allMethods.js';
import type { MethodParameters } from './parameters.js';

export type FaultKind =
  | { readonly kind: 'too_many_requests'; readonly retryAfterS: number }
  | { readonly kind: 'forbidden'; readonly description?: string }
  /** Somebody else fetches the bot's messages. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'bad_request'; readonly description: string }
  /** The group became a supergroup with another id. */
  | { readonly kind: 'chat_migrated'; readonly migrateToChatId: number }
  /** `html` is the page that the real server's front answers with; it is no JSON. */
  | { readonly kind: 'server_error'; readonly status?: number; readonly html?: boolean }
  /** The connection breaks, nothing happens. */
  | { readonly kind: 'reset' }
  /** No answer until the client or the peer gives up, nothing happens. */
  | { readonly kind: 'hang' }
  /** It happens, then the connection breaks. */
  | { readonly kind: 'lost_answer' };

export type Fault = FaultKind & {
  /** Every method where it is missing. */
  readonly method?: MethodName;
  /** Only calls about this chat. */
  readonly chatId?: number;
  /** Only calls whose parameters please it. */
  readonly match?: (parameters: MethodParameters) => boolean;
  /** How many calls are hit, 1 by default; `Infinity` until removed. */
  readonly times?: number;
};

export interface FaultyCall {
  readonly method: string;
  readonly parameters: MethodParameters;
}

export function applies(fault: Fault, call: FaultyCall): boolean {
  if (fault.method !== undefined && fault.method.toLowerCase() !== call.method.toLowerCase()) return false;
  if (fault.chatId !== undefined && fault.chatId !== call.parameters.integer('chat_id')) return false;
  return fault.match?.(call.parameters) ?? true;
}

type RefusingFault = Exclude<FaultKind, { kind: 'server_error' | 'reset' | 'hang' | 'lost_answer' }>;

/** @returns the fault as the server words it */
export function refusal(fault: RefusingFault): ApiError {
  switch (fault.kind) {
    case 'too_many_requests':
      return new ApiError(429, `Too Many Requests: retry after ${fault.retryAfterS}`, {
        retry_after: fault.retryAfterS,
      });
    case 'forbidden':
      return new ApiError(403, fault.description ?? 'Forbidden: bot was blocked by the user');
    case 'conflict':
      return new ApiError(409, 'Conflict: terminated by other getUpdates request');
    case 'unauthorized':
      return new ApiError(401, 'Unauthorized');
    case 'bad_request':
      return new ApiError(400, fault.description);
    case 'chat_migrated':
      return new ApiError(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: fault.migrateToChatId,
      });
    default:
      return fault satisfies never;
  }
}
