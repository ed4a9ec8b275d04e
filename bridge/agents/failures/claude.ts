/** Claude Code: 2.1.150 to 2.1.329, from the program itself, and from reports of its users. */
import type { Wordings } from './wording.js';

const LOG_IN = 'log the agent in again (`watchkeeper as-agent PROJECT -- claude auth login`), or renew its key';
const PAY = 'add credit to the account, or raise its spend limit';

export const CLAUDE_WORDINGS: Wordings = [
  {
    says: /hit your (?:channel's )?(?:monthly|org's monthly|team's monthly) spend limit|spend limit reached|usage credit limit reached/i,
    cause: 'credit',
    remedy: PAY,
  },
  { says: /credit balance (?:is )?too low|\bbilling_error\b/i, cause: 'credit', remedy: PAY },
  // The limit that an account has set for its API keys, and those of a day: the API refuses them like any bad or early request.
  {
    says: /\breached your specified (?:[\w-]+ )?API usage limits?\b|\bexceed(?:ed)? your daily rate limit\b/i,
    cause: 'rate_limit',
    remedy: 'raise the limit in the settings of the account, or wait for its end',
  },
  {
    says: /\bhit your (?:[\w'-]+ ){0,3}limit\b|\b(?:usage|5-hour|session|weekly|opus|sonnet|fable) limit reached\b/i,
    cause: 'rate_limit',
  },
  { says: /limiting requests \(not your usage limit\)/i, cause: 'provider_unavailable' },
  {
    says: /another Claude Code process is refreshing it|may be a temporary network issue/i,
    cause: 'provider_unavailable',
  },
  {
    says: /run (?:`?claude auth login`?|\/login)\b|\bNot logged in\b|\bInvalid (?:API key|auth token)\b|OAuth token (?:has )?(?:been )?(?:expired|revoked)|\blogin (?:has )?(?:expired|reached its time limit)|Failed to authenticate\b|\bauthentication_error\b|disabled (?:organization|API key authentication|Claude subscription)|API Error: 40[13]\b/i,
    cause: 'authentication',
    remedy: LOG_IN,
  },
  {
    says: /\bPrompt is too long\b|\bContext limit reached\b|prompt is too long: \d+ tokens|input length and `max_tokens` exceed/i,
    cause: 'context_overflow',
  },
  {
    says: /\bNo conversation found with session ID\b|API Error: 400\b|\binvalid_request_error\b|could not process image|image cannot be empty|image (?:exceeds|dimensions exceed)|duplicate tool_use ID|orphaned tool_result|tool use concurrency issues/i,
    cause: 'conversation_unusable',
  },
  {
    says: /API Error: (?:408|409|429|5\d\d)\b|\b(?:overloaded|rate_limit|api|timeout)_error\b|Repeated 529|experiencing high load|\bUnable to connect to API\b(?!.*(?:SSL|certificate))|Can't reach the API server|No internet route|Server error mid-response|(?:response stream|response) (?:was malformed|never arrived)|API Error: (?:Connection|Request timed out|The operation timed out|terminated|fetch failed)|Connection (?:error\.|refused —|closed)|Request timed out/i,
    cause: 'provider_unavailable',
  },
];
