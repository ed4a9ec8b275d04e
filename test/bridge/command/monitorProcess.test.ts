/** What is said of a monitor that does not end, or whose process cannot be seen: never that it has stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { monitor } from '../../../bridge/cli/track/monitor.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { ask } from '../../../memory/verbs/verb.js';
import { recordMonitor } from '../../../monitoring/terminals/monitorRecord.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { afterThisTest } from '../../harness/scope.js';
import { memoryScene } from '../../memory/scene.js';
import { DOOR } from '../../memory/verbs/asked.js';

const DEAF = `process.on('SIGTERM', () => console.log('heard')); setInterval(() => {}, 1e6); console.log('up')`;

async function begin() {
  const scene = memoryScene();
  const memory = scene.open();
  const { id } = memory.lifecycle.begin(memory.workspace, { purpose: 'a', fields: {}, plan: [], concurrent: false });
  const process = await start();
  return { scene, memory, id, process };
}

async function start(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', DEAF], { stdio: ['ignore', 'pipe', 'inherit'] });
  afterThisTest(() => void child.kill('SIGKILL'));
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child;
}

/** @param host of the process that is recorded */
function record(memory: Memory, id: string, { pid }: ChildProcess, host = 'host'): void {
  const { places, surroundings } = memory;
  const process = { ...readProcessIdentity('host', pid), host };
  recordMonitor({ places, surroundings: { ...surroundings, process } }, id, { interval_ms: 1_000, checks: 3 });
}

const stop = (memory: Memory) => ask(monitor, memory, { do: 'stop' }, DOOR);

test('one that does not end in time is named, with the command that ends it', async () => {
  const { scene, memory, id, process } = await begin();
  record(memory, id, process);
  const said = stop(memory).catch(String);
  if (process.stdout !== null) await once(process.stdout, 'data');
  await scene.clock.advance(11_000);
  expect(await said).toMatch(new RegExp(`has not ended within 10 seconds; to end it: kill -KILL ${process.pid}`));
});

test('one of another host may run: it is named, and no process of this host gets its signal', async () => {
  const { memory, id, process } = await begin();
  record(memory, id, process, 'another');
  expect(await stop(memory).catch(String)).toMatch(`(process ${process.pid}) cannot be seen from here and may run`);
  expect(process.stdout?.read()).toBeNull();
});
