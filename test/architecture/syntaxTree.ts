/** Source files as syntax trees. */
import { parseSync } from '@swc/core';

export interface SyntaxNode {
  readonly type?: string;
  readonly span?: { readonly start: number; readonly end: number };
}

const NEWLINE = 10;

/** Calls `visit` for every node of a file, a node before what is in it. */
export function walkFile<Node extends SyntaxNode>(text: string, visit: (node: Node) => void): void {
  walk(parseSync(text, { syntax: 'typescript', target: 'es2022' }), visit);
}

/** @returns the first and the last line of a node, from 1 */
export function linesOf(text: string, { start, end }: NonNullable<SyntaxNode['span']>): [number, number] {
  const bytes = Buffer.from(text);
  // swc counts bytes from 1.
  const [from, to] = [start - 1, end - 1];
  const first = newlinesIn(bytes.subarray(0, from)) + 1;
  return [first, first + newlinesIn(bytes.subarray(from, to))];
}

function walk<Node extends SyntaxNode>(node: unknown, visit: (node: Node) => void): void {
  if (node === null || typeof node !== 'object') return;
  if ('type' in node) visit(node as Node);
  for (const part of Object.values(node)) walk(part, visit);
}

function newlinesIn(bytes: Buffer): number {
  return bytes.reduce((count, byte) => count + (byte === NEWLINE ? 1 : 0), 0);
}
