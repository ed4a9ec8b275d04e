/**
 * `npm run prove -- git-programs [--only WORDS]`: one repository for each way to name a program to git. All words of `track` and `work`,
 * `doctor` and the hook of a start are called there as people and agents call them; then git itself shows that it runs the program.
 * Exit code 1 if one is run by us, or git runs none.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderTable } from '../../../bridge/command/table.js';
import { compiledProgram } from '../../../src/host/program.js';
import { watchkeeper } from '../../bridge/cli/program.js';
import { proofOptions } from '../../harness/proofOptions.js';
import { everyWord } from './everyCommand.js';
import { missingPart } from './installedParts.js';
import { PLANTS, type Plant } from './plants.js';
import { Site } from './site.js';

const HOOK = compiledProgram('bridge/hook/main').replace(/\.js$/, '.cjs');
const HOOK_LIMIT_MS = 30_000;

interface Tried {
  /** How often a command of ours was called. */
  readonly calls: number;
  readonly ours: readonly string[];
  readonly gits: readonly string[];
}

async function tryPlant({ name, plant, proof }: Plant, folder: string): Promise<Tried> {
  const site = new Site(folder);
  plant(site, site.program(name));
  site.marks();
  const { HOME, PATH } = site.git.variables;
  const agent = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'c-0', CLAUDE_PID: String(process.pid) };
  const called = await everyWord((command, args) =>
    watchkeeper(site.root, [command, ...args], { HOME, PATH, ...agent }),
  );
  for (const args of [['doctor'], ['doctor', '--quick']]) watchkeeper(site.root, args, { HOME, PATH });
  const conversation = { session_id: 'c-1', transcript_path: join(folder, 'c-1.jsonl'), cwd: site.root };
  for (const source of ['startup', 'resume']) {
    const input = JSON.stringify({ hook_event_name: 'SessionStart', source, ...conversation });
    const env = { HOME, PATH, WATCHKEEPER_HOME: join(folder, 'memory') };
    spawnSync(process.execPath, [HOOK, 'SessionStart'], { cwd: site.root, env, input, timeout: HOOK_LIMIT_MS });
    watchkeeper(site.root, ['track', 'note', 'words'], { ...env, CLAUDE_CODE_SESSION_ID: 'c-1' });
  }
  const ours = site.marks();
  for (const command of proof) site.try(command);
  return { calls: called.length + 6, ours, gits: site.marks() };
}

const values = proofOptions('git-programs', {
  only: ['', 'words in the names of the programs'],
});
const rows: string[][] = [];
let faults = 0;
for (const plant of PLANTS.filter(({ name }) => name.includes(values.only))) {
  const missing = missingPart(plant);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'wk-plant-')));
  const { calls, ours, gits } = await tryPlant(plant, folder);
  rmSync(folder, { recursive: true, force: true });
  const isProven = gits.includes(plant.name);
  if (ours.length > 0 || (!isProven && missing === null)) faults += 1;
  const shown = isProven ? 'runs it' : missing === null ? 'DOES NOT RUN IT' : `${missing} is not installed`;
  rows.push([plant.name, shown, ours.length > 0 ? 'RUN' : `not run by ${calls} calls`]);
  process.stderr.write('.');
}
process.stdout.write(`\n${renderTable(['THE PROGRAM OF', 'GIT', 'WATCHKEEPER'], rows)}\n\n`);
process.stdout.write(
  `${rows.length} repositories, ${faults === 0 ? 'no program was run by us' : `${faults} faults`}\n`,
);
process.exitCode = faults === 0 ? 0 : 1;
