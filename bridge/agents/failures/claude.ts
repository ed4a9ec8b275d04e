/** Claude Code: 2.1.150 to 2.1.329, from the program itself, and from reports of its users. */
import { OTHER_NETWORK, OTHER_SETTING, type Wordings } from './wording.js';

const LOG_IN = 'log the agent in again (`watchkeeper as-agent PROJECT -- claude auth login`), or renew its key';
const PAY = 'add credit to the account, or raise its spend limit';

export const CLAUDE_WORDINGS: Wordings = [
  {
    says: /\bissue with the selected model\b|\bmodel \S+ is not available on your\b|\bis not available with the Claude \w+ plan\b|\bAuto mode is unavailable for your plan\b|\bisn't available with thinking turned off\b|\badvisor model is not compatible\b|\bInvalid (?:ANTHROPIC_CUSTOM_HEADERS|request header from the environment)\b|\bhttp\.fetch hook stopped this request\b|\btools\.\d+\.(?:custom\.)?(?:input_schema|name)\b|\banthropic-beta\W{1,3}header\b|\bdoes not support (?:the )?[\w .]{1,30} parameter\b/i,
    cause: 'misconfigured',
    remedy: OTHER_SETTING,
  },
  { says: /\bRequest blocked before it reached Anthropic's API\b/i, cause: 'misconfigured', remedy: OTHER_NETWORK },
  { says: /\brefresh (?:OAuth token|your login): the disk that holds\b/i, cause: 'host_exhausted' },
  {
    says: /hit your (?:[\w'-]+ ){0,3}spend limit|spend limit reached|usage credit limit reached/i,
    cause: 'credit',
    remedy: PAY,
  },
  // With a stated end these are limits like the others.
  {
    says: /\brequires? usage credits\b|\busage credits (?:ran out|(?:are )?required)|\bYou're out of (?:usage credits|extra usage)\b(?!.*\bresets\b)|\borg is out of usage\b|\bseat type doesn't include\b|\busage allocation has been disabled\b|\busage limit is set to \$0|\bservice is disabled for your org\b|\bUsage is paused for your organization\b/i,
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
    says: /\bhit your (?:[\w'-]+ ){0,3}limit\b|\b(?:usage|5-hour|session|weekly|opus|sonnet|fable) limit reached\b|\bout of usage credits .{0,5}resets\b/i,
    cause: 'rate_limit',
  },
  { says: /limiting requests \(not your usage limit\)/i, cause: 'provider_unavailable' },
  {
    says: /another Claude Code process is refreshing it|may be a temporary network issue/i,
    cause: 'provider_unavailable',
  },
  {
    says: /run (?:`?claude auth login`?|\/login)\b|\bNot logged in\b|\bInvalid (?:API key|auth token)\b|OAuth token (?:has )?(?:been )?(?:expired|revoked)|\blogin (?:has )?(?:expired|reached its time limit)|Failed to authenticate\b|\bauthentication_error\b|disabled (?:organization|API key authentication|Claude subscription)|API Error: 40[13]\b|\bapiKeyHelper script is failing\b|\bcan't save to the Keychain\b/i,
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
    says: /API Error: (?:408|409|429|5\d\d)\b|\b(?:overloaded|rate_limit|api|timeout)_error\b|Repeated 529|experiencing high load|\bUnable to connect to API\b(?!.*(?:SSL|certificate))|Can't reach the API server|No internet route|Server error mid-response|(?:response stream|response) (?:was malformed|never arrived)|API Error: (?:Connection|Request timed out|The operation timed out|terminated|fetch failed)|Connection (?:error\.|refused —|closed|dropped|lost)|Request timed out|\bStream idle timeout\b|No response from API\b|The API is temporarily unavailable/i,
    cause: 'provider_unavailable',
  },
];
