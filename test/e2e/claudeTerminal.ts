/** Tests of Claude Code in a terminal. */
import { spawnSync } from 'node:child_process';
import { describe, test } from '@jest/globals';
import { findInstallation } from '../../bridge/agents/claude/installation.js';

export * from './claudeScreen.js';

/** `describe` for tests of Claude Code in a terminal; skipped, with the reason, if it cannot be started. */
export function describeWithClaude(name: string, tests: (program: string) => void): void {
  const installation = findInstallation();
  const hasTerminal = spawnSync('script', ['--version']).status === 0;
  if (installation.kind === 'complete' && hasTerminal) describe(name, () => tests(installation.program));
  else
    describe.skip(`${name} (skipped: \`npm run add-claude\` adds it, and \`script\` is needed)`, () => {
      test('works', () => {});
    });
}

/** As {@link describeWithClaude}, also with the `claude` that is on PATH. */
export function describeWithAnyClaude(name: string, tests: (program: string) => void): void {
  const onPath = spawnSync('sh', ['-c', 'command -v claude'], { encoding: 'utf8' }).stdout.trim();
  const hasTerminal = spawnSync('script', ['--version']).status === 0;
  if (findInstallation().kind === 'complete' || onPath === '' || !hasTerminal) describeWithClaude(name, tests);
  else describe(name, () => tests(onPath));
}
