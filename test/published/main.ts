/**
 * `npm run prove -- published [--dialogs N] [--kills N] [--ends N] [--loaded N] [--hooked N] [--background N]`: real Claude Codes against a
 * model of this machine, and what Watchkeeper says of them beside what they publish.
 */
import { spawnSync } from 'node:child_process';
import { findInstallation } from '../../bridge/agents/claude/installation.js';
import { proofOptions } from '../harness/proofOptions.js';
import { proveBackground } from './background.js';
import { proveDialogs } from './dialogs.js';
import { proveHookedEnds } from './hookedEnds.js';
import { proveEnds, proveKills } from './kills.js';
import { print } from './place.js';

const LOAD = 30;

const values = proofOptions('published', {
  dialogs: [8, 'rounds of five dialogs each'],
  kills: [100, 'rounds'],
  ends: [100, 'rounds'],
  loaded: [100, 'ends while thirty busy loops run'],
  hooked: [100, 'ends with the plugin, while thirty busy loops run'],
  background: [100, 'rounds'],
  program: [null, 'the path of `claude`'],
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
  for (const [rounds, prove] of proofs) if (rounds > 0) holds = (await prove(rounds)) && holds;
  process.exitCode = holds ? 0 : 1;
}
