/** Gemini CLI: 0.49.0 to 0.61.0, from the program itself, and from reports of its users; the API's own answer is part of its words. */
import { BROKEN_CONNECTION, UNTRUSTED } from './anyProgram.js';
import { OTHER_NETWORK, OTHER_SETTING, type Wordings } from './wording.js';

const KEY = 'give the agent a valid GEMINI_API_KEY in AGENT_ENV';
const PAY = 'raise the quota of the key, or its billing';

export const GEMINI_WORDINGS: Wordings = [
  UNTRUSTED,
  {
    says: /\bModelNotFoundError\b|\bmodels\/\S+ is not (?:found|supported)\b|\bRequested entity was not found\b/,
    cause: 'misconfigured',
    remedy: OTHER_SETTING,
  },
  { says: /\bUser location is not supported\b/i, cause: 'misconfigured', remedy: OTHER_NETWORK },
  {
    says: /no longer supported for Gemini Code Assist for individuals|IneligibleTier|UNSUPPORTED_CLIENT/i,
    cause: 'authentication',
    remedy: 'Gemini CLI serves no private accounts any more: give the agent a GEMINI_API_KEY, or use another program',
  },
  {
    says: /API_KEY_INVALID|API key (?:not valid|expired|not found)|UNAUTHENTICATED|PERMISSION_DENIED|invalid_grant|Please set an Auth method|Manual authorization is required|Failed to (?:sign in|authenticate)|\b(?:code|status)\\?"?:? ?40[13]\b|re-?authenticate/i,
    cause: 'authentication',
    remedy: KEY,
  },
  {
    says: /INSUFFICIENT_G1_CREDITS_BALANCE|\bcredits are depleted\b|billing (?:account|details)[^.]*(?:disabled|required|not)|\blimit: ?0(?![\d.])/i,
    cause: 'credit',
    remedy: PAY,
  },
  {
    says: /exhausted your (?:daily quota|capacity)|QUOTA_EXHAUSTED|quota will reset|PerDay(?:Per|\b)/,
    cause: 'rate_limit',
  },
  {
    says: /input token count .*exceeds|exceeds the maximum number of tokens|context window (?:will )?overflow/i,
    cause: 'context_overflow',
  },
  {
    says: /Invalid session identifier|No previous sessions found|Error resuming session|INVALID_ARGUMENT|Unable to process input image|\b(?:code|status)\\?"?:? ?400\b|Please ensure that (?:the number of )?function (?:call|response)/i,
    cause: 'conversation_unusable',
  },
  {
    says: /\b(?:RESOURCE_EXHAUSTED|MODEL_CAPACITY_EXHAUSTED|RATE_LIMIT_EXCEEDED|UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL)\b|No capacity available|[Ss]uggested retry after|[Pp]lease retry in|exceeded your current quota/,
    cause: 'provider_unavailable',
  },
  {
    says: /\boverloaded\b|high demand|Too Many Requests|fetch failed|premature close|stream (?:ended|closed|error)|\b(?:code|status)\\?"?:? ?(?:429|499|5\d\d)\b/i,
    cause: 'provider_unavailable',
  },
  { says: BROKEN_CONNECTION, cause: 'provider_unavailable' },
];
