/**
 * Tokens that begin with the prefix of their issuer. Each body is one class of characters with a minimum length, so that a
 * match ends with the token and takes linear time.
 */

interface MarkedToken {
  readonly mark: string;
  /** Sticky; from the mark on. */
  readonly whole: RegExp;
  readonly kind: string;
}

const WORD = '[A-Za-z0-9_-]';
const ALNUM = '[A-Za-z0-9]';
/** Mark, body, kind. A comma separates marks with the same body. */
const TABLE: readonly (readonly [marks: string, body: string, kind: string])[] = [
  ['ghp_,gho_,ghs_,ghu_,ghr_', '[A-Za-z0-9_]{20,}', 'github_token'],
  ['github_pat_', '[A-Za-z0-9_]{20,}', 'github_token'],
  ['glpat-,gldt-,glrt-,glcbt-,glptt-,glft-,glimt-,glagent-,glsoat-,gloas-', `${WORD}{20,}`, 'token'],
  ['sk-ant-', `${WORD}{10,}`, 'api_key'],
  ['sk-proj-,sk-svcacct-,sk-admin-,sk-None-', `${WORD}{20,}`, 'api_key'],
  ['sk-or-v1-', `${ALNUM}{20,}`, 'api_key'],
  ['sk-', `(?=[A-Za-z]{0,40}\\d)${ALNUM}{20,}`, 'api_key'],
  ['sk_live_,sk_test_,rk_live_,rk_test_,whsec_,sk_prod_', `${ALNUM}{16,}`, 'api_key'],
  ['AIza', `${WORD}{35}`, 'api_key'],
  ['GOCSPX-', `${WORD}{20,}`, 'client_secret'],
  ['ya29.', `${WORD}{20,}`, 'token'],
  ['AKIA,ASIA', '[A-Z0-9]{16}(?![A-Z0-9])', 'aws_key'],
  ['ABSK', '[A-Za-z0-9+/]{80,}', 'aws_key'],
  ['LTAI', `${ALNUM}{12,24}(?!${ALNUM})`, 'api_key'],
  ['xoxb-,xoxp-,xoxa-,xoxo-,xoxr-,xoxs-,xoxe-,xoxc-,xoxd-,xapp-', '[A-Za-z0-9-]{10,}', 'slack_token'],
  ['xoxe.', '[A-Za-z0-9.-]{20,}', 'slack_token'],
  ['npm_', `${ALNUM}{36}`, 'token'],
  ['pypi-', `${WORD}{40,}`, 'token'],
  ['hf_,api_org_', `${ALNUM}{30,}`, 'token'],
  ['hvs.,hvb.,hvr.', `${WORD}{20,}`, 'token'],
  ['glsa_', '[A-Za-z0-9]{32}_[0-9a-f]{8}', 'token'],
  ['glc_', '[A-Za-z0-9+/=]{32,}', 'token'],
  ['dapi', '[0-9a-f]{32}(?:-\\d)?', 'token'],
  ['shpat_,shpca_,shppa_,shpss_', '[0-9a-fA-F]{32}', 'token'],
  ['lin_api_,lin_oauth_', `${ALNUM}{32,}`, 'api_key'],
  ['dckr_pat_,dckr_oat_', `${WORD}{20,}`, 'token'],
  ['AGE-SECRET-KEY-1', '[A-Z0-9]{50,}', 'private_key'],
  ['dop_v1_,doo_v1_,dor_v1_', '[0-9a-f]{64}', 'token'],
  ['SG.', `${WORD}{16,}\\.${WORD}{16,}`, 'api_key'],
  ['key-', '[0-9a-f]{32}(?![0-9a-f])', 'api_key'],
  ['sntrys_,sntryu_', '[A-Za-z0-9+/=_-]{40,}', 'token'],
  ['NRAK-,NRJS-,NRII-', '[A-Za-z0-9_-]{20,}', 'api_key'],
  ['pul-', '[0-9a-f]{40}', 'token'],
  ['ATATT3,ATCTT3,ATBB', '[A-Za-z0-9_=.-]{24,}', 'token'],
  ['figd_,figu_', `${WORD}{36,}`, 'token'],
  ['ntn_', `${ALNUM}{40,}`, 'token'],
  ['PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}', 'api_key'],
  ['dp.pt.,dp.st.,dp.ct.,dp.sa.', '[A-Za-z0-9._-]{40,}', 'token'],
  ['rubygems_', '[0-9a-f]{48}', 'api_key'],
  ['tskey-', '[A-Za-z0-9-]{20,}', 'api_key'],
  ['pscale_tkn_,pscale_pw_,pscale_oauth_', '[A-Za-z0-9_.=-]{32,}', 'token'],
  ['sq0atp-,sq0csp-', `${WORD}{22,}`, 'token'],
  ['EAAC,EAAB,EAAG,EAAJ', `${ALNUM}{80,}`, 'token'],
  ['gsk_', `${ALNUM}{40,}`, 'api_key'],
  ['xai-', `${ALNUM}{60,}`, 'api_key'],
  ['pplx-', `${ALNUM}{40,}`, 'api_key'],
  ['r8_', `${ALNUM}{37}`, 'token'],
  ['nvapi-', `${WORD}{60,}`, 'api_key'],
  ['sbp_', '[0-9a-f]{40}', 'token'],
  ['sb_secret_', `${WORD}{30,}`, 'token'],
  ['nfp_', `${ALNUM}{36,}`, 'token'],
  ['CFPAT-', `${WORD}{40,}`, 'token'],
  ['lsv2_pt_,lsv2_sk_', '[0-9a-f]{32}_[0-9a-f]{10}', 'api_key'],
  ['oy2', '[a-z0-9]{43}(?![A-Za-z0-9])', 'api_key'],
  ['cio', `${ALNUM}{32}(?!${ALNUM})`, 'api_key'],
  ['AKCp', `${ALNUM}{60,}`, 'api_key'],
  ['bkua_', '[0-9a-f]{40}', 'token'],
  ['CCIPAT_', `${WORD}{40,}`, 'token'],
  ['dt0c01.', '[A-Z0-9]{24}\\.[A-Z0-9]{64}', 'token'],
  ['eyJ', `${WORD}{5,}\\.${WORD}{5,}\\.${WORD}*`, 'jwt'],
];

/** By the mark's first character; the longer of two marks comes first. */
export const MARKED_TOKENS = new Map<string, readonly MarkedToken[]>();
for (const [marks, body, kind] of TABLE) {
  for (const mark of marks.split(',')) {
    const whole = new RegExp(mark.replaceAll('.', '\\.') + body, 'y');
    const first = mark.charAt(0);
    MARKED_TOKENS.set(first, [...(MARKED_TOKENS.get(first) ?? []), { mark, whole, kind }]);
  }
}

/** Any mark, up to its first dot; grouped by first characters, so that the engine rejects most positions at once. */
export const SOME_MARK = [...MARKED_TOKENS]
  .map(([first, tokens]) => {
    const rests = tokens.map(({ mark }) => mark.slice(1).replace(/\..*/, String.raw`(?=\.)`));
    return `${first}(?:${rests.join('|')})`;
  })
  .join('|');

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
