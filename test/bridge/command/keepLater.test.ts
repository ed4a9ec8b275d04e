/** What commands leave to a process of its own: real ones, and what they would begin. */
import { cpSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { command as track } from '../../../bridge/cli/track/track.js';
import { command as work } from '../../../bridge/cli/work/work.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { packageRoot } from '../../../src/host/program.js';
import { HOUR } from '../../../src/time.js';
import { eventually } from '../../e2e/eventually.js';
import { testFolder } from '../../harness/folder.js';
import { runCommand } from '../cli/inProcess.js';
import { watchkeeper } from '../cli/program.js';

const TRANSCRIPT = join(packageRoot(), 'test/fixtures/transcripts/claude/deeds.jsonl');
const ID = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';

let folder: string;
let home: string;
let begun: (readonly string[])[];

beforeEach(() => {
  folder = testFolder();
  home = join(folder, 'home');
  begun = [];
  mkdirSync(join(folder, 'work'));
  mkdirSync(join(folder, 'person/.claude/projects/-x'), { recursive: true });
  cpSync(TRANSCRIPT, join(folder, `person/.claude/projects/-x/${ID}.jsonl`));
});

async function say(command: typeof track, args: readonly string[], conversation: string | null = null) {
  const variables = { WATCHKEEPER_HOME: home, ...(conversation !== null && { CLAUDE_CODE_SESSION_ID: conversation }) };
  const surroundings = { directory: join(folder, 'work'), process: readProcessIdentity('host'), variables };
  return runCommand(command, args, { surroundings, detached: (begins) => begun.push(begins) });
}

const idOf = ({ out }: { readonly out: string }) => String(JSON.parse(out).session_id);

test('the end of a session with a conversation begins its keeping, that of another one nothing', async () => {
  await say(track, ['init', 'T']);
  await say(track, ['done']);
  expect(begun).toEqual([]);
  const id = idOf(await say(track, ['init', 'T', '--json'], ID));
  begun = [];
  await say(track, ['done'], ID);
  expect(begun).toEqual([['work', 'keep', id, '--dir', home]]);
  const next = idOf(await say(work, ['start', '--purpose', 'p', '--json']));
  begun = [];
  await say(track, ['init', 'U', '--archive-existing']);
  expect([next, begun]).toEqual([next, []]);
});

test('the first start in an hour begins a round, unless there is no other session', async () => {
  await say(work, ['start', '--purpose', 'first']);
  expect(begun).toEqual([]);
  await say(work, ['start', '--purpose', 'second', '--concurrent']);
  expect(begun).toEqual([['work', 'keep', '--dir', home]]);
  await say(track, ['init', 'third', '--concurrent']);
  expect(begun).toHaveLength(1);
  const before = (Date.now() - HOUR) / 1000;
  utimesSync(join(home, 'kept'), before, before);
  await say(track, ['init', 'fourth', '--concurrent']);
  expect(begun).toHaveLength(2);
});

test('a start says what became of others here, beside its answer', async () => {
  const id = idOf(await say(work, ['start', '--purpose', 'p', '--json'], ID));
  const log = join(home, 'sessions', id, 'worklog.jsonl');
  const then = new Date(Date.now() - 31 * 24 * HOUR).toISOString();
  writeFileSync(log, readFileSync(log, 'utf8').replaceAll(/"timestamp":"[^"]+"/g, `"timestamp":"${then}"`));
  expect((await say(work, ['keep'])).out).toBe(`session ${id} is in the archive\n`);
  const next = await say(work, ['start', '--purpose', 'next', '--json']);
  expect(next.err).toContain(`session ${id} rested for more than 30 days and is in the archive: work unarchive ${id}`);
  expect(idOf(next)).not.toBe(id);
  expect((await say(work, ['start', '--purpose', 'more', '--concurrent'])).err).toBe('');
});

test('a process of its own keeps the session after the command has ended', async () => {
  const environment = { HOME: join(folder, 'person'), WATCHKEEPER_HOME: home, CLAUDE_CODE_SESSION_ID: ID };
  const tell = (args: readonly string[]) => watchkeeper(join(folder, 'work'), args, environment);
  const id = idOf(tell(['track', 'init', 'T', '--json']));
  // The whole conversation is the session's, as if it had begun with it.
  const log = join(home, 'sessions', id, 'worklog.jsonl');
  writeFileSync(log, readFileSync(log, 'utf8').replace(/"since":"[^"]+"/, '"since":null'));
  expect(tell(['track', 'done']).code).toBe(0);
  const copy = join(home, 'sessions', id, 'tool_use.jsonl');
  await eventually(() => existsSync(copy) && readFileSync(log, 'utf8').includes('"event":"kept"'), {
    what: 'the copy',
  });
  const verified = tell(['work', 'verify', id]);
  expect([verified.code, verified.out]).toEqual([0, expect.stringMatching(/ok {5} copy: \d+ bytes are whole$/m)]);
  await eventually(() => JSON.parse(tell(['work', 'show', id, '--json']).out).first_tool !== null, {
    what: 'what the copy shows',
  });
  expect(tell(['work', 'purge', id, '--yes']).code).toBe(0);
  expect(existsSync(copy)).toBe(false);
}, 30_000);
