/**
 * Of the programs that a repository can name to git, our commands run none. For each program the words are called that start git;
 * `npm run prove -- git-programs` calls all, as processes.
 */
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkDirectory } from '../../../bridge/doctor/folderChecks.js';
import { Git } from '../../../memory/git/git.js';
import { WorkScene } from '../../bridge/cli/work/scene.js';
import { testFolder } from '../../harness/folder.js';
import { type Called, everyWord } from './everyCommand.js';
import { missingPart } from './installedParts.js';
import { put } from './plainGit.js';
import { PLANTS, type Plant } from './plants.js';
import { Site } from './site.js';

/** Of an agent's shell, for the words that an agent calls. */
const AGENT = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'c-1', CLAUDE_PID: String(process.pid) };
const STARTING_GIT = [
  ...['track init', 'track checkpoint', 'track status', 'track scan'],
  ...['worktree start', 'worktree list', 'worktree path', 'worktree end'],
];

test('no other word starts git', async () => {
  const site = new Site(testFolder());
  const { HOME, PATH } = site.git.variables;
  const noted = () => readFileSync(join(site.folder, 'noted'), 'utf8').length;
  put(join(site.folder, 'noted'), '');
  put(
    join(site.folder, 'bin/git'),
    `#!/bin/sh\nprintf x >>'${site.folder}/noted'\nPATH='${PATH}' exec git "$@"\n`,
    0o755,
  );
  const scene = new WorkScene();
  const caller = {
    where: site.root,
    variables: { HOME, PATH: [join(site.folder, 'bin'), PATH].join(delimiter), ...AGENT },
  };
  const starting = new Set<string>();
  await everyWord(async (command, args) => {
    const before = noted();
    const said = await scene.say(command, args, caller);
    if (noted() > before) starting.add(`${command} ${args[0]}`);
    return said;
  });
  expect([...starting]).toEqual(STARTING_GIT);
});

for (const plant of PLANTS) {
  const missing = missingPart(plant);
  const [run, reason] = missing === null ? [test, ''] : [test.skip, ` (skipped: ${missing} is not installed)`];
  run(`git runs it, and we do not: ${plant.name}${reason}`, () => tryPlant(plant));
}

async function tryPlant({ name, plant, proof }: Plant): Promise<void> {
  const site = new Site(testFolder());
  plant(site, site.program(name));
  site.marks();
  const { variables } = site.git;
  const scene = new WorkScene();
  const caller = { where: site.root, variables: { ...variables, ...AGENT } };
  const called = await everyWord(
    (command, args) => scene.say(command, args, caller),
    (line) => STARTING_GIT.includes(line),
  );
  expect(called.length).toBeGreaterThanOrEqual(STARTING_GIT.length);
  // Only what git takes for a repository has worktrees.
  const isFine = ({ code, line }: Called) => code === 0 || code === 1 || (code === 2 && line.startsWith('worktree '));
  expect(called.filter((each) => !isFine(each))).toEqual([]);
  await checkDirectory('yard', site.root, variables);
  const git = new Git(site.root, variables);
  git.state('configured');
  git.commitsSince(git.state()?.head ?? '');
  git.commitsAfter(0);
  git.committedAfter(0);
  expect(site.marks()).toEqual([]);
  for (const command of proof) site.try(command);
  expect(site.marks()).toEqual([name]);
}
