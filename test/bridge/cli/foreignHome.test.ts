/** What others own or may write in a home of session memory: it is not used, and named, by commands, hooks and the doctor. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkMemory } from '../../../bridge/doctor/memoryChecks.js';
import { appendPrivately } from '../../../src/files/privateFiles.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { LogFile } from '../../../src/log/logDestinations.js';
import { openToOthers, testFolder } from '../../harness/folder.js';
import { hook, payload } from '../hook/hookScene.js';
import { watchkeeperAgain } from './manyCalls.js';
import type { Said } from './program.js';
import { WorkScene } from './work/scene.js';

const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0 ? test : test.skip;
const PLANTED = '2026-11-27-planted';
const LINE = { v: 1, id: '01KA', timestamp: '2026-11-27T10:00:00Z', origin: 'person', session_id: PLANTED };
const COMMANDS = [
  ['track', 'status'],
  ['track', 'resume'],
  ['track', 'init', 'another', '--concurrent'],
  ['work', 'list'],
];

interface Place<Answer = Said> {
  readonly home: string;
  readonly work: string;
  readonly id: string;
  readonly session: string;
  say(...args: string[]): Answer;
}

function recorded(): Place {
  const folder = testFolder();
  const [home, work] = [join(folder, 'home'), join(folder, 'work')];
  mkdirSync(join(work, '.git'), { recursive: true });
  const say = (...args: string[]) => watchkeeperAgain(work, args, { WATCHKEEPER_HOME: home });
  const { session_id: id, folder: session } = JSON.parse(say('track', 'init', 'Mine', '--json').out);
  return { home, work, id, session, say };
}

/** The same without a process for each command. */
async function recordedHere(): Promise<Place<Promise<Said>>> {
  const scene = new WorkScene();
  mkdirSync(join(scene.directory, '.git'));
  const say = (name: string, ...args: string[]) => scene.say(name === 'track' ? 'track' : 'work', args);
  const { session_id: id, folder: session } = JSON.parse((await say('track', 'init', 'Mine', '--json')).out);
  return { home: scene.home, work: scene.directory, id, session, say };
}

/** The path of what is wrong, and what to do, are in the message. */
function named(path: string): RegExp {
  const literal = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`${literal} .*can be written by other users \\(mode 0\\d+\\).*run: (chmod go-w '${literal}')`);
}

async function faultsOf({ home }: Pick<Place, 'home'>): Promise<string[]> {
  const process = readProcessIdentity('host');
  const checks = await checkMemory({ directory: '/', process, variables: { WATCHKEEPER_HOME: home } }, false);
  return checks.flatMap(({ verdict, found, remedy }) => (verdict === 'fault' ? [`${found}; ${remedy}`] : []));
}

describe('what other users may write', () => {
  const ALL = COMMANDS.map((command) => command.join(' '));
  const ONE = ['track status', 'track resume', 'work list'];
  test.each<[string, number, readonly string[], (place: Pick<Place, 'home' | 'session'>) => string]>([
    ['the home', 0o777, ALL, ({ home }) => home],
    ['the home, by a group', 0o770, ALL, ({ home }) => home],
    ['the home, which is for temporary files', 0o1777, ALL, ({ home }) => home],
    ['the folder of the sessions', 0o707, ALL, ({ home }) => join(home, 'sessions')],
    ['the folder of the archive', 0o777, ALL, ({ home }) => made(join(home, 'archive'))],
    ['the settings', 0o606, ALL, ({ home }) => made(join(home, 'settings.json'), '{}')],
    ['the folder of a session', 0o770, ONE, ({ session }) => session],
    ['a worklog', 0o660, ONE, ({ session }) => join(session, 'worklog.jsonl')],
    ['a kept copy', 0o602, ONE, ({ session }) => made(join(session, 'tool_use.jsonl'), '')],
    ['the log of a workspace', 0o606, ['track init another --concurrent'], ({ home }) => workspaceIn(home)],
    [
      'the folder of the workspaces',
      0o777,
      ['track status', 'track init another --concurrent'],
      ({ home }) => join(home, 'workspaces'),
    ],
  ])('is not used until nobody else may: %s', async (what, mode, commands, pathOf) => {
    // By the program once; the others by its commands alone.
    const place = what === 'the home' ? recorded() : await recordedHere();
    const say = async (command: string) => place.say(...(command.split(' ') as [string]));
    const path = pathOf(place);
    const before = (await say('work list --all')).out;
    chmodSync(path, mode);
    for (const command of commands) {
      const said = await say(command);
      expect([command, said]).toEqual([
        command,
        { code: 3, out: expect.anything(), err: expect.stringMatching(named(path)) },
      ]);
      expect(said.out).not.toContain('Mine');
    }
    expect(await faultsOf(place)).toContainEqual(expect.stringMatching(named(path)));
    const [, repair = 'false'] = named(path).exec((await say(commands[0] ?? '')).err) ?? [];
    execFileSync('sh', ['-c', repair]);
    expect(await say('work list --all')).toEqual({ code: 0, out: before, err: '' });
    expect(await faultsOf(place)).toEqual([]);
  });

  test('is not used behind a link of this user, which settings may be', () => {
    const { home, work, say } = recorded();
    const elsewhere = made(join(work, 'settings.json'), '{"keep_days":3}');
    symlinkSync(elsewhere, join(home, 'settings.json'));
    expect(say('work', 'list').code).toBe(0);
    chmodSync(elsewhere, 0o666);
    expect(say('work', 'list')).toMatchObject({
      code: 3,
      err: expect.stringContaining('can be written by other users'),
    });
  });

  test('is not used where it is only a shortcut: a state is folded anew, and `work verify` names it', () => {
    const { session, id, say } = recorded();
    say('track', 'done', '--complete');
    const state = join(session, 'state.json');
    writeFileSync(state, readFileSync(state, 'utf8').replaceAll('Mine', 'Forged'));
    chmodSync(state, 0o666);
    expect(say('work', 'list', '--all').out).toMatch(/ Mine$/m);
    expect(say('work', 'verify', id)).toMatchObject({ code: 1, out: expect.stringMatching(named(state)) });
  });

  test('makes a hook record nothing, say so, and keep no agent from its work', async () => {
    const place = recorded();
    chmodSync(join(place.home, 'sessions'), 0o777);
    const { code, out } = await hook(place, payload(place, 'SessionStart', { source: 'startup' }));
    expect(code).toBe(0);
    const { systemMessage, hookSpecificOutput } = JSON.parse(out);
    expect(systemMessage).toMatch(named(join(place.home, 'sessions')));
    expect(hookSpecificOutput).toBeUndefined();
    chmodSync(place.home, 0o777);
    const told = await hook(place, payload(place, 'SessionStart', { source: 'startup' }));
    expect(told).toMatchObject({ code: 0, out: '', said: expect.stringMatching(named(place.home)) });
    expect(readdirSync(join(place.home, 'sessions'))).toEqual([place.id]);
  });
});

describe('what another user has planted while the home was open', () => {
  asRoot('is neither shown nor obeyed once the home is closed again, and stops nothing else', async () => {
    const place = recorded();
    const planted = join(place.home, 'sessions', PLANTED);
    made(planted);
    const worklog = [{ ...LINE, event: 'session_started', purpose: 'Planted', explicit: true }];
    made(join(planted, 'worklog.jsonl'), worklog.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const settings = made(join(place.home, 'settings.json'), '{"texts":false,"context":{"root":0}}');
    for (const path of [planted, join(planted, 'worklog.jsonl'), settings]) chownSync(path, NOBODY, NOBODY);
    const foreign = (path: string) =>
      expect.stringContaining(`${path} belongs to another user (uid ${NOBODY}, you are 0), so it is not used`);
    for (const command of COMMANDS)
      expect([command, place.say(...command)]).toEqual([command, { code: 3, out: '', err: foreign(settings) }]);
    execFileSync('rm', [settings]);
    expect(place.say('track', 'status')).toMatchObject({ code: 0, out: expect.stringContaining('Mine') });
    const list = place.say('work', 'list', '--all');
    expect(list).toEqual({ code: 3, out: expect.stringContaining('Mine'), err: foreign(planted) });
    expect(list.out).not.toContain('Planted');
    for (const command of ['resume', 'status'])
      expect(place.say('track', command, ...(command === 'status' ? ['--session'] : []), PLANTED)).toEqual({
        code: 3,
        out: '',
        err: foreign(planted),
      });
    expect(await faultsOf(place)).toContainEqual(expect.stringContaining(`${planted} belongs to another user`));
    const answer = await hook(place, payload(place, 'SessionStart', { source: 'startup' }));
    expect(`${answer.out}${answer.said}`).not.toContain('Planted');
    expect(answer.code).toBe(0);
  });

  asRoot('does not become the session of a conversation, and no bridge decides there', () => {
    const { home, say } = recorded();
    const id = made(join(home, 'watchdog.id'), '01KA\n');
    chownSync(id, NOBODY, NOBODY);
    expect(say('track', 'note', 'x')).toMatchObject({
      code: 3,
      err: expect.stringContaining(`${id} belongs to another`),
    });
  });

  asRoot('is refused as a link, too: to a home of this user, and in the place of one', () => {
    const { home, say } = recorded();
    renameSync(home, `${home}-elsewhere`);
    symlinkSync(`${home}-elsewhere`, home);
    expect(say('work', 'list')).toMatchObject({ code: 0, out: expect.stringContaining('Mine') });
    execFileSync('chown', ['-h', String(NOBODY), home]);
    expect(say('work', 'list')).toMatchObject({ code: 3, err: expect.stringContaining('belongs to another user') });
  });

  asRoot('by root is used, as root may write everything anyway', () => {
    const { home, work } = recorded();
    openToOthers(dirname(home));
    execFileSync('chown', ['-R', String(NOBODY), home, work]);
    writeFileSync(join(home, 'settings.json'), '{"keep_days":3}', { mode: 0o644 });
    const program = `process.seteuid(${NOBODY}); console.log(JSON.stringify((await import(process.argv[1])).readMemorySettings(process.argv[2], (text) => text)));`;
    const settings = new URL('../../../dist/memory/home/settings.js', import.meta.url).pathname;
    const args = ['--input-type=module', '-e', program, settings, home];
    expect(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))).toMatchObject({ keep_days: 3 });
  });
});

describe('a file that has another name', () => {
  test('is read, and not written, until it is a file of its own', () => {
    const { session, work, say } = recorded();
    const path = join(session, 'worklog.jsonl');
    const victim = join(work, 'victim');
    linkSync(path, victim);
    const before = readFileSync(victim, 'utf8');
    const said = say('track', 'note', 'x');
    expect(said).toMatchObject({ code: 3, err: expect.stringContaining(`${path} has 2 names (hard links)`) });
    expect(say('track', 'status')).toMatchObject({ code: 0, out: expect.stringContaining('Mine') });
    execFileSync('sh', ['-c', / own: (.*)/.exec(said.err)?.[1] ?? 'false']);
    expect(say('track', 'note', 'x').code).toBe(0);
    expect(readFileSync(victim, 'utf8')).toBe(before);
  });

  // rule: nothing-is-written-through-a-link
  test.each<[string, (path: string) => void]>([
    ['a log of a monitor, or of what was refused', (path) => appendPrivately(path, 'x\n')],
    ['a log of the bridge', (path) => new LogFile(path).write('{"msg":"x"}\n')],
  ])('is not written: %s', (_, write) => {
    const folder = testFolder();
    const [path, victim] = [join(folder, 'file'), join(folder, 'victim')];
    write(path);
    const before = readFileSync(path, 'utf8');
    linkSync(path, victim);
    expect(() => write(path)).toThrow(/has 2 names \(hard links\)/);
    expect(readFileSync(victim, 'utf8')).toBe(before);
  });

  test.each(['workspaces', 'bindings'])('is read, and not written: a log in %s', (folder) => {
    const { home, work } = recorded();
    const variables = { WATCHKEEPER_HOME: home, CLAUDE_CODE_SESSION_ID: 'c-1', CLAUDECODE: '1' };
    const init = (...more: string[]) =>
      watchkeeperAgain(work, ['track', 'init', 'T', '--concurrent', ...more], variables);
    expect(init().code).toBe(0);
    const [name = ''] = readdirSync(join(home, folder)).filter((each) => !each.startsWith('p_'));
    const path = join(home, folder, name);
    linkSync(path, join(work, 'victim'));
    const before = readFileSync(path, 'utf8');
    expect(init()).toMatchObject({ code: 3, err: expect.stringContaining(`${path} has 2 names`) });
    expect(readFileSync(path, 'utf8')).toBe(before);
  });
});

test.each(['sessions', 'workspaces', 'bindings', 'archive', 'a session'])(
  'a link in the place of %s is not followed',
  (name) => {
    const { home, session, say } = recorded();
    const path = name === 'a session' ? session : join(home, name);
    if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    renameSync(path, `${path}-away`);
    symlinkSync(`${path}-away`, path);
    const variables = { CLAUDE_CODE_SESSION_ID: 'c-1', CLAUDECODE: '1' };
    const said =
      name === 'bindings'
        ? watchkeeperAgain(dirname(home), ['track', 'status'], { WATCHKEEPER_HOME: home, ...variables })
        : say(...(name === 'workspaces' ? ['track', 'note', '--workspace', 'x'] : ['work', 'list', '--archived']));
    if (name === 'bindings') expect(said.out).not.toContain('Mine');
    else expect(said).toMatchObject({ code: 3, err: expect.stringContaining('links are not followed') });
  },
);

test('everything is private to its user, whatever the umask', () => {
  const { home, work } = recorded();
  const program = new URL('../../../dist/bridge/cli/main.js', import.meta.url).pathname;
  execFileSync('sh', ['-c', 'umask 0; exec "$0" "$1" track init T --concurrent --step a', process.execPath, program], {
    cwd: work,
    env: { PATH: process.env.PATH, WATCHKEEPER_HOME: join(home, 'new') },
  });
  const all = readdirSync(join(home, 'new'), { recursive: true, encoding: 'utf8' }).map((name) =>
    join(home, 'new', name),
  );
  expect(all.length).toBeGreaterThan(4);
  for (const path of [join(home, 'new'), ...all]) expect([path, statSync(path).mode & 0o077]).toEqual([path, 0]);
});

function made(path: string, text?: string): string {
  if (text === undefined) mkdirSync(path, { recursive: true, mode: 0o700 });
  else writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function workspaceIn(home: string): string {
  const [name = ''] = readdirSync(join(home, 'workspaces'));
  return join(home, 'workspaces', name);
}
