/** Wordings that programs share, because they pass on the words of HTTP, the network and the providers' APIs. */
import type { Wordings } from './wording.js';

/** The codes of the system, and the words of the usual HTTP clients. */
export const BROKEN_CONNECTION =
  /\b(?:ECONNRESET|ECONNABORTED|ECONNREFUSED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENETUNREACH|ENETDOWN|EHOSTUNREACH|EHOSTDOWN|UND_ERR_[A-Z_]+)\b|\bsocket hang up\b|\bfetch failed\b|\b(?:network|connection) (?:error|failed|failure|reset|refused|closed|aborted|lost|timed out|timeout)\b|\bcould not connect\b|\bconnect(?:ion)? timeout\b/i;

/** For failures that a program reports as such. Never for all that a program prints: a log of a build holds such words, too. */
export const ANY_WORDINGS: Wordings = [
  {
    says: /\binsufficient_quota\b|\binsufficient (?:credits?|balance|funds)\b|\bpayment required\b|\bbilling\b.{0,40}\b(?:inactive|disabled|hard limit)|\b(?:error|status|HTTP|code)\b[^\w\n]{0,4}402\b/i,
    cause: 'credit',
  },
  {
    says: /\b(?:usage|quota|plan|session|weekly|daily) limit (?:has been )?(?:reached|exceeded|hit)|\bhit (?:your|the) (?:\w+ ){0,2}limit\b|\bquota (?:has been )?(?:exceeded|exhausted)\b/i,
    cause: 'rate_limit',
  },
  {
    says: /\bunauthorized\b|\binvalid (?:x-)?api[ -]key\b|\bnot logged in\b|\b(?:login|token|session|credentials) (?:has |have |is |are |was )?(?:expired|revoked|invalid)\b|\b(?:log|sign) in again\b|\bauthentication (?:failed|error|required)\b|\b(?:error|status|HTTP|code)\b[^\w\n]{0,4}401\b/i,
    cause: 'authentication',
    remedy: 'log the agent in again, or renew its key',
  },
  {
    says: /\b(?:context|prompt|input|conversation)\b.{0,40}\b(?:too long|too large|length exceeded)\b|\bmaximum context length\b|\bcontext_length_exceeded\b|\bcontext window\b.{0,30}\bexceed/i,
    cause: 'context_overflow',
  },
  {
    says: /\binvalid_request(?:_error)?\b|\b(?:error|status|HTTP|code)\b[^\w\n]{0,4}400\b|\bno (?:rollout|conversation|session|thread) (?:was )?found\b|\b(?:conversation|session|thread)\b.{0,40}\b(?:not found|does not exist|no longer exists|corrupt(?:ed)?|cannot be (?:resumed|continued))\b/i,
    cause: 'conversation_unusable',
  },
  {
    says: /\b(?:error|status|HTTP|code)\b[^\w\n]{0,4}(?:408|429|500|502|503|504|529)\b|\b(?:429|500|502|503|504|529)\b[ :,(-]{1,3}(?:too many|internal|bad gateway|service|gateway|overloaded)|\boverloaded(?:_error)?\b|\btoo many requests\b|\brate[ _-]limit(?:ed|_error|_exceeded)?\b|\bservice (?:is )?(?:temporarily )?unavailable\b|\bbad gateway\b|\bgateway time-?out\b|\binternal server error\b|\bat capacity\b|\bhigh (?:demand|load)\b|\bstream (?:disconnected|closed|broke off)\b|\btemporarily unavailable\b|\bserver (?:is )?busy\b/i,
    cause: 'provider_unavailable',
  },
  { says: BROKEN_CONNECTION, cause: 'provider_unavailable' },
];
