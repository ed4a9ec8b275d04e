/**
 * Tokens that begin with the prefix of their issuer, its mark. Each body is one class of characters with a minimum length, so
 * that a match ends with the token. A mark may occur anywhere in a word, thousands of times if the text is an attacker's: what a
 * body takes without being a token is bounded, so that all of them together take linear time.
 */
import { type FoundSecret, matchEnd } from './stickyMatch.js';

/** What may stand before a mark. A letter may not if the mark is the end of other words, too: `task-` is no `sk-`. */
type Before = 'anything' | 'no letter' | 'no word';

class MarkedToken {
  readonly mark: string;
  readonly kind: string;
  readonly before: Before;
  readonly #body: string;
  #whole: RegExp | null = null;

  constructor(mark: string, body: string, kind: string, before: Before) {
    this.mark = mark;
    this.#body = body;
    this.kind = kind;
    this.before = before;
  }

  /** Sticky; from the mark on. Made when a mark is met: making all of them takes a hook longer than what it does. */
  get whole(): RegExp {
    this.#whole ??= new RegExp(escaped(this.mark) + this.#body, 'y');
    return this.#whole;
  }
}

const WORD = '[A-Za-z0-9_-]';
const ALNUM = '[A-Za-z0-9]';
/** Mark, body, kind, and what may stand before. A comma separates marks with the same body. */
const TABLE: readonly (readonly [marks: string, body: string, kind: string, before?: Before])[] = [
  ['ghp_,gho_,ghs_,ghu_,ghr_', '[A-Za-z0-9_]{20,}', 'github_token'],
  ['github_pat_', '[A-Za-z0-9_]{20,}', 'github_token'],
  ['glpat-,gldt-,glrt-,glcbt-,glptt-,glft-,glimt-,glagent-,glsoat-,gloas-', `${WORD}{20,}`, 'token'],
  ['sk-ant-', `${WORD}{10,}`, 'api_key', 'no letter'],
  ['sk-ant-', `(?=[a-z]{3,8}\\d)${WORD}{10,}`, 'api_key'],
  ['sk-proj-,sk-svcacct-,sk-admin-,sk-None-', `${WORD}{20,}`, 'api_key', 'no letter'],
  ['sk-proj-,sk-svcacct-,sk-admin-,sk-None-', `(?=[A-Za-z_-]{0,40}\\d)${WORD}{40,}`, 'api_key'],
  ['sk-or-v1-', `${ALNUM}{20,}`, 'api_key'],
  ['sk-', `(?=[A-Za-z]{0,40}\\d)${ALNUM}{20,}`, 'api_key', 'no letter'],
  ['sk-', `(?=[A-Za-z]{0,40}\\d)(?=[a-z0-9]{0,40}[A-Z])(?=[A-Z0-9]{0,40}[a-z])${ALNUM}{32,}`, 'api_key'],
  ['sk_live_,sk_test_,rk_live_,rk_test_,whsec_,sk_prod_', `${ALNUM}{16,}`, 'api_key', 'no letter'],
  ['AIza', `${WORD}{35}`, 'api_key'],
  ['GOCSPX-', `${WORD}{20,}`, 'client_secret'],
  ['ya29.', `${WORD}{20,}`, 'token'],
  ['AKIA,ASIA', '[A-Z0-9]{16}(?![A-Z0-9])', 'aws_key'],
  ['ABSK', '[A-Za-z0-9+/]{80,}', 'aws_key', 'no word'],
  ['LTAI', `${ALNUM}{12,24}(?!${ALNUM})`, 'api_key', 'no word'],
  ['xoxb-,xoxp-,xoxa-,xoxo-,xoxr-,xoxs-,xoxe-,xoxc-,xoxd-', '[A-Za-z0-9-]{10,}', 'slack_token'],
  ['xapp-', '[A-Za-z0-9-]{10,}', 'slack_token', 'no letter'],
  ['xoxe.', '[A-Za-z0-9.-]{20,}', 'slack_token'],
  ['npm_', `${ALNUM}{36}`, 'token'],
  ['pypi-', `${WORD}{40,}`, 'token', 'no word'],
  ['hf_,api_org_', `${ALNUM}{30,}`, 'token'],
  ['hvs.,hvb.,hvr.', `${WORD}{20,}`, 'token', 'no letter'],
  ['glsa_', '[A-Za-z0-9]{32}_[0-9a-f]{8}', 'token'],
  ['glc_', '[A-Za-z0-9+/=]{32,}', 'token'],
  ['dapi', '[0-9a-f]{32}(?:-\\d)?', 'token'],
  ['shpat_,shpca_,shppa_,shpss_', '[0-9a-fA-F]{32}', 'token'],
  ['lin_api_,lin_oauth_', `${ALNUM}{32,}`, 'api_key'],
  ['dckr_pat_,dckr_oat_', `${WORD}{20,}`, 'token'],
  ['AGE-SECRET-KEY-1', '[A-Z0-9]{50,}', 'private_key'],
  ['dop_v1_,doo_v1_,dor_v1_', '[0-9a-f]{64}', 'token'],
  ['SG.', `${WORD}{16,}\\.${WORD}{16,}`, 'api_key', 'no letter'],
  ['key-', '[0-9a-f]{32}(?![0-9a-f])', 'api_key', 'no word'],
  ['sntrys_,sntryu_', '[A-Za-z0-9+/=_-]{40,}', 'token'],
  ['NRAK-,NRJS-,NRII-', '[A-Za-z0-9_-]{20,}', 'api_key'],
  ['pul-', '[0-9a-f]{40}', 'token'],
  ['ATATT3,ATCTT3', '[A-Za-z0-9_=.-]{24,}', 'token'],
  ['ATBB', '[A-Za-z0-9_=.-]{24,}', 'token', 'no letter'],
  ['figd_,figu_', `${WORD}{36,}`, 'token', 'no letter'],
  ['ntn_', `${ALNUM}{40,}`, 'token'],
  ['PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}', 'api_key'],
  ['dp.pt.,dp.st.,dp.ct.,dp.sa.', '[A-Za-z0-9._-]{40,}', 'token', 'no letter'],
  ['rubygems_', '[0-9a-f]{48}', 'api_key'],
  ['tskey-', '[A-Za-z0-9-]{20,}', 'api_key', 'no letter'],
  ['pscale_tkn_,pscale_pw_,pscale_oauth_', '[A-Za-z0-9_.=-]{32,}', 'token'],
  ['sq0atp-,sq0csp-', `${WORD}{22,}`, 'token'],
  ['EAAC,EAAB,EAAG,EAAJ', `${ALNUM}{80,}`, 'token', 'no word'],
  ['gsk_', `${ALNUM}{40,}`, 'api_key'],
  ['xai-', `${ALNUM}{60,}`, 'api_key'],
  ['pplx-', `${ALNUM}{40,}`, 'api_key'],
  ['r8_', `${ALNUM}{37}`, 'token'],
  ['nvapi-', `${WORD}{60,}`, 'api_key'],
  ['sbp_', '[0-9a-f]{40}', 'token'],
  ['sb_secret_', `${WORD}{30,}`, 'token', 'no letter'],
  ['nfp_', `${ALNUM}{36,}`, 'token'],
  ['CFPAT-', `${WORD}{40,}`, 'token'],
  ['lsv2_pt_,lsv2_sk_', '[0-9a-f]{32}_[0-9a-f]{10}', 'api_key'],
  ['oy2', '[a-z0-9]{43}(?![A-Za-z0-9])', 'api_key', 'no word'],
  ['cio', `${ALNUM}{32}(?!${ALNUM})`, 'api_key', 'no word'],
  ['AKCp', `${ALNUM}{60,}`, 'api_key', 'no word'],
  ['bkua_', '[0-9a-f]{40}', 'token'],
  ['CCIPAT_', `${WORD}{40,}`, 'token'],
  ['dt0c01.', '[A-Z0-9]{24}\\.[A-Z0-9]{64}', 'token'],
  ['eyJ', `${WORD}{5,4000}\\.${WORD}{5,}\\.${WORD}*`, 'jwt', 'no word'],
  ['eyJ', `${WORD}{5,600}\\.${WORD}{5,}\\.${WORD}*`, 'jwt'],
];

/** By the mark's first character; the longer of two marks comes first. */
const MARKED_TOKENS = new Map<string, readonly MarkedToken[]>();
for (const [marks, body, kind, before = 'anything'] of TABLE) {
  for (const mark of marks.split(',')) {
    const first = mark.charAt(0);
    MARKED_TOKENS.set(first, [...(MARKED_TOKENS.get(first) ?? []), new MarkedToken(mark, body, kind, before)]);
  }
}

/** How marks go on after their beginning, which ends with their first sign: `sk_` with `live_`, `test_`, `prod_`. */
const BEGINNINGS = new Map<string, readonly string[]>();
for (const { mark } of [...MARKED_TOKENS.values()].flat()) {
  const [beginning = mark] = /^\w*?[_.-]/.exec(mark) ?? [];
  BEGINNINGS.set(beginning, [...(BEGINNINGS.get(beginning) ?? []), mark.slice(beginning.length)]);
}

const SOME_BEGINNING = new RegExp(anyOf([...BEGINNINGS.keys()]), 'g');

/**
 * For the last character of the beginning of a mark, if the mark goes on behind it. Few places in a text have the two characters
 * with which one ends, and the engine rejects all others at once.
 */
export const WITHIN_MARK = [...grouped([...BEGINNINGS.keys()], (mark) => mark.slice(-1))]
  .map(([, marks]) => {
    const endings = [...grouped(marks, (mark) => mark.slice(-2))];
    return `(?:${endings.map(([ending, ended]) => `${escaped(ending)}(?<=${ended.map(goingOn).join('|')})`).join('|')})`;
  })
  .join('|');

function grouped(marks: readonly string[], by: (mark: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const mark of marks) groups.set(by(mark), [...(groups.get(by(mark)) ?? []), mark]);
  return groups;
}

function goingOn(beginning: string): string {
  const rests = BEGINNINGS.get(beginning) ?? [];
  return rests.includes('') ? escaped(beginning) : `${escaped(beginning)}(?=${anyOf(rests)})`;
}

function anyOf(texts: readonly string[]): string {
  return texts.map(escaped).join('|');
}

function escaped(text: string): string {
  return text.replaceAll('.', '\\.');
}

/**
 * @param start of a word
 * @param end of the word
 * @returns the first token with a mark in the word; it may go beyond its end
 */
export function findMarked(text: string, start: number, end: number): FoundSecret | null {
  // With the dot behind it, which belongs to some marks.
  const word = text.slice(start, end + 1);
  SOME_BEGINNING.lastIndex = 0;
  for (let mark = SOME_BEGINNING.exec(word); mark !== null; mark = SOME_BEGINNING.exec(word)) {
    const secret = markedAt(text, start + mark.index, start, end);
    if (secret !== null) return secret;
    SOME_BEGINNING.lastIndex = mark.index + 1;
  }
  return null;
}

function markedAt(text: string, from: number, start: number, end: number): FoundSecret | null {
  const before = from === start ? 'no word' : /[A-Za-z]/.test(text.charAt(from - 1)) ? 'anything' : 'no letter';
  for (const token of MARKED_TOKENS.get(text.charAt(from)) ?? []) {
    if (!text.startsWith(token.mark, from) || !mayStand(token.before, before)) continue;
    // Its first part goes up to the word's end. Looked at here, because a word may have thousands of marks.
    if (token.kind === 'jwt' && text.charAt(end) !== '.') continue;
    const to = matchEnd(token.whole, text, from);
    if (to > 0) return { from, to, replacement: `[redacted:${token.kind}]` };
  }
  return null;
}

function mayStand(allowed: Before, before: Before): boolean {
  return allowed === 'anything' || before === 'no word' || allowed === before;
}

/** A URL to which anybody who knows it can post; sticky, from the host's name on. */
export const WEBHOOK = new RegExp(
  [
    String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/`,
    String.raw`(?:\w{1,20}\.)?discord(?:app)?\.com/api/(?:v\d{1,3}/)?webhooks/`,
    String.raw`[\w.-]{1,80}\.webhook\.office\.com/webhookb?\d?/`,
    String.raw`outlook\.office(?:365)?\.com/webhook/`,
    String.raw`hooks\.zapier\.com/hooks/catch/`,
    String.raw`maker\.ifttt\.com/trigger/[^/\s]{1,80}/(?:json/)?with/key/`,
    String.raw`open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/`,
    String.raw`hc-ping\.com/`,
  ]
    .map((place) => `(${place})`)
    .join('|')
    .replace(/^(.*)$/, String.raw`(?:$1)[^\s"'\\<>\`]{8,}`),
  'y',
);
