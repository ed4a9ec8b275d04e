/** Learnings as Markdown: teams keep such files in their repositories. */
import { basename } from 'node:path';
import { inMarkdown } from '../../src/log/markdown.js';
import { isoTime } from '../../src/time.js';
import type { Action, Learning, LearningsState } from '../learnings/kind.js';

/** The first line of the file: only such a file is overwritten. */
export const MADE_HERE =
  '<!-- made by `watchkeeper learn --out`, which makes it again; what is changed by hand is lost -->';

/** @param groups the learnings by the directory of their repository. @returns the text of a file, with a line end */
export function learningsMarkdown(state: LearningsState, groups: ReadonlyMap<string, readonly Learning[]>): string {
  const sections = [...groups].flatMap(([place, learnings]) => {
    const actions = [...state.actions.values()].filter(({ learning }) => learnings.some(({ id }) => id === learning));
    const open = actions.filter(({ done_at }) => done_at === null);
    return [
      ...['', `# Learnings of ${inMarkdown(basename(place))}`],
      ...(open.length === 0 ? [] : ['', '## Open actions', '', ...open.map(actionLine)]),
      ...['', '## Learnings', ''],
      ...learnings.toReversed().flatMap((learning) => learningLines(learning, actions)),
    ];
  });
  return `${[MADE_HERE, ...sections].join('\n')}\n`;
}

function learningLines({ id, text, tags, at, session_id }: Learning, actions: readonly Action[]): string[] {
  const more = [
    isoTime(at).slice(0, 10),
    ...(session_id === null ? [] : [`session ${session_id}`]),
    ...tags.map((tag) => inMarkdown(`#${tag}`)),
  ];
  const done = actions.filter(({ learning, done_at }) => learning === id && done_at !== null);
  return [`- ${indented(text)} (${more.join(', ')})`, ...done.map((action) => `  ${actionLine(action)}`)];
}

function actionLine({ text, done_at }: Action): string {
  return `- [${done_at === null ? ' ' : 'x'}] ${indented(text)}`;
}

function indented(text: string): string {
  return text.split('\n').map(inMarkdown).join('\n  ');
}
