/** The files that a command of a shell writes its output to: the only ones of a command without a result that its words name for sure. */
import { join } from 'node:path';
import { commandsIn } from './commandParts.js';

/** It begins a text that the command reads, up to a line that is only the word behind it. */
const HERE = /(?<!<)<<(?!<)-?\s*(['"]?)(\w+)\1/;
/** Quoted words are passed over; a word that the shell changes first, as a variable or a pattern, names no file for sure. */
const REDIRECTION =
  /(?:[&\d]?>{1,2})\s*(?:"([^"\\$`]+)"|'([^']+)'|([^\s"'\\$`*?[\]{}()<>;|&!#]+))(?=[\s;|&)]|$)|'[^']*'|"(?:\\.|[^"\\])*"|\\./g;
const CHANGE_OF_DIRECTORY =
  /^\(?\s*cd\s+(?:"([^"\\$`]+)"|'([^']+)'|([^\s"'\\$`*?[\]{}()<>;|&~-][^\s"'\\$`*?[\]{}()<>;|&]*))\s*$/;
const DEVICES = '/dev/';
/** Most commands have at most `2>&1` or `>/dev/null`, and need not be divided. */
const MAY_WRITE = />\s*(?:["'\w.~@%+,:-]|\/(?!dev\/))/;
const MOST = 20;

export interface WrittenFile {
  readonly path: string;
  /** When its command began, UTC epoch milliseconds: the command may not have come to the file. */
  readonly begun: number;
}

/** @returns their names, as the command's first directory sees them, each once */
export function writtenBy(command: string): string[] {
  if (!MAY_WRITE.test(command)) return [];
  const files = new Set<string>();
  let directory: string | null = '';
  for (const { text } of commandsIn(withoutHereTexts(command))) {
    const into = CHANGE_OF_DIRECTORY.exec(text);
    if (into !== null) directory = directory === null ? null : within(directory, named(into));
    else if (/^\(?\s*(?:cd|pushd|popd)\b/.test(text)) directory = null;
    for (const match of text.matchAll(REDIRECTION)) {
      const name = named(match);
      if (name === '' || name.startsWith(DEVICES) || files.size === MOST) continue;
      if (name.startsWith('/')) files.add(name);
      else if (directory !== null) files.add(within(directory, name));
    }
  }
  return [...files];
}

function withoutHereTexts(command: string): string {
  let end: string | null = null;
  const lines = command.split('\n').filter((line) => {
    const isCommand = end === null;
    if (isCommand) end = HERE.exec(line)?.[2] ?? null;
    else if (line.trim() === end) end = null;
    return isCommand;
  });
  return lines.join('\n');
}

function named([, double, single, plain]: RegExpMatchArray | RegExpExecArray): string {
  return double ?? single ?? plain ?? '';
}

/** @param directory the empty text for the one that relative names begin in */
export function within(directory: string, name: string): string {
  return directory === '' || name.startsWith('/') ? name : join(directory, name);
}
