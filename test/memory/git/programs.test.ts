/** Of the programs that a repository can name to git, our commands run none. */
import { expect, test } from '@jest/globals';
import { checkDirectory } from '../../../bridge/doctor/folderChecks.js';
import { Git } from '../../../memory/git/git.js';
import { WorkScene } from '../../bridge/cli/work/scene.js';
import { testFolder } from '../../harness/folder.js';
import { everyWord } from './everyCommand.js';
import { missingPart } from './installedParts.js';
import { PLANTS, type Plant } from './plants.js';
import { Site } from './site.js';

/** Of an agent's shell, for the words that an agent calls. */
const AGENT = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'c-1', CLAUDE_PID: String(process.pid) };

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
  const called = await everyWord((command, args) => scene.say(command, args, caller));
  expect(called.filter(({ code }) => code !== 0 && code !== 1)).toEqual([]);
  await checkDirectory('yard', site.root, variables);
  const git = new Git(site.root, variables);
  git.state('configured');
  git.commitsSince(git.state()?.head ?? '');
  git.commitsAfter(0);
  expect(site.marks()).toEqual([]);
  for (const command of proof) site.try(command);
  expect(site.marks()).toEqual([name]);
}
