/** What a person reads of a session, and how to go on with it: real agents, killed. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { command as track } from '../../../../bridge/cli/track/track.js';
import { command as work } from '../../../../bridge/cli/work/work.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { testFolder } from '../../../harness/folder.js';
import { type Agent, startAgent } from '../agent.js';
import { runCommand } from '../inProcess.js';

let folder: string;

beforeEach(() => {
  folder = testFolder();
  mkdirSync(join(folder, 'work'));
});

async function say(command: typeof track, args: readonly string[], agent: Agent | null = null) {
  const variables = {
    WATCHKEEPER_HOME: join(folder, 'home'),
    ...(agent !== null && { CLAUDE_PID: String(agent.pid) }),
  };
  const surroundings = {
    directory: join(folder, 'work'),
    process: readProcessIdentity('host', agent?.shell),
    variables,
  };
  return runCommand(command, args, { surroundings, detached: () => {} });
}

/** @returns what the command said in the shell of an agent that was killed after it */
async function saidInAgent(command: typeof track, args: readonly string[]) {
  const agent = await startAgent();
  const said = await say(command, args, agent);
  await agent.kill();
  return said;
}

const idOf = ({ out }: { readonly out: string }) => String(JSON.parse(out).session_id);

test('work show has the directory, the summary, the files, the notes and the last entries', async () => {
  const id = idOf(await say(track, ['init', 'Fix it', '--step', 'Look', '--json']));
  await say(track, ['step', '1', '--start', '--file', 'a.ts']);
  await say(track, ['note', 'UTC only', '--priority', 'high']);
  expect((await say(track, ['step', '1', '--fail', 'too late'])).out).toBe('step 1 has failed: Look\n');
  await say(track, ['step', '1', '--retry']);
  await say(track, ['step', '1', '--done']);
  await say(track, ['file', 'b.ts', '--working']);
  await say(track, ['done', '--summary', 'It was the clock']);
  const { out } = await say(work, ['show', id]);
  expect(out).toMatch(/^in .*\/work\nsummary: It was the clock$/m);
  expect(out).toMatch(
    /^files in progress:\n {2}b\.ts\nfiles:\n {2}a\.ts\nnotes:\n {2}high: UTC only\nthe last entries:\n/m,
  );
  expect(out).toMatch(/(?:UTC|[+-]\d\d:\d\d) {2}step 1: completed$/m);
});

test('work show names a file by its state, whatever words its name has', async () => {
  const id = idOf(await say(track, ['init', 'Fix it', '--json']));
  await say(track, ['file', 'notes (in progress)', '--done']);
  await say(track, ['file', 'draft (deleted, in progress)', '--done']);
  await say(track, ['file', 'b (done)', '--working']);
  const { out } = await say(work, ['show', id]);
  expect(out).toMatch(
    /^files in progress:\n {2}b \(done\)\nfiles:\n {2}notes \(in progress\)\n {2}draft \(deleted, in progress\)\n(?! )/m,
  );
});

test('a plan of one step is counted in the singular, and one of none says how to add some', async () => {
  expect((await say(track, ['init', 'T', '--step', 'a'])).out).toMatch(/begins, with 1 step\n$/);
  expect((await say(track, ['init', 'U', '--concurrent'])).out).toMatch(/begins; add steps with: watchkeeper track/);
});

test('the record of a session that has ended says how it ended, and that it must be reopened', async () => {
  const id = idOf(await say(track, ['init', 'Fix it', '--step', 'a', '--json']));
  await say(track, ['done', '--as', 'failed', '--summary', 'no access']);
  const { out } = await say(track, ['resume', id]);
  expect(out).toContain('It had ended as failed;');
  expect(out).toContain('How it ended: "no access"');
  expect(out).toContain(`To go on with it: watchkeeper work reopen ${id};`);
  expect(out).not.toContain('--resume');
});

test('an agent that begins a session with work start works on it, so its death is seen', async () => {
  const id = idOf(await saidInAgent(work, ['start', '--purpose', 'p', '--json']));
  const { code, out } = await say(track, ['crash-detect']);
  expect([code, out]).toEqual([1, expect.stringContaining(`${id} crashed`)]);
  expect(out).toContain(`Go on with the session: watchkeeper track init --resume --session ${id}\n`);
});

test('a crashed session that holds no directory is gone on with by its id', async () => {
  await say(track, ['init', 'holder']);
  const id = idOf(await saidInAgent(track, ['init', 'beside', '--concurrent', '--json']));
  expect((await say(track, ['crash-detect'])).out).toContain(`Go on with the session: watchkeeper work continue ${id}`);
});

test('a beginning over a crashed session names its steps once', async () => {
  await saidInAgent(track, ['init', 'first', '--step', 'Look']);
  const { code, err } = await say(track, ['init', 'second']);
  expect(code).toBe(1);
  expect(err.split('[ ] 1 Look')).toHaveLength(2);
  expect(err).toContain('watchkeeper track init --archive-existing "TASK"');
});
