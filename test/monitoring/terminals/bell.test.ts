/** The bell of an agent's terminal, in a real terminal. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { ring } from '../../../monitoring/terminals/bell.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { afterThisTest } from '../../harness/scope.js';

const here = readProcessIdentity('host');
const hasTerminal = spawnSync('script', ['--version']).status === 0;

(hasTerminal ? test : test.skip)('rings in the terminal of the process, and prints nothing', async () => {
  const child = spawn('script', ['-qfec', 'echo $$; exec sleep 1000', '/dev/null']);
  afterThisTest(() => void child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  const agent = readProcessIdentity('host', Number(String(said).trim()));
  const rung = once(child.stdout, 'data');
  expect(ring(agent, here)).toBe(true);
  expect(String((await rung)[0])).toBe('\u0007');
  expect(ring({ ...agent, pid_start: '1' }, here)).toBe(false);
});

test('rings nowhere if the process has no terminal, or is gone', () => {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  afterThisTest(() => void child.kill('SIGKILL'));
  expect(ring(readProcessIdentity('host', child.pid), here)).toBe(false);
  expect(ring({ ...here, boot_id: 'another' }, here)).toBe(false);
});
