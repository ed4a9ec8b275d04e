/** Many processes that begin, end and reopen sessions in one directory; and who holds it afterwards. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Memory } from '../../../memory/sessions/memory.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { compiledProgram } from '../../../src/host/program.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';

const HOLDER = compiledProgram('test/memory/races/holderMain');

export interface HolderRace {
  readonly attempts: number;
  readonly begun: number;
  readonly refused: number;
  /** What must not be: active sessions that do not hold the directory, or an ended one that does. */
  readonly faults: readonly string[];
}

/**
 * @param folder empty
 * @param attempts of each process
 */
export async function raceHolders(
  folder: string,
  { processes, attempts, seed }: { processes: number; attempts: number; seed: number },
): Promise<HolderRace> {
  const home = join(folder, 'home');
  const directory = join(folder, 'work');
  mkdirSync(join(directory, '.git'), { recursive: true });
  const said = await Promise.all(
    Array.from({ length: processes }, (_, index) =>
      runHolder([home, directory, String(seed * 1_000 + index), String(attempts)]),
    ),
  );
  const all = said.flat();
  const refusals = all.filter(({ outcome }) => outcome !== 'done');
  return {
    attempts: all.length,
    begun: all.filter(({ what, outcome }) => what === 'begin' && outcome === 'done').length,
    refused: refusals.length,
    faults: [
      ...refusals
        .filter(({ outcome }) => !(outcome.startsWith('session ') && outcome.endsWith(` holds ${directory}`)))
        .map(({ outcome }) => outcome),
      ...faultsOf(home, directory),
    ],
  };
}

function faultsOf(home: string, directory: string): string[] {
  const memory = new Memory({
    surroundings: { directory, process: readProcessIdentity('host'), variables: { WATCHKEEPER_HOME: home } },
    folder: null,
    clock: systemClock,
    redact: redactShapes,
  });
  const holder = memory.claims.holder(memory.workspace);
  const active = memory.sessions.ids().filter((id) => {
    const session = memory.sessions.read(id);
    return session !== null && session.log.state.end === null;
  });
  return [
    ...active.filter((id) => id !== holder).map((id) => `${id} is active and does not hold the directory`),
    ...(holder !== null && !active.includes(holder) ? [`${holder} has ended and holds the directory`] : []),
  ];
}

interface Attempt {
  readonly what: string;
  readonly session: string | null;
  readonly outcome: string;
}

async function runHolder(words: readonly string[]): Promise<Attempt[]> {
  const child = spawn(process.execPath, [HOLDER, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`a process ended with ${code}`);
  return said
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Attempt);
}
