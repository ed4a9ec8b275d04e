import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { LAUNCHER, launcherOf } from './launcher.js';

/** Says how it was started, and ends with 7; one that is told to wait does so until it is asked to, or left alone. */
const PROGRAM = `
  const args = process.argv.slice(2);
  process.on('SIGTERM', () => process.exit(7));
  console.log(JSON.stringify({ pid: process.pid, flags: process.execArgv, args }));
  process.exitCode = 7;
  if (args[0] === 'wait') process.stdin.resume();
`;
const BOUND = expect.stringMatching(/^--max-semi-space-size=[1-9]\d*$/);

describe('a command', () => {
  test.each([['bridge'], ['doctor'], ['watchdog'], ['sessions']])(
    'loads nothing of which Node warns in a later version: %s',
    (name) => {
      // Node 20 warns of it only so.
      const env = { PATH: process.env.PATH, NODE_OPTIONS: '--pending-deprecation' };
      const { status, stderr } = spawnSync(LAUNCHER, [name, '--help'], { env, encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    },
  );
});

describe('the launcher', () => {
  test('starts the command line through a link and from any folder', () => {
    const { version, bin } = JSON.parse(read('package.json')) as { version: string; bin: Record<string, string> };
    expect(join(packageRoot(), bin.watchkeeper ?? '')).toBe(LAUNCHER);
    const folder = testFolder();
    symlinkSync(LAUNCHER, join(folder, 'absolute'));
    symlinkSync('absolute', join(folder, 'watchkeeper'));
    const PATH = [folder, process.env.PATH].join(delimiter);
    for (const command of ['./watchkeeper', 'watchkeeper', LAUNCHER]) {
      const said = execFileSync(command, ['--version'], { cwd: folder, env: { PATH }, encoding: 'utf8' });
      expect([command, said]).toEqual([command, `${version}\n`]);
    }
  });

  test('says what to do in a clone that is not built, and in a package that lacks the program', () => {
    const folder = testFolder();
    mkdirSync(join(folder, 'bin'));
    copyFileSync(LAUNCHER, join(folder, 'bin/watchkeeper'));
    const start = () => {
      const { status, stderr } = spawnSync(join(folder, 'bin/watchkeeper'), ['sessions'], { encoding: 'utf8' });
      return [status, stderr];
    };
    const incomplete = `the package in ${folder} is incomplete: it lacks dist/; install it again, from a tarball that has it`;
    expect(start()).toEqual([1, `watchkeeper: ${incomplete}\n`]);
    writeFileSync(join(folder, 'build.mjs'), '');
    expect(start()).toEqual([1, `watchkeeper: ${folder} is not built; run \`npm ci\` there first\n`]);
  });

  test.each([[], [process.execPath]])(
    'starts the newest build of a checkout, and what is in dist/ where there is none: %j',
    (...node) => {
      const folder = testFolder();
      for (const place of ['bin', '.builds/newest/bridge/cli', 'dist/bridge/cli'])
        mkdirSync(join(folder, place), { recursive: true });
      copyFileSync(LAUNCHER, join(folder, 'bin/watchkeeper'));
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      for (const build of ['.builds/newest', 'dist'])
        writeFileSync(join(folder, build, 'bridge/cli/main.js'), 'console.log(import.meta.url)');
      symlinkSync('newest', join(folder, '.builds/current'));
      const [program = '', ...args] = [...node, join(folder, 'bin/watchkeeper')];
      const said = () => execFileSync(program, args, { encoding: 'utf8' }).trim();
      expect(said()).toBe(pathToFileURL(join(folder, '.builds/newest/bridge/cli/main.js')).href);
      rmSync(join(folder, '.builds/newest'), { recursive: true });
      expect(said()).toBe(pathToFileURL(join(folder, 'dist/bridge/cli/main.js')).href);
    },
  );

  test('is also a node program, for tools that start the bin of a package with node', () => {
    const said = execFileSync(process.execPath, [LAUNCHER, '--version'], { encoding: 'utf8' });
    expect(said).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  // rule: the-launcher-becomes-the-program
  test('limits the young generation of a watchdog, and passes on every argument unchanged, and the exit code', () => {
    const args = ['a b', '', '*', '$HOME', "it's", '"', '\\', 'line\nline', '--', '-x'];
    for (const command of ['bridge', 'watchdog'])
      expect(start([command, ...args])).toEqual({ code: 7, args: [command, ...args], flags: [BOUND] });
    for (const others of [args, ['bridges'], ['work', 'bridge'], []])
      expect(start(others)).toEqual({ code: 7, args: others, flags: [] });
  });

  test.each([
    ['--max-semi-space-size=32', []],
    ['--no-warnings --max_semi_space_size=32', []],
    ['--max-old-space-size=500', [BOUND]],
  ])('with NODE_OPTIONS %j of the operator', (options, flags) => {
    expect(start(['bridge'], { NODE_OPTIONS: options })).toEqual({ code: 7, args: ['bridge'], flags });
  });

  // rule: the-launcher-becomes-the-program
  test('becomes the program: same pid, and signals reach it', async () => {
    const child = spawn(launcher(), ['wait'], { stdio: ['pipe', 'pipe', 'inherit'] });
    afterThisTest(() => void child.stdin.destroy());
    const [said] = await once(child.stdout, 'data');
    expect(JSON.parse(String(said))).toMatchObject({ pid: child.pid, args: ['wait'] });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('is the command on the path of the image', () => {
    const dockerfile = read('Dockerfile');
    const image = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(image).toMatch(/^COPY --from=package \/app \/app$/m);
    expect(image).toMatch(/^RUN ln -s \/app\/deploy\/container-entrypoint \/usr\/local\/bin\/watchkeeper$/m);
    const entryPoint = read('deploy/container-entrypoint');
    expect(entryPoint).toMatch(/^program=\$\{WATCHKEEPER_PROGRAM:-\/app\/bin\/watchkeeper\}$/m);
    expect(entryPoint).toMatch(/^ {2}exec "\$program" "\$@"$/m);
  });
});

/** In a folder whose name a careless script would split. */
function launcher(): string {
  const folder = testFolder();
  const program = join(folder, 'program.cjs');
  writeFileSync(program, PROGRAM);
  return launcherOf(program, join(folder, 'a folder/bin/of $things'));
}

function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const path = launcher();
  const { status, stdout } = spawnSync(path, args, {
    cwd: dirname(path),
    env: { PATH: process.env.PATH, ...environment },
    encoding: 'utf8',
  });
  const { flags, args: heard } = JSON.parse(stdout) as { flags: string[]; args: string[] };
  return { code: status, args: heard, flags };
}

function read(path: string): string {
  return readFileSync(join(packageRoot(), path), 'utf8');
}
