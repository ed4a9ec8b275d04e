/** Codex: codex-cli 0.125.0 to 0.171.0, from the program itself, and from reports of its users. */
import { UNTRUSTED } from './anyProgram.js';
import { OTHER_NETWORK, OTHER_SETTING, type Wordings } from './wording.js';

const LOG_IN = 'log the agent in again (`watchkeeper as-agent PROJECT -- codex login`), or renew its key';
const PAY = 'add credit to the account or its workspace, or raise its spend cap';

export const CODEX_WORDINGS: Wordings = [
  {
    says: /\bmodel is not supported when using Codex\b|\bThe model `[^`]+` does not exist\b|\bUnsupported (?:value|parameter): .{1,80}\bwith (?:the '[^']+'|this) model\b|\bmodel_not_found\b|\binvalid_function_parameters\b|\bInvalid schema for function\b/i,
    cause: 'misconfigured',
    remedy: OTHER_SETTING,
  },
  { says: /\brequires a newer version of Codex\b/i, cause: 'misconfigured', remedy: 'update Codex on this host' },
  {
    says: /\bAccess blocked by Cloudflare\b|\bunsupported_country_region_territory\b|\b(?:country|region),? or territory not supported\b/i,
    cause: 'misconfigured',
    remedy: OTHER_NETWORK,
  },
  { ...UNTRUSTED, says: /\binvalid peer certificate: (?:UnknownIssuer|NotValidForName)\b/ },
  // The provider refuses the content, and cuts the stream for it: asking again would not help.
  {
    says: /\breason: content_filter\b|\bflagged for possible (?:cybersecurity|biological) risk\b|\bmisalignment policy violation\b|\brejected by the content policy\b/i,
    cause: 'crash',
  },
  {
    says: /could not be refreshed|failed to refresh token|refresh token (?:was|has|is)\b|unexpected status 40[13]\b|exceeded retry limit, last status: 40[13]\b|(?:log out and )?sign in again|Not logged in|invalid_api_key|token_expired|refresh_token_(?:reused|expired|invalidated)|Missing environment variable|(?:ChatGPT|API key|Gateway) (?:login|sign-in|auth(?:entication)?) is (?:required|missing)|AWS signature has expired|Google Cloud credentials are unavailable or expired|Login is restricted to a specific workspace/i,
    cause: 'authentication',
    remedy: LOG_IN,
  },
  {
    says: /Quota exceeded\. Check your plan|exceeded your current quota|insufficient_quota|out of credits|hit your spend cap|upgrade to Plus: http|spend_limit_exceeded|unexpected status 402\b/i,
    cause: 'credit',
    remedy: PAY,
  },
  { says: /\bhit your usage limit\b|usage_limit_reached|\busage limit (?:has been )?reached\b/i, cause: 'rate_limit' },
  {
    says: /ran out of room in the model's context window|context_length_exceeded|input exceeds the context window|context window exceeded/i,
    cause: 'context_overflow',
  },
  {
    says: /no rollout found|rollout at .* (?:is empty|contains no valid records)|\binvalid_request_error\b|unexpected status 400\b|image data you provided does not represent a valid image|Image poisoning|invalid image|conversation (?:not found|id .* not found)|thread not found|No saved session found/i,
    cause: 'conversation_unusable',
  },
  {
    says: /exceeded retry limit, last status: (?:408|429|5\d\d)\b|unexpected status (?:408|409|429|5\d\d)\b|at capacity\b|capacity (?:is )?unavailable|high (?:demand|load)\b|server_?(?:is_)?overloaded|slow_down|stream disconnected|error sending request|stream (?:error|closed)|connection (?:failed|reset|closed|refused|error)|request timed out|idle timeout waiting|rate_limit_exceeded|Rate limit reached for|internal server error|server had an error|network error/i,
    cause: 'provider_unavailable',
  },
];
