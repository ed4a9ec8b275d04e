/**
 * As much of a bridge as the reaper's tests need: a process with a reaper and agents. It says who is who in one line of
 * JSON, then lives until it is killed, or until it hears a line: then it says farewell and exits.
 * Usage: standInBridge.js LEASE_MS GRACE_MS FOLDER RUN_ID…
 */
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createScriptedAgent } from '../../../bridge/agents/scripted.js';
import { Reaper } from '../../../bridge/runs/reaper.js';
import { RUN_MARK } from '../../../src/host/processes.js';
import { systemClock } from '../../../src/time.js';

const [leaseMs, graceMs, folder = '.', ...runIds] = process.argv.slice(2);
const reaper = new Reaper({
  clock: systemClock,
  leaseMs: Number(leaseMs),
  graceMs: Number(graceMs),
  notify: (sentence) => say({ notice: sentence }),
});

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** @returns the agent's pid, once its tool is up */
async function startAgent(runId: string): Promise<number | null> {
  await reaper.watch(runId);
  const run = createScriptedAgent(join(folder, 'scenario.json')).start(
    {
      sessionId: `tg_standin_1_${runId}`,
      runId,
      prompt: 'go',
      workingDirectory: folder,
      conversationId: null,
      attempt: 1,
      environment: { [RUN_MARK]: runId },
    },
    new AbortController().signal,
  );
  await reaper.watch(runId, run.pid);
  for await (const event of run.events) if (event.type === 'note') return run.pid;
  return null;
}

// Something that a child must not inherit.
openSync(join(folder, 'scenario.json'), 'r');
await reaper.start();
const pids = await Promise.all(runIds.map(startAgent));
say({ reaper: reaper.pid, pids });
await once(createInterface({ input: process.stdin }), 'line');
await reaper.stop();
process.exit(0);
