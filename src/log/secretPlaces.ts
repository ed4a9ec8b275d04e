/** The places of secrets in a text, in their order. */
import type { FoundSecret } from './stickyMatch.js';

/** A key that is found by its end contains the secrets found in its lines. */
export function add(secrets: FoundSecret[], secret: FoundSecret): void {
  let { from } = secret;
  for (let last = secrets.at(-1); last !== undefined && last.to > from; last = secrets.at(-1)) {
    from = Math.min(from, last.from);
    secrets.pop();
  }
  secrets.push({ ...secret, from });
}

export function replaceAt(text: string, secrets: readonly FoundSecret[]): string {
  let result = '';
  let copied = 0;
  for (const { from, to, replacement } of secrets) {
    result += text.slice(copied, from) + replacement;
    copied = to;
  }
  return copied === 0 ? text : result + text.slice(copied);
}
