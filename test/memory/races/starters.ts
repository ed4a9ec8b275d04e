/** Many people who type `work start` in one directory at once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/host/program.js';

const PROGRAM = join(packageRoot(), 'bin/watchkeeper');

export interface StartRace {
  /** Sessions that began. */
  readonly winners: readonly string[];
  /** Attempts that exited with 1 and named the winner. */
  readonly refused: number;
  /** All others. */
  readonly strange: readonly string[];
}

/** @param folder empty */
export async function raceStarters(folder: string, processes: number): Promise<StartRace> {
  const directory = join(folder, 'work');
  mkdirSync(join(directory, '.git'), { recursive: true });
  const said = await Promise.all(Array.from({ length: processes }, () => start(directory, join(folder, 'home'))));
  const winners = said.flatMap(({ code, out }) => (code === 0 ? [String(JSON.parse(out).session_id)] : []));
  const isRefusal = ({ code, err }: Said) =>
    code === 1 && winners.some((winner) => err.includes(`session ${winner} holds`));
  return {
    winners,
    refused: said.filter(isRefusal).length,
    strange: said.filter((one) => one.code !== 0 && !isRefusal(one)).map(({ code, err }) => `exit ${code}: ${err}`),
  };
}

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

async function start(directory: string, home: string): Promise<Said> {
  const child = spawn(PROGRAM, ['work', 'start', '--purpose', 'p', '--json'], {
    cwd: directory,
    env: { ...process.env, WATCHKEEPER_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
}
