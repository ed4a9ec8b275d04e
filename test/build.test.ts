/** What build.mjs promises, with the real compiler, in a small package of its own. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../src/host/program.js';
import { LAUNCHER } from './bridge/cli/launcher.js';
import { testFolder } from './harness/folder.js';
import { afterThisTest } from './harness/scope.js';
import { npmEnvironment } from './package/packing.js';

const ROOT = packageRoot();
/** Without the declarations of browsers, which take most of the compiler's time. */
const LANGUAGE = { target: 'es2022', lib: ['es2022'], skipLibCheck: true, types: [] };
const SETTINGS = {
  compilerOptions: { ...LANGUAGE, module: 'nodenext', rootDir: '.', outDir: 'dist', noEmit: true },
  include: ['bridge', 'sources'],
};
const PACKAGE = {
  name: 'small',
  version: '1.0.0',
  type: 'module',
  files: ['bin', 'dist/bridge'],
  scripts: { prepack: 'node build.mjs' },
};
/** Between two commands while a package is made: more of them take longer, and see no more. */
const SAID_EVERY_MS = 100;
/** `current`, beside the builds. */
const LINKS = 1;
/** Ten times a compiler, on a busy machine. */
const MANY_BUILDS_MS = 120_000;
/** The other modules are read only when it is asked to go on. */
const MAIN = `
  declare const process: any;
  process.stdout.write('begun\\n');
  process.stdin.once('data', async () => {
    const { words } = await import('./words.js');
    process.stdout.write(words + '\\n');
    process.exit();
  });
`;
/** Compiles, says so, and then takes for ever. */
const SLOW_COMPILER = `
  const { spawnSync } = require('node:child_process');
  const compiler = ${JSON.stringify(join(ROOT, 'node_modules/typescript/bin/tsc'))};
  spawnSync(process.execPath, [compiler, ...process.argv.slice(2)], { stdio: 'inherit' });
  console.log('compiled');
  setInterval(() => {}, 1_000);
`;

describe('a build', () => {
  // rule: a-build-is-whole
  test(
    'keeps a program working that runs its own modules, including those it has not loaded yet, however many builds follow; of the others the newest five are kept',
    async () => {
      const folder = builtPackage();
      const running = await start(folder);
      // Copies stand for builds that followed: a compiler would take seconds for each.
      const builds = join(folder, '.builds');
      const used = readlinkSync(join(builds, 'current'));
      for (let number = 1; number <= 5; number += 1)
        cpSync(join(builds, used), join(builds, `${used}-${number}`), { recursive: true, verbatimSymlinks: true });
      await change(folder, 'number 7');
      expect(await running.goOn()).toBe('first');
      expect(await said(folder)).toBe('number 7');
      expect(readdirSync(join(folder, '.builds'))).toHaveLength(1 + 5 + 1 + LINKS);
      await change(folder, 'last');
      expect(readdirSync(join(folder, '.builds'))).toHaveLength(5 + 1 + LINKS);
    },
    MANY_BUILDS_MS,
  );

  // rule: a-build-is-whole
  test('contains programs that need none of the source modules', async () => {
    const folder = builtPackage();
    rmSync(join(folder, '.builds/current/bridge/cli/words.js'));
    expect(await said(folder)).toBe('first');
  });

  // rule: a-build-is-whole
  test('that is killed leaves the previous one, and the next one succeeds', async () => {
    const folder = builtPackage();
    write(folder, 'bridge/cli/words.ts', 'export const words = "second";');
    await breakOff(folder);
    expect(await said(folder)).toBe('first');
    expect(await build(folder)).toBe(0);
    expect(await said(folder)).toBe('second');
  });

  test('of faulty sources leaves the previous one, and fails by its exit code', async () => {
    const folder = builtPackage();
    write(folder, 'bridge/cli/words.ts', 'export const words: number = "second";');
    expect(await build(folder)).not.toBe(0);
    expect(await said(folder)).toBe('first');
  });

  test('that cannot write leaves the previous one, and says why in one line', async () => {
    const folder = builtPackage();
    renameSync(join(folder, '.builds'), join(folder, '.elsewhere'));
    writeFileSync(join(folder, '.builds'), 'a file is in the way');
    write(folder, 'bridge/cli/words.ts', 'export const words = "second";');
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'build.mjs')], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^build: \w+: .*\.builds.*\n$/) });
    rmSync(join(folder, '.builds'));
    renameSync(join(folder, '.elsewhere'), join(folder, '.builds'));
    expect(await said(folder)).toBe('first');
  });

  // rule: a-build-is-whole
  test('beside another one does no harm', async () => {
    const folder = builtPackage();
    write(folder, 'bridge/cli/words.ts', 'export const words = "second";');
    expect(await Promise.all([build(folder), build(folder)])).toEqual([0, 0]);
    expect(await said(folder)).toBe('second');
  });

  test('of the same sources reuses the existing one, unless something else wrote into it', async () => {
    const folder = builtPackage();
    const before = readlinkSync(join(folder, '.builds/current'));
    expect(await build(folder)).toBe(0);
    expect(readlinkSync(join(folder, '.builds/current'))).toBe(before);
    write(folder, '.builds/current/bridge/cli/main.js', 'throw new Error();');
    expect(await build(folder)).toBe(0);
    expect(await said(folder)).toBe('first');
  });

  test(
    'that `npm pack` makes disturbs no command, and is what is packed',
    async () => {
      const folder = builtPackage();
      write(folder, 'bridge/cli/words.ts', 'export const words = "second";');
      const into = testFolder();
      const packing = begin('npm', ['pack', '--pack-destination', into], { cwd: folder, env: npmEnvironment(into) });
      const heard: string[] = [];
      while (packing.exitCode === null) {
        heard.push(await said(folder));
        await pause(SAID_EVERY_MS);
      }
      expect(packing.exitCode).toBe(0);
      expect(heard.length).toBeGreaterThan(3);
      expect([...new Set([...heard, await said(folder)])]).toEqual(['first', 'second']);
      const tarball = join(into, readdirSync(into).find((name) => name.endsWith('.tgz')) ?? '');
      const unpacked = testFolder();
      expect(spawnSync('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1']).status).toBe(0);
      expect(await said(unpacked)).toBe('second');
    },
    MANY_BUILDS_MS,
  );

  test('leaves a plain copy of its programs in dist/, beside links to the rest, in place of what an older version had there', async () => {
    const folder = builtPackage();
    rmSync(join(folder, 'dist'), { recursive: true });
    symlinkSync('.builds/former', join(folder, 'dist'));
    expect(await build(folder)).toBe(0);
    expect(lstatSync(join(folder, 'dist')).isDirectory()).toBe(true);
    for (const path of ['cli/main.js', 'cli/program.cjs.cache', 'hook/flags'])
      expect([path, shipped(folder, path).equals(readFileSync(join(folder, '.builds/current/bridge', path)))]).toEqual([
        path,
        true,
      ]);
    expect(existsSync(join(folder, 'dist/bridge/cli/words.js'))).toBe(false);
    expect(readlinkSync(join(folder, 'dist/sources'))).toBe('../.builds/current/sources');
  });

  test.each<[string, (dist: string) => void]>([
    ['changed', (dist) => writeFileSync(join(dist, 'bridge/cli/main.js'), 'throw new Error();')],
    ['added', (dist) => writeFileSync(join(dist, 'bridge/cli/other.js'), '')],
    ['removed', (dist) => rmSync(join(dist, 'bridge/hook/flags'))],
    [
      'replaced by a link',
      (dist) => [rmSync(join(dist, 'bridge'), { recursive: true }), symlinkSync('.', join(dist, 'bridge'))],
    ],
  ])('makes dist/ again if something in it was %s', async (_, spoil) => {
    const folder = builtPackage();
    const before = readlinkSync(join(folder, '.builds/current'));
    spoil(join(folder, 'dist'));
    expect(await build(folder)).toBe(0);
    expect(readlinkSync(join(folder, '.builds/current'))).toBe(before);
    expect(shipped(folder, 'cli/main.js')).toEqual(readFileSync(join(folder, '.builds/current/bridge/cli/main.js')));
    expect(existsSync(join(folder, 'dist/bridge/cli/other.js'))).toBe(false);
    expect(
      lstatSync(join(folder, 'dist/bridge')).isDirectory() && existsSync(join(folder, 'dist/bridge/hook/flags')),
    ).toBe(true);
  });
});

/** Built once: a compiler takes most of the time of these tests. */
let first: string;
beforeAll(async () => {
  first = await newPackage();
}, MANY_BUILDS_MS);

/** @returns a package whose program says `first` */
function builtPackage(): string {
  const folder = join(testFolder(), 'package');
  cpSync(first, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return folder;
}

async function newPackage(): Promise<string> {
  const folder = testFolder();
  write(folder, 'package.json', JSON.stringify(PACKAGE));
  write(folder, 'tsconfig.json', JSON.stringify(SETTINGS));
  write(folder, 'bridge/cli/main.ts', MAIN);
  const programs = ['cli/program', 'cli/quickProgram', 'hook/main', 'hook/program', 'mcp/main', 'mcp/program'];
  for (const path of [...programs, 'mcp/library', 'mcp/calls', 'mcp/shims'])
    write(folder, `bridge/${path}.ts`, 'export {};');
  write(folder, 'bridge/mcp/listing.ts', 'export const listTools = () => [];');
  write(folder, 'sources/a.ts', 'export {};');
  mkdirSync(join(folder, 'bin'));
  copyFileSync(join(ROOT, 'build.mjs'), join(folder, 'build.mjs'));
  copyFileSync(LAUNCHER, join(folder, 'bin/watchkeeper'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await change(folder, 'first');
  return folder;
}

function shipped(folder: string, path: string): Buffer {
  return readFileSync(join(folder, 'dist/bridge', path));
}

async function change(folder: string, words: string): Promise<void> {
  write(folder, 'bridge/cli/words.ts', `export const words = ${JSON.stringify(words)};`);
  expect(await build(folder)).toBe(0);
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** @returns the exit code */
async function build(folder: string): Promise<number | null> {
  const child = begin(process.execPath, [join(folder, 'build.mjs')]);
  const [code] = await once(child, 'exit');
  return code;
}

/** Kills a build, with its compiler, when that has written everything. */
async function breakOff(folder: string): Promise<void> {
  const packages = join(folder, 'node_modules');
  unlinkSync(packages);
  write(folder, 'node_modules/typescript/package.json', '{}');
  write(folder, 'node_modules/typescript/bin/tsc', SLOW_COMPILER);
  symlinkSync(join(ROOT, 'node_modules/esbuild'), join(packages, 'esbuild'));
  const child = begin(process.execPath, [join(folder, 'build.mjs')]);
  expect(await nextLine(child)).toBe('compiled');
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await once(child, 'close');
  rmSync(packages, { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), packages);
}

/** @returns the package's program, which has begun and has not read all of its modules */
async function start(folder: string): Promise<{ goOn(): Promise<string> }> {
  const child = begin(join(folder, 'bin/watchkeeper'), []);
  expect(await nextLine(child)).toBe('begun');
  return {
    goOn: async () => {
      child.stdin?.write('go on\n');
      const words = await nextLine(child);
      if (child.exitCode === null) await once(child, 'exit');
      return words;
    },
  };
}

/** @returns what the package's program says */
async function said(folder: string): Promise<string> {
  return (await start(folder)).goOn();
}

/** A group of its own, ended with the test. */
function begin(program: string, args: string[], options: SpawnOptions = {}): ChildProcess {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  afterThisTest(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await once(child, 'exit');
  });
  return child;
}

/** @returns the next line of what `child` says; empty when it has ended */
async function nextLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('its output is not read');
  let line = '';
  while (!line.endsWith('\n')) {
    const part: Buffer | string | null = stdout.read(1) ?? null;
    if (part !== null) line += part;
    else if (stdout.readableEnded) return line;
    else await Promise.race([once(stdout, 'readable'), once(stdout, 'end')]);
  }
  return line.trimEnd();
}
