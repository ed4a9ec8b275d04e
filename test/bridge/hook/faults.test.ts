/** What the hook does if its home, its installation, or a transcript is not as it should be. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  closeSync,
  constants,
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { errorCode } from '../../../src/errors.js';
import { eventually } from '../../e2e/eventually.js';
import { NO_SPACE, onSmallDisk, testWithMounts } from '../../e2e/smallDisk.js';
import { testFolder } from '../../harness/folder.js';
import { watchkeeper } from '../cli/program.js';
import { eventsOf, failed, HOOK, HOOK_FLAGS, hook, payload, type Scene, scene, worklogs } from './hookScene.js';

const SOMEBODY_ELSE = 65_534;
const MEGABYTE = 1024 ** 2;
const GIGABYTE = 1024 ** 3;
/** Of prompts; reading them takes several seconds. */
const LONG_MEGABYTES = 250;
/** Its own limit is two seconds; the machine of the tests has other work. */
const LONGEST_ANSWER_MS = 6_000;
const start = { source: 'startup' };
const readOnly = (home: string) => void execFileSync('mount', ['-o', 'remount,ro', home]);
const asRoot = process.getuid?.() === 0 ? test : test.skip;

testWithMounts('a full disk is said in one line', async () => {
  const place = scene();
  onSmallDisk(place.home);
  await hook(place, payload(place, 'SessionStart', start));
  const before = worklogs(place);
  expect(before).toHaveLength(1);
  NO_SPACE.begin(place.home);
  const later = payload(place, 'SessionStart', { source: 'startup', session_id: 'c-2' });
  expectUnrecorded(await hook(place, later));
  NO_SPACE.end(place.home);
  expect((await hook(place, later)).said).toBe('');
  expect(worklogs(place)).toHaveLength(2);
});

asRoot('the home of another user is left alone', async () => {
  const place = scene();
  mkdirSync(place.home, { mode: 0o700 });
  chownSync(place.home, SOMEBODY_ELSE, SOMEBODY_ELSE);
  const answer = await hook(place, payload(place, 'SessionStart', start));
  expect(answer).toEqual(failed);
  expect(answer.said).toContain('another user');
  expect(readdirSync(place.home)).toEqual([]);
});

testWithMounts('a home that cannot be written is said in one line', async () => {
  const place = scene();
  onSmallDisk(place.home);
  readOnly(place.home);
  expectUnrecorded(await hook(place, payload(place, 'SessionStart', start)));
  // Its path may hold a secret of the agent's.
  const secret = basename(dirname(place.home));
  const { systemMessage } = expectUnrecorded(
    await hook(place, payload(place, 'SessionStart', start), { GITHUB_TOKEN: secret }),
  );
  expect(systemMessage).toContain('[redacted');
  expect(systemMessage).not.toContain(secret);
  // Only a start has somebody who reads an answer.
  expect((await hook(place, payload(place, 'SessionEnd', { reason: 'other' }))).out).toBe('');
});

testWithMounts.each([
  ['full', NO_SPACE.begin, / make room on the disk and try again$/],
  ['read-only', readOnly, /EROFS/],
])('a crash in a home that is %s is told to the next start, and that nothing is recorded', async (_, spoil, what) => {
  const { place, id } = await afterCrash(() => undefined, onSmallDisk);
  spoil(place.home);
  for (const source of ['startup', 'startup', 'fork']) {
    const later = payload(place, 'SessionStart', { source, session_id: 'c-2' });
    const { systemMessage, hookSpecificOutput } = expectUnrecorded(await hook(place, later));
    expect(systemMessage).toMatch(
      /^watchkeeper: an agent here crashed, [^\n]+\nwatchkeeper: this session is not recorded: [^\n]+$/,
    );
    expect(systemMessage).toMatch(what);
    expect(hookSpecificOutput.additionalContext).toContain(`watchkeeper work continue ${id}`);
  }
  expect(worklogs(place).join('')).not.toContain('c-2');
});

testWithMounts('a conversation that goes on in a home that is read-only is told of its own session', async () => {
  const { place, id } = await afterCrash(() => undefined, onSmallDisk);
  const cleared = payload(place, 'SessionStart', { source: 'clear', session_id: 'c-2' });
  const before = worklogs(place);
  readOnly(place.home);
  const resumed = expectUnrecorded(await hook(place, payload(place, 'SessionStart', { source: 'resume' })));
  expect(resumed.hookSpecificOutput.additionalContext).toContain(id);
  expect(resumed.systemMessage).toMatch(/^watchkeeper: an agent here crashed, /);
  for (const goesOn of [payload(place, 'SessionStart', { source: 'compact' }), cleared]) {
    const { systemMessage, hookSpecificOutput } = expectUnrecorded(await hook(place, goesOn));
    expect(hookSpecificOutput.additionalContext).toContain('mind it');
    expect(systemMessage).toMatch(/^watchkeeper: this session is not recorded: [^\n]+$/);
  }
  expect(worklogs(place)).toEqual(before);
});

/** @returns the answer, which says so to the person */
function expectUnrecorded({ code, out, said }: { code: unknown; out: string; said: string }) {
  expect({ code, said }).toEqual({ code: 0, said: failed.said });
  const answer = JSON.parse(out);
  expect(answer.systemMessage).toMatch(/^watchkeeper: this session is not recorded: .+$/m);
  return answer;
}

test.each<[string, (folder: string) => void, RegExp]>([
  [
    'its program is gone',
    (folder) => rmSync(join(folder, 'program.cjs')),
    /^watchkeeper: the hook cannot start: [^\n]+\n$/,
  ],
  ['its compiled code is gone', (folder) => rmSync(join(folder, 'SessionStart.cache')), /^$/],
  ['its compiled code is damaged', (folder) => damage(join(folder, 'SessionStart.cache')), /^$/],
])('an installation in which %s does not hurt the agent', async (_, hurt, said) => {
  const place = scene();
  const folder = join(testFolder(), 'hook');
  cpSync(dirname(HOOK), folder, { recursive: true });
  hurt(folder);
  const env = { PATH: process.env.PATH, HOME: place.work, WATCHKEEPER_HOME: place.home };
  const child = spawn(process.execPath, [...HOOK_FLAGS, join(folder, 'main.cjs')], {
    cwd: place.work,
    env,
    stdio: 'pipe',
  });
  child.stdin.on('error', () => undefined).end(JSON.stringify(payload(place, 'SessionStart', start)));
  const [told, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(code).toBe(0);
  expect(told).toMatch(said);
  expect(worklogs(place)).toHaveLength(said.test('') ? 1 : 0);
});

/** As many bytes as before. */
function damage(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0, Math.floor(bytes.length / 2));
  writeFileSync(path, bytes);
}

/** Each is what a kill at that instant leaves: logs only grow. */
test('wherever a hook is killed, the next one of the same start finishes its session', async () => {
  const whole = scene();
  await hook(whole, payload(whole, 'SessionStart', start));
  const [id = ''] = readdirSync(join(whole.home, 'sessions'));
  const lines = (worklogs(whole)[0] ?? '').trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  for (let left = 0; left <= lines.length; left += 1) {
    const place = { ...whole, home: `${whole.home}-${left}` };
    cpSync(whole.home, place.home, { recursive: true });
    const folder = join(place.home, 'sessions', id);
    if (left === 0) rmSync(folder, { recursive: true });
    else
      writeFileSync(
        join(folder, 'worklog.jsonl'),
        lines
          .slice(0, left)
          .map((line) => `${line}\n`)
          .join(''),
      );
    if (left < lines.length) {
      for (const name of readdirSync(join(place.home, 'bindings')))
        if (name.startsWith('p_')) rmSync(join(place.home, 'bindings', name));
      rmSync(join(place.home, 'workspaces'), { recursive: true });
    }
    expect((await hook(place, payload(place, 'SessionStart', start))).said).toBe('');
    expect(readdirSync(join(place.home, 'sessions'))).toEqual([id]);
    expect(eventsOf(place)).toEqual(['session_started', 'conversation', 'run_started']);
    // The next agent in the directory looks there.
    expect(workspaceLog(place)).toContain(id);
  }
});

test('an input that does not block is waited for while it has nothing', async () => {
  const place = scene();
  const pipe = join(testFolder(), 'input');
  execFileSync('mkfifo', [pipe]);
  // Linux opens both ends at once; others wait for a writer.
  const keeper = openSync(pipe, constants.O_RDWR);
  const [input, output] = [constants.O_RDONLY, constants.O_WRONLY].map((way) =>
    openSync(pipe, way | constants.O_NONBLOCK),
  );
  const env = { PATH: process.env.PATH, HOME: place.work, WATCHKEEPER_HOME: place.home };
  for (const size of [1024, 1]) while (writesTo(output ?? 0, ' '.repeat(size)));
  const child = spawn(process.execPath, [...HOOK_FLAGS, HOOK, 'SessionStart'], {
    ...{ cwd: place.work, env },
    stdio: [input ?? 0, 'ignore', 'pipe'],
  });
  // Its input is this one, and a child's begin as such that block.
  const shared = new Socket({ fd: input, readable: false });
  const ended = Promise.all([text(child.stderr as Readable), once(child, 'exit')]);
  const whole = JSON.stringify(payload(place, 'SessionStart', start));
  // Once there is room, all was read: the rest is not there yet.
  await eventually(() => writesTo(output ?? 0, whole), { what: 'room in the pipe', withinMs: LONGEST_ANSWER_MS });
  expect(await ended).toEqual(['', [0, null]]);
  shared.destroy();
  for (const end of [keeper, output]) closeSync(end ?? 0);
  expect(eventsOf(place)).toEqual(['session_started', 'conversation', 'run_started']);
});

/** @returns false if the pipe is full */
function writesTo(pipe: number, words: string): boolean {
  try {
    return writeSync(pipe, words) === words.length;
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return false;
    throw error;
  }
}

test.each<[string, object]>([
  ['SessionStart', start],
  ['PermissionRequest', { tool_name: 'Bash', tool_input: {} }],
  ['SessionEnd', { reason: 'other' }],
])('a session whose hook was killed before its first line is begun by the next one, here %s', async (event, more) => {
  const place = scene();
  await hook(place, payload(place, 'SessionStart', start));
  const sessions = join(place.home, 'sessions');
  const [id = ''] = readdirSync(sessions);
  // As it is on a full disk, too: the file is there, and nothing is in it.
  writeFileSync(join(sessions, id, 'worklog.jsonl'), '');
  for (const folder of ['bindings', 'workspaces'])
    for (const name of readdirSync(join(place.home, folder)))
      if (!name.startsWith('c_')) rmSync(join(place.home, folder, name));
  expect((await hook(place, payload(place, event, more))).said).toBe('');
  expect(eventsOf(place).slice(0, 3)).toEqual(['session_started', 'conversation', 'run_started']);
  expect(readdirSync(sessions)).toEqual([id]);
  expect(workspaceLog(place)).toContain(id);
});

test('of two hooks that find a session without a beginning, both may write it: nothing is refused', async () => {
  const place = scene();
  await hook(place, payload(place, 'SessionStart', start));
  const [id = ''] = readdirSync(join(place.home, 'sessions'));
  const path = join(place.home, 'sessions', id, 'worklog.jsonl');
  const [first = ''] = readFileSync(path, 'utf8').split('\n');
  appendFileSync(path, `${first.replace(/"id":"[^"]*"/, '"id":"again"')}\n`);
  const { out } = watchkeeper(place.work, ['work', 'show', id, '--json'], { WATCHKEEPER_HOME: place.home });
  expect(JSON.parse(out)).toMatchObject({ violations: { refused: 0 }, log: { lines: 4 } });
});

test('a session whose hook was killed before it wrote the conversation gets it from the end of its program', async () => {
  const place = scene();
  await hook(place, payload(place, 'SessionStart', start));
  const [id = ''] = readdirSync(join(place.home, 'sessions'));
  const path = join(place.home, 'sessions', id, 'worklog.jsonl');
  writeFileSync(path, `${readFileSync(path, 'utf8').split('\n')[0]}\n`);
  writeFileSync(join(place.work, 'c-1.jsonl'), readFileSync('test/fixtures/transcripts/claude/work.jsonl'));
  await hook(place, payload(place, 'SessionEnd', { reason: 'other' }));
  expect(eventsOf(place).slice(0, 4)).toEqual(['session_started', 'conversation', 'run_started', 'run_ended']);
});

test.each<[string, object]>([
  ['SubagentStart', { agent_id: 'a' }],
  ['PermissionRequest', { tool_name: 'Bash', tool_input: {} }],
  ['SessionEnd', { reason: 'other' }],
])('a session that was removed does not come back with %s', async (event, more) => {
  const place = scene();
  await hook(place, payload(place, 'SessionStart', start));
  const sessions = join(place.home, 'sessions');
  for (const id of readdirSync(sessions)) rmSync(join(sessions, id), { recursive: true });
  expect((await hook(place, payload(place, event, more))).said).toBe('');
  expect(readdirSync(sessions)).toEqual([]);
});

test('to a session that a newer version has begun, hooks still write facts', async () => {
  const place = scene();
  await hook(place, payload(place, 'SessionStart', start));
  const [id = ''] = readdirSync(join(place.home, 'sessions'));
  const path = join(place.home, 'sessions', id, 'worklog.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('{"v":1,', '{"v":2,'));
  for (const [event, more] of [
    ['PermissionRequest', { tool_name: 'Bash', tool_input: {} }],
    ['SessionStart', { source: 'resume' }],
    ['SessionEnd', { reason: 'other' }],
  ] as const)
    expect((await hook(place, payload(place, event, more))).said).toBe('');
  const written = eventsOf(place).slice(3);
  expect(written).toContain('wait_start');
  expect(written).toContain('run_ended');
  expect(written).not.toContain('session_started');
});

function workspaceLog({ home }: Scene): string {
  const folder = join(home, 'workspaces');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

/** An agent crashed, whose session has a note, and a transcript of which something became. */
async function afterCrash(
  change: (transcript: string) => void,
  prepare: (home: string) => void = () => undefined,
): Promise<{ place: Scene; id: string }> {
  const place = scene();
  prepare(place.home);
  const transcript = join(place.work, 'c-1.jsonl');
  writeFileSync(transcript, readFileSync('test/fixtures/transcripts/claude/work.jsonl'));
  await hook(place, payload(place, 'SessionStart', start));
  const [id = ''] = readdirSync(join(place.home, 'sessions'));
  const log = join(place.home, 'sessions', id, 'worklog.jsonl');
  const note = { v: 1, id: 'n', timestamp: new Date().toISOString(), origin: 'agent', event: 'note', text: 'mind it' };
  const crashed = readFileSync(log, 'utf8').replaceAll(/"boot_id":"[^"]*"/g, '"boot_id":"another"');
  writeFileSync(log, `${crashed}${JSON.stringify(note)}\n`);
  change(transcript);
  return { place, id };
}

test.each<[string, (transcript: string) => void]>([
  ['is as it was', () => undefined],
  ['was deleted', (transcript) => rmSync(transcript)],
  ['ends within a line', (transcript) => truncateSync(transcript, 2_000)],
  ['is empty', (transcript) => truncateSync(transcript)],
  ['became a folder', (transcript) => [rmSync(transcript), mkdirSync(transcript)]],
  ['has 1 GB of nothing at its end', (transcript) => truncateSync(transcript, GIGABYTE)],
])('a transcript that %s: the next start is told of the session in time, and how to see it', async (_, change) => {
  const { place, id } = await afterCrash(change);
  const begun = performance.now();
  const { code, out } = await hook(place, payload(place, 'SessionStart', { ...start, session_id: 'c-2' }));
  expect(performance.now() - begun).toBeLessThan(LONGEST_ANSWER_MS);
  expect(code).toBe(0);
  const { additionalContext } = JSON.parse(out).hookSpecificOutput;
  expect(additionalContext).toMatch(new RegExp(`watchkeeper (?:work (?:continue|show)|track resume) ${id}`));
});

test('a git that takes long is not waited for: the conversation that is resumed is told in time', async () => {
  const { place, id } = await afterCrash(() => undefined);
  const bin = testFolder();
  writeFileSync(join(bin, 'git'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 });
  const begun = performance.now();
  const resumed = payload(place, 'SessionStart', { source: 'resume' });
  const { code, out } = await hook(place, resumed, { PATH: `${bin}:${process.env.PATH}` });
  expect(performance.now() - begun).toBeLessThan(LONGEST_ANSWER_MS);
  expect(code).toBe(0);
  expect(JSON.parse(out).hookSpecificOutput.additionalContext).toContain(id);
});

test('a transcript that takes longer than a start may wait is left out, and the command that shows it is named', async () => {
  const { place, id } = await afterCrash((transcript) => {
    const [prompt = ''] = readFileSync(transcript, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"type":"user"'));
    const block = `${prompt}\n`.repeat(Math.ceil(MEGABYTE / prompt.length));
    for (let count = 0; count < LONG_MEGABYTES; count += 1) appendFileSync(transcript, block);
  });
  const begun = performance.now();
  const { out, said } = await hook(place, payload(place, 'SessionStart', { ...start, session_id: 'c-2' }));
  expect(said).toBe('');
  expect(performance.now() - begun).toBeLessThan(LONGEST_ANSWER_MS);
  const { hookSpecificOutput, systemMessage } = JSON.parse(out);
  const { additionalContext } = hookSpecificOutput;
  expect(additionalContext).toContain(`takes too long to be read here. It is shown by: watchkeeper track resume ${id}`);
  expect(additionalContext).toMatch(
    /Its agent may have left something half done: process \d+ ran before this host was started again/,
  );
  expect(systemMessage).toContain(`an agent here is gone and did not report its end.`);
});

test.each(['{', 'é'])(
  '100 MB of lines with the one letter %s make no start wait, and it is said what was not read',
  async (letter) => {
    const { place, id } = await afterCrash((transcript) => {
      for (let count = 0; count < 100; count += 1) appendFileSync(transcript, Buffer.alloc(MEGABYTE, `${letter}\n`));
    });
    const begun = performance.now();
    const { code, out } = await hook(place, payload(place, 'SessionStart', { ...start, session_id: 'c-2' }));
    expect(performance.now() - begun).toBeLessThan(LONGEST_ANSWER_MS);
    expect(code).toBe(0);
    const { additionalContext } = JSON.parse(out).hookSpecificOutput;
    expect(additionalContext).toContain(
      `takes too long to be read here. It is shown by: watchkeeper track resume ${id}`,
    );
  },
);

test('an answer reaches an agent that reads late, through a pipe that accepts no more at first', async () => {
  const place = scene();
  await hook(place, payload(place, 'SessionStart', start));
  const [id = ''] = readdirSync(join(place.home, 'sessions'));
  const step = ['track', 'step', '--add', 'Write the tests', '--session', id];
  expect(watchkeeper(place.work, step, { WATCHKEEPER_HOME: place.home }).err).toBe('');
  const path = join(testFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(pipe, ' '.repeat(4096));
  }).toThrow('EAGAIN');
  const env = { PATH: process.env.PATH, HOME: place.work, WATCHKEEPER_HOME: place.home };
  // Node would make it wait if it were the child's standard output from the beginning.
  const words = ['-c', 'exec "$0" "$1" >&3', process.execPath, HOOK];
  const child = spawn('sh', words, { cwd: place.work, env, stdio: ['pipe', 'ignore', 'inherit', pipe] });
  child.stdin?.end(JSON.stringify(payload(place, 'SubagentStart', { agent_id: 'a' })));
  await eventually(() => worklogs(place)[0]?.includes('"sub_agent":"a"') ?? false, {
    what: 'the context that was given',
  });
  const ended = once(child, 'exit');
  let read = '';
  const chunk = Buffer.alloc(MEGABYTE);
  const readOn = () => {
    try {
      read += chunk.toString('utf8', 0, readSync(pipe, chunk));
    } catch (error) {
      expect(errorCode(error)).toBe('EAGAIN');
    }
    return read.includes('\n');
  };
  await eventually(readOn, { what: 'the answer' });
  closeSync(pipe);
  expect(await ended).toEqual([0, null]);
  expect(JSON.parse(read)).toMatchObject({ hookSpecificOutput: { hookEventName: 'SubagentStart' } });
});
