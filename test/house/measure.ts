/** What can be counted of source files, and says how they are to live in. */
import { dirname, posix } from 'node:path';
import { parseSync } from '@swc/core';
import { importsOf } from '../architecture/sourceText.js';

/** Text by path relative to the package: `bridge/cli/main.ts`. */
export type Sources = ReadonlyMap<string, string>;

export interface Routine {
  /** `src/time.ts:14`. */
  readonly place: string;
  readonly lines: number;
  readonly parameters: number;
}

/** A function with its braces, a method, an arrow function: whatever swc calls them. */
const ROUTINES = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassMethod',
  'PrivateMethod',
  'Constructor',
  'MethodProperty',
  'GetterProperty',
  'SetterProperty',
]);
const NEWLINE = 10;

interface Node {
  readonly type?: string;
  readonly span?: { readonly start: number; readonly end: number };
  readonly params?: readonly unknown[];
  readonly function?: Node;
}

/** @returns every function of a file, those inside others as well */
export function routinesIn(path: string, text: string): Routine[] {
  const bytes = Buffer.from(text);
  const found: Routine[] = [];
  walk(parseSync(text, { syntax: 'typescript', target: 'es2022' }), (node) => {
    if (!ROUTINES.has(node.type ?? '')) return;
    const { span, params } = node.params === undefined ? { span: node.span, params: node.function?.params } : node;
    if (span === undefined) return;
    // swc counts bytes from 1.
    const [from, to] = [span.start - 1, span.end - 1];
    const place = `${path}:${linesIn(bytes.subarray(0, from)) + 1}`;
    found.push({ place, lines: linesIn(bytes.subarray(from, to)) + 1, parameters: params?.length ?? 0 });
  });
  return found;
}

/** @returns how often `any` is a type in a file */
export function anysIn(text: string): number {
  let count = 0;
  walk(parseSync(text, { syntax: 'typescript', target: 'es2022' }), (node) => {
    if (node.type === 'TsKeywordType' && (node as { kind?: string }).kind === 'any') count += 1;
  });
  return count;
}

/** @returns pairs of folders of which each imports the other, `src/a <> src/b`; a folder and the one in it are two */
export function mutualFolders(sources: Sources): string[] {
  const edges = new Set<string>();
  for (const [path, text] of sources) {
    for (const specifier of importsOf(text).filter((each) => each.startsWith('.'))) {
      const other = dirname(posix.join(dirname(path), specifier));
      if (other !== dirname(path)) edges.add(`${dirname(path)} <> ${other}`);
    }
  }
  return [...edges].filter((edge) => {
    const [one = '', other = ''] = edge.split(' <> ');
    return one < other && edges.has(`${other} <> ${one}`);
  });
}

/** @returns the words of a file's comments */
export function commentWords(text: string): string[] {
  const comments = text.match(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*/g) ?? [];
  return comments.flatMap((comment) => comment.match(/[A-Za-z][A-Za-z']*/g) ?? []);
}

/** @returns the value below which so many of the numbers lie; `part` is 0.5 for the median */
export function quantile(numbers: readonly number[], part: number): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (node === null || typeof node !== 'object') return;
  if ('type' in node) visit(node as Node);
  for (const part of Object.values(node)) walk(part, visit);
}

function linesIn(bytes: Buffer): number {
  return bytes.reduce((count, byte) => count + (byte === NEWLINE ? 1 : 0), 0);
}
