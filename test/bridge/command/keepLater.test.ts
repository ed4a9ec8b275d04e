/** What commands leave to a process of its own: real ones, and what they would begin. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { beforeEach, expect, test } from '@jest/globals';
import { command as track } from '../../../bridge/cli/track/track.js';
import { command as work } from '../../../bridge/cli/work/work.js';
import { keepLater } from '../../../bridge/command/keepLater.js';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { Memory } from '../../../memory/sessions/memory.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { compiledProgram, packageRoot } from '../../../src/host/program.js';
import { HOUR, systemClock } from '../../../src/time.js';
import { eventually } from '../../e2e/eventually.js';
import { testFolder } from '../../harness/folder.js';
import { runCommand } from '../cli/inProcess.js';
import { watchkeeper } from '../cli/program.js';

const TRANSCRIPT = join(packageRoot(), 'test/fixtures/transcripts/claude/deeds.jsonl');
const STARTERS = 2;
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

test('a clock that was wrong once keeps no round away', async () => {
  await say(work, ['start', '--purpose', 'first']);
  const later = Date.now() / 1000 + 10 * 365 * 24 * 3600;
  writeFileSync(join(home, 'kept'), '');
  utimesSync(join(home, 'kept'), later, later);
  await say(work, ['start', '--purpose', 'second', '--concurrent']);
  expect(begun).toHaveLength(1);
  await say(work, ['start', '--purpose', 'third', '--concurrent']);
  expect(begun).toHaveLength(1);
});

test('nothing in the place of its mark holds up a start, or makes it write elsewhere', async () => {
  const mark = join(home, 'kept');
  const elsewhere = join(folder, 'elsewhere');
  writeFileSync(elsewhere, 'a person wrote this');
  utimesSync(elsewhere, 1, 1);
  await say(work, ['start', '--purpose', 'first']);
  const start = () => say(work, ['start', '--purpose', 'p', '--concurrent']);
  symlinkSync(elsewhere, mark);
  expect((await start()).code).toBe(0);
  expect(readFileSync(elsewhere, 'utf8')).toBe('a person wrote this');
  expect(statSync(elsewhere).mtimeMs).toBe(1_000);
  rmSync(mark);
  execFileSync('mkfifo', [mark]);
  utimesSync(mark, 1, 1);
  const environment = { WATCHKEEPER_HOME: home };
  const args = ['work', 'start', '--purpose', 'p', '--concurrent'];
  expect(watchkeeper(join(folder, 'work'), args, environment).code).toBe(0);
}, 30_000);

test('of two starts at once, one begins a round', async () => {
  const roots = Array.from({ length: 100 }, (_, index) => join(folder, `home-${index}`));
  for (const [index, root] of roots.entries()) {
    mkdirSync(root);
    if (index % 2 === 0) writeFileSync(join(root, 'kept'), '');
    if (index % 2 === 0) utimesSync(join(root, 'kept'), 1, 1);
  }
  const program = `
    const { parentPort, workerData: { module, roots, gate } } = require('node:worker_threads');
    import(module).then(({ takeRound }) => {
      const taken = roots.map((root, index) => {
        // Both are at the same home.
        Atomics.add(gate, index, 1);
        while (Atomics.load(gate, index) < ${STARTERS});
        return takeRound(root, Date.now());
      });
      parentPort.postMessage(taken);
    });`;
  const workerData = {
    module: pathToFileURL(compiledProgram('bridge/command/keepLater')).href,
    roots,
    gate: new Int32Array(new SharedArrayBuffer(4 * roots.length)),
  };
  const workers = Array.from({ length: STARTERS }, () => new Worker(program, { eval: true, workerData }));
  const taken = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0] as boolean[]));
  expect(roots.map((_, index) => taken.filter((by) => by[index]).length)).toEqual(roots.map(() => 1));
  expect(new Set(roots.map((root) => readdirSync(root).join()))).toEqual(new Set(['kept']));
}, 30_000);

test('a start says what became of others here, beside its answer', async () => {
  const id = idOf(await say(work, ['start', '--purpose', 'p', '--json'], ID));
  const log = join(home, 'sessions', id, 'worklog.jsonl');
  const then = new Date(Date.now() - 31 * 24 * HOUR).toISOString();
  writeFileSync(log, readFileSync(log, 'utf8').replaceAll(/"timestamp":"[^"]+"/g, `"timestamp":"${then}"`));
  expect((await say(work, ['keep'])).out).toBe(`session ${id} is in the archive\n`);
  const next = await say(work, ['start', '--purpose', 'next', '--json']);
  expect(next.err).toContain(
    `session ${id} rested for more than 30 days and is in the archive: watchkeeper work unarchive ${id}`,
  );
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

test('with a session that continues an ended one, that one is kept again: its last turn went on after its end', async () => {
  const ended = idOf(await say(track, ['init', 'T', '--json'], ID));
  await say(track, ['done'], ID);
  const surroundings = {
    directory: join(folder, 'work'),
    process: readProcessIdentity('host'),
    variables: { WATCHKEEPER_HOME: home, HOME: join(folder, 'person') },
  };
  const memory = new Memory({ surroundings, folder: null, clock: systemClock, redact: (text) => text });
  const next = memory.sessions.openImplicit('ses_next', { workspace: memory.workspace.id, continues: ended });
  next.log.write(
    () => [worklogKind.line('conversation', { provider: 'claude', conversation: ID, source: 'bind', since: null })],
    memory.stamp,
  );
  const keeping = (args: readonly string[]) => {
    const said = watchkeeper(folder, args, { HOME: join(folder, 'person') });
    begun.push([String(said.code), said.err, said.out.split(' ').slice(0, 3).join(' ')]);
  };
  begun = [];
  keepLater({ startDetached: keeping }, memory, next);
  expect(begun).toEqual([
    ['0', '', 'session ses_next is'],
    ['0', '', `session ${ended} is`],
  ]);
  for (const id of ['ses_next', ended]) expect(existsSync(join(home, 'sessions', id, 'tool_use.jsonl'))).toBe(true);
});
