/**
 * Takes secrets out of text before it reaches a log, an event line, an issue or a chat.
 *
 * Two passes: the literal values of our own secrets, in the forms in which they travel, then the shapes of well-known
 * secrets. Redact first and cut afterwards: a secret that was cut in half is no longer recognised.
 *
 * It is a net, not a proof: a foreign secret without a known shape and without a telling name passes.
 *
 * Every pattern reads a text in linear time, because the text may be an attacker's: each begins with a literal, a repeat
 * is either bounded, or consumed by the match, or ends at a character that the next attempt begins with.
 */

export type Redact = (text: string) => string;

/** Shorter values stand in too many innocent words. */
const SHORTEST_SECRET = 6;

interface Pattern {
  readonly find: RegExp;
  readonly replacement: string;
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

/** No pattern finds anything in such a word; a journal is full of them. */
const PLAIN_WORD = /^[a-z_]{1,16}$/;

const PATTERNS: readonly Pattern[] = [
  {
    find: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^"\\-]|\\[^"\\]|-(?!----))*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
    replacement: '[redacted:private_key]',
  },
  { find: /(?<!\d)\d{6,}(?::|%3[Aa])[A-Za-z0-9_-]{30,}/g, replacement: '[redacted:bot_token]' },
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
  {
    find: /(:\/\/[^\s/:@"'\\[]*:)(?!\[redacted:)[^\s/@"'\\]+@/g,
    replacement: '$1[redacted:password]@',
  },
  { find: /(:\/\/)[^\s/:@"'\\[]{20,}@/g, replacement: '$1[redacted:password]@' },
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
];

/**
 * @param address of a server, perhaps with a login in it
 * @returns what of it must not be shown: password and query, as they are written and as they are meant; nothing of an address
 *   without them, which an operator has to read; the whole text where it cannot be read as an address
 */
export function secretsInAddress(address: string): string[] {
  if (!URL.canParse(address)) return [address];
  const { password, search } = new URL(address);
  const parts = [password, search.slice(1)];
  try {
    parts.push(decodeURIComponent(password));
  } catch {
    // Written with a lonely "%": as it stands is all that there is.
  }
  return [...new Set(parts)].filter((part) => part !== '');
}

/**
 * @param secrets our own secrets (tokens, passwords); values under 6 characters are left out
 * @returns a function that replaces them, and everything that looks like a secret, by a marker naming its kind.
 *   Redacting twice changes nothing more.
 */
export function createRedactor(secrets: readonly string[]): Redact {
  const literals = literalPattern(secrets);
  return (text) => {
    let result = literals === null ? text : text.replace(literals, '[redacted:own_secret]');
    if (PLAIN_WORD.test(result)) return result;
    for (const { find, replacement } of PATTERNS) result = result.replace(find, replacement);
    return result;
  };
}

/**
 * Redacts the final form of a line of JSON and keeps it JSON.
 *
 * @param line one JSON value, without a line end; text that is not JSON is redacted as it is
 * @returns the line without secrets
 */
export function redactJsonLine(redact: Redact, line: string): string {
  const result = redact(line);
  if (result === line || isJson(result)) return result;
  // A match began inside an escape sequence. Value by value there are no escapes.
  return isJson(line) ? JSON.stringify(redactValue(redact, JSON.parse(line))) : result;
}

function redactValue(redact: Redact, value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(redact, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redactValue(redact, item)]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** All forms of all secrets in one pattern, the longest first, so that no secret hides the rest of a longer one. */
function literalPattern(secrets: readonly string[]): RegExp | null {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < SHORTEST_SECRET) continue;
    for (const form of formsOf(secret)) forms.add(form);
  }
  if (forms.size === 0) return null;
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
}

function formsOf(secret: string): string[] {
  const wellFormed = Buffer.from(secret, 'utf8').toString('utf8');
  const urlEncoded = encodeURIComponent(wellFormed);
  const formEncoded = new URLSearchParams({ '': wellFormed }).toString().slice(1);
  const lowerHex = (text: string) => text.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    urlEncoded,
    lowerHex(urlEncoded),
    formEncoded,
    lowerHex(formEncoded),
    ...base64Forms(wellFormed),
  ];
}

/**
 * Base64 of a text that holds the secret, as `Basic dXNlcjp…` does: three alignments, in both alphabets. Characters that
 * mix the secret's bits with its neighbours' are left out.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    const form = text.slice(first, end);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
