/** Calls and errors without their variable parts, so that the same failure is recognised in another session. Their texts are redacted. */
import { stripVTControlCharacters } from 'node:util';
import { cutText } from '../../src/log/shorten.js';
import { faultLine } from '../observed/faultLine.js';

const PATH = '<path>';
const NUMBER = '<n>';
const ID = '<id>';
const ADDRESS = '<address>';
const NAME = '<name>';
/** The length of a pattern, in UTF-16 units. */
const LONGEST = 160;
/** The commands of a chain that count. */
const MOST_COMMANDS = 3;
/** The length of a text that a pattern is made from. */
const LONGEST_TEXT = 600;

/** A part of a command that only prepares another one. */
const PRELUDE =
  /^(?:cd|pushd|popd|export|set|unset|source|\.|sleep|echo|printf|true|:)(?:\s|$)|^(?:\w+=(?:[^\s"']|"[^"]*"|'[^']*')*(?:\s+|$))+$/;
const ASSIGNMENTS = /^(?:\w+=(?:[^\s"']|"[^"]*"|'[^']*')*\s+)+/;
const WRAPPER = /^(?:sudo|time|env|nice|nohup|command|exec|timeout\s+(?:-\S+\s+)*\d+[smh]?)\s+/;
/** Only shortens what is printed. */
const PRINTED_LESS = /\| ?(?:tail|head|cat|less|tee)\b[^|;&]*$/;
const REDIRECTED = / (?:\d?>&\d|&?>>? ?\S+|\d>>? ?\S+)(?= |$)/g;
const WORD = /"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']+|["']/g;
/** A module of Python is named like one, and says what is to be done. */
const OPTION = /^-(?!m$)/;
const SUBCOMMAND = /^[a-z][a-z-]*(?::[a-z-]+)*$/i;
/** Commands whose next word says which one is meant. */
const LEADS_ON = /^(?:run|compose|exec|dlx|tool|workspace)$/;
const HERE_DOCUMENT = /<<-?\s*\S+/;

const URL = /\b[a-z][a-z+.-]*:\/\/[^\s'"`)>\]]+/gi;
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi;
const ULID = /\b[0-9A-HJKMNP-TV-Z]{26}\b/g;
/** A commit, a digest: digits and letters in it. */
const HEX = /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/gi;
const TIME =
  /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g;
const ADDRESSES =
  /\b(?:localhost|(?:\d{1,3}\.){3}\d{1,3})(?::\d{1,5})?\b|\[(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}\](?::\d{1,5})?|::1?:\d{1,5}\b/gi;
/** The address of another host. A file with a line looks the same, so files come first. */
const HOST_AND_PORT = /\b[a-z][\w-]*(?:\.[\w-]+)+:\d{2,5}\b/gi;
const POSITION = String.raw`(?::\d+(?::\d+)?|\(\d+,\d+\))?`;
/** Folders and a file, or a file alone whose ending is one of a source or of data; a package's name with its scope is none. */
const PATHS = new RegExp(
  String.raw`(?<![\w@<])(?:file:)?(?:~|@|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w@.+%#=-]+)+[/\\]?${POSITION}|(?<![\w@/<.-])[\w.+-]+(?:\/[\w@.+-]+)+\/?${POSITION}`,
  'g',
);
const FILES = new RegExp(
  String.raw`(?<![\w@/<-])[\w.+-]*[\w+-]\.(?:[cm]?[jt]sx?|d\.ts|json[lc5]?|md|py|pyi|rs|go|rb|java|kt|c|h|cc|cpp|hpp|cs|php|sh|bash|zsh|sql|ya?ml|toml|ini|cfg|conf|env|lock|log|txt|csv|html?|s?css|vue|svelte|swift|xml|snap|db|sqlite|tar|gz|zip|png|jpe?g|svg|pdf|ipynb|proto|tf|wasm|diff|patch)${POSITION}(?![\w-])`,
  'gi',
);
/** Names of temporary files and folders. */
const TEMPORARY = /\b(?:tmp|temp)[._-][\w.-]+/gi;
const NUMBERS =
  /(?<![\w<.])-?\d+(?:[.,]\d+)*(?=$|[^\w>]|(?:ms|s|m|h|kb|mb|gb|b|px|%)\b)(?:ms|s|m|h|kb|mb|gb|b|px|%)?/gi;
/** Git names branches without a mark. */
const REFERENCES = /\b(branch|refspec|pathspec|worktree|remote) (['"]?)[\w./<>-]+\2(?=\s)/g;
/** One of several in a row says it. */
const REPEATED = /(<\w+>)(?:[\s,]+\1)+/g;

/** @returns a text without what differs from one occurrence to the next: addresses, paths, ids, numbers, times, names of temporary files */
export function withoutVariables(text: string): string {
  const clean = cutText(stripVTControlCharacters(text), LONGEST_TEXT)
    .replace(URL, '<url>')
    .replace(UUID, ID)
    .replace(ULID, ID)
    .replace(TIME, '<time>')
    .replace(ADDRESSES, ADDRESS)
    .replace(PATHS, (path) => (isScoped(path) ? path : PATH))
    .replace(FILES, PATH)
    .replace(HOST_AND_PORT, ADDRESS)
    .replace(TEMPORARY, PATH)
    .replace(HEX, ID)
    .replace(REFERENCES, `$1 ${NAME}`)
    .replace(NUMBERS, NUMBER)
    .replace(REPEATED, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return cutText(clean, LONGEST);
}

/** A package such as `@types/node` is what the call is about. */
function isScoped(path: string): boolean {
  return /^@[\w.-]+\/[\w.-]+$/.test(path);
}

/** @returns the first command of a text for a shell that does something, without what prepares it, shortens or redirects its output */
export function mainCommand(text: string): string {
  const lines = text.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
  const isWork = (line: string) => line !== '' && !line.startsWith('#') && !PRELUDE.test(onlyPrelude(line));
  const line = lines.find(isWork) ?? lines[0] ?? '';
  let command = bare(line);
  for (let before = ''; before !== command; ) {
    before = command;
    command = command.replace(PRINTED_LESS, '').replace(REDIRECTED, '').trim();
  }
  return command;
}

/** @returns the line, if nothing but preparation is in it; else an empty text */
function onlyPrelude(line: string): string {
  return bare(line) === '' ? line : '';
}

/** Takes away what prepares the first command that does something. */
function bare(line: string): string {
  const parts = line.split(/ ?(?:&&|;) ?/);
  const from = parts.findIndex((part) => part !== '' && !PRELUDE.test(part));
  if (from < 0) return '';
  let left = line;
  for (const part of parts.slice(0, from))
    left = left.slice(left.indexOf(part) + part.length).replace(/^ ?(?:&&|;) ?/, '');
  // An `echo` of the exit code belongs to no command.
  left = left.replace(/ ?; ?echo\b[^;&|]*$/, '');
  for (let before = ''; before !== left; ) {
    before = left;
    left = left.replace(ASSIGNMENTS, '').replace(WRAPPER, '');
  }
  return left;
}

/**
 * @returns what a command does, without the variable parts: the programs, and the words that say which of their commands they are to
 *   carry out. Options and their values change from one call to the next, and the error says what matters of them
 */
export function commandPattern(text: string): string {
  const [beforeDocument = ''] = mainCommand(text).split(HERE_DOCUMENT);
  const parts: string[] = [];
  let words: string[] = [];
  const end = (joint: string) => {
    if (words.length > 0) parts.push(deedOf(words), joint);
    words = [];
  };
  for (const word of beforeDocument.match(WORD) ?? []) {
    const [, bare = '', joint = ''] = /^(.*?)(;|&&|\|\|?)?$/.exec(word) ?? [];
    if (bare !== '') words.push(bare);
    if (joint !== '') end(joint);
  }
  end('');
  const deeds = parts.slice(0, 2 * MOST_COMMANDS - 1);
  return cutText(deeds.join(' ').trim(), LONGEST);
}

/** @param words of one command. @returns its program, and the first words that are no values */
function deedOf([program = '', ...words]: readonly string[]): string {
  const deed = [nameOf(program)];
  let most = 2;
  for (const [index, word] of words.entries()) {
    if (deed.length === most) break;
    const isValue = OPTION.test(words[index - 1] ?? '') || OPTION.test(word) || !SUBCOMMAND.test(word);
    if (isValue) continue;
    deed.push(word);
    if (deed.length === 2 && LEADS_ON.test(word)) most += 1;
  }
  return deed.join(' ');
}

/** @returns the program of a command, without its folder */
export function programOf(text: string): string {
  return nameOf(mainCommand(text).match(WORD)?.[0] ?? '');
}

function nameOf(word: string): string {
  const name = unquoted(word).split('/').at(-1) ?? '';
  return name.replace(/(?<=\D)[\d.]+$/, (digits) => (digits.includes('.') ? '' : digits));
}

function unquoted(word: string): string {
  const [first = ''] = word;
  return word.length > 1 && (first === '"' || first === "'") && word.endsWith(first) ? word.slice(1, -1) : word;
}

/** @returns an error without its variable parts */
export function errorPattern(output: string): string {
  const line = faultLine(output);
  return /^exit code -?\d+$/.test(line) ? line : withoutVariables(line);
}
