/**
 * A composition root wires and decides nothing. So its files have no loop, no branch, no comparison, no logical operator and no
 * choice from a list. Only one question is allowed: whether something optional is there, as `=== null` or `=== undefined`.
 */
import { linesOf, type SyntaxNode, walkFile } from './syntaxTree.js';

interface Expression extends SyntaxNode {
  readonly operator?: string;
  readonly left?: Expression;
  readonly right?: Expression;
  readonly test?: Expression;
  readonly expression?: Expression;
  readonly callee?: Expression;
  readonly property?: Expression;
  readonly value?: unknown;
}

const BRANCHES = new Set(['IfStatement', 'ConditionalExpression']);
const LOOPS = new Set(['ForStatement', 'ForInStatement', 'ForOfStatement', 'WhileStatement', 'DoWhileStatement']);
const DECIDING = new Set([
  '===',
  '!==',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'instanceof',
  '&&',
  '||',
  '!',
  '&&=',
  '||=',
]);
const CHOOSING = new Set([
  'filter',
  'find',
  'findLast',
  'findIndex',
  'some',
  'every',
  'includes',
  'sort',
  'toSorted',
  'reduce',
]);

/** @returns what a file decides, in words with its line */
export function decisionsIn(path: string, text: string): string[] {
  const found: string[] = [];
  walkFile<Expression>(text, (node) => {
    const what = decisionIn(node);
    if (what !== null && node.span !== undefined)
      found.push(`${path}:${linesOf(text, node.span)[0]}: decides by ${what}`);
  });
  return found;
}

function decisionIn(node: Expression): string | null {
  const { type = '', operator = '', callee, test } = node;
  if (LOOPS.has(type)) return 'a loop';
  if (type === 'SwitchStatement') return 'a switch';
  if (BRANCHES.has(type)) return isAboutPresence(test) ? null : 'a branch';
  if (DECIDING.has(operator)) return isAboutPresence(node) ? null : `\`${operator}\``;
  const called = type === 'CallExpression' ? callee?.property?.value : undefined;
  return typeof called === 'string' && CHOOSING.has(called) ? `\`${called}\`` : null;
}

/** Such as `a === null`, and several of these joined. */
function isAboutPresence(node: Expression | undefined): boolean {
  if (node === undefined) return false;
  const { type, operator = '', left, right } = node;
  if (type === 'ParenthesisExpression') return isAboutPresence(node.expression);
  if (operator === '&&' || operator === '||') return isAboutPresence(left) && isAboutPresence(right);
  return (operator === '===' || operator === '!==') && (isAbsence(left) || isAbsence(right));
}

function isAbsence(node: Expression | undefined): boolean {
  return node?.type === 'NullLiteral' || (node?.type === 'Identifier' && node.value === 'undefined');
}
