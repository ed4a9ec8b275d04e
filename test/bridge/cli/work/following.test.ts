// covers: memory/look/standing.ts memory/keeping/noteStanding.ts memory/show/directory.ts memory/verbs/list.ts memory/workspaces/logs.ts
/** Every surface finds a session in the worktree of its agent, too, and in that which was removed. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { command as learn } from '../../../../bridge/cli/learn/learn.js';
import { command as track } from '../../../../bridge/cli/track/track.js';
import { command as work } from '../../../../bridge/cli/work/work.js';
import { command as worktree } from '../../../../bridge/cli/worktree/worktree.js';
import { programRunner } from '../../../../bridge/command/runProgram.js';
import type { SessionRow } from '../../../../memory/look/list.js';
import { startConversation } from '../../../../memory/programs/conversationStart.js';
import { endRun } from '../../../../memory/programs/runEnd.js';
import { startContext } from '../../../../memory/programs/sessionContext.js';
import { squashMessage } from '../../../../memory/verbs/squashMessage.js';
import { UsageError } from '../../../../src/errors.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { systemClock } from '../../../../src/time.js';
import { AgentsScene, end } from '../../../memory/look/agentsScene.js';
import { runCommand } from '../inProcess.js';
import { pathOfDeafGit } from '../worktree/deafGit.js';

const COMMANDS = { learn, track, work, worktree };
let scene: AgentsScene;

beforeEach(() => {
  scene = new AgentsScene();
});

async function say(name: keyof typeof COMMANDS, words: string, directory: string, { PATH }: { PATH?: string } = {}) {
  const { surroundings } = scene.open(directory);
  const variables = { ...surroundings.variables, ...scene.made.git.variables, ...(PATH !== undefined && { PATH }) };
  return runCommand(
    COMMANDS[name],
    words.split(' ').filter((word) => word !== ''),
    {
      surroundings: { ...surroundings, variables },
      runProgram: programRunner(variables, systemClock),
      readSettings: () => Promise.reject(new UsageError('no bridge is configured')),
    },
  );
}

async function listed(words: string, directory: string): Promise<SessionRow[]> {
  return JSON.parse((await say('work', `list ${words} --json`, directory)).out);
}

/** What an agent that starts in a directory is told. */
async function toldIn(directory: string) {
  const memory = scene.open(directory);
  const agent = readProcessIdentity('host');
  const launch = { provider: 'claude', conversation: 'next', source: 'startup', transcript: null } as const;
  const started = startConversation(memory, { ...launch, agent, launchedIn: null });
  const given = await startContext(memory, started, { ...launch, agent, launchedIn: null });
  started.session.log.close();
  return given;
}

/** An agent that went to another worktree, left a file half written there, and was killed. */
async function killedIn(directory: string): Promise<string> {
  const { id, child } = scene.agent('c-1', scene.made.root);
  scene.isWriting('c-1', directory, join(directory, 'roof.ts'));
  await end(child);
  return id;
}

test('a crash is reported where the agent was, with its file, and to the next agent there', async () => {
  const id = await killedIn(scene.two);
  const { code, out } = await say('track', 'crash-detect', scene.two);
  process.stdout.write(out);
  expect(code).toBe(1);
  expect(out).toContain(`${id} crashed`);
  expect(out).toContain(`it began in ${scene.made.root}, where its relative paths begin, and its agent came here`);
  expect(out).toContain(join(scene.two, 'roof.ts'));
  expect(out).toContain(`in "${scene.two}": claude --resume c-1`);
  const apart = await say('track', 'crash-detect', scene.one);
  expect(apart.code).toBe(0);
  expect(apart.out).toMatch(
    new RegExp(
      `^no crashed session here\nin other worktrees .*work list --repository\\):\n {2}${id} crashed .*, in ${scene.made.root}: what c-1 is for\n$`,
    ),
  );
  const { out: main } = await say('track', 'crash-detect', scene.made.root);
  expect(main).toContain(`its agent was last in ${scene.two}`);

  const { text, notice } = await toldIn(scene.two);
  process.stdout.write(`${notice}\n${text}\n`);
  expect(notice).toContain('an agent here crashed');
  expect(text).toContain(`Session ${id}`);
  expect(text).toContain(join(scene.two, 'roof.ts'));
});

test('the session is meant there, and listed there with where it began; of the repository, all are listed', async () => {
  const { id } = scene.agent('c-1', scene.made.root);
  scene.writes('c-1', scene.two);
  const { out: status } = await say('track', 'status', scene.two);
  process.stdout.write(status);
  expect(status).toContain(id);
  expect(await listed('--here', scene.two)).toMatchObject([
    { session_id: id, directory: scene.made.root, agent_directory: scene.two },
  ]);
  const { out } = await say('work', 'list --here', scene.two);
  process.stdout.write(out);
  expect(out).toContain(`${id} began in ${scene.made.root}; its agent came here`);
  const main = (await say('work', 'list --here', scene.made.root)).out;
  process.stdout.write(main);
  expect(main).toContain(`${id}: its agent is in ${scene.two}`);
  expect(await listed('--here', scene.one)).toEqual([]);
  // Whether it is at work or rests cannot be seen from the process.
  const { out: trees } = await say('worktree', 'list', scene.made.root);
  expect(trees).toContain(`main: session ${id} began here, its agent runs in another folder: what c-1 is for\n`);
  expect(trees).toContain(`fix/two: session ${id} came here, its agent runs here: what c-1 is for\n`);

  const answered = scene.agent('c-0', scene.one);
  scene.writes('c-0', scene.one, {
    role: 'assistant',
    content: [{ type: 'text', text: 'Done.' }],
    stop_reason: 'end_turn',
  });
  const memory = scene.open(scene.one);
  memory.sessions.withSession(answered.id, (session) => endRun(memory, session, answered.agent, 'prompt_input_exit'));
  const { out: rested } = await say('worktree', 'list', scene.made.root);
  expect(rested).not.toContain(answered.id);
  expect(rested).toContain('feature/one: 1 session without an agent left nothing unfinished\n');

  const other = scene.agent('c-2', scene.one);
  const apart = scene.agent('c-3', scene.folder);
  const ids = (rows: readonly SessionRow[]) => rows.map(({ session_id }) => session_id).sort();
  expect(ids(await listed('--repository', scene.two))).toEqual([id, other.id].sort());
  expect(ids(await listed('', scene.two))).toEqual([id, other.id, apart.id].sort());
  await expect(say('work', 'list --repository', scene.folder)).rejects.toThrow('is in no git repository');
  await expect(say('work', 'list --repository --here', scene.two)).rejects.toThrow('give one of them');
});

test('a session whose agent was killed in a worktree that has ended since says how that is brought back', async () => {
  const id = await killedIn(scene.two);
  expect((await say('worktree', 'end two --discard fix/two', scene.made.root)).code).toBe(0);
  for (const [name, words] of [
    ['work', `show ${id}`],
    ['track', `crash-detect --session ${id}`],
  ] as const) {
    const where = `its agent was last in ${scene.two}, which does not exist any more`;
    // A line for the branch alone would leave the uncommitted changes out; no line would look as if there were no way.
    const PATH = pathOfDeafGit(join(scene.folder, 'programs'), `*'refs/watchkeeper/removed/'*`);
    const unanswered = await say(name, words, scene.made.root, { PATH });
    expect(unanswered.out).toContain(where);
    expect(unanswered.out).toContain('git does not say how to bring it back; ask once more when git answers');
    const { out } = await say(name, words, scene.made.root);
    expect(out).toContain(where);
    const [line = ''] = /(?<=to bring it back: )git .*/.exec(out) ?? [];
    expect(line).toContain('refs/watchkeeper/removed/fix-two-');
    if (name === 'work') continue;
    execFileSync('sh', ['-c', line], { env: scene.made.git.variables, stdio: 'pipe' });
    expect(existsSync(join(scene.two, 'roof.ts'))).toBe(true);
  }
});

test('what failed in a session of a removed worktree is drawn in its repository still', async () => {
  const { child } = scene.agent('c-1', scene.one);
  const call = { type: 'tool_use', id: 'f1', name: 'Bash', input: { command: 'npm test' } };
  const result = { type: 'tool_result', tool_use_id: 'f1', content: 'Exit code 1\nError: no Redis', is_error: true };
  scene.writes('c-1', scene.one, { role: 'assistant', content: [call] });
  scene.writes('c-1', scene.one, { role: 'user', content: [result] });
  await end(child);
  const drawn = async () => (await say('learn', 'draw --json', scene.made.root)).out;
  expect(await drawn()).toContain('no Redis');
  scene.made.git.run(scene.made.root, 'worktree', 'remove', '--force', scene.one);
  expect(await drawn()).toContain('no Redis');
});

test('a session of a removed worktree is one of the repository, and the printed line brings the worktree back', async () => {
  const { id, child } = scene.agent('c-1', scene.one);
  const removed = scene.one;
  scene.isWriting('c-1', removed, join(removed, 'wall.ts'));
  await end(child);
  scene.made.git.run(scene.made.root, 'worktree', 'remove', '--force', removed);
  for (const place of [scene.made.root, scene.two])
    expect(await listed('--repository', place)).toMatchObject([{ session_id: id, directory: removed }]);
  const { out: list } = await say('work', 'list --repository', scene.two);
  process.stdout.write(list);
  expect(list).toContain(`${removed} (gone)`);
  const line = `git -C ${scene.made.root} worktree add ${removed} feature/one`;
  for (const [name, words] of [
    ['track', 'resume'],
    ['work', 'show'],
    ['track', 'crash-detect --session'],
    ['track', 'status --session'],
  ] as const) {
    const { out } = await say(name, `${words} ${id}`, scene.two);
    process.stdout.write(`--- ${name} ${words}\n${out}`);
    expect(out).toContain(line);
    expect(out).not.toContain('was last in');
  }
  execFileSync('sh', ['-c', line], { env: scene.made.git.variables, stdio: 'pipe' });
  expect(existsSync(join(removed, '.git'))).toBe(true);
  expect((await say('track', `resume ${id}`, scene.two)).out).not.toContain('does not exist any more:');
});

test('an agent that ended in another worktree is found there by `keep`, also when the transcript is gone', async () => {
  const { id, agent } = scene.agent('c-1', scene.made.root);
  scene.writes('c-1', scene.two);
  const memory = scene.open();
  memory.sessions.withSession(id, (session) => endRun(memory, session, agent, 'prompt_input_exit'));
  const there = scene.open(scene.two);
  there.claims.leaveReport(there.workspace, 'ses_other', 'it was put away');
  await say('work', `keep ${id}`, scene.made.root);
  scene.made.git.run(scene.made.root, 'worktree', 'list');
  execFileSync('rm', [scene.transcript('c-1')]);
  expect((await listed('--here --all', scene.two)).map(({ session_id }) => session_id)).toEqual([id]);
  expect((await scene.inside(scene.two)).sessions).toMatchObject([{ session_id: id, is_own: false, agent: 'left' }]);
  // A sentence for the next session that begins there still waits for it.
  expect(scene.open(scene.two).claims.read(there.workspace)?.reports).toEqual(['it was put away']);
  expect(await listed('--here --all', scene.one)).toEqual([]);
});

test('a file that it left half written there is settled by an agent of that worktree, or by a commit there', async () => {
  const id = await killedIn(scene.two);
  const roof = join(scene.two, 'roof.ts');
  const inDoubt = async () => (await say('work', `show ${id}`, scene.made.root)).out.includes('half written');
  expect(await inDoubt()).toBe(true);
  const git = (...words: string[]) => scene.made.git.run(scene.two, ...words);
  git('add', '.');
  const later = new Date(Date.now() + 60_000).toISOString();
  execFileSync('git', ['commit', '-q', '-m', 'roof'], {
    cwd: scene.two,
    env: { ...scene.made.git.variables, GIT_COMMITTER_DATE: later, GIT_AUTHOR_DATE: later },
  });
  expect(existsSync(roof)).toBe(true);
  expect(await inDoubt()).toBe(false);
});

test('what an agent names in another worktree is a file there', async () => {
  const { id } = scene.agent('c-1', scene.made.root);
  scene.writes('c-1', scene.two);
  const nested = scene.made.add('fix/nested', join(scene.made.root, '.claude/worktrees/nested'));
  await say('track', `file a.ts --working --session ${id}`, scene.two);
  await say('track', `file a.ts --working --session ${id}`, nested);
  await say('track', `file a.ts --working --session ${id}`, scene.made.root);
  const { out } = await say('work', `show ${id} --json`, scene.two);
  expect(Object.keys(JSON.parse(out).files).sort()).toEqual(
    ['.claude/worktrees/nested/a.ts', join(scene.two, 'a.ts'), 'a.ts'].sort(),
  );
});

test('another worktree below a checkout changes nothing of it: not its checkpoints, nor what is unattributed', async () => {
  const { made } = scene;
  const { id } = scene.agent('c-1', made.root);
  const mark = (words: string) => say('track', `checkpoint ${words} --session ${id}`, made.root);
  await mark('before');
  const nested = made.add('fix/nested', join(made.root, '.claude/worktrees/nested'));
  writeFileSync(join(nested, 'new.ts'), 'new');
  expect(await mark('--verify before')).toMatchObject({ code: 0, out: 'nothing has changed since\n' });
  await mark('after');
  writeFileSync(join(nested, 'new.ts'), 'newer');
  made.git.run(made.root, 'worktree', 'remove', '--force', nested);
  expect(await mark('--verify after')).toMatchObject({ code: 0 });
});

test('a plain folder where an agent has ended does not become a workspace', async () => {
  const { id, agent } = scene.agent('c-1', scene.made.root);
  scene.writes('c-1', scene.folder);
  const memory = scene.open();
  memory.sessions.withSession(id, (session) => endRun(memory, session, agent, 'prompt_input_exit'));
  await say('work', `keep ${id}`, scene.made.root);
  const there = scene.open(scene.folder);
  expect(there.claims.read(there.workspace)).toBeNull();
});

test('a person there who names no session reads its id, too', async () => {
  const { id } = scene.agent('c-1', scene.made.root);
  scene.writes('c-1', scene.two);
  await expect(say('track', 'note mind', scene.two)).rejects.toThrow(id);
  await expect(say('track', 'note mind', scene.one)).rejects.not.toThrow(id);
});

test('what crashed there is in the way of a new session there', async () => {
  const id = await killedIn(scene.two);
  const { code, out, err } = await say('track', 'init Paint', scene.two);
  expect(code).toBe(1);
  expect(`${out}${err}`).toContain(`${id} crashed`);
  // A session that recorded itself is resumed by an agent.
  await expect(say('track', 'init --resume', scene.two)).rejects.toThrow(`track resume ${id}`);
  expect((await say('track', 'init Paint', scene.one)).code).toBe(0);
});

test('the message of the commit that merges a worktree has the sessions that came there, with their files there, and no idle chat', async () => {
  const chat = scene.agent('c-0', scene.two);
  const content = [{ type: 'text', text: 'It is a house.' }];
  scene.writes('c-0', scene.two, { role: 'assistant', content, stop_reason: 'end_turn' });
  await end(chat.child);
  const { id, child } = scene.agent('c-1', scene.made.root);
  for (const [cwd, name] of [
    [scene.made.root, 'main.ts'],
    [scene.two, 'roof.ts'],
  ] as const)
    await say('track', `file ${join(cwd, name)} --done --session ${id}`, cwd);
  scene.writes('c-1', scene.two);
  await end(child);
  const into = scene.made.git.run(scene.made.root, 'rev-parse', 'HEAD').trim();
  const message = await squashMessage(scene.open(), { path: scene.two, name: 'fix/two', into });
  expect(message).toContain(`Session ${id}: what c-1 is for`);
  expect(message).toContain('\n- roof.ts\n');
  expect(message).not.toContain('main.ts');
  expect(message).not.toContain(chat.id);
  expect(message).toMatch(/^what c-1 is for\n/);
  const long = { path: scene.one, name: `fix/${'many-long-words-'.repeat(9)}`, into };
  expect(await squashMessage(scene.open(), long)).toMatch(/^(?=.{55,72}\n)Many long words( many long words)* many…\n/);
});

test.each([
  ['inside of the main checkout', (main: string) => join(main, '.claude/worktrees/aside')],
  ['beside it', (main: string) => `${main}.worktrees/fix-two`],
])(
  'a pull request names the files of the worktree that its agent entered as its branch has them: %s',
  async (_, at) => {
    const path = at(scene.made.root);
    if (!existsSync(path)) scene.made.git.run(scene.made.root, 'worktree', 'add', '-q', '-b', 'aside', path);
    const { id, child } = scene.agent('c-1', scene.made.root);
    scene.isWriting('c-1', path, join(path, 'roof.ts'));
    const outside = join(scene.folder, 'notes.md');
    scene.isWriting('c-1', path, outside);
    for (const file of [join(path, 'roof.ts'), outside])
      await say('track', `file ${file} --done --session ${id}`, path);
    const { out } = await say('work', `summary ${id} --pr`, path);
    expect(out.match(/^- `.*/gm)).toEqual(['- `roof.ts`']);
    await end(child);
  },
);
