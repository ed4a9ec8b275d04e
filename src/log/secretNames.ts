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

/** No relevant name is longer. */
const LONGEST_ENDING = 40;
const SECRET_KEY =
  /(?:api|access|secret|private|auth|account|encryption|encrypt|signing|master|service|role|app|license|webhook|admin|deploy|shared|storage|subscription|integration)[_-]?key$/;
const INNOCENT_KEY =
  /(?:public|publishable|primary|foreign|sort|partition|cache|unique|group|hash|range|row|index|map|object|dedup|lookup|composite|sub|translation|message|store|query|idempotency|site)[_-]?key$/;

/** The last three letters of all names, five bits each: a single lookup rejects most words. */
const ENDINGS = new Uint8Array(32_768);
for (const ending of 'ken ret ord swd pwd ass ase key uth ion rer kie sig ure ata nes'.split(' ')) {
  ENDINGS[fifteenBits(ending.charCodeAt(0), ending.charCodeAt(1), ending.charCodeAt(2))] = 1;
}

function fifteenBits(first: number, second: number, third: number): number {
  return ((first & 31) << 10) | ((second & 31) << 5) | (third & 31);
}

/** @returns false for most words; true for those that {@link nameKindOf} has to decide about */
export function mayEndName(first: number, second: number, third: number): boolean {
  return ENDINGS[fifteenBits(first, second, third)] === 1;
}

/**
 * @param text that contains the name
 * @param start of the word
 * @param end after the word
 * @returns null for most words, after a check of their last letters
 */
export function nameKindOf(text: string, start: number, end: number): NameKind | null {
  if (end - start < 3) return null;
  const last = text.charCodeAt(end - 1) | 32;
  const beforeLast = text.charCodeAt(end - 2) | 32;
  const third = text.charCodeAt(end - 3) | 32;
  // The three letters as one number, which costs less than comparing texts: every word of every line comes here.
  switch ((third << 16) | (beforeLast << 8) | last) {
    case 0x6b656e: // ken
      return endsIn(text, start, end, 'token') ? 'token' : null;
    case 0x726574: // ret
      return endsIn(text, start, end, 'secret') ? 'secret' : null;
    case 0x6f7264: // ord
      return endsIn(text, start, end, 'password') ? 'password' : null;
    case 0x737764: // swd
      return endsIn(text, start, end, 'passwd') ? 'password' : null;
    case 0x707764: // pwd
      return isOwnWord(text, start, end, 3) ? 'password' : null;
    case 0x617373: // ass
      return endsIn(text, start, end, 'pass') && isOwnWord(text, start, end, 4) ? 'password' : null;
    case 0x617365: // ase
      if (endsIn(text, start, end, 'passphrase')) return 'password';
      return endsIn(text, start, end, 'secret_key_base') ? 'key' : null;
    case 0x6b6579: // key
      return keyKind(text, start, end);
    case 0x757468: // uth
      return endsIn(text, start, end, 'auth') && isOwnWord(text, start, end, 4) ? 'auth' : null;
    case 0x696f6e: // ion
      return endsIn(text, start, end, 'authorization') ? 'authorization' : null;
    case 0x726572: // rer
      return endsIn(text, start, end, 'bearer') ? 'bearer' : null;
    case 0x6b6965: // kie
      return endsIn(text, start, end, 'cookie') ? 'cookie' : null;
    case 0x736967: // sig
      return end - start === 3 ? 'signature' : null;
    case 0x757265: // ure
      return endsIn(text, start, end, 'signature') ? 'signature' : null;
    case 0x617461: // ata
      return endsIn(text, start, end, 'key-data') ? 'key_data' : null;
    case 0x6e6573: // nes
      return endsIn(text, start, end, 'private-lines') ? 'private_lines' : null;
    default:
      return null;
  }
}

function endsIn(text: string, start: number, end: number, ending: string): boolean {
  return end - start >= ending.length && text.slice(end - ending.length, end).toLowerCase() === ending;
}

/** Whether the last `length` letters are a separate word: `DB_PASS`, `dbPass` and `pass`, not `compass`. */
function isOwnWord(text: string, start: number, end: number, length: number): boolean {
  const at = end - length;
  if (at === start) return true;
  const before = text.charAt(at - 1);
  return before === '_' || before === '-' || (/[a-z0-9]/.test(before) && /[A-Z]/.test(text.charAt(at)));
}

function keyKind(text: string, start: number, end: number): NameKind | null {
  const name = text.slice(Math.max(start, end - LONGEST_ENDING), end);
  const lower = name.toLowerCase();
  if (INNOCENT_KEY.test(lower)) return null;
  if (SECRET_KEY.test(lower)) return 'key';
  return name.length > 3 && isOwnWord(name, 0, name.length, 3) ? 'some_key' : null;
}
