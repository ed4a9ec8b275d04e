/** Reads fields of records from any source: a value of the wrong type counts as absent. */
import { canonicalJson } from '../../journal/digest.js';
import { type JournalRecord, textOf } from '../../journal/record.js';
import { isObject } from '../../json.js';

export type Fields = JournalRecord;

/** @returns a text that is not empty; otherwise null */
export function textAt(fields: Fields, key: string): string | null {
  return textOf(fields[key]);
}

/** @returns a finite number; otherwise null */
export function numberAt(fields: Fields, key: string): number | null {
  const value = fields[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** @returns an object; an empty one if there is none */
export function fieldsAt(fields: Fields, key: string): Fields {
  return asFields(fields[key]) ?? {};
}

/** @returns the objects of a list; none if there is no list */
export function listAt(fields: Fields, key: string): readonly Fields[] {
  const value = fields[key];
  return Array.isArray(value) ? value.filter((item): item is Fields => asFields(item) !== null) : [];
}

export function asFields(value: unknown): Fields | null {
  return isObject(value) ? value : null;
}

/** @returns the texts of a message's or a result's content, joined; parts that are not text are named */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  // Not by JSON.stringify, which throws if the nesting is deep enough.
  if (!Array.isArray(content)) return canonicalJson(content);
  return content.map((part: unknown) => partText(asFields(part) ?? {})).join('\n');
}

function partText(part: Fields): string {
  return typeof part.text === 'string' ? part.text : `[${textAt(part, 'type') ?? 'unknown'}]`;
}
