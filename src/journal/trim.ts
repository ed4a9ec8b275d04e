/** Redacts and cuts the texts of a journal line. Digests are taken before, elsewhere. */
import { namesSecret, redactMember } from '../log/redact.js';
import { headOf, shorten } from '../log/shorten.js';

/** Replaces secrets in a text. */
export type Redact = (text: string) => string;

/** A tool's input as JSON, in bytes. */
export const INPUT_LIMIT_BYTES = 4 * 1024;
/** A tool's output, in UTF-16 units as JavaScript counts them. */
export const PREVIEW_LIMIT = 2_000;
/** Names, ids and reasons. */
export const WORD_LIMIT = 256;

/** Longer texts of an input are cut first. */
const TEXT_LIMIT = 8 * PREVIEW_LIMIT;
/** Limits for the strings of an input that is too long, tried in this order. */
const STRING_LIMITS = [2_048, 512, 128];
const DEEPEST_LEVEL = 32;
const CUT = '…';

/** @returns `text` without secrets, at most `limit` long */
export function trimText(text: string, limit: number, redact: Redact): string {
  return headOf(text, limit, redact);
}

/**
 * @param input a tool's input
 * @returns the input with every text in it redacted; if its JSON is longer than {@link INPUT_LIMIT_BYTES}, with its texts cut;
 *   if that is not enough, `{"cut": the beginning of its JSON}`
 */
export function trimInput(input: unknown, redact: Redact): unknown {
  const change: Change = (text, name) => {
    const clean = trimText(text, TEXT_LIMIT, redact);
    return name !== null && clean === text && namesSecret(name) ? redactMember(redact, name, text) : clean;
  };
  const clean = mapTexts(input, change, 0);
  if (jsonBytes(clean) <= INPUT_LIMIT_BYTES) return clean;
  for (const limit of STRING_LIMITS) {
    const shorter = mapTexts(clean, (text) => shorten(text, limit), 0);
    if (jsonBytes(shorter) <= INPUT_LIMIT_BYTES) return shorter;
  }
  return { cut: shorten(JSON.stringify(clean), INPUT_LIMIT_BYTES / 8) };
}

/** @param name of the member that holds the text; null for an item of a list, and for a name itself */
type Change = (text: string, name: string | null) => string;

function mapTexts(value: unknown, change: Change, level: number, name: string | null = null): unknown {
  if (typeof value === 'string') return change(value, name);
  if (value === null || typeof value !== 'object') return value;
  if (level === DEEPEST_LEVEL) return CUT;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, level + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [change(key, null), mapTexts(member, change, level + 1, key)]),
  );
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
