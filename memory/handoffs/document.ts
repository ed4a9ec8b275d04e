/** The contents of a handoff: what its author gives, and the limits of it. */
import { createHash } from 'node:crypto';
import { UsageError } from '../../src/errors.js';
import type { Redact } from '../../src/log/redact.js';
import { isBlank } from '../../src/log/visibleText.js';
import { MOST_FILES } from '../fold/bounds.js';
import { LONGEST_TEXT } from '../logs/line.js';

/** The limit of a whole handoff. */
export const MOST_BYTES = 48 * 1024;

export interface HandoffDocument {
  readonly title: string;
  readonly goal: string | null;
  readonly done: readonly string[];
  readonly learnings: readonly string[];
  /** Paths, relative to the workspace. */
  readonly files: readonly string[];
  readonly state: string | null;
  readonly next: readonly string[];
  /** Documents by path, and addresses. */
  readonly references: readonly string[];
  readonly notes: string | null;
  readonly tags: readonly string[];
}

export const TEXT_FIELDS = ['goal', 'state', 'notes'] as const;
export const LIST_FIELDS = ['done', 'learnings', 'files', 'next', 'references', 'tags'] as const;

/**
 * @param given as its author wrote it
 * @returns the document without secrets and empty entries
 * @throws UsageError if the title, the learnings or the next steps are missing, or something is too long; it names the field
 */
export function documentOf(given: Partial<HandoffDocument>, redact: Redact): HandoffDocument {
  const text = (value: string | null | undefined) => {
    const words = redact(value ?? '').trim();
    return isBlank(words) ? null : words;
  };
  const list = (values: readonly string[] | undefined) => (values ?? []).flatMap((value) => text(value) ?? []);
  const document: HandoffDocument = {
    title: (text(given.title) ?? '').replace(/\s+/g, ' '),
    goal: text(given.goal),
    done: list(given.done),
    learnings: list(given.learnings),
    files: [...new Set(list(given.files))],
    state: text(given.state),
    next: list(given.next),
    references: list(given.references),
    notes: text(given.notes),
    tags: list(given.tags),
  };
  requireWhole(document);
  requireFitting(document);
  return document;
}

function requireWhole({ title, learnings, next }: HandoffDocument): void {
  const missing = [
    ...(title === '' ? ['a title'] : []),
    ...(learnings.length === 0 ? ['learnings: what would cost the next worker time to find out again'] : []),
    ...(next.length === 0 ? ['next: the steps to take'] : []),
  ];
  if (missing.length > 0) throw new UsageError(`the handoff lacks ${missing.join(', and ')}`);
}

function requireFitting(document: HandoffDocument): void {
  const sizes = Object.entries(document).map(([field, value]) => [field, bytesOf(value)] as const);
  const all = sizes.reduce((sum, [, size]) => sum + size, 0);
  const [largest = ['', 0] as const] = sizes.toSorted(([, left], [, right]) => right - left);
  if (all > MOST_BYTES)
    throw new UsageError(
      `the handoff has ${all} bytes, and at most ${MOST_BYTES} fit; its largest field is "${largest[0]}" with ${largest[1]} bytes`,
    );
  if (document.files.length > MOST_FILES)
    throw new UsageError(`"files" names ${document.files.length} files; at most ${MOST_FILES} fit`);
  for (const field of LIST_FIELDS) {
    const long = document[field].find((entry) => entry.length > LONGEST_TEXT);
    if (long !== undefined)
      throw new UsageError(
        `an entry of "${field}" has ${long.length} characters; at most ${LONGEST_TEXT} fit, so split it`,
      );
  }
  if (document.title.length > LONGEST_TEXT) throw new UsageError('the title is too long');
}

function bytesOf(value: string | null | readonly string[]): number {
  return [value ?? []].flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** @returns the same for the same contents */
export function digestOf(document: HandoffDocument): string {
  return createHash('sha256').update(JSON.stringify(document)).digest('hex');
}

/** @returns the text in parts that a line of a log takes, so that nothing of it is cut */
export function partsOf(text: string | null): string[] {
  const parts: string[] = [];
  let part = '';
  // A character may be two units of a text, and is not divided.
  for (const character of text ?? '') {
    if (part.length + character.length > LONGEST_TEXT) {
      parts.push(part);
      part = '';
    }
    part += character;
  }
  return part === '' ? parts : [...parts, part];
}
