import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkMemory } from '../../../bridge/doctor/memoryChecks.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { compiledProgram } from '../../../src/host/program.js';
import { isoTime } from '../../../src/time.js';
import { NO_SPACE, onSmallDisk, testWithMounts } from '../../e2e/smallDisk.js';
import { openToOthers, testFolder } from '../../harness/folder.js';
import { pathWith } from '../../harness/searchPath.js';
import { memoryScene } from '../../memory/scene.js';
import { expectHarmless, HOSTILE } from '../cli/hostileNames.js';
import { watchkeeper } from '../cli/program.js';

const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0 ? test : test.skip;

function look(home: string, isQuick = false) {
  const process = readProcessIdentity('host');
  return checkMemory({ directory: '/', process, variables: { WATCHKEEPER_HOME: home } }, isQuick);
}

const inShort = async (home: string) => (await look(home)).map(({ name, verdict }) => `${verdict} ${name}`);

/** @returns its home, and the worklog of its session */
function recorded() {
  const { open, home } = memoryScene();
  const memory = open();
  const { log } = memory.lifecycle.begin(memory.workspace, { purpose: 'T', fields: {}, plan: [], concurrent: false });
  return { home, path: log.path };
}

describe('session memory', () => {
  asRoot('of the user as whom agents run is no concern of a bridge with that home, as in a container', async () => {
    const home = testFolder();
    chownSync(home, NOBODY, NOBODY);
    const here = readProcessIdentity('host');
    const surroundings = { directory: '/', process: here, variables: { WATCHKEEPER_HOME: join(home, '.watchkeeper') } };
    const agentUser = { uid: NOBODY, gid: NOBODY, name: 'node', home };
    expect(await checkMemory(surroundings, false, agentUser)).toMatchObject([
      { name: 'memory home', verdict: 'ok', remedy: null, found: expect.stringContaining('belongs to node, as whom') },
    ]);
    // Agents of another user change nothing for a home of one's own.
    const other = { ...agentUser, uid: NOBODY - 1 };
    expect((await checkMemory(surroundings, false, other))[0]?.found).not.toContain('as whom agents run');
  });

  test('is well: it is not there yet, or every line of it can be read', async () => {
    expect(await inShort(join(testFolder(), 'none'))).toEqual([
      'ok memory home',
      'ok memory settings',
      'ok memory logs',
    ]);
    const { home } = recorded();
    expect(await inShort(home)).toEqual(['ok memory home', 'ok memory settings', 'ok memory logs']);
    expect((await look(home, true)).map(({ name }) => name)).toEqual(['memory home', 'memory settings']);
  });

  test('has torn lines, lines of a newer version, and logs that cannot be read: a check for each', async () => {
    const { home, path } = recorded();
    appendFileSync(path, '{"v":1,"id":"torn\n{"v":2,"id":"x","timestamp":"2026-01-01T00:00:00Z","event":"new"}\n');
    const [workspace = ''] = readdirSync(join(home, 'workspaces'));
    rmSync(join(home, 'workspaces', workspace));
    mkdirSync(join(home, 'workspaces', workspace));
    const checks = await look(home);
    expect(checks.slice(2)).toMatchObject([
      { name: 'memory logs', verdict: 'fault', found: expect.stringContaining(workspace) },
      { name: 'memory logs', verdict: 'warning', found: expect.stringContaining(`1 in ${path}`) },
      { name: 'newer memory', verdict: 'warning', found: expect.stringContaining(`1 in ${path}`) },
    ]);
  });

  test.each(['learnings.jsonl', 'handoffs/ho_1.jsonl'])(
    'has damage and lines of a newer version in %s, or something in its place',
    async (name) => {
      const { home } = recorded();
      const path = join(home, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const newer = '{"v":2,"id":"x","timestamp":"2026-01-01T00:00:00Z","event":"new"}';
      writeFileSync(path, `torn\n${newer}\n`, { mode: 0o600 });
      expect((await look(home)).slice(2)).toMatchObject([
        { name: 'memory logs', verdict: 'warning', found: expect.stringContaining(`1 in ${path}`) },
        { name: 'newer memory', verdict: 'warning', found: expect.stringContaining(`1 in ${path}`) },
      ]);
      truncateSync(path, 5 * 1024 ** 3);
      const unread = { name: 'memory logs', verdict: 'fault', found: expect.stringContaining(path) };
      expect((await look(home)).slice(2)).toMatchObject([unread]);
      rmSync(path);
      mkdirSync(path);
      expect((await look(home)).slice(2)).toMatchObject([unread]);
    },
  );

  test('has something else in the place of a folder of logs', async () => {
    const { home } = recorded();
    writeFileSync(join(home, 'handoffs'), '', { mode: 0o600 });
    expect((await look(home)).slice(2)).toMatchObject([
      { name: 'memory logs', verdict: 'fault', found: expect.stringContaining(join(home, 'handoffs')) },
    ]);
  });

  test('has a last line that was cut off', async () => {
    const { home, path } = recorded();
    appendFileSync(path, '{"v":1,"id":"torn');
    utimesSync(path, 0, 0);
    expect((await look(home)).slice(2)).toMatchObject([
      { name: 'memory logs', verdict: 'warning', found: expect.stringContaining(`1 in ${path}`) },
    ]);
  });

  test('has lost all lines of a worklog, which is another thing than one that was never begun', async () => {
    const { home, path } = recorded();
    const killed = join(home, 'sessions', '2026-11-26-killed-at-its-start');
    mkdirSync(killed);
    writeFileSync(join(killed, 'worklog.jsonl'), '');
    expect(await inShort(home)).toEqual(['ok memory home', 'ok memory settings', 'ok memory logs']);
    for (const left of [0, 1_500]) {
      writeFileSync(path, Buffer.alloc(left));
      utimesSync(path, 0, 0);
      expect((await look(home)).slice(2)).toMatchObject([
        { name: 'memory logs', verdict: 'fault', found: expect.stringMatching(new RegExp(`can be read: ${path}$`)) },
      ]);
    }
  });

  test('has lost the first line of a worklog that went on', async () => {
    const { home, path } = recorded();
    const line = { v: 1, id: 'n', timestamp: isoTime(0), event: 'note', origin: 'person', text: 'x' };
    writeFileSync(path, `${JSON.stringify(line)}\n`);
    expect((await look(home)).slice(2)).toMatchObject([
      { name: 'memory logs', verdict: 'fault', found: expect.stringMatching(new RegExp(`is lost: ${path}$`)) },
    ]);
  });

  test('has settings with faults, or a link to none', async () => {
    const home = testFolder();
    writeFileSync(join(home, 'settings.json'), '{"freshness":{"stale_h":0.5}}');
    expect((await look(home))[1]).toMatchObject({ verdict: 'fault', found: expect.stringContaining('stale_h') });
    rmSync(join(home, 'settings.json'));
    symlinkSync('/nowhere', join(home, 'settings.json'));
    expect((await look(home))[1]).toMatchObject({ verdict: 'fault', found: expect.stringContaining('cannot be read') });
  });

  test('is in a home that is a file, relative, or cannot be made: nothing else is looked at', async () => {
    const file = join(testFolder(), 'file');
    writeFileSync(file, '');
    expect(await inShort(file)).toEqual(['fault memory home']);
    expect(await inShort('here')).toEqual(['warning memory home']);
    expect(await inShort('')).toEqual(['warning memory home']);
  });

  asRoot('is in a home of another user, or in one that this user cannot write', async () => {
    const folder = testFolder();
    const [foreign, closed] = [join(folder, 'foreign'), join(folder, 'closed')];
    for (const home of [foreign, closed]) mkdirSync(home);
    openToOthers(folder);
    for (const home of [foreign, closed]) chownSync(home, NOBODY, NOBODY);
    expect(await inShort(foreign)).toEqual(['fault memory home']);
    chmodSync(closed, 0o500);
    const main = compiledProgram('test/bridge/doctor/nobodyLooksMain');
    const said = (home: string) => JSON.parse(execFileSync(process.execPath, [main, home], { encoding: 'utf8' }));
    expect(said(closed)).toMatchObject([
      { name: 'memory home', verdict: 'fault', found: expect.stringMatching(/EACCES/) },
    ]);
    expect(said(join(closed, 'in it'))).toMatchObject([{ name: 'memory home', verdict: 'warning' }]);
  });

  test('is in a folder in which another user can replace it, or has files that others own or may write', async () => {
    const { home, path } = recorded();
    const above = join(home, '..');
    openToOthers(above);
    chmodSync(above, 0o777);
    expect(await look(home)).toMatchObject([
      { name: 'memory home', verdict: 'ok' },
      { name: 'memory files', verdict: 'warning', found: expect.stringContaining('another home in the place of') },
      { name: 'memory settings', verdict: 'ok' },
      { name: 'memory logs', verdict: 'ok' },
    ]);
    chmodSync(above, 0o1777);
    chmodSync(path, 0o666);
    expect(await look(home)).toMatchObject([
      { verdict: 'ok' },
      {
        name: 'memory files',
        verdict: 'fault',
        found: `not used: ${path} can be written by other users (mode 0666)`,
        remedy: expect.stringContaining(`chmod go-w '${path}'`),
      },
      { verdict: 'ok' },
      { name: 'memory logs', verdict: 'ok' },
    ]);
  });

  test('forges no line of the doctor by the name of a folder', async () => {
    const home = join(testFolder(), HOSTILE.replaceAll('/', ''));
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, HOSTILE.replaceAll('/', '')), '');
    chmodSync(join(home, HOSTILE.replaceAll('/', '')), 0o666);
    const checks = await look(home);
    expect(checks).toContainEqual(expect.objectContaining({ name: 'memory files', verdict: 'fault' }));
    for (const { name, found, remedy } of checks) expectHarmless(name, `${found}\n${remedy}`);
  });

  testWithMounts(
    'is in a home whose disk is full or read-only: writing shows it, and leaves nothing there',
    async () => {
      const home = join(testFolder(), 'home');
      onSmallDisk(home);
      mkdirSync(join(home, 'sessions'));
      const all = () => readdirSync(home, { recursive: true });
      expect(await inShort(home)).toContain('ok memory home');
      expect(all()).toEqual(['sessions']);
      NO_SPACE.begin(home);
      expect(await look(home)).toMatchObject([
        {
          verdict: 'fault',
          found: expect.stringMatching(/cannot be written \(the disk takes no more, ENOSPC\)/),
          remedy: expect.stringContaining('make room'),
        },
      ]);
      expect(all().sort()).toEqual(['filler', 'sessions']);
      // It may write nothing, so it does not see that.
      expect((await look(home, true))[0]).toMatchObject({ verdict: 'ok' });
      NO_SPACE.end(home);
      execFileSync('mount', ['-o', 'remount,ro', home]);
      expect(await look(home)).toMatchObject([{ verdict: 'fault', found: expect.stringMatching(/read-only, EROFS/) }]);
      expect((await look(home, true))[0]).toMatchObject({ verdict: 'fault' });
    },
  );

  test('is in a home in which one of the folders takes no files', async () => {
    const { home } = recorded();
    rmSync(join(home, 'bindings'), { recursive: true, force: true });
    writeFileSync(join(home, 'bindings'), '', { mode: 0o700 });
    expect(await look(home)).toMatchObject([
      { verdict: 'fault', found: expect.stringContaining(`${join(home, 'bindings')} cannot be written (ENOTDIR)`) },
    ]);
  });

  test('is checked although Redis is unreachable', () => {
    const { home, path } = recorded();
    appendFileSync(path, 'torn\n');
    const folder = testFolder();
    const variables = {
      WATCHKEEPER_HOME: home,
      REDIS_URL: 'redis://127.0.0.1:1',
      WATCHKEEPER_LOGS: join(folder, 'logs'),
    };
    const { code, out } = watchkeeper(folder, ['doctor', '--json'], {
      ...variables,
      HOME: folder,
      PATH: pathWith('git', 'sh'),
    });
    expect(code).toBe(3);
    expect(JSON.parse(out).checks).toContainEqual(
      expect.objectContaining({ name: 'memory logs', verdict: 'warning', found: expect.stringContaining(path) }),
    );
  });
});
