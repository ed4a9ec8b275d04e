/** Real wordings of agent programs, with the versions in which they were seen, and how each must be read. */

import type { FailureCause } from '../../../../bridge/agents/failures/causes.js';
import { CLAUDE_WORDINGS } from '../../../../bridge/agents/failures/claude.js';
import { CODEX_WORDINGS } from '../../../../bridge/agents/failures/codex.js';
import { failureWordsOf } from '../../../../bridge/agents/failures/explain.js';
import { GEMINI_WORDINGS } from '../../../../bridge/agents/failures/gemini.js';

/** What each program reports is read by these. */
export const WORDINGS = {
  claude: failureWordsOf(CLAUDE_WORDINGS).reported,
  codex: failureWordsOf(CODEX_WORDINGS).reported,
  gemini: failureWordsOf(GEMINI_WORDINGS).reported,
};
export const AGENT_PROGRAMS = ['claude', 'codex', 'gemini'] as const;
export type AgentProgramName = keyof typeof WORDINGS;

export interface SeenWording {
  readonly program: AgentProgramName;
  /** `bundle`: its words are in the installed program; `reported`: its users show them; `api`: its provider's, passed on. */
  readonly seen: string;
  readonly words: string;
  readonly cause: FailureCause;
  /** The stated end, ISO 8601; null if none is stated. Read at {@link READ_AT} by a program in {@link READ_IN}. */
  readonly ends: string | null;
}

/** A Thursday morning. */
export const READ_AT = '2026-10-08T10:00:30.000Z';
export const READ_IN = 'America/New_York';

type Row = readonly [seen: string, words: string, cause: FailureCause, ends?: string];

const CLAUDE: readonly Row[] = [
  [
    '2.1.199 to 2.1.258 (reported)',
    "You've hit your session limit · resets 5:40pm (Europe/Berlin)",
    'rate_limit',
    '2026-10-08T15:40:59.000Z',
  ],
  [
    '2.1.258 (reported)',
    'You’ve hit your session limit · resets 6pm (Europe/Warsaw)',
    'rate_limit',
    '2026-10-08T16:00:59.000Z',
  ],
  [
    '2.1.211 (reported)',
    "You've hit your session limit · resets 2:30pm (Pacific/Auckland)",
    'rate_limit',
    '2026-10-09T01:30:59.000Z',
  ],
  [
    '2.1.329 (bundle)',
    "You've hit your weekly limit · resets Oct 9 at 3am (America/Los_Angeles)",
    'rate_limit',
    '2026-10-09T10:00:59.000Z',
  ],
  [
    '2.1.329 (bundle)',
    "You've hit your Opus limit · resets Oct 9, 12pm (Asia/Tokyo)",
    'rate_limit',
    '2026-10-09T03:00:59.000Z',
  ],
  ['2.1.329 (bundle)', "You've hit your org's limit · resets in 3h 20m", 'rate_limit', '2026-10-08T13:20:30.000Z'],
  ['before 2.1.150', 'Claude AI usage limit reached|1791460800', 'rate_limit', '2026-10-08T12:00:00.000Z'],
  ['2.1.150', '5-hour limit reached ∙ resets 3pm', 'rate_limit', '2026-10-08T19:00:59.000Z'],
  [
    '1.0.24 to 2.1.81 (reported)',
    'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-10-09 at 00:00 UTC."}}',
    'rate_limit',
    '2026-10-09T00:00:00.000Z',
  ],
  [
    '2.1.329 (api)',
    'API Error: 400 You have reached your specified workspace API usage limits. You will regain access on 2026-11-01 at 00:00 UTC.',
    'rate_limit',
    '2026-11-01T00:00:00.000Z',
  ],
  [
    '2.1.329 (api)',
    'API Error: Request rejected (429) · Number of request tokens has exceeded your daily rate limit',
    'rate_limit',
  ],
  ['2.1.329 (bundle)', "You've hit your monthly spend limit.", 'credit'],
  ['2.1.329 (api)', 'API Error: Request rejected (429) · Spend limit reached.', 'credit'],
  // Of an API key, these words say no more than that.
  [
    '2.1.329 (bundle)',
    'API Error: Request rejected (429) · This request would exceed your rate limit.',
    'provider_unavailable',
  ],
  ['2.1.329 (bundle)', 'Credit balance is too low', 'credit'],
  [
    '2.1.329 (api)',
    'API Error: 429 {"type":"error","error":{"type":"billing_error","message":"spend limit reached · resets Oct 12"}}',
    'credit',
  ],
  ['2.1.329 (bundle)', 'Invalid API key · Fix external API key', 'authentication'],
  ['2.1.329 (bundle)', 'Not logged in · Please run /login', 'authentication'],
  ['2.1.329 (bundle)', 'OAuth token revoked · Please run /login', 'authentication'],
  ['2.1.329 (bundle)', 'Login expired · Please run /login', 'authentication'],
  [
    '2.1.329 (bundle)',
    'Failed to authenticate: this login reached its time limit and cannot be renewed. Run `claude auth login` to sign in again',
    'authentication',
  ],
  [
    '2.1.200 (api)',
    'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired."}} · Please run /login',
    'authentication',
  ],
  [
    '2.1.329 (bundle)',
    'Your organization has disabled API key authentication · Unset ANTHROPIC_API_KEY to use your claude.ai account instead',
    'authentication',
  ],
  ['2.1.329 (bundle)', 'Prompt is too long', 'context_overflow'],
  [
    '2.1.200 (api)',
    'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 204801 tokens > 200000 maximum"}}',
    'context_overflow',
  ],
  [
    '2.1.329 (bundle)',
    'No conversation found with session ID: 0190c8e5-0000-7000-8000-000000000000',
    'conversation_unusable',
  ],
  [
    '2.1.329 (api)',
    'API Error: 400 messages.3.content.1.image.source.base64: image cannot be empty',
    'conversation_unusable',
  ],
  ['2.1.329 (bundle)', 'API Error: 400 due to tool use concurrency issues.', 'conversation_unusable'],
  ['2.1.329 (bundle)', 'API Error: 400 duplicate tool_use ID in conversation history.', 'conversation_unusable'],
  [
    '2.1.329 (bundle)',
    'API Error: Repeated 529 Overloaded errors. If it persists, check https://status.claude.com.',
    'provider_unavailable',
  ],
  [
    '2.1.200 (api)',
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    'provider_unavailable',
  ],
  [
    '2.1.200 (api)',
    'API Error: 500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}',
    'provider_unavailable',
  ],
  [
    '2.1.200 (api)',
    'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit."}}',
    'provider_unavailable',
  ],
  [
    '2.1.329 (bundle)',
    'API Error: Server is temporarily limiting requests (not your usage limit)',
    'provider_unavailable',
  ],
  ['2.1.329 (bundle)', 'Unable to connect to API (ECONNRESET)', 'provider_unavailable'],
  ['2.1.329 (bundle)', "Can't reach the API server — check your internet or DNS (ENOTFOUND)", 'provider_unavailable'],
  [
    '2.1.329 (bundle)',
    'API Error: Server error mid-response. The response above may be incomplete.',
    'provider_unavailable',
  ],
  ['2.1.329 (bundle)', 'API Error: Request timed out', 'provider_unavailable'],
  [
    '2.1.329 (bundle)',
    'Could not refresh your login because another Claude Code process is refreshing it (or exited mid-refresh) · Try again in a minute; if it keeps happening, sign in again with /login',
    'provider_unavailable',
    '2026-10-08T10:01:30.000Z',
  ],
  [
    '2.1.329 (bundle)',
    "There's an issue with the selected model (claude-opus-9). It may not exist or you may not have access to it. Run --model to pick a different model.",
    'misconfigured',
  ],
  [
    '2.1.329 (bundle)',
    'The model claude-opus-9 is not available on your bedrock deployment. Try switching to claude-opus-4-5, or ask your admin to enable this model.',
    'misconfigured',
  ],
  [
    '2.1.329 (bundle)',
    'Claude Opus is not available with the Claude Pro plan. If you have updated your subscription plan recently, run /logout and /login for the plan to take effect.',
    'misconfigured',
  ],
  [
    '2.1.329 (bundle)',
    "API Error: Request blocked before it reached Anthropic's API (HTTP 403) · the network this request came from isn't allowed: usually an unsupported region, or a VPN, proxy or hosting network · signing in again won't change this",
    'misconfigured',
  ],
  [
    '2.1.329 (bundle)',
    "API Error: Unable to connect to API: Self-signed certificate detected (SELF_SIGNED_CERT_IN_CHAIN). The certificate comes from an authority Claude Code doesn't trust",
    'misconfigured',
  ],
  [
    '2.1.329 (bundle)',
    "Failed to refresh OAuth token: the disk that holds the Claude Code config directory (~/.claude by default), or your disk quota on it, is full. Delete files you no longer need on that disk and retry; signing in again won't help",
    'host_exhausted',
  ],
  [
    '2.1.329 (bundle)',
    "Failed to refresh OAuth token: can't save to the Keychain. If locked, run `security unlock-keychain`.",
    'authentication',
  ],
  [
    '2.1.329 (bundle)',
    "Your apiKeyHelper script is failing · This usually means you need to re-authenticate with your provider · Run /status to see the script's error output",
    'authentication',
  ],
  ['2.1.329 (bundle)', 'Fable 5 requires usage credits. Switch to another model to continue.', 'credit'],
  ['2.1.329 (bundle)', "You're out of usage credits. Switch to another model to continue.", 'credit'],
  ['2.1.329 (bundle)', "You're out of usage credits · resets 3pm (UTC)", 'rate_limit', '2026-10-08T15:00:59.000Z'],
  [
    '2.1.329 (bundle)',
    "You've hit your Fable limit · resets Oct 12, 3pm (UTC) · out of usage credits",
    'rate_limit',
    '2026-10-12T15:00:59.000Z',
  ],
  [
    '2.1.329 (bundle)',
    'API Error: Usage credits required for 1M context · they take effect in a new session',
    'credit',
  ],
  ['2.1.329 (bundle)', 'API Error: Usage credits ran out before the response was finished.', 'credit'],
  ['2.1.329 (bundle)', 'Your org is out of usage · contact your admin', 'credit'],
  ['2.1.329 (bundle)', "Your seat type doesn't include usage credits", 'credit'],
  ['2.1.329 (bundle)', "You've hit your individual spend limit · ask your admin to raise it", 'credit'],
  ['2.1.329 (bundle)', 'API Error: Stream idle timeout - no chunks received', 'provider_unavailable'],
  [
    '2.1.329 (bundle)',
    'API Error: Connection dropped (ECONNRESET). Check the proxy set in HTTPS_PROXY, then try again.',
    'provider_unavailable',
  ],
  ['2.1.329 (api)', 'API Error: 400 tools.0.custom.input_schema: JSON schema is invalid.', 'misconfigured'],
  [
    '2.1.329 (api)',
    "API Error: 400 Unexpected value(s) 'context-1m-2025-08-07' for the 'anthropic-beta' header.",
    'misconfigured',
  ],
  ['2.1.329 (api)', 'API Error: 400 This model does not support the effort parameter.', 'misconfigured'],
];

const CODEX: readonly Row[] = [
  [
    '0.169.0 (bundle)',
    'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 11:11 PM.',
    'rate_limit',
    '2026-10-09T03:11:59.000Z',
  ],
  [
    '0.125.0 (reported)',
    "You've hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at Oct 9th, 2026 3:07 AM.",
    'rate_limit',
    '2026-10-09T07:07:59.000Z',
  ],
  [
    '0.169.0 (bundle)',
    'You’ve hit your usage limit for gpt-5.5. Switch to another model now, or try again at 5:46 PM.',
    'rate_limit',
    '2026-10-08T21:46:59.000Z',
  ],
  [
    '0.169.0 (bundle)',
    'You’ve hit your usage limit. To get more access now, send a request to your admin or try again at 9:00 AM.',
    'rate_limit',
    '2026-10-08T13:00:59.000Z',
  ],
  [
    'before 0.40 (reported)',
    "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 2 hours 17 minutes.",
    'rate_limit',
    '2026-10-08T12:17:30.000Z',
  ],
  [
    'before 0.40 (reported)',
    "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 5 days 22 hours 11 minutes.",
    'rate_limit',
    '2026-10-14T08:11:30.000Z',
  ],
  ['0.169.0 (bundle)', 'You’ve hit your usage limit. Try again later.', 'rate_limit'],
  [
    '0.130 (api)',
    '{"type":"error","error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1791460800,"resets_in_seconds":7170},"status_code":429}',
    'rate_limit',
    '2026-10-08T12:00:00.000Z',
  ],
  ['0.169.0 (bundle)', 'Quota exceeded. Check your plan and billing details.', 'credit'],
  [
    '0.171.0 (api)',
    'unexpected status 429 Too Many Requests: You exceeded your current quota, please check your plan and billing details.',
    'credit',
  ],
  [
    '0.169.0 (bundle)',
    'Your workspace is out of credits. Ask your workspace owner to refill in order to continue.',
    'credit',
  ],
  [
    '0.169.0 (bundle)',
    'You hit your spend cap set by the owner of your workspace. Ask an owner to increase your spend cap to continue.',
    'credit',
  ],
  [
    '0.169.0 (bundle)',
    'To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.',
    'credit',
  ],
  [
    '0.169.0 (bundle)',
    'Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.',
    'authentication',
  ],
  [
    '0.169.0 (bundle)',
    'Your access token could not be refreshed because your refresh token has expired. Please log out and sign in again.',
    'authentication',
  ],
  [
    '0.169.0 (bundle)',
    'Your access token could not be refreshed because your refresh token was revoked. Please log out and sign in again.',
    'authentication',
  ],
  [
    '0.169.0 (bundle)',
    'Your access token could not be refreshed because you have since logged out or signed in to another account. Please sign in again.',
    'authentication',
  ],
  [
    '0.169.0 (bundle)',
    'Your authentication session could not be refreshed automatically. Please log out and sign in again.',
    'authentication',
  ],
  [
    '0.169.0',
    'unexpected status 401 Unauthorized: Incorrect API key provided, url: https://api.openai.com/v1/responses',
    'authentication',
  ],
  [
    '0.169.0 (bundle)',
    "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
    'context_overflow',
  ],
  [
    '0.169.0 (bundle)',
    'Error: thread/resume: thread/resume failed: no rollout found for thread id 0190c8e5-0000-7000-8000-000000000000',
    'conversation_unusable',
  ],
  [
    '0.169.0 (api)',
    'unexpected status 400 Bad Request: {"error":{"message":"Invalid \'input[2].content[1].image_url\'","type":"invalid_request_error"}}',
    'conversation_unusable',
  ],
  ['0.169.0 (bundle)', 'Selected model is at capacity. Please try a different model.', 'provider_unavailable'],
  [
    '0.169.0 (bundle)',
    'We’re currently experiencing high demand, which may cause temporary errors.',
    'provider_unavailable',
  ],
  [
    '0.169.0 (bundle)',
    "We're currently experiencing high demand, which may cause temporary errors.",
    'provider_unavailable',
  ],
  [
    '0.169.0 (bundle)',
    'stream disconnected before completion: error sending request for url (https://api.openai.com/v1/responses)',
    'provider_unavailable',
  ],
  ['0.169.0', 'exceeded retry limit, last status: 429 Too Many Requests, request id: c4fc59ca', 'provider_unavailable'],
  ['0.169.0', 'exceeded retry limit, last status: 503 Service Unavailable', 'provider_unavailable'],
  [
    '0.169.0 (api)',
    'stream disconnected before completion: Rate limit reached for gpt-5 in organization org on tokens per min (TPM): Limit 30000. Please try again in 11.054s.',
    'provider_unavailable',
    '2026-10-08T10:00:41.054Z',
  ],
  ['0.169.0 (bundle)', 'Policy-restricted capacity is unavailable. Please try again later.', 'provider_unavailable'],
  [
    '0.125.0 to 0.171.0 (api)',
    'unexpected status 400 Bad Request: {"detail":"The \'gpt-6\' model is not supported when using Codex with a ChatGPT account."}',
    'misconfigured',
  ],
  [
    '0.130 (api)',
    "The 'gpt-6.1-codex' model requires a newer version of Codex. Please upgrade to the latest app or CLI and try again.",
    'misconfigured',
  ],
  [
    '0.169.0 (api)',
    'unexpected status 404 Not Found: The model `gpt-99` does not exist or you do not have access to it., url: https://api.openai.com/v1/responses',
    'misconfigured',
  ],
  [
    '0.169.0 (bundle)',
    'unexpected status 403 Forbidden: Access blocked by Cloudflare. This usually happens when connecting from a restricted region (status 403 Forbidden)',
    'misconfigured',
  ],
  [
    '0.169.0 (api)',
    'unexpected status 403 Forbidden: {"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}',
    'misconfigured',
  ],
  [
    '0.169.0',
    'stream disconnected before completion: error sending request for url (https://chatgpt.com/backend-api/codex/responses): invalid peer certificate: UnknownIssuer',
    'misconfigured',
  ],
  [
    '0.169.0 (bundle)',
    'stream disconnected before completion: Incomplete response returned, reason: content_filter',
    'crash',
  ],
  ['0.169.0 (bundle)', 'This request has been flagged for possible cybersecurity risk.', 'crash'],
  [
    '0.169.0 (bundle)',
    'Amazon Bedrock rejected the request because its AWS signature has expired. Refresh your AWS credentials and retry.',
    'authentication',
  ],
  ['0.169.0 (bundle)', 'API key login is required', 'authentication'],
  [
    '0.169.0 (api)',
    '{"error":{"message":"Invalid schema for function \'mcp__a__b\': None is not of type \'array\'.","type":"invalid_request_error","code":"invalid_function_parameters"}}',
    'misconfigured',
  ],
  [
    '0.169.0 (api)',
    '{"error":{"message":"Unsupported value: \'xhigh\' is not supported with the \'gpt-5\' model.","type":"invalid_request_error","code":"unsupported_value"}}',
    'misconfigured',
  ],
];

const GEMINI: readonly Row[] = [
  [
    '0.61.0 (api)',
    '[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]',
    'authentication',
  ],
  [
    '0.49.0 (reported)',
    'Failed to sign in. Message: This client is no longer supported for Gemini Code Assist for individuals. To continue using Gemini, please migrate to the Antigravity suite of products: https://antigravity.google',
    'authentication',
  ],
  [
    '0.61.0 (bundle)',
    'Manual authorization is required but the current session is non-interactive. Please run the Gemini CLI in an interactive terminal to log in, provide a GEMINI_API_KEY, or ensure Application Default Credentials are configured.',
    'authentication',
  ],
  ['0.61.0 (bundle)', 'You have exhausted your daily quota on this model.', 'rate_limit'],
  [
    '0.50.0 (reported)',
    'You have exhausted your capacity on this model. Your quota will reset after 3h12m5s.',
    'rate_limit',
    '2026-10-08T13:12:35.000Z',
  ],
  [
    '0.61.0 (api)',
    'You exceeded your current quota, please check your plan and billing details. Please retry in 34.5s.',
    'provider_unavailable',
    '2026-10-08T10:01:04.500Z',
  ],
  [
    '0.61.0 (api)',
    '{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"41s"}]}}',
    'provider_unavailable',
    '2026-10-08T10:01:11.000Z',
  ],
  [
    '0.61.0 (bundle)',
    'Rate limit exceeded\nSuggested retry after 60s.',
    'provider_unavailable',
    '2026-10-08T10:01:30.000Z',
  ],
  [
    '0.61.0 (api)',
    '{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}',
    'provider_unavailable',
  ],
  ['0.61.0 (api)', 'No capacity available for model gemini-3-pro on the server', 'provider_unavailable'],
  ['0.61.0 (bundle)', 'exception TypeError: fetch failed sending request', 'provider_unavailable'],
  ['0.61.0 (bundle)', 'Error resuming session: Invalid session identifier "0190c8e5".', 'conversation_unusable'],
  [
    '0.61.0 (api)',
    '{"error":{"code":400,"message":"Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting","status":"INVALID_ARGUMENT"}}',
    'conversation_unusable',
  ],
  [
    '0.61.0 (api)',
    '{"error":{"code":400,"message":"The input token count (1198530) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}',
    'context_overflow',
  ],
  ['0.61.0 (bundle)', 'INSUFFICIENT_G1_CREDITS_BALANCE', 'credit'],
  [
    '0.61.0 (api)',
    '[API Error: {"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}]',
    'misconfigured',
  ],
  ['0.61.0 (bundle)', 'ModelNotFoundError: Requested entity was not found.', 'misconfigured'],
  [
    '0.61.0 (api)',
    '[API Error: {"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}]',
    'misconfigured',
  ],
  [
    '0.61.0',
    '[API Error: exception TypeError: fetch failed sending request: unable to get local issuer certificate]',
    'misconfigured',
  ],
  [
    '0.61.0 (api)',
    '{"error":{"code":429,"message":"Your prepayment credits are depleted.","status":"RESOURCE_EXHAUSTED"}}',
    'credit',
  ],
];

function of(program: AgentProgramName, rows: readonly Row[]): SeenWording[] {
  return rows.map(([seen, words, cause, ends = null]) => ({ program, seen, words, cause, ends }));
}

export const SEEN_WORDINGS: readonly SeenWording[] = [
  ...of('claude', CLAUDE),
  ...of('codex', CODEX),
  ...of('gemini', GEMINI),
];
