/** Names that are followed by a secret: `DB_PASSWORD=`, `"apiKey":`, `--token `. */

export type NameKind =
  | 'password'
  | 'secret'
  | 'token'
  /** `api_key` and the like: always a secret. */
  | 'key'
  /** Any other `…_key`: a secret only if its value looks random. */
  | 'some_key'
  | 'auth'
  | 'signature'
  | 'key_data'
  | 'authorization'
  | 'bearer'
  | 'cookie'
  | 'private_lines';

/**
 * A name at a word's end. `own`: only as a word of its own, `DB_PASS`, `dbPass` and `pass`, not `compass`. `whole`: only as the
 * whole word. `…key` is decided by its beginning.
 */
const NAMES: readonly (readonly [ending: string, kind: NameKind, as?: 'own' | 'whole'])[] = [
  ['token', 'token'],
  ['secret', 'secret'],
  ['password', 'password'],
  ['passwd', 'password'],
  ['passphrase', 'password'],
  ['pwd', 'password', 'own'],
  ['pass', 'password', 'own'],
  ['secret_key_base', 'key'],
  ['key', 'some_key'],
  ['auth', 'auth', 'own'],
  ['authorization', 'authorization'],
  ['bearer', 'bearer'],
  ['cookie', 'cookie'],
  ['sig', 'signature', 'whole'],
  ['signature', 'signature'],
  ['key-data', 'key_data'],
  ['private-lines', 'private_lines'],
];
/** No relevant name is longer. */
const LONGEST_ENDING = 40;
const SECRET_KEY =
  /(?:api|access|secret|private|auth|account|encryption|encrypt|signing|master|service|role|app|license|webhook|admin|deploy|shared|storage|subscription|integration)[_-]?key$/i;
const INNOCENT_KEY =
  /(?:public|publishable|primary|foreign|sort|partition|cache|unique|group|hash|range|row|index|map|object|dedup|lookup|composite|sub|translation|message|store|query|idempotency|site)[_-]?key$/i;

/** Any of the names at a word's end. */
export const SOME_NAME = new RegExp(String.raw`(?:${NAMES.map(([ending]) => ending).join('|')})(?![\w-])`, 'gi');

/** @returns what the word from `start` to `end` of the text names; null for most words */
export function nameKindOf(text: string, start: number, end: number): NameKind | null {
  const word = text.slice(Math.max(start, end - LONGEST_ENDING), end);
  const lower = word.toLowerCase();
  const [ending, kind, as] = NAMES.find(([name]) => lower.endsWith(name)) ?? [];
  if (ending === undefined || kind === undefined) return null;
  if (kind === 'some_key') return keyKind(word);
  if (as === 'whole') return lower === ending ? kind : null;
  return as === undefined || isOwnWord(word, ending.length) ? kind : null;
}

/** Whether the last `length` letters are a word of their own. */
function isOwnWord(word: string, length: number): boolean {
  const at = word.length - length;
  if (at === 0) return true;
  const before = word.charAt(at - 1);
  return before === '_' || before === '-' || (/[a-z0-9]/.test(before) && /[A-Z]/.test(word.charAt(at)));
}

function keyKind(word: string): NameKind | null {
  if (INNOCENT_KEY.test(word)) return null;
  if (SECRET_KEY.test(word)) return 'key';
  return word.length > 3 && isOwnWord(word, 3) ? 'some_key' : null;
}
