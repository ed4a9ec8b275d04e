/** Digests of inputs and outputs, taken before anything is cut, so that two long texts with equal beginnings stay different. */
import { createHash } from 'node:crypto';

/** Deeper levels are ignored: a line of a million brackets must not overflow the stack. */
const DEEPEST_LEVEL = 64;
const DIGEST_LENGTH = 16;

/** @returns the first 16 hex digits of its SHA-256 */
export function contentDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}

/** @returns JSON without spaces and with sorted keys: equal values give equal texts */
export function canonicalJson(value: unknown): string {
  return canonical(value, 0);
}

function canonical(value: unknown, level: number): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (level === DEEPEST_LEVEL) return '"…"';
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, level + 1)).join(',')}]`;
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member, level + 1)}`).join(',')}}`;
}
