/** What the command adds to the demo, which test/demo proves: it begins a program of its own, and is answerable for its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { compiledProgram } from '../../../src/host/program.js';
import { eventually } from '../../e2e/eventually.js';
import { canScan, descendantsOf } from '../../e2e/processScan.js';
import { isThere } from '../../e2e/recorded.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';

// covers: bridge/cli/demo.ts

const LIMIT_MS = 90_000;

(canScan() ? describe : describe.skip)('watchkeeper demo', () => {
  test(
    'that is asked to stop ends all that it has started, and fails',
    async () => {
      const cwd = testFolder();
      const command = spawn(process.execPath, [compiledProgram('bridge/cli/main'), 'demo'], {
        cwd,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const closed = once(command, 'close');
      afterThisTest(async () => {
        command.kill('SIGKILL');
        await closed;
      });
      let said = '';
      command.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      command.stderr.resume();
      await eventually(() => said.includes('Act 1'), {
        what: 'the first act',
        withinMs: LIMIT_MS / 3,
        instead: () => said,
      });
      const started = descendantsOf(command.pid ?? 0).map(({ pid }) => pid);
      expect(started.length).toBeGreaterThan(1);
      command.kill('SIGTERM');
      expect(await closed).toEqual([1, null]);
      expect(said).toContain('Interrupted: everything is being ended.');
      const left = JSON.parse(readFileSync(join(cwd, 'demo-output/processes-after-the-stop.json'), 'utf8'));
      expect(left).toMatchObject({ found: [] });
      await eventually(() => !started.some(isThere), { what: 'the end of all that it has started' });
    },
    LIMIT_MS,
  );
});
