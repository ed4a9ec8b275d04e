// covers: memory/verbs/checkpoint.ts memory/verbs/begin.ts memory/verbs/notes.ts memory/verbs/lifecycle.ts memory/git/git.ts memory/plans/todoList.ts memory/show/status.ts memory/look/list.ts
/** The commands of session memory, as people and agents call them. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { command as track } from '../../../bridge/cli/track/track.js';
import { command as work } from '../../../bridge/cli/work/work.js';
import type { Command } from '../../../bridge/command/command.js';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import type { Step } from '../../../memory/fold/worklog.js';
import { addSteps, freeStepId } from '../../../memory/plans/addedSteps.js';
import { Memory } from '../../../memory/sessions/memory.js';
import type { SurroundingVariable } from '../../../memory/sessions/surroundings.js';
import { UsageError, WatchkeeperError } from '../../../src/errors.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { startAgent } from '../cli/agent.js';
import { runCommand } from '../cli/inProcess.js';

let home = '';
let directory = '';

beforeEach(() => {
  home = join(testFolder(), 'home');
  directory = join(testFolder(), 'work');
  mkdirSync(join(directory, 'src'), { recursive: true });
});

interface From {
  readonly variables?: Partial<Record<SurroundingVariable, string>>;
  readonly where?: string;
  readonly piped?: string;
}

function around({ variables = {}, where = directory }: From = {}) {
  return {
    directory: where,
    process: readProcessIdentity('host'),
    variables: { WATCHKEEPER_HOME: home, ...(process.env.PATH && { PATH: process.env.PATH }), ...variables },
  };
}

/** Errors become what the command line makes of them. */
async function say(command: Command, args: readonly string[], from: From = {}) {
  const { piped } = from;
  const surroundings = around(from);
  try {
    return await runCommand(command, args, { surroundings, ...(piped !== undefined && { piped }) });
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    return { code: error instanceof UsageError ? 2 : 1, out: '', err: error.message };
  }
}

const idOf = ({ out }: { readonly out: string }) => String(JSON.parse(out).session_id);

async function json(command: Command, args: readonly string[], from: From = {}) {
  const { out } = await say(command, [...args, '--json'], from);
  return JSON.parse(out);
}

describe('track', () => {
  test('keeps titles with commas, quotes, newlines and emoji, and one entry for all spellings of a path', async () => {
    await say(track, ['init', 'T', '--step', 'Read A, B and C', '--step', 'say "x"\ny 🙂']);
    await say(track, ['step', '1', '--start', '--file', 'src/a.ts']);
    await say(track, ['file', '../src/../src/a.ts', '--done'], { where: join(directory, 'src') });
    await say(track, ['file', 'src/a.ts', '--rename', 'b.ts']);
    const { steps, files } = await json(track, ['status']);
    expect(steps.map(({ title }: { title: string }) => title)).toEqual(['Read A, B and C', 'say "x"\ny 🙂']);
    expect(files).toEqual({ 'b.ts': { status: 'done', step: '1', at: expect.any(Number), digest: null } });
  });

  test('keeps every step that several add at once', async () => {
    await say(track, ['init', 'T']);
    const memory = () => new Memory({ surroundings: around(), folder: null, clock: systemClock, redact: redactShapes });
    const [first, second] = [memory().which(null), memory().which(null)];
    addSteps(first.log, memory().stamp, (state) => {
      const line = worklogKind.line('step_added', { step: freeStepId(state), title: 'mine' });
      if (second.log.state.steps.size === 0) addSteps(second.log, memory().stamp, () => [{ ...line, title: 'theirs' }]);
      return [line];
    });
    const { steps } = await json(track, ['status']);
    expect(steps.map(({ id, title }: Step) => [id, title])).toEqual([
      ['1', 'theirs'],
      ['2', 'mine'],
    ]);
  });

  test('a plan that is too long begins nothing, and an empty text is refused without a line', async () => {
    const titles = Array.from({ length: 501 }, (_, index) => ['--step', `s${index}`]).flat();
    expect(await say(track, ['init', 'T', ...titles])).toMatchObject({ code: 1, err: expect.stringContaining('500') });
    expect((await json(work, ['list', '--all'])).length).toBe(0);
    await say(track, ['init', 'T']);
    for (const words of [
      ['step', '--add', ' '],
      ['checkpoint', ''],
    ])
      expect((await say(track, words)).code).toBe(2);
    expect(await say(work, ['set', 'purpose='])).toMatchObject({ code: 2, err: 'purpose: must not be empty' });
    expect((await json(work, ['show'])).log).toMatchObject({ refused: 0 });
  });

  test('a list with secrets and words of another program is merged once, however often it comes', async () => {
    await say(track, ['init', 'T']);
    const piped = JSON.stringify([{ content: `use ghp_${'a1'.repeat(18)}`, status: 'done' }, { content: 'b' }]);
    await say(track, ['sync', '-'], { piped });
    expect((await say(track, ['sync', '-'], { piped })).code).toBe(0);
    expect(await json(track, ['status'])).toMatchObject({ progress: { done: 1, total: 2 } });
    for (const item of [{ content: 'c', status: 'constructor' }, { content: ' ' }])
      expect((await say(track, ['sync', '-'], { piped: JSON.stringify([item]) })).code).toBe(2);
  });

  test('a session whose first line is damaged is shown with the rest of it', async () => {
    const { folder } = JSON.parse((await say(track, ['init', 'T', '--step', 'kept step', '--json'])).out);
    await say(track, ['step', '1', '--start']);
    const path = join(folder, 'worklog.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace('{"v"', '{v'));
    for (const [command, ...words] of [
      [track, 'status'],
      [track, 'resume'],
      [work, 'list'],
    ] as const) {
      const { out } = await say(command, words);
      expect(out).toContain('the beginning of its rec');
      expect(out).not.toMatch(/undefined|null/);
    }
    expect((await say(track, ['resume'])).out).toContain('kept step');
  });

  test('a session whose log cannot be read hides no other', async () => {
    const { folder } = JSON.parse((await say(track, ['init', 'broken', '--json'])).out);
    await say(track, ['init', 'whole', '--concurrent']);
    rmSync(join(folder, 'worklog.jsonl'));
    mkdirSync(join(folder, 'worklog.jsonl'));
    const { code, out, err } = await say(work, ['list']);
    expect([code, out, err]).toEqual([3, expect.stringMatching(/whole/), expect.stringContaining('worklog.jsonl')]);
    expect(out).not.toContain('broken');
  });

  test('a log of a newer version takes notes, and no decisions', async () => {
    await say(track, ['init', 'T', '--step', 'a']);
    const { folder } = JSON.parse((await say(track, ['init', '--resume', '--json'])).out);
    appendFileSync(
      join(folder, 'worklog.jsonl'),
      '{"v":2,"id":"x","timestamp":"2026-01-01T00:00:00Z","event":"new"}\n',
    );
    expect((await say(track, ['note', 'kept'])).code).toBe(0);
    expect((await say(track, ['file', 'a', '--working'])).code).toBe(0);
    expect(await say(track, ['step', '1', '--start'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('newer'),
    });
    expect((await json(track, ['status'])).notes).toMatchObject([{ text: 'kept' }]);
  });

  test('moves OLD to NEW in both spellings of a rename', async () => {
    await say(track, ['init', 'T']);
    await say(track, ['file', 'old', '--working']);
    await say(track, ['file', '--rename', 'old', 'new']);
    await say(track, ['file', 'new', '--rename', 'newest']);
    expect((await json(track, ['status'])).files).toEqual({
      newest: { status: 'working', step: null, at: expect.any(Number), digest: null },
    });
  });

  test('refuses to begin where a session is unfinished, with a report, until told how', async () => {
    await say(track, ['init', 'first', '--step', 'a']);
    const refused = await say(track, ['init', 'second']);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/is unfinished here: first \(0 of 1 steps.*\n {2}\[ \] 1 a\n.*--resume/s);
    expect(await json(track, ['init', '--resume'])).toMatchObject({ resumed: true });
    const { session_id } = await json(track, ['init', 'second', '--archive-existing']);
    expect(session_id).toMatch(/-second$/);
    expect((await say(work, ['list', '--all'])).out).not.toContain('first');
    expect((await say(work, ['list', '--archived'])).out).toMatch(/-first +ended, cancelled/);
  });

  test('ends a session with open steps only when it is said how, and never silently as completed', async () => {
    await say(track, ['init', 'T', '--step', 'a', '--step', 'b']);
    await say(track, ['step', '1', '--start']);
    const refused = await say(track, ['done']);
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/--complete.*--as failed/s)]);
    const session = (await json(track, ['done', '--complete'])).session_id;
    const { steps, lifecycle } = await json(work, ['show', session]);
    expect(lifecycle).toBe('ended');
    expect(steps.map(({ status, assumed }: { status: string; assumed: boolean }) => [status, assumed])).toEqual([
      ['completed', true],
      ['skipped', true],
    ]);
  });

  test('merges a list of tasks: the same list twice changes nothing, foreign ids and other words keep their step', async () => {
    await say(track, ['init', 'T', '--step', 'kept']);
    const list = '[{"id":"x9","content":"B2","status":"completed","priority":"high"}]';
    await say(track, ['sync', '-'], { piped: list });
    const twice = await say(track, ['sync', '-'], { piped: list });
    expect([twice.code, twice.out]).toEqual([0, '[ ] 1 kept\n[x] 2 B2\n']);
    await say(track, ['sync', '-'], { piped: '{"todos":[{"id":"x9","content":"B2, reworded","status":"completed"}]}' });
    const { steps } = await json(track, ['status']);
    expect(steps).toMatchObject([
      { title: 'kept' },
      { id: '2', title: 'B2, reworded', priority: 'high', status: 'completed' },
    ]);
  });

  test('names the steps that no legal move leads where the list says', async () => {
    await say(track, ['init', 'T', '--step', 'a']);
    await say(track, ['step', '1', '--start']);
    await say(track, ['step', '1', '--done']);
    const said = await say(track, ['sync', '-'], { piped: '[{"id":1,"content":"a","status":"pending"}]' });
    expect([said.code, said.out]).toEqual([
      1,
      expect.stringContaining('step 1 is completed and cannot become pending'),
    ]);
    expect((await say(track, ['sync', '-'], { piped: 'no json' })).code).toBe(2);
  });

  test('prints the checklist without reading anything', async () => {
    await say(track, ['init', 'T', '--step', 'a', '--step', 'b']);
    await say(track, ['step', '1', '--start']);
    await say(track, ['step', '1', '--fail', 'no network']);
    expect((await say(track, ['sync'])).out).toBe('[!] 1 a (no network)\n[ ] 2 b\n');
  });

  test('a note for the workspace is in the context of each of its sessions', async () => {
    await say(track, ['note', 'tabs, never spaces', '--workspace', '--priority', 'critical']);
    await say(track, ['init', 'T']);
    expect((await say(track, ['resume'])).out).toContain('- critical: "tabs, never spaces"');
  });

  test('excuses silence for at most an hour by a ping, which is no activity', async () => {
    await say(track, ['init', 'T']);
    const { last_activity } = await json(track, ['status']);
    expect((await say(track, ['ping', '--for', '2h'])).code).toBe(2);
    expect((await say(track, ['ping', '--for', '10m', '--detail', 'compiling'])).out).toMatch(
      /^silence is excused until /,
    );
    expect((await json(track, ['status'])).last_activity).toBe(last_activity);
  });

  test('lists candidates, and exits with 2, if no session is meant clearly', async () => {
    await say(track, ['init', 'T', '--concurrent']);
    const said = await say(track, ['log', 'x']);
    expect([said.code, said.err]).toEqual([2, expect.stringMatching(/^no session holds .+\n {2}\S+-t {2}T$/)]);
    expect((await say(track, ['log', 'x', '--session', 'nobody'])).err).toBe('there is no session "nobody"');
  });

  test('suggests the word that was probably meant', async () => {
    expect((await say(track, ['stpe'])).err).toContain('"step"');
    expect((await say(track, [])).code).toBe(2);
  });

  test('compares the code with a checkpoint', async () => {
    const git = (...args: string[]) => runGit(directory, args);
    await git('init', '-q');
    await git('commit', '-q', '--allow-empty', '-m', 'first');
    await say(track, ['init', 'T']);
    await say(track, ['checkpoint', 'before']);
    expect((await say(track, ['checkpoint', '--verify', 'before'])).code).toBe(0);
    await git('commit', '-q', '--allow-empty', '-m', 'second');
    await git('commit', '-q', '--allow-empty', '-m', 'third');
    writeFileSync(join(directory, 'new.txt'), 'x');
    const later = await say(track, ['checkpoint', '--verify', 'before']);
    expect([later.code, later.out]).toEqual([1, '2 commits since, 1 more changed file\n']);
    await git('commit', '-q', '--allow-empty', '--amend', '-m', 'rewritten');
    await say(track, ['checkpoint', 'after']);
    await git('reset', '-q', '--hard', 'HEAD~1');
    expect((await say(track, ['checkpoint', '--verify', 'after'])).out).toContain('rewritten');
    expect((await say(track, ['checkpoint', '--list'])).out.split('\n')).toHaveLength(3);
    await say(track, ['checkpoint', '--drop', 'after']);
    expect((await say(track, ['checkpoint', '--verify', 'after'])).code).toBe(2);
  });
});

describe('a crash', () => {
  test('is proven by the process of the agent, with the files in doubt; a healthy session is not accused', async () => {
    const agent = await startAgent();
    const variables = { CLAUDE_PID: String(agent.pid) };
    const inShell = {
      directory,
      process: readProcessIdentity('host', agent.shell),
      variables: { WATCHKEEPER_HOME: home, ...variables },
    };
    await runCommand(track, ['init', 'Build it', '--step', 'one', '--step', 'two'], { surroundings: inShell });
    await runCommand(track, ['step', '1', '--start', '--file', 'src/a.ts'], { surroundings: inShell });
    writeFileSync(join(directory, 'src/a.ts'), 'export const');
    // The clock of the file system is coarser than ours.
    const later = new Date(Date.now() + 1_000);
    utimesSync(join(directory, 'src/a.ts'), later, later);
    expect(await say(track, ['crash-detect'])).toMatchObject({ code: 0, out: 'no crashed session here\n' });
    await agent.kill();
    const found = await say(track, ['crash-detect']);
    expect(found.code).toBe(1);
    expect(found.out).toContain(`process ${agent.pid} is gone`);
    expect(found.out).toMatch(/\[~\] 1 one\n {2}\[ \] 2 two/);
    expect(found.out).toContain('src/a.ts: 12 bytes, changed since it was last mentioned, step 1');
    // Nobody should type the words of others into a shell.
    expect(found.out).toMatch(/Go on with the session: watchkeeper track init --resume --session \S+-build-it\n/);
    const { err } = await say(track, ['init', 'Another']);
    expect(err).toContain('crashed');
    expect(err.match(/--resume/g)).toHaveLength(1);
    expect(err).toContain('--archive-existing');
    const resume = await say(track, ['resume']);
    expect(resume.out).toMatch(/^<session-record>\n/);
    expect(resume.out).toContain('Its agent crashed');
  });
});

test('a session is resumed with the files and notes of its own directory, wherever that is asked for', async () => {
  const { session_id } = await json(track, ['init', 'T', '--step', 'one']);
  await say(track, ['step', '1', '--start', '--file', 'half']);
  writeFileSync(join(directory, 'half'), 'x');
  await say(track, ['note', 'the API wants UTC', '--workspace']);
  const elsewhere = testFolder();
  const surroundings = {
    directory: elsewhere,
    process: readProcessIdentity('host'),
    variables: { WATCHKEEPER_HOME: home },
  };
  const { out } = await runCommand(track, ['resume', session_id], { surroundings });
  expect(out).toMatch(/"half": 1 bytes/);
  expect(out).toContain('the API wants UTC');
});

test('the command to go on leads to its session also from a directory that another one holds', async () => {
  const id = idOf(await say(track, ['init', 'there', '--name', 'other', '--json']));
  const here = { where: testFolder() };
  await say(track, ['init', 'here'], here);
  const { out } = await say(track, ['resume', id], here);
  const [, words = ''] = /To go on with it: watchkeeper track (.*?);/.exec(out) ?? [];
  expect(words).toBe(`init --resume --session ${id}`);
  expect((await say(track, words.split(' '), here)).out).toBe(
    `going on with session ${id}: name it with --session, because no agent works in this shell\n`,
  );
  expect(await json(track, ['init', '--resume', '--session', 'other'], here)).toMatchObject({ session_id: id });
  expect((await say(track, ['init', '--resume'], here)).out).toMatch(/^going on with session \S+-here\n$/);
  expect(await say(track, ['init', 'new', '--session', id, '--concurrent'], here)).toMatchObject({
    code: 2,
    err: expect.stringContaining('--resume'),
  });
  await say(work, ['archive', id]);
  const back = await json(track, ['init', '--resume', '--session', id], here);
  expect(back.folder).toBe(join(home, 'sessions', id));
  await say(work, ['end', id]);
  expect(await say(track, ['init', '--resume', '--session', id], here)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`work reopen ${id}`),
  });
});

test('a record that rested for a week is acknowledged before anybody goes on with it', async () => {
  const { session_id } = await json(track, ['init', 'T']);
  const log = join(home, 'sessions', session_id, 'worklog.jsonl');
  const old = new Date(Date.now() - 169 * 3_600_000).toISOString();
  writeFileSync(log, readFileSync(log, 'utf8').replaceAll(/"timestamp":"[^"]+"/g, `"timestamp":"${old}"`));
  const refused = await say(track, ['resume', session_id]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/for 169 hours.*--ack/)]);
  expect((await say(track, ['resume', session_id, '--ack'])).code).toBe(0);
  expect((await say(track, ['resume', session_id])).code).toBe(0);
});

async function runGit(where: string, args: readonly string[]): Promise<void> {
  const names = ['-c', 'user.email=a@example.com', '-c', 'user.name=a', '-c', 'commit.gpgsign=false'];
  const [code] = await once(spawn('git', ['-C', where, ...names, ...args], { stdio: 'ignore' }), 'exit');
  if (code !== 0) throw new Error(`git ${args.join(' ')} failed`);
}
