/**
 * The shapes of well-known secrets, for `redact.ts`.
 *
 * They stand in families. A family's `needs` is met by every text in which one of its shapes is found, and by few others: most
 * texts hold no secret, and one quick look per family tells so.
 *
 * Every pattern reads a text in linear time, because the text may be an attacker's: each begins with a literal, a repeat
 * is either bounded, or consumed by the match, or ends at a character that the next attempt begins with.
 */

interface Shape {
  readonly find: RegExp;
  readonly replacement: string;
}

interface Family {
  /** Without the flag `g`, which would remember where it was. */
  readonly needs: RegExp;
  /** Each is looked for in what the ones before it have left. */
  readonly shapes: readonly Shape[];
}

/** Where a word may begin, also right after an escape sequence of JSON or a terminal colour. */
const WORD_START = String.raw`(?:^|[^A-Za-z0-9_-]|\\[nrtbf]|\\u[0-9a-fA-F]{4}|\[[0-9;]{0,12}m)`;
/** An opening or closing quote, at any depth of JSON in JSON. */
const QUOTE = String.raw`\\{0,7}["']`;
const ENDING_OF_NAME =
  'TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API[_-]?KEY|ACCESS[_-]?KEY|SECRET[_-]?KEY|PRIVATE[_-]?KEY|AUTH[_-]?KEY';
/** Not a marker of an earlier pass; quotes and backslashes stay, so that JSON remains JSON. */
const VALUE = String.raw`(?!\[redacted:)[^\s"'\\,;&]{3,}`;
const QUOTED_VALUE = String.raw`(?!\[redacted:)[^"'\\\r\n]+`;

/** The first line of a private key, of whichever kind. */
export const KEY_BEGINS = '-----BEGIN PRIVATE KEY-----';
const KEY_BEGUN = '-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----';
const KEY_ENDED = '-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----';
/** Up to what ends a string of JSON, at any depth of JSON in JSON. */
const KEY_BODY = String.raw`(?:[^"\\-]|\\+[^"\\]|-(?!----))*`;
const OPEN_KEY = new RegExp(`(?:${KEY_BEGUN}${KEY_BODY}|-----BEGIN[A-Z0-9 ]{0,60}-{0,5})$`);

/** @returns whether a private key begins in the text and goes on behind its end */
export function endsInsideKey(text: string): boolean {
  const begun = text.lastIndexOf('-----BEGIN');
  return begun >= 0 && OPEN_KEY.test(text.slice(begun));
}

const PRIVATE_KEYS: Family = {
  needs: /-----BEGIN /,
  shapes: [
    {
      find: new RegExp(`${KEY_BEGUN}${KEY_BODY}(?:${KEY_ENDED})?`, 'g'),
      replacement: '[redacted:private_key]',
    },
  ],
};

const BOT_TOKENS: Family = {
  needs: /[:%][A-Za-z0-9_-]{30}/,
  shapes: [{ find: /(?<!\d)\d{6,}(?::|%3[Aa])[A-Za-z0-9_-]{30,}/g, replacement: '[redacted:bot_token]' }],
};

/** Tokens that begin with the mark of who gave them. */
const MARKED_TOKENS: Family = {
  needs:
    /[_-](?<=(?:gh[opsur]|github_pat|[rs]k|npm|glpat|hf|xox[a-z]|xapp).)[A-Za-z0-9_-]{10}|AIza|ya29\.|AKIA|ASIA|eyJ/,
  shapes: [
    { find: /gh[opsur]_[A-Za-z0-9_]{20,}/g, replacement: '[redacted:github_token]' },
    { find: /github_pat_[A-Za-z0-9_]{20,}/g, replacement: '[redacted:github_token]' },
    { find: /sk-ant-[A-Za-z0-9_-]{10,}/g, replacement: '[redacted:api_key]' },
    { find: new RegExp(`sk-(?<=${WORD_START}sk-)[A-Za-z0-9_-]{20,}`, 'g'), replacement: '[redacted:api_key]' },
    { find: /(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/g, replacement: '[redacted:api_key]' },
    { find: /AIza[A-Za-z0-9_-]{35}/g, replacement: '[redacted:api_key]' },
    { find: /(?:npm_[A-Za-z0-9]{36}|glpat-[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,})/g, replacement: '[redacted:token]' },
    { find: /ya29\.[A-Za-z0-9_-]{20,}/g, replacement: '[redacted:token]' },
    { find: /(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/g, replacement: '[redacted:aws_key]' },
    { find: /(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}/g, replacement: '[redacted:slack_token]' },
    {
      find: new RegExp(`eyJ(?<=${WORD_START}eyJ)[A-Za-z0-9_-]{5,}\\.[A-Za-z0-9_-]{5,}\\.[A-Za-z0-9_-]*`, 'g'),
      replacement: '[redacted:jwt]',
    },
  ],
};

const AUTHORIZATIONS: Family = {
  needs: new RegExp(String.raw`authorization(?:${QUOTE})?\s{0,4}[:=]|bearer\s`, 'i'),
  shapes: [
    {
      find: new RegExp(
        String.raw`(authorization(?:${QUOTE})?\s{0,4}[:=]\s{0,4}(?:${QUOTE})?)(?!\[redacted:)(?:(?:bearer|basic|token|digest)\s{1,4}(?!\[redacted:)[^\s"'\\,;]{4,}|[^\s"'\\,;]{16,})`,
        'gi',
      ),
      replacement: '$1[redacted:authorization]',
    },
    {
      find: /(bearer\s{1,4})(?=[A-Za-z._~+/-]{0,64}\d)[A-Za-z0-9._~+/=-]{8,}/gi,
      replacement: '$1[redacted:authorization]',
    },
  ],
};

const LOGINS_IN_ADDRESSES: Family = {
  needs: /:\/\/[^\s/@]+@/,
  shapes: [
    {
      find: /(:\/\/[^\s/:@"'\\[]*:)(?!\[redacted:)[^\s/@"'\\]+@/g,
      replacement: '$1[redacted:password]@',
    },
    { find: /(:\/\/)[^\s/:@"'\\[]{20,}@/g, replacement: '$1[redacted:password]@' },
  ],
};

const NAMED_VALUES: Family = {
  needs: new RegExp(String.raw`(?:${ENDING_OF_NAME})(?:${QUOTE})?\s{0,3}[=:]`, 'i'),
  shapes: [
    // Names as in the environment: with `=` or `:`.
    {
      find: new RegExp(
        String.raw`((?:${ENDING_OF_NAME})(?:${QUOTE})?\s{0,3}[=:]\s{0,3})(?:(${QUOTE})${QUOTED_VALUE}|${VALUE})`,
        'g',
      ),
      replacement: '$1$2[redacted:value]',
    },
    // Other names: with `=`, or as a quoted pair. A bare colon is prose: "unexpected token: foo".
    {
      find: new RegExp(`((?:${ENDING_OF_NAME})=)(?:(${QUOTE})${QUOTED_VALUE}|${VALUE})`, 'gi'),
      replacement: '$1$2[redacted:value]',
    },
    {
      find: new RegExp(String.raw`((?:${ENDING_OF_NAME})${QUOTE}\s{0,3}:\s{0,3})(${QUOTE})${QUOTED_VALUE}`, 'gi'),
      replacement: '$1$2[redacted:value]',
    },
    {
      find: new RegExp(String.raw`((?:password|passwd|passphrase|api[_-]key):\s{0,3})${VALUE}`, 'gi'),
      replacement: '$1[redacted:value]',
    },
  ],
};

/** Each is looked for in what the ones before it have left. */
export const SECRET_FAMILIES: readonly Family[] = [
  PRIVATE_KEYS,
  BOT_TOKENS,
  MARKED_TOKENS,
  AUTHORIZATIONS,
  LOGINS_IN_ADDRESSES,
  NAMED_VALUES,
];
