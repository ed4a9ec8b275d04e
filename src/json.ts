/** JSON that may be damaged, or written by others; and JSON that people read. */

/** @returns the value; null if the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @returns the object, whose fields are not checked; null if the text is not the JSON of an object */
export function parseObject<T extends object>(text: string): Partial<T> | null {
  const value = parseJson(text);
  return typeof value === 'object' ? (value as Partial<T> | null) : null;
}

/** @returns whether it is an object that is no list */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns the text of a file for people */
export function jsonFile(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
