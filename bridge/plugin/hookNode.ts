/** Whether the hooks find a Node that can run them. Their launcher takes the one that installed them, else that of PATH. */
import { dirname, isAbsolute } from 'node:path';
import { SECOND } from '../../src/time.js';
import { findProgram } from '../agents/program/findProgram.js';
import type { ProgramEnd } from '../command/runProgram.js';
import type { Asker } from './agent.js';
import { type Installation, REPEAT, type Trouble } from './installation.js';

/** @public for a test: as package.json has it */
export const OLDEST_NODE = { major: 20, minor: 12 };
const LIMIT_MS = 5 * SECOND;

/** @returns what keeps the hooks from starting, or has them start something else than was installed */
export async function nodeTroubles({ node }: Installation, { run, surroundings }: Asker): Promise<Trouble[]> {
  const { PATH = '' } = surroundings.variables;
  const isThere = isAbsolute(node) && findProgram(node, '', '/').kind === 'found';
  const found = findProgram(isThere ? node : 'node', PATH, '/');
  const gone = isThere ? '' : `${node || 'the program that the file of the installation should name'} is gone, and `;
  if (found.kind !== 'found')
    return [
      {
        found: `${gone}\`node\` is not on PATH, so the hooks do nothing`,
        remedy: 'put node on PATH, or run `watchkeeper plugin install` again',
      },
    ];
  const { path } = found;
  const end = await run({ program: path, args: ['--version'], directory: dirname(path), limitMs: LIMIT_MS });
  if (end.kind === 'late')
    return [
      {
        found: `${gone}${path} took too long to say its version, so it is unknown whether the hooks run`,
        remedy: 'run `watchkeeper plugin status` again; if it stays so, start that program yourself',
      },
    ];
  const fault = faultOf(end);
  if (fault !== null) return [{ found: `${gone}${path} ${fault}, so the hooks do nothing`, remedy: REPEAT }];
  return isThere ? [] : [{ found: `${gone}the hooks start ${path} instead`, remedy: REPEAT }];
}

function faultOf(end: Exclude<ProgramEnd, { kind: 'late' }>): string | null {
  if (end.kind === 'not_started') return `cannot be started (${end.why})`;
  if (end.code !== 0) return `fails with exit code ${end.code ?? 'none'}`;
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(end.out) ?? [];
  if (major === undefined) return 'is no Node';
  const isOld =
    Number(major) < OLDEST_NODE.major || (Number(major) === OLDEST_NODE.major && Number(minor) < OLDEST_NODE.minor);
  return isOld
    ? `is Node ${end.out.trim().slice(1)}, and ${OLDEST_NODE.major}.${OLDEST_NODE.minor} or newer is needed`
    : null;
}
