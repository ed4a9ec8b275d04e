/** What of a value others count on: its fields and their types, without the values. */

/** Names that differ from run to run, and what stands for them; in this order. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/(?:tg|cli)_[a-z]+_(?:-?\d+_\d+|[0-9A-HJKMNP-TV-Z]{26})(?:_r\d+)?/g, 'SESSION'],
  [/\b[0-9A-HJKMNP-TV-Z]{26}\b/g, 'ULID'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID'],
  [/\b[0-9a-f]{12,64}\b/g, 'HEX'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'DATE'],
  [/\/[\w./-]*\/work\/[\w./-]+/g, 'DIRECTORY'],
];

/** @returns the text with words in the place of ids, days and numbers */
export function withoutIds(text: string): string {
  const named = VARIABLE.reduce((words, [pattern, name]) => words.replace(pattern, name), text);
  return named.replace(/\d+/g, 'N');
}

/**
 * @param path of the value, as a jq path
 * @returns a line for each leaf: `.sessions[].run.pid: number`
 */
export function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) {
    return value.length === 0 ? [`${path}: []`] : value.flatMap((each) => shapeOf(each, `${path}[]`));
  }
  if (value === null || typeof value !== 'object') return [`${path || '.'}: ${value === null ? 'null' : typeof value}`];
  const entries = Object.entries(value);
  if (entries.length === 0) return [`${path}: {}`];
  return entries.flatMap(([name, each]) => shapeOf(each, `${path}.${withoutIds(name)}`));
}
