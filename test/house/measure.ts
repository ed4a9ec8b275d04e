/** What can be counted of source files, and says how they are to live in. */
import { dirname, posix } from 'node:path';
import { codeOnly, importsOf } from '../architecture/sourceText.js';
import { linesOf, type SyntaxNode, walkFile } from '../architecture/syntaxTree.js';

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

interface Node extends SyntaxNode {
  readonly params?: readonly unknown[];
  readonly function?: Node;
}

/** @returns every function of a file, those inside others as well */
export function routinesIn(path: string, text: string): Routine[] {
  const found: Routine[] = [];
  walkFile<Node>(text, (node) => {
    if (!ROUTINES.has(node.type ?? '')) return;
    const { span, params } = node.params === undefined ? { span: node.span, params: node.function?.params } : node;
    if (span === undefined) return;
    const [first, last] = linesOf(text, span);
    found.push({ place: `${path}:${first}`, lines: last - first + 1, parameters: params?.length ?? 0 });
  });
  return found;
}

/** @returns the lines that are neither blank nor comment */
export function linesOfCode(text: string): number {
  return codeOnly(text)
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}

/** @returns how often `any` is a type in a file */
export function anysIn(text: string): number {
  let count = 0;
  walkFile(text, (node) => {
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
