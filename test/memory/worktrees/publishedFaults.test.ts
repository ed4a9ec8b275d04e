/**
 * Faults of published programs that tie worktrees, sessions and handoffs together, each as a person or an agent would meet it. Each test
 * fails if its rule is removed. Others of them are tested where their rule is:
 *
 * - failures merged or lost: `test/memory/learnings/pattern.test.ts`, "errors differ", and `draw.test.ts`, "what came back is found"
 * - staleness by counting commits: `test/memory/verbs/handoff.test.ts`, "four commits that touch none of its files"
 * - two takers, one after the other: the same file, "the first one counts"
 * - `git branch -d` after a squash: `test/bridge/cli/worktree/end.test.ts`, "of what is merged already is only a removal"
 * - `.env` lost: there, "included is named"
 * - a remote branch deleted unasked: there, "of the remote goes with --remote only"
 * - a dead lock for ever: there, "the lock of a live process is one"
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/host/program.js';
import { Ends, put } from '../../bridge/cli/worktree/endScene.js';

let made: Ends;
let path: string;

beforeEach(() => {
  made = new Ends();
  path = made.begun('feature/one');
});

const asked = (directory: string, ...args: string[]) => {
  const said = made.callIn(directory, [...args, '--json']);
  if (said.code !== 0) throw new Error(`${args.join(' ')}: ${said.err}`);
  return JSON.parse(said.out);
};

function offer(directory: string, title: string): string {
  const file = join(made.folder, `${title}.json`);
  put(file, JSON.stringify({ title, learnings: ['one'], next: ['two'] }));
  return asked(directory, 'handoff', 'create', '--from', file).handoff_id;
}

describe('what is written down', () => {
  test('goes to the session of the worktree, not to the first one that is open', () => {
    const first = asked(made.root, 'work', 'start', '--purpose', 'First').session_id;
    const second = asked(path, 'work', 'start', '--purpose', 'Second').session_id;
    asked(join(path, 'sub'), 'track', 'note', 'of the second');
    const has = (id: string) => made.callIn(made.root, ['work', 'show', id, '--json']).out.includes('of the second');
    expect([has(first), has(second)]).toEqual([false, true]);
  });

  test('after the end goes to no session, also not to one that ended before', () => {
    const id = asked(path, 'work', 'start', '--purpose', 'Over').session_id;
    asked(path, 'work', 'end');
    expect(made.callIn(path, ['track', 'note', 'too late'])).toMatchObject({ code: 2 });
    expect(made.callIn(path, ['track', 'step', '--add', 'too late', '--session', id]).code).toBe(1);
    expect(made.callIn(path, ['work', 'show', id, '--json']).out).not.toContain('too late');
  });
});

describe('a directory', () => {
  test('below the top of a worktree is that worktree, and not the main branch', async () => {
    const below = join(path, 'sub');
    const here = asked(below, 'worktree', 'list').worktrees.filter((each: { is_here: boolean }) => each.is_here);
    expect(here).toMatchObject([{ path, branch: 'feature/one' }]);
    const id = offer(below, 'T');
    expect(asked(made.root, 'handoff', 'show', id)).toMatchObject({
      document: expect.stringContaining(', branch feature/one'),
    });
  });

  test('of a linked worktree is no container: the next worktree does not come into it', () => {
    const [start, last] = [['worktree', 'start', 'next', '--type', 'fix', '--yes'], `${made.root}.worktrees/fix-next`];
    mkdirSync(join(path, 'feature'));
    expect(made.callIn(path, start).code).toBe(0);
    expect([existsSync(join(last, 'a.txt')), existsSync(join(path, 'fix'))]).toEqual([true, false]);
  });
});

test('nothing of ours is asked before a compaction, and what is asked stops nothing', () => {
  const plugin = join(packageRoot(), 'plugin/hooks');
  const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks.json'), 'utf8'));
  for (const event of ['PreCompact', 'Stop', 'SubagentStop', 'PreToolUse']) expect(hooks).not.toHaveProperty(event);
  const input = JSON.stringify({ hook_event_name: 'PreCompact', cwd: path, session_id: 'x', trigger: 'auto' });
  const env = { ...made.variables, LC_ALL: 'C' };
  const { status, stdout } = spawnSync(join(plugin, 'run'), ['PreCompact'], {
    cwd: path,
    input,
    env,
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

test('a handoff is taken by nobody who has not named it: not by the next session there, and not if it is the only one', () => {
  const id = offer(path, 'T');
  asked(path, 'work', 'start', '--purpose', 'T');
  asked(path, 'track', 'note', 'goes on');
  asked(path, 'work', 'end');
  for (const words of [[], ['T']])
    expect(made.callIn(path, ['handoff', 'accept', ...words, '--as', 'follow']).code).toBe(2);
  expect(asked(path, 'handoff', 'show', id)).toMatchObject({ status: 'offered', accepted_by: null });
});

test('of two takers who have written at the same time, the first counts', () => {
  const id = offer(path, 'T');
  asked(path, 'handoff', 'accept', id, '--as', 'adapt');
  const log = join(made.memory, 'handoffs', `${id}.jsonl`);
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  const taken = JSON.parse(lines.at(-1) ?? '');
  writeFileSync(log, `${[...lines, JSON.stringify({ ...taken, as: 'fresh', workspace: 'ws_other' })].join('\n')}\n`);
  expect(asked(path, 'handoff', 'show', id)).toMatchObject({ status: 'accepted', as: 'adapt' });
});

test('the commits of a submodule are lost by no way to an end', async () => {
  const other = made.git.repository(join(made.folder, 'other'));
  made.git.run(path, 'submodule', '--quiet', 'add', other, 'module');
  made.git.commitAll(path, 'a submodule');
  made.git.commitAll(join(path, 'module'), 'nowhere else');
  const own = made.head(join(path, 'module'));
  for (const way of [['--merge'], ['--discard', 'one'], ['--keep-branch']]) {
    const { removed, reasons } = await made.ended(['one', ...way]);
    expect(removed).toBe(false);
    expect(reasons.map(({ reason }) => reason)).toContain('repository');
  }
  // Removed from the index, it is a repository inside.
  made.git.run(path, 'rm', '-q', '--cached', 'module');
  expect((await made.ended(['one', '--discard', 'one'])).removed).toBe(false);
  expect(made.head(join(path, 'module'))).toBe(own);
});

test('a base that is behind what was fetched is not taken without a word', () => {
  const clone = join(made.folder, 'clone');
  made.git.run(made.folder, 'clone', '-q', made.root, clone);
  made.git.commitAll(made.root, 'since');
  made.git.run(clone, 'fetch', '-q');
  const { out, err } = made.callIn(clone, ['worktree', 'start', 'next', '--type', 'fix', '--yes']);
  expect(out + err).toContain('at origin/main; the local one is 1 behind');
  expect(made.head(`${clone}.worktrees/fix-next`)).toBe(made.head());
});
