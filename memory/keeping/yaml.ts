/** Writes plain data as YAML. Every text is quoted as in JSON, which is valid YAML, so that no word of it means anything. */
import { isObject } from '../../src/json.js';
import { visible } from '../../src/log/visibleText.js';

const PLAIN_KEY = /^[a-z]{2,}(?:_[a-z]+)*$/;
/** Older readers take them for truth values or nothing. */
const WORDS_OF_YAML = ['true', 'false', 'null', 'yes', 'no', 'on', 'off'];
/** Legal in JSON, but not printable in YAML. */
const ESCAPED = /[\ufffe\uffff]/g;

/** @returns its lines */
export function yamlOf(members: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(members).flatMap(([key, value]) => {
    const name = PLAIN_KEY.test(key) && !WORDS_OF_YAML.includes(key) ? key : scalar(key);
    if (isObject(value) && Object.keys(value).length > 0) return [`${name}:`, ...yamlOf(value).map(indented)];
    if (Array.isArray(value) && value.some(isObject)) return [`${name}:`, ...value.flatMap(item).map(indented)];
    return [`${name}: ${scalar(value)}`];
  });
}

function item(value: unknown): string[] {
  const lines = isObject(value) ? yamlOf(value) : [scalar(value)];
  return lines.map((line, index) => `${index === 0 ? '-' : ' '} ${line}`);
}

function scalar(value: unknown): string {
  return visible(JSON.stringify(value ?? null), escaped).replace(ESCAPED, escaped);
}

/** Other than in JSON, a character beyond 16 bits is one in YAML, too. */
function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

function indented(line: string): string {
  return `  ${line}`;
}
