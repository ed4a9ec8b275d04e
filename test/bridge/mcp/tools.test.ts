// covers: bridge/mcp/tools.ts bridge/mcp/listing.ts
/** The tools as a model sees them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { listTools } from '../../../bridge/mcp/listing.js';
import { INSTRUCTIONS } from '../../../bridge/mcp/opening.js';
import { TOOLS } from '../../../bridge/mcp/tools.js';
import { ownBuild } from '../../../src/host/program.js';

/** Some programs show all of it to their model, in every conversation. */
const MOST_CHARACTERS = 14_000;
const MOST_OF_INSTRUCTIONS = 600;

test('names, descriptions and input schemas take little room, and so do the instructions', () => {
  const shown = listTools().map(({ name, description, inputSchema }) => [name, description, inputSchema]);
  expect(JSON.stringify(shown).length).toBeLessThanOrEqual(MOST_CHARACTERS);
  expect(INSTRUCTIONS.length).toBeLessThanOrEqual(MOST_OF_INSTRUCTIONS);
});

test.each(listTools())('$name is strict, says what it is, and has no list of types', (tool) => {
  expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
  expect(tool.inputSchema.properties).toHaveProperty('session_id');
  expect(tool.description.length).toBeGreaterThan(40);
  expect(tool.annotations).toMatchObject({ destructiveHint: false, openWorldHint: false });
  expect(JSON.stringify(tool.inputSchema)).not.toMatch(/"type":\[/);
});

test('each has a name of its own', () => {
  expect(new Set(TOOLS.map(({ name }) => name)).size).toBe(TOOLS.length);
});

test('only what a model asks first is loaded at once', () => {
  const loaded = listTools().filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true);
  expect(loaded.map(({ name }) => name)).toEqual(['get_session_status']);
});

test('what is said of a field is of a field that there is', () => {
  for (const { name, about = {}, verb } of TOOLS)
    for (const field of Object.keys(about))
      expect([name, field, field === 'session_id' || field in verb.fields]).toEqual([name, field, true]);
});

test('the build has the same list', () => {
  const { tools } = JSON.parse(readFileSync(join(ownBuild(), 'bridge/mcp/tools.json'), 'utf8'));
  expect(tools).toEqual(JSON.parse(JSON.stringify(listTools())));
});
