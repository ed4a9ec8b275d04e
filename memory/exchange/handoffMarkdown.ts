/** A handoff as Markdown with front matter, out and in: teams keep such files in their repositories. */
import { parse } from 'yaml';
import { describeError, UsageError } from '../../src/errors.js';
import { Fences, inMarkdown } from '../../src/log/markdown.js';
import { visible } from '../../src/log/visibleText.js';
import { isoTime } from '../../src/time.js';
import { withoutEnd } from '../../src/withoutEnd.js';
import type { HandoffDocument } from '../handoffs/document.js';
import type { Handoff } from '../handoffs/handoffs.js';
import { yamlOf } from '../keeping/yaml.js';

type Field = Exclude<keyof HandoffDocument, 'title' | 'references' | 'tags'>;

const HEADINGS: Readonly<Record<Field, string>> = {
  goal: 'Goal',
  done: 'Done',
  learnings: 'Learnings',
  files: 'Files',
  state: 'State',
  next: 'Next steps',
  notes: 'Notes',
};
const LISTS: readonly (Field | 'references')[] = ['done', 'learnings', 'files', 'next', 'references'];
/** How others call the same section, in lower-case letters. */
const ALIASES: Readonly<Record<string, Field | 'references'>> = {
  ...{ goal: 'goal', goals: 'goal', task: 'goal', tasks: 'goal', 'task(s)': 'goal' },
  ...{ done: 'done', completed: 'done', 'recent changes': 'done', 'what was done': 'done' },
  ...{ learnings: 'learnings', learning: 'learnings', 'key learnings': 'learnings' },
  ...{ files: 'files', artifacts: 'files', 'relevant files': 'files', 'files changed': 'files' },
  ...{ state: 'state', status: 'state', 'current state': 'state' },
  ...{ next: 'next', 'next steps': 'next', 'action items': 'next', 'action items & next steps': 'next' },
  ...{ references: 'references', 'critical references': 'references' },
  ...{ notes: 'notes', 'other notes': 'notes' },
};
const FRONT = /^---\r?\n([\s\S]*?)\r?\n---\r?\n/;
/** Outside of code, these would begin a section, or a tag that hides what follows. A backslash is before them in the file. */
const MARKUP = /(?<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`))|^(?=#{1,2}\s)|(?<!\\)<(?=[a-z/!?])/gi;
const ESCAPED = /(?<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`))|^\\(?=#{1,2}\s)|\\(?=<[a-z/!?])/gi;
const HEADING = /^(#{1,2})\s+(.*)$/s;
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?/i;
/** Also of a list in a list. */
const ITEMS = new RegExp(`^(?:${ITEM.source.slice(1)})+`, 'i');

/** @returns the text of a file, with a line end */
export function handoffMarkdown({ state: { offer, answer } }: Handoff): string {
  const { document, head, at } = offer;
  const front = {
    date: isoTime(at),
    status: answer?.kind ?? 'offered',
    topic: document.title,
    tags: document.tags,
    git_commit: head,
    references: document.references,
  };
  const sections = (Object.keys(HEADINGS) as Field[]).flatMap((field) => {
    const value = document[field];
    const lines = typeof value === 'string' ? escapedLines(value) : (value ?? []).map(itemOf);
    return lines.length === 0 ? [] : ['', `## ${HEADINGS[field]}`, '', ...lines];
  });
  return visible(
    `${['---', ...yamlOf(front), '---', '', `# ${inMarkdown(document.title)}`, ...sections].join('\n')}\n`,
  );
}

function itemOf(text: string): string {
  return `- ${escapedLines(text).join('\n  ')}`;
}

/** @returns the author's Markdown; no line of it is taken for a part of the file around it. Code that does not end gets an end */
function escapedLines(text: string): string[] {
  const fences = new Fences();
  const lines = outsideCode(
    text.split('\n'),
    (line) => line.replace(MARKUP, (all, code) => code ?? `\\${all}`),
    fences,
  );
  // So far to the right, it also ends code in an item of a list.
  return fences.open === null ? lines : [...lines, `   ${fences.open}`];
}

function outsideCode(lines: readonly string[], change: (line: string) => string, fences = new Fences()): string[] {
  return lines.map((line) => (isCode(line, fences) ? line : change(line)));
}

/** Whether it is code, or a fence around code. An item of a list may begin with a fence. */
function isCode(line: string, fences: Fences): boolean {
  return fences.take(fences.open === null ? line.replace(ITEMS, '') : line) !== 'text';
}

/**
 * @param text Markdown with front matter, or with a heading as its title
 * @returns the fields that are in it. The text before the first section, and sections with names of their own, become notes
 * @throws UsageError if the front matter is no YAML
 */
export function handoffIn(text: string): Partial<HandoffDocument> {
  const marked = text.replace(/^\ufeff/, '');
  const [all = '', yaml = ''] = FRONT.exec(marked) ?? [];
  const front = frontOf(yaml);
  const { title, sections } = sectionsOf(marked.slice(all.length));
  const found: Record<string, unknown> = {};
  const add = (field: Field, words: string) => {
    if (words !== '') found[field] = [found[field], words].filter(Boolean).join('\n\n');
  };
  for (const { heading, lines } of sections) {
    const field = heading === null ? undefined : ALIASES[heading.toLowerCase().replace(/:$/, '')];
    const words = unescaped(lines).join('\n').trim();
    if (field === undefined) add('notes', [heading ?? '', words].filter(Boolean).join('\n'));
    else if (LISTS.includes(field))
      found[field] = [
        ...((found[field] as string[] | undefined) ?? []),
        ...itemsOf(lines).map((item) => unescaped(item.split('\n')).join('\n')),
      ];
    else add(field as Field, words);
  }
  const references = [...textsOf(front.references), ...((found.references as string[] | undefined) ?? [])];
  const [topic = title] = [front.topic, front.title].filter((value) => typeof value === 'string');
  return { ...found, references, tags: textsOf(front.tags), ...(topic !== null && { title: topic }) };
}

function unescaped(lines: readonly string[]): string[] {
  return outsideCode(lines, (line) => line.replace(ESCAPED, (_, code) => code ?? ''));
}

function frontOf(yaml: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parse(yaml, { logLevel: 'error' });
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    throw new UsageError(`the front matter is no YAML: ${describeError(error)}`);
  }
}

function textsOf(value: unknown): string[] {
  return [value ?? []].flat().map(String);
}

interface Section {
  /** Null for the text before the first one. */
  readonly heading: string | null;
  readonly lines: string[];
}

function sectionsOf(body: string): { readonly title: string | null; readonly sections: readonly Section[] } {
  let title: string | null = null;
  const sections: Section[] = [{ heading: null, lines: [] }];
  const fences = new Fences();
  for (const line of body.split(/\r?\n/)) {
    const [, marks = '', words = ''] = (isCode(line, fences) ? null : HEADING.exec(line)) ?? [];
    const heading = withoutEnd(words.trimEnd(), /#/).trim();
    if (marks === '#' && title === null) title = heading;
    else if (marks !== '') sections.push({ heading, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return { title, sections };
}

/** An item lasts until the next one; text without marks is one item for each paragraph. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = [];
  let isNew = true;
  const fences = new Fences();
  for (const line of lines) {
    const isInCode = fences.open !== null;
    isCode(line, fences);
    const isItem = !isInCode && ITEM.test(line) && !/^\s{2,}/.test(line);
    if (isItem || (isNew && line.trim() !== '')) items.push(line.replace(ITEM, ''));
    else if (items.length > 0) items[items.length - 1] += `\n${line.replace(/^ {1,2}/, '')}`;
    isNew = line.trim() === '' && !items.some((item) => item.trim() !== '');
  }
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
