import { expect, test } from '@jest/globals';
import { declaredTimeout } from '../../../../src/transcripts/claude/calls.js';

test.each<[string, string, Readonly<Record<string, unknown>>, number | null]>([
  ['its timeout', 'Bash', { timeout: 5_000 }, 5_000],
  ['the one that names its unit, if there are two', 'Bash', { timeout: 5, timeout_ms: 6_000 }, 6_000],
  ['nothing for a tool of an MCP server, whose unit is unknown', 'mcp__db__query', { timeout: 30 }, null],
  ['that of an MCP server that names its unit', 'mcp__db__query', { timeout_ms: 30_000 }, 30_000],
  ['nothing for no time', 'Bash', { timeout: 0 }, null],
  ['nothing for a text', 'Bash', { timeout: 'soon', timeout_ms: null }, null],
  ['nothing if there is none', 'Bash', {}, null],
])('a call of Claude Code declares %s', (_, tool, input, timeout) => {
  expect(declaredTimeout(tool, input)).toBe(timeout);
});
