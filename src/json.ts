/** JSON that may be damaged, or written by others. */

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
