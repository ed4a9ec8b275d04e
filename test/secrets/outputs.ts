/** Every way in which words of an agent leave the product, by the product's own functions. */
import { renderClean } from '../../bridge/telegram/markdown/render.js';
import { fenced } from '../../monitoring/incident/issue/defuse.js';
import { trimInput } from '../../src/journal/lineOf.js';
import { type Redact, redactJsonLine } from '../../src/log/redact.js';

export interface Output {
  readonly name: string;
  /** @returns what a reader sees, with the output's own escapes undone */
  show(text: string, redact: Redact): string;
}

const DEFUSED = /\u200b/g;

export const OUTPUTS: readonly Output[] = [
  { name: 'plain line', show: (text, redact) => redact(text) },
  {
    name: 'JSON line',
    show: (text, redact) => {
      const line: { msg: string } = JSON.parse(
        redactJsonLine(redact, JSON.stringify({ level: 'info', msg: text, pid: 1 })),
      );
      return line.msg;
    },
  },
  {
    name: 'JSON in JSON',
    show: (text, redact) => {
      const inner = JSON.stringify({ out: text });
      const line: { msg: string } = JSON.parse(redactJsonLine(redact, JSON.stringify({ msg: inner })));
      const shown: { out: string } = JSON.parse(line.msg);
      return shown.out;
    },
  },
  {
    name: 'journal',
    show: (text, redact) => (trimInput({ command: text }, redact) as { command: string }).command,
  },
  {
    name: 'issue body',
    show: (text, redact) =>
      redact(text)
        .split('\n')
        .map((line) => fenced([line]).split('\n')[1] ?? '')
        .join('\n')
        .replace(DEFUSED, ''),
  },
  {
    name: 'chat',
    show: (text, redact) =>
      renderClean(text, redact)
        .parts.map(({ plain }) => plain)
        .join('\n'),
  },
];
