// covers: memory/show/directory.ts memory/git/checkout.ts
/** A session whose directory is gone, or has another branch by now, or whose agent ran on another host. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { checkoutOf } from '../../../../memory/git/checkout.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { isoTime } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';
import { startAgent } from '../agent.js';
import { WorkScene } from '../work/scene.js';

let scene: WorkScene;

beforeEach(() => {
  scene = new WorkScene();
});

function git(...args: string[]): string {
  const names = ['-c', 'user.email=a@example.com', '-c', 'user.name=a', '-c', 'commit.gpgsign=false'];
  const { status, stdout } = spawnSync('git', ['-C', scene.directory, ...names, ...args], { encoding: 'utf8' });
  expect(status).toBe(0);
  return stdout.trim();
}

function commit(): string {
  git('commit', '-q', '--allow-empty', '-m', 'x');
  return git('rev-parse', 'HEAD');
}

/** @returns the id of a session whose agent was killed */
async function crashed(): Promise<string> {
  const agent = await startAgent();
  const caller = { variables: { CLAUDE_PID: String(agent.pid) }, pid: agent.shell };
  const { session_id } = await scene.json('track', ['init', 'T', '--step', 'a'], caller);
  await agent.kill();
  return session_id;
}

describe('in a repository', () => {
  let first: string;

  beforeEach(() => {
    git('init', '-q', '-b', 'main');
    first = commit();
  });

  test('a session knows what was checked out when it began', async () => {
    const id = await scene.begin('T');
    const { baseline } = await scene.json('work', ['show', id]);
    expect(baseline).toEqual({ head: first, branch: 'main', dirty_digest: null });
  });

  test('a crash and its record say that another branch or commit is checked out now, and nothing if it is the same', async () => {
    const id = await crashed();
    const resumed = async () => (await scene.say('track', ['resume', id])).out;
    expect((await scene.json('track', ['crash-detect']))[0].place).toBeNull();
    expect(await resumed()).not.toContain('It began on');
    git('checkout', '-q', '-b', 'feature/x');
    const second = commit();
    const [before, now] = [first, second].map((each) => each.slice(0, 10));
    expect((await scene.say('track', ['crash-detect'])).out).toContain(
      `\ndirectory:      it began on branch main at ${before}; branch feature/x at ${now} is checked out now\n`,
    );
    expect(await resumed()).toContain(
      `\nIt began on branch main at ${before}; branch "feature/x" at ${now} is checked out now.\n`,
    );
    git('checkout', '-q', '--detach');
    expect(await resumed()).toContain(`; commit ${now} is checked out now.\n`);
  });

  test('a branch whose name is redacted, or whose commit is not found quickly, is no other one', async () => {
    git('checkout', '-q', '-b', `fix/ghp_${'aB3'.repeat(12)}`);
    const id = await crashed();
    const place = async () => (await scene.json('track', ['crash-detect', '--session', id]))[0].place;
    expect(await place()).toBeNull();
    git('pack-refs', '--all');
    appendFileSync(join(scene.directory, '.git/packed-refs'), `# ${'x'.repeat(1024 * 1024)}\n`);
    expect(checkoutOf(scene.directory)?.head).toBeNull();
    expect(await place()).toBeNull();
    rmSync(join(scene.directory, '.git'), { recursive: true });
    expect(await place()).toMatch(/^it began on branch .*; it is no checkout of git any more$/);
  });

  test('what is checked out is read as git says it: packed, detached, in a linked worktree, before the first commit', () => {
    const { directory } = scene;
    expect(checkoutOf(directory)).toEqual({ head: first, branch: 'main' });
    git('pack-refs', '--all');
    expect(existsSync(join(directory, '.git/refs/heads/main'))).toBe(false);
    expect(checkoutOf(directory)).toEqual({ head: first, branch: 'main' });
    const linked = join(testFolder(), 'linked');
    git('worktree', 'add', '-q', '-b', 'other', linked);
    expect(checkoutOf(linked)).toEqual({ head: first, branch: 'other' });
    git('checkout', '-q', '--detach');
    expect(checkoutOf(directory)).toEqual({ head: first, branch: null });
    git('checkout', '-q', '--orphan', 'new');
    expect(checkoutOf(directory)).toEqual({ head: null, branch: 'new' });
  });

  test('what git does not write is nothing that is checked out', () => {
    const { directory } = scene;
    for (const text of ['', 'ref: refs/heads/.invalid\n', 'deadbeef\n']) {
      writeFileSync(join(directory, '.git/HEAD'), text);
      expect(checkoutOf(directory)).toBeNull();
    }
    rmSync(join(directory, '.git'), { recursive: true });
    writeFileSync(join(directory, '.git'), 'no link');
    expect(checkoutOf(directory)).toBeNull();
  });

  test('a checkpoint is of the directory of its session, wherever it is asked for', async () => {
    const id = await scene.begin('T');
    const caller = { where: testFolder() };
    expect(await scene.json('track', ['checkpoint', 'x', '--session', id], caller)).toMatchObject({ head: first });
    expect((await scene.say('track', ['checkpoint', '--verify', 'x', '--session', id], caller)).code).toBe(0);
  });
});

test('crash-detect names a session whose agent ran on another host, and does not call it crashed', async () => {
  const id = await scene.begin('T');
  const process = { ...readProcessIdentity('old-machine'), pid: 1 };
  const line = { v: 1, id: 'r', timestamp: isoTime(Date.now()), event: 'run_started', origin: 'program', process };
  appendFileSync(join(scene.home, 'sessions', id, 'worklog.jsonl'), `${JSON.stringify(line)}\n`);
  const { code, out } = await scene.say('track', ['crash-detect']);
  expect([code, out.split('\n')]).toEqual([
    0,
    ['no crashed session here', expect.stringMatching(`^${id}: Its agent ran on host old-machine\\. Whether`), ''],
  ]);
  expect(await scene.json('track', ['crash-detect'])).toEqual([]);
  const named = await scene.say('track', ['crash-detect', '--session', id], { where: testFolder() });
  expect(named).toMatchObject({
    code: 0,
    out: expect.stringMatching(`^session ${id} has not crashed\n${id}: Its agent`),
  });
  // Its directory may be there still.
  rmSync(scene.directory, { recursive: true });
  expect((await scene.say('work', ['show', id], { where: testFolder() })).out).not.toContain('exist');
});

test('a session in a plain folder knows of nothing that is checked out', async () => {
  const id = await scene.begin('T');
  expect((await scene.json('work', ['show', id])).baseline).toBeNull();
});

test.each([
  ['deleted', (directory: string) => rmSync(directory, { recursive: true })],
  ['renamed', (directory: string) => renameSync(directory, `${directory}-renamed`)],
])('a directory that was %s is named as gone, and neither scanned nor marked', async (_, lose) => {
  const id = await crashed();
  writeFileSync(join(scene.directory, 'a'), 'x');
  await scene.say('track', ['scan', '--session', id]);
  lose(scene.directory);
  const say = (name: 'track' | 'work', ...args: string[]) => scene.say(name, args, { where: testFolder() });
  expect((await say('work', 'show', id)).out).toContain(`\nin ${scene.directory}, which does not exist any more\n`);
  expect((await say('track', 'resume', id)).out).toContain(
    `\nIts directory does not exist any more: "${scene.directory}".\n`,
  );
  const { out } = await say('track', 'status', '--session', id);
  expect(out).toContain(`\nits directory does not exist any more: ${scene.directory}\n`);
  expect(out).not.toContain('deleted');
  expect(await say('track', 'crash-detect')).toMatchObject({ code: 0, out: 'no crashed session here\n' });
  expect(await say('track', 'crash-detect', '--session', id)).toMatchObject({
    code: 1,
    out: expect.stringMatching(new RegExp(`^${id} crashed: .*\ndirectory: +its directory does not exist`, 's')),
  });
  const refused = {
    code: 3,
    out: '',
    err: `the directory of session ${id} does not exist any more: ${scene.directory}`,
  };
  expect(await say('track', 'scan', '--session', id)).toEqual(refused);
  expect(await say('track', 'checkpoint', 'x', '--session', id)).toEqual(refused);
  expect((await say('track', 'checkpoint', '--list', '--session', id)).out).toBe('no checkpoints\n');
});
