/** An agent in whose shell a test calls commands. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterThisTest } from '../../harness/scope.js';

export interface Agent {
  readonly pid: number;
  /** A process below it. */
  readonly shell: number;
  kill(): Promise<void>;
}

/** A program with a child, as an agent is with its shell. */
export async function startAgent(): Promise<Agent> {
  const child: ChildProcess = spawn('sh', ['-c', 'sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [said] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  const shell = Number(said.toString());
  const kill = async () => {
    const closed = once(child, 'exit');
    child.kill('SIGKILL');
    await closed;
  };
  afterThisTest(() => {
    try {
      process.kill(shell, 'SIGKILL');
    } catch {
      // It has ended.
    }
  });
  return { pid: child.pid ?? 0, shell, kill };
}
