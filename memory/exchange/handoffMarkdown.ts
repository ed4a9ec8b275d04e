/** A handoff as Markdown with front matter, out and in: teams keep such files in their repositories. */
import { parse } from 'yaml';
import { describeError, UsageError } from '../../src/errors.js';
import { visible } from '../../src/log/visibleText.js';
import { isoTime } from '../../src/time.js';
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
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?/i;

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
    const lines = typeof value === 'string' ? value.split('\n') : (value ?? []).map(itemOf);
    return lines.length === 0 ? [] : ['', `## ${HEADINGS[field]}`, '', ...lines];
  });
  return visible(`${['---', ...yamlOf(front), '---', '', `# ${document.title}`, ...sections].join('\n')}\n`);
}

function itemOf(text: string): string {
  return `- ${text.split('\n').join('\n  ')}`;
}

/**
 * @param text Markdown with front matter, or with a heading as its title
 * @returns the fields that are in it
 * @throws UsageError if the front matter is no YAML
 */
export function handoffIn(text: string): Partial<HandoffDocument> {
  const [all = '', yaml = ''] = FRONT.exec(text) ?? [];
  const front = frontOf(yaml);
  const { title, sections } = sectionsOf(text.slice(all.length));
  const found: Record<string, unknown> = {};
  for (const [heading, lines] of sections) {
    const field = ALIASES[heading];
    if (field === undefined) continue;
    if (LISTS.includes(field)) found[field] = [...((found[field] as string[] | undefined) ?? []), ...itemsOf(lines)];
    else found[field] = [found[field], lines.join('\n').trim()].filter(Boolean).join('\n\n');
  }
  const references = [...textsOf(front.references), ...((found.references as string[] | undefined) ?? [])];
  const topic = typeof front.topic === 'string' ? front.topic : title;
  return { ...found, references, tags: textsOf(front.tags), ...(topic !== null && { title: topic }) };
}

function frontOf(yaml: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parse(yaml);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    throw new UsageError(`the front matter is no YAML: ${describeError(error)}`);
  }
}

function textsOf(value: unknown): string[] {
  return [value ?? []].flat().map(String);
}

function sectionsOf(body: string): { readonly title: string | null; readonly sections: [string, string[]][] } {
  let title: string | null = null;
  const sections: [string, string[]][] = [];
  let isCode = false;
  for (const line of body.split(/\r?\n/)) {
    if (/^(```|~~~)/.test(line)) isCode = !isCode;
    const [, marks = '', words = ''] = (isCode ? null : /^(#{1,2})\s+(.*?)\s*#*$/.exec(line)) ?? [];
    if (marks === '#') title ??= words;
    else if (marks === '##') sections.push([words.toLowerCase().replace(/:$/, ''), []]);
    else sections.at(-1)?.[1].push(line);
  }
  return { title, sections };
}

/** An item lasts until the next one; text without marks is one item for each paragraph. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = [];
  let isNew = true;
  for (const line of lines) {
    const isItem = ITEM.test(line) && !/^\s{2,}/.test(line);
    if (isItem || (isNew && line.trim() !== '')) items.push(line.replace(ITEM, ''));
    else if (items.length > 0) items[items.length - 1] += `\n${line.replace(/^ {1,2}/, '')}`;
    isNew = line.trim() === '' && !items.some((item) => item.trim() !== '');
  }
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
