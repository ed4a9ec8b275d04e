// `npm run prove -- NAME [MORE]`: builds, and runs one of the proofs that are no tests, because they take long, need a place of their
// own, or print figures. Without a name it lists them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** By name: the module in the build, and what it proves. */
const PROOFS = {
  house: ['test/house/main.js', 'figures of the code beside their goals: sizes, spread answers, English'],
  surface: ['test/surface/main.js', 'what differs from a commit in all that others count on'],
  rows: ['test/rows/main.js', 'the promises of session memory, by the command line in a scratch repository'],
  chaos: ['test/chaos/main.js', 'rounds of faults on real processes, or a kill at each failpoint'],
  mutants: ['test/chaos/mutantsMain.js', 'that the rounds of faults catch each fault of the past'],
  adversary: ['test/adversary/main.js', 'that people see all answers while something kills, fills, closes and forgets'],
  faults: ['test/faults/main.js', 'how surely and how late the watchdog finds faults in recorded sessions'],
  failures: ['test/failures/main.js', 'how the failure words of agent programs are read'],
  secrets: ['test/secrets/main.js', 'how many secrets leak into each output, and how many look-alikes are lost'],
  reach: ['test/reach/main.js', 'what an evil agent of each kind of isolation reaches'],
  published: ['test/published/main.js', 'what is said of real Claude Codes, beside what they publish of themselves'],
  week: ['test/week/main.js', 'what a week with real agents leaves, beside what is said of it'],
  'memory-races': ['test/memory/races/main.js', 'that no acknowledged line of a log is lost among many writers'],
  'plan-races': ['test/planRaces/main.js', 'that no change of a plan is lost, and one agent wins each phase'],
  'worktree-ends': ['test/worktrees/main.js', 'that ended worktrees lose no file and no commit, whenever killed'],
  orchestration: ['test/orchestration/main.js', 'what real agents make of a plan, killed and taken over'],
  'mcp-inspector': ['test/mcpInspector/main.js', 'the MCP server by the Inspector: every tool, refusals, no warning'],
  'git-programs': ['test/memory/git/main.js', 'that no program that a repository names to git is run'],
  'upgrade-test': ['test/upgrade/main.js', 'that no message is lost in a change of versions, there and back'],
};

process.exitCode = prove(process.argv.slice(2));

function prove([name, ...more]) {
  if (name === undefined || name === '--help') {
    const width = Math.max(...Object.keys(PROOFS).map((each) => each.length));
    for (const [each, [, words]] of Object.entries(PROOFS)) console.log(`${each.padEnd(width)}  ${words}`);
    return 0;
  }
  if (!Object.hasOwn(PROOFS, name)) {
    console.error(`prove: there is no proof "${name}"; one of ${Object.keys(PROOFS).join(', ')}`);
    return 2;
  }
  const [module] = PROOFS[name];
  return run(['build.mjs']) || run([`dist/${module}`, ...more]);
}

/** @returns the exit code; 1 if a signal ended it */
function run(words) {
  return spawnSync(process.execPath, words, { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
}
