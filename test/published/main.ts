/**
 * `npm run prove -- published [--dialogs N] [--kills N] [--ends N] [--loaded N] [--hooked N] [--background N]`: real Claude Codes against a
 * model of this machine, and what Watchkeeper says of them beside what they publish.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { findInstallation } from '../../bridge/agents/claude/installation.js';
import { proveBackground } from './background.js';
import { proveDialogs } from './dialogs.js';
import { proveHookedEnds } from './hookedEnds.js';
import { proveEnds, proveKills } from './kills.js';
import { print } from './place.js';

const LOAD = 30;

const { values } = parseArgs({
  options: {
    /** Rounds of five dialogs each. */
    dialogs: { type: 'string', default: '8' },
    kills: { type: 'string', default: '100' },
    ends: { type: 'string', default: '100' },
    /** Ends while thirty busy loops run. */
    loaded: { type: 'string', default: '100' },
    /** Ends with the plugin, while thirty busy loops run. */
    hooked: { type: 'string', default: '100' },
    background: { type: 'string', default: '100' },
    /** The path of `claude`. */
    program: { type: 'string' },
  },
});

const onPath = spawnSync('sh', ['-c', 'command -v claude'], { encoding: 'utf8' }).stdout.trim();
const installation = findInstallation();
const program = values.program ?? (installation.kind === 'complete' ? installation.program : onPath);
if (program === '') {
  print('published: Claude Code is not here; `npm run add-claude` adds it');
  process.exitCode = 2;
} else {
  const proofs = [
    [values.dialogs, (rounds: number) => proveDialogs(program, rounds)],
    [values.kills, (rounds: number) => proveKills(program, rounds)],
    [values.ends, (rounds: number) => proveEnds(program, rounds, 0)],
    [values.loaded, (rounds: number) => proveEnds(program, rounds, LOAD)],
    [values.hooked, (rounds: number) => proveHookedEnds(program, rounds, LOAD)],
    [values.background, (rounds: number) => proveBackground(program, rounds)],
  ] as const;
  let holds = true;
  for (const [rounds, prove] of proofs) if (Number(rounds) > 0) holds = (await prove(Number(rounds))) && holds;
  process.exitCode = holds ? 0 : 1;
}
