/**
 * Our commands run no program that a repository names to git. Here, the words that start git are called;
 * `npm run prove -- git-programs` calls all words, as processes, for each program alone.
 */
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkDirectory } from '../../../bridge/doctor/folderChecks.js';
import { Git } from '../../../memory/git/git.js';
import { WorkScene } from '../../bridge/cli/work/scene.js';
import { testFolder } from '../../harness/folder.js';
import { restore, snapshotOf } from './copies.js';
import { type Called, everyWord } from './everyCommand.js';
import { missingPart } from './installedParts.js';
import { put } from './plainGit.js';
import { PLANTS, type Plant } from './plants.js';
import { Site } from './site.js';

/** Of an agent's shell, for the words that an agent calls. */
const AGENT = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'c-1', CLAUDE_PID: String(process.pid) };
const STARTING_GIT = [
  ...['track init', 'track checkpoint', 'track status', 'track scan', 'work summary'],
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
  const title = `git runs it, and we do not: ${plant.name}`;
  if (missing !== null) test.skip(`${title} (skipped: ${missing} is not installed)`, () => undefined);
  else if (plant.isAlone) test(title, async () => expect(await plantsThatGitRuns([plant])).toEqual([plant]));
}

test('git runs each of the others, and we run none of them', async () => {
  let left = PLANTS.filter((plant) => !plant.isAlone && missingPart(plant) === null);
  // One may hide another. Those that git did not run are tried again without the rest, and alone if they all hide each other.
  while (left.length > 0) {
    const together = await plantsThatGitRuns(left);
    const ran = together.length > 0 ? together : await plantsThatGitRuns(left.slice(0, 1));
    if (ran.length === 0) throw new Error(`git does not run ${left[0]?.name}`);
    left = left.filter((plant) => !ran.includes(plant));
  }
}, 300_000);

/** Names several programs in one checkout, and calls our words there. @returns those that git itself runs in that checkout */
async function plantsThatGitRuns(plants: readonly Plant[]): Promise<readonly Plant[]> {
  const site = new Site(testFolder());
  for (const { name, plant } of plants) plant(site, site.program(name));
  site.marks();
  const planted = snapshotOf(site.folder);
  await expectNoneRun(site);
  return plants.filter(({ name, proof }) => {
    restore(planted);
    for (const command of proof) site.try(command);
    const marks = site.marks();
    return plants.length === 1 ? marks.join() === name : marks.includes(name);
  });
}

async function expectNoneRun(site: Site): Promise<void> {
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
  const state = git.state();
  git.commitsSince(state === null || state === 'unanswered' ? '' : (state.head ?? ''));
  git.commitsAfter(0);
  git.committedAfter(0);
  git.versionsElsewhere(['a.txt'], 0);
  expect(site.marks()).toEqual([]);
}
