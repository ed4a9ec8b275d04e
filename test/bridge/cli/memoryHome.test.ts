/** Homes of session memory that cannot be used, and disks that take no more: each says what to do. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { homeFolder } from '../../../memory/home/places.js';
import { compiledProgram } from '../../../src/host/program.js';
import { NO_SPACE, onSmallDisk, testWithMounts } from '../../e2e/smallDisk.js';
import { openToOthers, testFolder } from '../../harness/folder.js';
import { watchkeeperAgain } from './manyCalls.js';
import type { Said } from './program.js';

const BLOCKS = 4;
const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0 ? test : test.skip;

function homeOf(folder: string, home: string) {
  return (...args: string[]): Said => watchkeeperAgain(folder, args, { WATCHKEEPER_HOME: home });
}

/** Everything that a home may be used for. */
const COMMANDS = [
  ['track', 'init', 'T'],
  ['track', 'note', '--workspace', 'N'],
  ['track', 'status'],
  ['work', 'list', '--all'],
  ['work', 'show', 'x'],
];

describe('a home that cannot be used', () => {
  test('is not created in a place where nothing can be', () => {
    const say = homeOf(testFolder(), '/proc/x');
    for (const command of [
      ['track', 'init', 'T'],
      ['track', 'note', '--workspace', 'N'],
    ])
      expect(say(...command)).toMatchObject({
        code: 3,
        err: expect.stringMatching(/^watchkeeper: \/proc\/x cannot hold session memory: .*; .*set WATCHKEEPER_HOME to/),
      });
  });

  test('is a file', () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'home'), '');
    const say = homeOf(folder, join(folder, 'home'));
    for (const command of COMMANDS)
      expect(say(...command)).toMatchObject({
        code: 3,
        err: expect.stringMatching(/not a folder; .*set WATCHKEEPER_HOME to/),
      });
  });

  asRoot('belongs to another user', () => {
    const folder = testFolder();
    mkdirSync(join(folder, 'home'));
    chownSync(join(folder, 'home'), NOBODY, NOBODY);
    const say = homeOf(folder, join(folder, 'home'));
    for (const command of COMMANDS)
      expect(say(...command)).toMatchObject({
        code: 3,
        err: expect.stringMatching(/belongs to another user \(uid 65534, you are 0\); .*set WATCHKEEPER_HOME to/),
      });
    expect(readdirSync(join(folder, 'home'))).toEqual([]);
  });

  test('is refused if it is relative: each directory would have a memory of its own', () => {
    const folder = testFolder();
    for (const variable of ['WATCHKEEPER_HOME', 'WATCHKEEPER_MEMORY'])
      expect(watchkeeperAgain(folder, ['track', 'init', 'T'], { [variable]: 'here' })).toMatchObject({
        code: 2,
        err: `watchkeeper: ${variable} is "here", and must be an absolute path\n`,
      });
    expect(existsSync(join(folder, 'here'))).toBe(false);
    expect(watchkeeperAgain(folder, ['track', 'init', 'T'], { HOME: 'here' })).toMatchObject({
      code: 2,
      err: 'watchkeeper: HOME is "here", and must be an absolute path\n',
    });
    expect(() => homeFolder({})).toThrow(/^HOME is not set.*set WATCHKEEPER_HOME$/);
    watchkeeperAgain(folder, ['track', 'init', 'T'], { XDG_STATE_HOME: 'here', HOME: join(folder, 'me') });
    expect(readdirSync(folder)).toEqual(['me']);
  });

  test('is meant by a relative --dir as seen from the current directory', () => {
    const folder = testFolder();
    const { out } = watchkeeperAgain(folder, ['track', '--dir', 'here', 'init', 'T', '--json']);
    expect(JSON.parse(out).folder).toBe(join(folder, 'here/sessions', JSON.parse(out).session_id));
  });

  test('has settings that lead nowhere', () => {
    const folder = testFolder();
    symlinkSync('/nowhere/settings.json', join(folder, 'settings.json'));
    expect(homeOf(folder, folder)('work', 'list')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/settings\.json cannot be read: ENOENT/),
    });
  });

  asRoot('cannot be read or written by its user', () => {
    const folder = testFolder();
    openToOthers(folder);
    const home = join(folder, 'home');
    const say = (...commands: string[][]) => unprivileged(folder, commands, home);
    mkdirSync(home);
    for (const path of [folder, home]) chownSync(path, NOBODY, NOBODY);
    chmodSync(home, 0o500);
    const denied = expect.objectContaining({
      code: 3,
      err: expect.stringMatching(/EACCES.*make it yours, or set WATCHKEEPER_HOME/),
    });
    expect(say(['track', 'init', 'T'], ['track', 'note', '--workspace', 'N'])).toEqual([denied, denied]);
    chmodSync(home, 0);
    expect(say(...COMMANDS)).toEqual(COMMANDS.map(() => denied));
    chmodSync(home, 0o700);
    const { folder: session } = JSON.parse(say(['track', 'init', 'T', '--json'])[0]?.out ?? '');
    chmodSync(join(session, 'worklog.jsonl'), 0o400);
    expect(say(['track', 'status'], ['track', 'note', 'x'])).toEqual([
      expect.objectContaining({ code: 0, out: expect.stringContaining('T\n'), err: '' }),
      expect.objectContaining({
        code: 3,
        err: expect.stringMatching(/worklog\.jsonl: EACCES.*make it readable and writable/),
      }),
    ]);
    chmodSync(join(home, 'sessions'), 0);
    expect(say(['work', 'list'], ['work', 'show', 'x'], ['track', 'status'])).toEqual([denied, denied, denied]);
  });
});

test('a pipe in the place of a file keeps no command waiting', () => {
  const folder = testFolder();
  const say = homeOf(folder, join(folder, 'home'));
  const { session_id: id, folder: session } = JSON.parse(say('track', 'init', 'T', '--json').out);
  for (const name of ['scan.json', 'state.json', 'session.md', 'tool_use.jsonl']) {
    rmSync(join(session, name), { force: true });
    execFileSync('mkfifo', [join(session, name)]);
    for (const [command, code] of [
      [['track', 'status'], name === 'scan.json' ? 3 : 0],
      [['track', 'scan'], name === 'scan.json' ? 3 : 0],
      [['track', 'resume', id], 0],
      [['work', 'list', '--all'], 0],
      [['work', 'show', id], 0],
      [['work', 'export', id], name === 'tool_use.jsonl' ? 3 : 0],
    ] as const) {
      const said = say(...command);
      expect([name, command, said.code]).toEqual([name, command, code]);
      if (code === 3) expect(said.err).toContain(`${name} cannot be read: it is a pipe, not a plain file`);
    }
    rmSync(join(session, name));
  }
});

describe('a disk that takes no more', () => {
  testWithMounts('is named by everything that writes, and what was there stays', () => {
    const folder = testFolder();
    const home = join(folder, 'home');
    onSmallDisk(home);
    const say = homeOf(folder, home);
    const { session_id: id } = JSON.parse(say('track', 'init', 'T', '--step', 'a', '--json').out);
    NO_SPACE.begin(home);
    const full = {
      code: 3,
      err: expect.stringMatching(/(?:ENOSPC|bytes were written).*make room on the disk and try again/),
    };
    for (const command of [
      ['track', 'note', 'x'.repeat(4_000)],
      ['track', 'scan'],
      ['track', 'init', 'other', '--concurrent'],
      ['work', 'rebuild', id],
    ])
      expect([command, say(...command)]).toEqual([command, expect.objectContaining(full)]);
    expect(say('track', 'status').out).toContain('[ ] 1 a');
    NO_SPACE.end(home);
    expect(say('track', 'note', 'x').code).toBe(0);
  });

  testWithMounts('is read by everything that only reads; what writes says why it cannot', () => {
    const folder = testFolder();
    const home = join(folder, 'home');
    onSmallDisk(home);
    const say = homeOf(folder, home);
    const { session_id: id } = JSON.parse(say('track', 'init', 'T', '--step', 'a', '--json').out);
    execFileSync('mount', ['-o', 'remount,ro', home]);
    const reads = [
      ...['status', 'resume', 'crash-detect', 'sync'].map((word) => ['track', word]),
      ...['show', 'verify', 'export'].map((word) => ['work', word, id]),
      ['work', 'list'],
      ['track', 'checkpoint', '--list'],
    ];
    for (const command of reads)
      expect([command, say(...command)]).toEqual([command, expect.objectContaining({ code: 0, err: '' })]);
    const readOnly = { code: 3, err: expect.stringMatching(/EROFS: read-only file system.*readable and writable/) };
    for (const command of [
      ['track', 'note', 'x'],
      ['track', 'done', '--complete'],
      ['track', 'init', 'U', '--archive-existing'],
      ['work', 'archive', id],
    ])
      expect([command, say(...command)]).toEqual([command, expect.objectContaining(readOnly)]);
  });

  test('keeps no half of a line as a line, and says what to do', () => {
    const folder = testFolder();
    const say = homeOf(folder, join(folder, 'home'));
    const log = join(JSON.parse(say('track', 'init', 'T', '--json').out).folder, 'worklog.jsonl');
    // Blank lines are no lines.
    const room = 100;
    appendFileSync(log, '\n'.repeat(largestFile() - room - statSync(log).size));
    const full = (...args: string[]) => limited(folder, args, join(folder, 'home'));
    expect(full('track', 'note', 'y'.repeat(300))).toMatchObject({
      code: 3,
      err: expect.stringMatching(/only \d+ of \d+ bytes were written; make room on the disk and try again/),
    });
    expect(full('track', 'note', 'y')).toMatchObject({
      code: 3,
      err: expect.stringContaining('make room on the disk'),
    });
    expect(say('track', 'note', 'z').code).toBe(0);
    const { notes, log: counts } = JSON.parse(say('work', 'show', '--json').out);
    expect(notes.at(-1).text).toBe('z');
    expect(counts).toMatchObject({ refused: 0, unreadable: 1 });
  });
});

/** Runs commands as a user who owns nothing else. */
function unprivileged(folder: string, commands: readonly string[][], home: string): Said[] {
  const words = [compiledProgram('test/bridge/cli/nobodyMain'), JSON.stringify(commands)];
  const env = { PATH: process.env.PATH, WATCHKEEPER_HOME: home };
  return JSON.parse(execFileSync(process.execPath, words, { cwd: folder, env, encoding: 'utf8' }));
}

/** @returns the bytes that {@link limited} lets a file have: shells count in blocks of 512 or 1024 */
function largestFile(): number {
  const file = join(testFolder(), 'file');
  spawnSync('/bin/sh', ['-c', `ulimit -f ${BLOCKS}; head -c 10000 /dev/zero >'${file}'`]);
  return statSync(file).size;
}

function limited(folder: string, args: readonly string[], home: string): Said {
  const program = [
    '-c',
    `ulimit -f ${BLOCKS}; exec "$@"`,
    'sh',
    process.execPath,
    compiledProgram('bridge/cli/main'),
    ...args,
  ];
  const { status, stdout, stderr } = spawnSync('/bin/sh', program, {
    cwd: folder,
    env: { PATH: process.env.PATH, WATCHKEEPER_HOME: home },
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}
