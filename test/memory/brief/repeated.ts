/** Measures what a context says more than once. */

/** Shorter stretches are words that any two sentences share. */
const SHORTEST = 16;
const FENCE = /^<\/?session-record>$|^A record of earlier work, .*$/gm;
/** Each line has its own instant, and each command needs the id of its session. */
const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const ID = /\b(?:ses_\w{26}|\d{4}-\d\d-\d\d-[a-z-]+|tg_\w+(?:-\d+)?_\d+)\b/g;

/** @returns the stretches of the text that occur in it before, without the fence */
export function repeatedIn(context: string): string[] {
  const text = context.replace(FENCE, '').replace(INSTANT, '').replace(ID, '');
  const found: string[] = [];
  for (let from = 0; from + SHORTEST <= text.length; from += 1) {
    const before = text.slice(0, from);
    let until = from + SHORTEST;
    if (!before.includes(text.slice(from, until))) continue;
    while (until < text.length && before.includes(text.slice(from, until + 1))) until += 1;
    found.push(text.slice(from, until));
    from = until - 1;
  }
  return found;
}
