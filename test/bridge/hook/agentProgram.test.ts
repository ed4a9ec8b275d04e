/** Whose conversation it is, the name of the program says that calls the hook; the folders that it is in do not. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { HOOK, HOOK_FLAGS, payload, scene, worklogs } from './hookScene.js';

test.each([
  ['codex-tools/bin/claude.cjs', 'claude'],
  ['claude/bin/codex.cjs', 'codex'],
])('%s is %s', (path, provider) => {
  const place = scene();
  const program = join(place.work, path);
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(
    program,
    `const [input, ...args] = process.argv.slice(2);
require('node:child_process').spawnSync(process.execPath, args, { input });`,
  );
  const input = JSON.stringify(payload(place, 'SessionStart', { source: 'startup' }));
  spawnSync(process.execPath, [program, input, ...HOOK_FLAGS, HOOK, 'SessionStart'], {
    cwd: place.work,
    env: { PATH: process.env.PATH, HOME: place.work, WATCHKEEPER_HOME: place.home },
  });
  const [log = ''] = worklogs(place);
  const lines = log.split('\n').filter((line) => line.includes('"conversation"'));
  expect(lines.map((line) => JSON.parse(line).provider)).toContain(provider);
});
