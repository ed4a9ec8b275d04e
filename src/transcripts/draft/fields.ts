/** Reading fields of records that anybody may have written: whatever is not of the kind that is asked for is absent. */
import { canonicalJson } from '../../journal/digest.js';

export type Fields = Readonly<Record<string, unknown>>;

/** @returns a text that is not empty; else null */
export function textAt(fields: Fields, key: string): string | null {
  const value = fields[key];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** @returns a finite number; else null */
export function numberAt(fields: Fields, key: string): number | null {
  const value = fields[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** @returns an object; nothing in it where there is none */
export function fieldsAt(fields: Fields, key: string): Fields {
  return asFields(fields[key]) ?? {};
}

/** @returns the objects of a list; none where there is no list */
export function listAt(fields: Fields, key: string): readonly Fields[] {
  const value = fields[key];
  return Array.isArray(value) ? value.map(asFields).filter((item) => item !== null) : [];
}

export function asFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** @returns the texts of a message's or a result's content, joined; parts that are no text are named */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  // Not by JSON itself, which a deep enough nesting makes throw.
  if (!Array.isArray(content)) return canonicalJson(content);
  return content.map((part: unknown) => partText(asFields(part) ?? {})).join('\n');
}

function partText(part: Fields): string {
  return typeof part.text === 'string' ? part.text : `[${textAt(part, 'type') ?? 'unknown'}]`;
}

/** @returns JSON's value; null for what is none */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
