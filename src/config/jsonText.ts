/** Parses JSON that an operator wrote. */

/** In JSON text: every string, with whether it is a key, and the beginnings and ends of objects. */
const KEYS_AND_BRACES = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/g;

/** @returns the value, or what is wrong: the error of JSON.parse may quote the text, and with it a secret */
export function parseJsonText(text: string): { readonly value: unknown } | { readonly fault: string } {
  const ink = text.replace(/^\ufeff/, '');
  let value: unknown;
  try {
    value = JSON.parse(ink);
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    return { fault: `is not JSON${position === undefined ? '' : ` (line ${lineAt(ink, Number(position))})`}` };
  }
  const fault = findFaultyKey(ink);
  return fault === null ? { value } : { fault };
}

/** JSON.parse keeps the last of two equal keys, so a project would be lost silently; `__proto__` is misinterpreted when copied. */
function findFaultyKey(json: string): string | null {
  const open: Set<string>[] = [];
  for (const { 0: token, 1: key, 2: colon, index } of json.matchAll(KEYS_AND_BRACES)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    if (key === undefined || colon === undefined) continue;
    const keys = open.at(-1);
    const name = String(JSON.parse(key));
    if (name === '__proto__')
      return `has the key "__proto__", which nothing may be called (line ${lineAt(json, index)})`;
    if (keys?.has(name)) return `has ${key} twice in one object (line ${lineAt(json, index)})`;
    keys?.add(name);
  }
  return null;
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}
