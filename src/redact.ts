/**
 * Takes secrets out of text before it reaches a log, an event line, an issue or a chat.
 *
 * Two passes: the literal values of our own secrets, in the forms in which they travel, then the shapes of well-known
 * secrets. Redact first and cut afterwards: a secret that was cut in half is no longer recognised.
 *
 * It is a net, not a proof: a foreign secret without a known shape and without a telling name passes.
 */
import { SECRET_FAMILIES } from './secretShapes.js';

export type Redact = (text: string) => string;

/** What stands in the place of one of our own secrets. */
export const OWN_SECRET = '[redacted:own_secret]';
/** Shorter values stand in too many innocent words. */
const SHORTEST_SECRET = 6;

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
    let result = literals === null ? text : text.replace(literals, OWN_SECRET);
    for (const { needs, shapes } of SECRET_FAMILIES) {
      if (!needs.test(result)) continue;
      for (const { find, replacement } of shapes) result = result.replace(find, replacement);
    }
    return result;
  };
}

/** Knows the shapes of secrets only: for texts of those who have no configuration at hand. */
export const redactShapes: Redact = createRedactor([]);

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
