/** The patterns of English in comments that need a second reading, counted. */

export interface Pattern {
  readonly name: string;
  /** What to write in its place. */
  readonly instead: string;
  readonly found: RegExp;
}

/** A comment of a file, as one text: without its signs, each piece of code in it is the word `code`. */
export interface Comment {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly text: string;
}

/** The beginning of a sentence, of a tag's description, or of what follows a colon. */
const BEGINNING = String.raw`(?:^|[.!?:]\s+|@returns?\s+|@param\s+\w+\s+)`;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`\w])\/\/.*(?:\n[ \t]*\/\/.*)*/g;

export const PATTERNS: readonly Pattern[] = [
  {
    name: 'subject is Who, Whoever, What …',
    instead: 'name the actor: the caller, reader, process, agent, command',
    // A question may begin so.
    found: new RegExp(String.raw`${BEGINNING}(?:Who|Whoever|Whom|Whose|What|Whatever)\b(?![^.?]*\?)`, 'gm'),
  },
  { name: 'nobody, somebody, anybody', instead: 'name the actor', found: /\b(?:no|some|any)body\b/gi },
  {
    name: 'of which, in whose, by what …',
    instead: 'two sentences, or "its"',
    found: /\b(?:of|in|by) (?:which|whose|what)\b/gi,
  },
  { name: 'null:, missing:, empty:', instead: '"null if …"', found: /\b(?:null|missing|empty|undefined):/gi },
  { name: 'go on', instead: 'resume, continue', found: /\b(?:go|goes|going|gone|went) on\b/gi },
  { name: 'fragment that begins with Of', instead: 'name the thing', found: new RegExp(`${BEGINNING}Of\\b`, 'gm') },
  {
    name: 'anew, meanwhile, beside, since.',
    instead: 'again, in the meantime, next to, afterwards',
    found: /\b(?:anew|meanwhile|beside)\b|\bsince(?=\s*(?:[.,;:)]|$))/gi,
  },
  { name: 'told, tell', instead: 'reported, notified, shown', found: /\b(?:tells?|telling|told)\b/gi },
];

/** @returns the comments of a source file; `//` on lines that follow each other is one comment */
export function commentsIn(source: string): Comment[] {
  return [...source.matchAll(COMMENT)].map(([comment], index, all) => ({
    line: source.slice(0, all[index]?.index).split('\n').length,
    text: comment
      .replace(/^\s*(?:\/\*+|\*(?!\/)|\/\/)/gm, '')
      .replace(/\*\/$/, '')
      .replace(/`[^`]*`/g, 'code')
      .trim(),
  }));
}

/** @returns how many words a text has */
function wordsIn(text: string): number {
  return text.match(/[A-Za-z][A-Za-z']*/g)?.length ?? 0;
}

/** @returns the sentences, or parts of one, that a pattern finds in a comment */
export function findingsIn({ text }: Comment, { found }: Pattern): string[] {
  return [...text.matchAll(found)].map((match) => {
    const rest = text.slice(match.index + match[0].length).split(/[.!?\n]/)[0] ?? '';
    return `${match[0]}${rest}`.replace(/^[.!?:]\s+/, '').replace(/\s+/g, ' ');
  });
}

/** @returns for each pattern, how often it is found per 1,000 words of the comments */
export function ratesOf(sources: readonly string[]): number[] {
  const comments = sources.flatMap(commentsIn);
  const words = comments.reduce((sum, { text }) => sum + wordsIn(text), 0);
  return PATTERNS.map((pattern) => {
    const found = comments.reduce((sum, comment) => sum + findingsIn(comment, pattern).length, 0);
    return words === 0 ? 0 : (1_000 * found) / words;
  });
}
