/** JSON that an operator wrote. */

/** In text that is JSON: every string, told whether it is a key, and where objects begin and end. */
const KEYS_AND_BRACES = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g;

/**
 * @returns the value, or what is wrong with the text: `is not JSON (line 3)`. What JSON.parse itself says may quote the
 *   text, and so a secret that somebody wrote into it.
 */
export function parseJsonText(text: string): { readonly value: unknown } | { readonly fault: string } {
  const ink = text.replace(/^\ufeff/, '');
  let value: unknown;
  try {
    value = JSON.parse(ink);
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    return { fault: `is not JSON${position === undefined ? '' : ` (line ${lineAt(ink, Number(position))})`}` };
  }
  const repeated = findRepeatedKey(ink);
  return repeated === null ? { value } : { fault: `has ${repeated.key} twice in one object (line ${repeated.line})` };
}

/** JSON.parse keeps the last one: of two projects of one name the first would be gone without a word. */
function findRepeatedKey(json: string): { readonly key: string; readonly line: number } | null {
  const open: Set<string>[] = [];
  for (const { 0: token, 1: key, 2: colon, index } of json.matchAll(KEYS_AND_BRACES)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    if (key === undefined || colon === undefined) continue;
    const keys = open.at(-1);
    if (keys?.has(key)) return { key, line: lineAt(json, index) };
    keys?.add(key);
  }
  return null;
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}
