/**
 * A reader of the critical events as anybody may write one, in a process of its own, through the command line alone: it
 * reads a batch, stores what it made of it together with the cursor in one file, then acknowledges. Says each step on
 * standard output. Its words: the folder of the logs, its own file, the last event's id, and where it kills itself.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

interface Work {
  readonly cursor: string;
  readonly ids: readonly string[];
}

const MOST_AT_ONCE = '300';
const [program = '', logs = '', stateFile = '', last = '', diesAfter = ''] = process.argv.slice(2);
const environment = { PATH: process.env.PATH ?? '', WATCHKEEPER_LOGS: logs };

async function watchkeeper(...args: string[]): Promise<string> {
  const command = promisify(execFile)(process.execPath, [program, ...args], {
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
  });
  // Exit code 1 says that there are events.
  const { stdout } = await command.catch((error: { code?: number; stdout: string; stderr: string }) => {
    if (error.code !== 1) throw new Error(`${args.join(' ')}: ${error.stderr}`);
    return error;
  });
  return stdout;
}

function dieIfDue(step: string, batches: number): void {
  process.stdout.write(`${step}\n`);
  if (step === diesAfter && batches === 2) process.kill(process.pid, 'SIGKILL');
}

function store(work: Work): void {
  writeFileSync(`${stateFile}.new`, JSON.stringify(work));
  renameSync(`${stateFile}.new`, stateFile);
}

let work: Work = existsSync(stateFile)
  ? (JSON.parse(readFileSync(stateFile, 'utf8')) as Work)
  : { cursor: 'start', ids: [] };
for (let batches = 1; work.ids.at(-1) !== last; ) {
  const out = await watchkeeper('events', '--after', work.cursor, '--limit', MOST_AT_ONCE, '--json');
  const lines = out.split('\n').filter((line) => line !== '');
  const { cursor } = JSON.parse(lines.pop() ?? '{}') as { cursor: string };
  if (lines.length === 0) continue;
  dieIfDue('read', batches);
  work = { cursor, ids: [...work.ids, ...lines.map((line) => (JSON.parse(line) as { id: string }).id)] };
  store(work);
  dieIfDue('stored', batches);
  await watchkeeper('events', 'ack', cursor, '--consumer', 'tester');
  dieIfDue('acknowledged', batches);
  batches += 1;
}
