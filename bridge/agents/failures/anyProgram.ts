/** Wordings that programs share, because they pass on the words of HTTP, the network and the providers' APIs. */
import { OTHER_SETTING, type Wording, type Wordings } from './wording.js';

/** The codes of the system, and the words of the usual HTTP clients. */
export const BROKEN_CONNECTION =
  /\b(?:ECONNRESET|ECONNABORTED|ECONNREFUSED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENETUNREACH|ENETDOWN|EHOSTUNREACH|EHOSTDOWN|UND_ERR_[A-Z_]+)\b|\bsocket hang up\b|\bfetch failed\b|\b(?:network|connection) (?:error|failed|failure|reset|refused|closed|aborted|lost|timed out|timeout)\b|\bcould not connect\b|\bconnect(?:ion)? timeout\b/i;

/** No wait helps: a proxy that looks into connections, or a private authority. An expired certificate is its server's trouble, and passes. */
export const UNTRUSTED: Wording = {
  says: /\b(?:(?:DEPTH_ZERO_)?SELF_SIGNED_CERT(?:_IN_CHAIN)?|UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(?:_LOCALLY)?)|ERR_TLS_CERT_ALTNAME_INVALID)\b|\bself[- ]signed certificate\b|\bunable to (?:get local issuer|verify the first) certificate\b|\bcertificate (?:verification failed|verify failed|hostname mismatch)\b|\binvalid peer certificate: (?:UnknownIssuer|NotValidForName)\b/i,
  cause: 'misconfigured',
  remedy:
    'let the agent trust the certificate of its provider or proxy (NODE_EXTRA_CA_CERTS or SSL_CERT_FILE in AGENT_ENV)',
};

/** For failures that a program reports as such. Never for all that a program prints: a log of a build holds such words, too. */
export const ANY_WORDINGS: Wordings = [
  UNTRUSTED,
  {
    says: /\bmodel_not_found\b|\bmodel ["'`][\w.:/-]+["'`] (?:does not exist|(?:is |was )?not (?:found|available|supported))\b/i,
    cause: 'misconfigured',
    remedy: OTHER_SETTING,
  },
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
