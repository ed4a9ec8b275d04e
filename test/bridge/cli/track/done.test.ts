import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { afterThisTest } from '../../../harness/scope.js';
import { WorkScene } from '../work/scene.js';

test('an agent whose session ends goes on in another one, and its commands mean that one', async () => {
  const scene = new WorkScene();
  const agent = spawn('sh', ['-c', 'sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [said] = (await once(agent.stdout, 'data')) as [Buffer];
  const shell = Number(said.toString());
  afterThisTest(() => {
    agent.kill('SIGKILL');
    process.kill(shell, 'SIGKILL');
  });
  const variables = { CLAUDE_PID: String(agent.pid), CLAUDE_CODE_SESSION_ID: 'c-1' };
  const inShell = { pid: shell, variables };
  const { session_id: id } = JSON.parse((await scene.say('track', ['init', 'Fix it', '--json'], inShell)).out);
  const done = JSON.parse((await scene.say('track', ['done', '--json'], inShell)).out);
  expect(done).toEqual({ session_id: id, reason: 'completed', next: expect.stringMatching(/^ses_/) });
  const note = JSON.parse((await scene.say('track', ['note', 'x', '--json'], inShell)).out);
  expect(note).toMatchObject({ session_id: done.next });
  await scene.say('work', ['reopen', id]);
  const { conversations } = JSON.parse((await scene.say('work', ['show', id, '--json'])).out);
  expect(conversations).toMatchObject([{ id: 'c-1', moved_at: expect.any(Number) }]);
  await scene.say('work', ['end', id]);
  // Nobody goes on outside of an agent.
  const { session_id: own } = JSON.parse((await scene.say('track', ['init', 'Mine', '--json'])).out);
  expect((await scene.say('track', ['done', '--session', own])).out).toBe(`session ${own} has ended: completed\n`);
});

test('a session does not end as completed because somebody says so while its steps are open', async () => {
  const scene = new WorkScene();
  const id = await scene.begin('T');
  expect(await scene.say('track', ['done', '--as', 'completed'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^--as "completed": one of failed, cancelled; without --as .* --complete /),
  });
  expect((await scene.json('work', ['show', id])).lifecycle).toBe('planned');
});

test('--complete and --as are two ways to end a session', async () => {
  const scene = new WorkScene();
  const id = await scene.begin('T');
  expect(await scene.say('track', ['done', '--as', 'cancelled', '--complete'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--complete and --as exclude each other: '),
  });
  expect((await scene.json('work', ['show', id])).lifecycle).toBe('planned');
});

test.each(['--fail', '--skip', '--override'])('a step moves by %s only with a reason', async (option) => {
  const scene = new WorkScene();
  await scene.begin('T');
  const more = option === '--override' ? ['--retry'] : [];
  const said = await scene.say('track', ['step', '1', ...more, option, ' ']);
  expect([said.code, said.err]).toEqual([2, expect.stringContaining(`${option} without a reason: say why`)]);
});

test.each([
  ['it has ended', 'ended', []],
  ['it is in the archive', 'in the archive', ['archive']],
])(
  'each word that writes to a session, other than a note, is refused once %s, also one that changes nothing',
  async (_, state, more) => {
    const scene = new WorkScene();
    const id = await scene.begin('T');
    await scene.say('track', ['checkpoint', 'c']);
    await scene.say('track', ['file', 'x', '--working']);
    const list = join(scene.directory, 'list.json');
    writeFileSync(list, '[{"content":"a","status":"skipped"}]');
    await scene.say('track', ['done', '--complete']);
    for (const word of more) await scene.say('work', [word, id]);
    const { notes, files, entries } = await scene.json('work', ['show', id]);
    const words = [
      ...['log hi', 'ping', 'file x --working', 'file x --done', 'file x --rename y'],
      ...['step 1 --start', 'step --add b', `sync ${list}`, 'checkpoint d', 'checkpoint --drop c', 'done'],
    ];
    for (const word of words) {
      const { code, out, err } = await scene.say('track', [...word.split(' '), '--session', id]);
      expect([word, code, out + err]).toEqual([word, 1, expect.stringContaining(`${state}; first: watchkeeper work`)]);
    }
    expect(await scene.json('work', ['show', id])).toMatchObject({ notes, files, entries });
    for (const word of ['note', 'anchor']) {
      const { code, out } = await scene.say('track', [word, 'hi', '--session', id]);
      expect([code, out]).toEqual([0, expect.stringMatching(/^noted, normal, (after the end|in the archive)/)]);
    }
    expect((await scene.json('work', ['show', id])).notes).toMatchObject([{ text: 'hi' }, { text: 'hi' }]);
    // A reader is not refused.
    for (const word of ['sync', 'status', 'resume', 'checkpoint --list'])
      expect(await scene.say('track', [...word.split(' '), '--session', id])).toMatchObject({ code: 0 });
  },
);
