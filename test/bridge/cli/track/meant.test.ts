// covers: memory/verbs/meantHere.ts memory/sessions/namedSession.ts memory/verbs/candidates.ts
/** Commands of a person in a second shell: no agent and no variable of it leads to a session. */
import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, expect, test } from '@jest/globals';
import { command as sessions } from '../../../../bridge/cli/sessions.js';
import { command as track } from '../../../../bridge/cli/track/track.js';
import { command as work } from '../../../../bridge/cli/work/work.js';
import { endRun } from '../../../../memory/programs/runEnd.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { SCENES, SessionScene } from '../../../contracts/sessionScenes.js';
import { asks, calls, returns, START, says } from '../../../src/transcripts/told.js';
import { runCommand } from '../inProcess.js';
import { WorkScene } from '../work/scene.js';

const HERE = readProcessIdentity('host');
const GONE = { ...HERE, pid: 99_999_999, pid_start: '1' };
const now = () => (Date.now() - START) / 1_000;
const working = () => [asks(now() - 60, 'Paint the door'), calls(now() - 5, 't1', 'Bash')];
const answered = () => [asks(now() - 60, 'Is it dry?'), says(now() - 50, 'Yes.', 'end_turn')];

let other: ChildProcess | null = null;
afterAll(() => {
  other?.kill('SIGKILL');
});
function anotherAgent() {
  other ??= spawn('sleep', ['600'], { stdio: 'ignore' });
  return readProcessIdentity('host', other.pid);
}

const ask = async (scene: SessionScene, ...args: readonly string[]) =>
  runCommand(track, args, { surroundings: scene.surroundings }).catch((error: Error) => ({
    code: 2,
    out: '',
    err: error.message,
  }));

test.each([
  ['at work', 'an agent'],
  ['waiting for a person', 'an agent'],
  ['crashed', 'crashed'],
  ['cut off', 'cut off'],
])('the only session here is taken, and named: %s', async (name, why) => {
  const scene = new SessionScene();
  await SCENES[name]?.(scene);
  for (const word of ['status', 'resume']) {
    const { code, out, err } = await ask(scene, word);
    expect([code, out]).toEqual([0, expect.stringContaining(scene.id)]);
    expect(err).toMatch(new RegExp(`^session ${scene.id}: the only one here .*${why}`));
  }
  const value = JSON.parse((await ask(scene, 'status', '--json')).out);
  expect(value.session_id).toBe(scene.id);
});

test('one at work is meant before one that crashed and one that rests; of two at work, none is', async () => {
  const scene = new SessionScene();
  scene.begins(GONE, working(), undefined, 'crashed');
  const crashed = scene.id;
  scene.begins(HERE, answered(), undefined, 'rests');
  scene.in((memory, session) => endRun(memory, session, HERE, 'prompt_input_exit'));
  expect((await ask(scene, 'status')).out).toContain(crashed);
  scene.begins(HERE, working(), undefined, 'first');
  const first = scene.id;
  expect((await ask(scene, 'resume')).out).toContain(first);
  scene.begins(anotherAgent(), working(), undefined, 'second');
  const { code, out, err } = await ask(scene, 'status');
  expect([code, out]).toEqual([2, '']);
  expect(err.split('\n').slice(1)).toEqual([expect.stringContaining(scene.id), expect.stringContaining(first)]);
  // What writes is never guessed.
  expect((await ask(scene, 'log', 'x')).code).toBe(2);
});

test('a chat that left nothing is not resumed or summed up in place of work; status names its agent, and the rest', async () => {
  const scene = new SessionScene();
  scene.begins(GONE, working(), undefined, 'crashed');
  const crashed = scene.id;
  scene.begins(HERE, answered(), undefined, 'chat');
  const chat = scene.id;
  const others = '1 other session here is unfinished: watchkeeper work list --here\n';
  expect((await ask(scene, 'status')).err).toBe(`session ${chat}: the only one here with an agent\n${others}`);
  const why = `session ${crashed}: the only one here whose agent crashed or was cut off\n`;
  expect(await ask(scene, 'resume')).toMatchObject({ err: why, out: expect.stringContaining('Paint the door') });
  const { err, out } = await runCommand(work, ['summary', '--pr'], { surroundings: scene.surroundings });
  expect([err, out.split('\n')[0]]).toEqual([why, '# Paint the door']);
});

test('of sessions that rest, a summary is that of the last one that left something; else that of the last chat', async () => {
  const scene = new SessionScene();
  const rests = (records: ReturnType<typeof working>, label: string) => {
    scene.begins(HERE, records, undefined, label);
    scene.in((memory, session) => endRun(memory, session, HERE, 'prompt_input_exit'));
  };
  const summed = async () =>
    (await runCommand(work, ['summary', '--pr'], { surroundings: scene.surroundings })).out.split('\n')[0];
  rests(answered(), 'first chat');
  expect(await summed()).toBe('# Is it dry?');
  const file_path = `${scene.directory}/door.ts`;
  rests(
    [
      asks(now() - 60, 'Paint the door'),
      calls(now() - 55, 't1', 'Write', { file_path, content: 'x' }),
      returns(now() - 54, 't1'),
      says(now() - 53, 'It is green.', 'end_turn'),
    ] as ReturnType<typeof working>,
    'work',
  );
  rests(answered(), 'second chat');
  expect(await summed()).toBe('# Paint the door');
});

test('of many that may be meant, the heaviest twenty are listed, and the rest is counted', async () => {
  const scene = new SessionScene();
  const ids: string[] = [];
  for (let index = 0; index < 22; index += 1) {
    scene.begins({ ...GONE, pid: GONE.pid - index }, working(), undefined, `c${index}`);
    ids.push(scene.id);
  }
  for (const word of ['status', 'sync']) {
    const { code, err } = await ask(scene, word);
    expect([word, code, ids.filter((id) => err.includes(id)).length]).toEqual([word, 2, 20]);
    expect(err).toMatch(/\n {2}… and 2 more$/);
  }
});

test('a word that writes wants to be told, also if one session alone is at work', async () => {
  const scene = new SessionScene();
  scene.begins(HERE, working());
  expect((await ask(scene, 'note', 'x')).code).toBe(2);
});

test('after the end, status says what came of the last session, and what else is unfinished', async () => {
  const scene = new WorkScene();
  const first = await scene.begin('Fix the login');
  await scene.say('track', ['step', '1', '--start']);
  await scene.say('track', ['done', '--complete', '--summary', 'The login works']);
  const status = () => scene.say('track', ['status']);
  expect(await status()).toMatchObject({
    code: 0,
    err: `session ${first}: the last one here\n`,
    out: expect.stringMatching(/^\S+: Fix the login\nsummary: The login works\nended, completed;/),
  });
  const second = (await scene.json('track', ['init', 'Paint', '--concurrent', '--step', 'a'])).session_id;
  expect(await status()).toMatchObject({ code: 0, err: `session ${second}: the only unfinished one here\n` });
  await scene.begin('Third');
  await scene.say('track', ['done', '--complete']);
  const { code, out, err } = await status();
  expect([code, out]).toEqual([0, expect.stringMatching(/^\S+: Third\n/)]);
  expect(err).toMatch(/\n1 other session here is unfinished: watchkeeper work list --here\n$/);
  await scene.say('work', ['end', second, '--as', 'cancelled']);
  expect(await status()).toMatchObject({ code: 0, err: `session ${second}: the last one here\n` });
});

test('the only unfinished session is meant, whatever was asked after it; of several, each is named with its purpose', async () => {
  const scene = new SessionScene();
  const stopped = (purpose: string) => [
    asks(now() - 60, purpose),
    calls(now() - 55, 't1', 'Bash'),
    asks(now() - 50, '[Request interrupted by user for tool use]'),
  ];
  const leaves = (label: string, records: readonly object[]) => {
    scene.begins(HERE, records as ReturnType<typeof stopped>, undefined, label);
    scene.in((memory, session) => endRun(memory, session, HERE, 'prompt_input_exit'));
    return scene.id;
  };
  const first = leaves('first', stopped('Split the package'));
  const chat = leaves('chat', answered());
  for (const word of ['status', 'resume']) {
    const { code, out, err } = await ask(scene, word);
    expect([word, code, out]).toEqual([word, 0, expect.stringContaining('Split the package')]);
    expect(err).toBe(`session ${first}: the only unfinished one here\n`);
  }
  expect((await ask(scene, 'status')).out).toContain('a person stopped its last turn before the agent had answered\n');
  const second = leaves('second', stopped('Paint the fence'));
  leaves('chat again', answered());
  const resume = await ask(scene, 'resume');
  expect(resume.code).toBe(2);
  expect(resume.err.split('\n').slice(1)).toEqual([`  ${second}  Paint the fence`, `  ${first}  Split the package`]);
  const { code, err } = await ask(scene, 'status');
  expect([code, err.includes(chat)]).toEqual([0, false]);
  expect(err).toMatch(/the last one here\n2 other sessions here are unfinished: watchkeeper work list --here\n$/);
});

test('work that was interrupted is named by what was asked last, too: the first order may be done for long', async () => {
  const scene = new SessionScene();
  const later = [asks(now() - 40, 'Fix the lock'), calls(now() - 5, 't1', 'Bash')];
  scene.begins(GONE, [...answered(), ...later]);
  expect((await ask(scene, 'status')).out).toMatch(/^\S+: Is it dry\?\nlast asked: Fix the lock\n/);
  const listed = async (...words: readonly string[]) =>
    (await runCommand(work, ['list', ...words], { surroundings: scene.surroundings })).out;
  expect(await listed()).toContain('Is it dry?; last asked: Fix the lock\n');
  let out = '';
  const heard = (text: string) => {
    out += text;
  };
  // It asks the bridge, too, for which it has no settings here.
  await expect(runCommand(sessions, [], { surroundings: scene.surroundings, heard })).rejects.toThrow();
  expect(out).toContain('Is it dry?; last asked: Fix the lock\n');
  expect(JSON.parse(await listed('--json'))).toMatchObject([{ purpose: 'Is it dry?', last_asked: 'Fix the lock' }]);
  expect((await ask(scene, 'status', '--json')).out).toContain('"last_asked":"Fix the lock"');
});

test('what an interrupted agent may have left half written is named, also after its conversation answered a question', async () => {
  const scene = new SessionScene();
  const write = calls(now() - 5, 't1', 'Write', { file_path: 'door.ts', content: 'x' });
  scene.begins(GONE, [asks(now() - 60, 'Paint the door'), write]);
  const half = '\nfiles that may be half written:\n  door.ts\n';
  expect((await ask(scene, 'status')).out).toContain(half);
  scene.begins(
    HERE,
    [asks(now() - 60, 'Paint the door'), write, ...answered().map((line) => ({ ...line }))],
    undefined,
    'again',
  );
  expect((await ask(scene, 'status', '--session', scene.id)).out).toContain(half);
});

test('a window that was closed after its answer is the last session here', async () => {
  const scene = new SessionScene();
  await SCENES.resting?.(scene);
  expect(await ask(scene, 'status')).toMatchObject({ code: 0, err: `session ${scene.id}: the last one here\n` });
});

test('an id is known by its beginning, its end and its name; a mistake is answered with the one that was meant', async () => {
  const scene = new WorkScene();
  const login = await scene.begin('Fix the login');
  const door = (await scene.json('track', ['init', 'Paint the door', '--concurrent', '--name', 'green'])).session_id;
  const shown = async (name: string) => {
    const { code, out, err } = await scene.say('work', ['show', name]);
    return code === 0 ? out.split(':')[0] : err;
  };
  expect(await shown('green')).toBe(door);
  expect(await shown('the-login')).toBe(login);
  expect(await shown('LOGIN')).toBe(login);
  expect(await shown(door.slice(0, 14))).toBe(door);
  expect((await shown(login.slice(0, 10)))?.split('\n')).toEqual([
    `"${login.slice(0, 10)}" may be one of 2 sessions. Name more of its id:`,
    expect.stringMatching(new RegExp(`^  ${door}  .*Paint the door$`)),
    expect.stringMatching(new RegExp(`^  ${login}  .*Fix the login$`)),
  ]);
  // Too short to be meant.
  expect(await shown('gin')).toBe('there is no session "gin"');
  expect(await shown(login.replace('login', 'lgoin'))).toBe(
    `there is no session "${login.replace('login', 'lgoin')}"; did you mean "${login}"?`,
  );
  await scene.say('work', ['archive', door]);
  expect(await shown('the-door')).toBe(door);
});

test('a session of a terminal is known by the tail of its id', async () => {
  const scene = new SessionScene();
  await SCENES.crashed?.(scene);
  const { out } = await runCommand(work, ['show', scene.id.slice(-6).toLowerCase()], {
    surroundings: scene.surroundings,
  });
  expect(out).toContain(scene.id);
});

test('only a whole id is removed for good, and it never names the next session of its day and purpose', async () => {
  const scene = new WorkScene();
  const first = await scene.begin('Same');
  await scene.say('track', ['done', '--complete']);
  const second = await scene.begin('Same');
  await scene.say('track', ['done', '--complete']);
  expect(second).toBe(`${first}-2`);
  expect(await scene.say('work', ['purge', 'same-2', '--yes'])).toMatchObject({
    code: 2,
    err: expect.stringContaining(`watchkeeper work purge ${second} --yes`),
  });
  expect((await scene.say('work', ['purge', first, '--yes'])).code).toBe(0);
  expect(await scene.say('work', ['purge', first, '--yes'])).toMatchObject({ code: 2 });
  expect((await scene.say('work', ['show', second])).code).toBe(0);
});

test('an agent whose model refused in the middle of the work has the words of the error in its status', async () => {
  const scene = new SessionScene();
  const refused = says(now() - 50, 'Credit balance is too low', 'stop_sequence', { isApiErrorMessage: true });
  const begun = [asks(now() - 60, 'Paint the door'), calls(now() - 55, 't1', 'Bash')];
  scene.begins(HERE, [...begun, refused], undefined, 'refused');
  const { out } = await ask(scene, 'status');
  expect(out).toContain(
    'its last turn ended with an error, before the agent had answered: Credit balance is too low\n',
  );
  scene.begins(HERE, [...begun, refused, ...working()], undefined, 'asked again');
  expect((await ask(scene, 'status', '--session', scene.id)).out).not.toContain('error');
});
