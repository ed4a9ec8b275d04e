/** What the agents start for each hook. It must never be in their way. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { transformSync } from 'esbuild';
import { systemProgram } from '../../bridge/agents/program/findProgram.js';
import { packageRoot } from '../../src/host/program.js';
import { openToOthers, testFolder } from '../harness/folder.js';
import { describeWhereInstalled } from '../harness/installed.js';
import { fromHere, type Installed, installedHook, WRONG } from './installed.js';

const PLUGIN = join(packageRoot(), 'plugin');
const RUN = join(PLUGIN, 'hooks/run');
const PAYLOAD = '{"hook_event_name":"SessionStart"}';
const NOBODY = 65_534;
const bytesOfNode = () => statSync(process.execPath).size;
/** As the build writes them. */
const TRIED = `--no-rehash-snapshot --v8-pool-size=1\n${bytesOfNode()}\n`;
const asRoot = process.getuid?.() === 0 ? test : test.skip;

interface Started {
  readonly pid: number;
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** What is left of standard input. */
  readonly unread: string;
  /** The programs that were started by their names. */
  readonly programs: string[];
}

/**
 * Its PATH has nothing but `ls` and the programs of `also`.
 * @param variables all that the launcher has besides
 * @param scripts further programs on its PATH, by name
 */
function start(
  shell: string,
  variables: Record<string, string>,
  also: readonly string[] = ['node'],
  scripts: Record<string, string> = {},
): Started {
  const folder = testFolder();
  const [bin, started] = [join(folder, 'bin'), join(folder, 'started')];
  for (const path of [bin, started]) mkdirSync(path);
  for (const name of ['ls', ...also]) {
    const program = name === 'node' ? process.execPath : systemProgram(name);
    writeFileSync(join(bin, name), `#!/bin/sh\n: >"${started}/${name}"\nexec "${program}" "$@"\n`, { mode: 0o755 });
  }
  for (const [name, script] of Object.entries(scripts)) writeFileSync(join(bin, name), script, { mode: 0o755 });
  writeFileSync(join(folder, 'payload'), PAYLOAD);
  const input = openSync(join(folder, 'payload'), 'r');
  try {
    const { pid, status, stdout, stderr } = spawnSync(systemProgram(shell) ?? shell, [RUN, 'SessionStart'], {
      env: { PATH: bin, ...variables },
      encoding: 'utf8',
      stdio: [input, 'pipe', 'pipe'],
    });
    const rest = Buffer.alloc(PAYLOAD.length);
    const unread = rest.toString('utf8', 0, readSync(input, rest));
    return { pid, code: status, out: stdout, err: stderr, unread, programs: readdirSync(started).sort() };
  } finally {
    closeSync(input);
  }
}

/** @returns a stand-in for an older Node: this one, with the version of that one */
function oldNode(version: string): string {
  const folder = testFolder();
  const [node, names] = [join(folder, 'node'), join(folder, 'version.cjs')];
  const versions = `{...process.versions,node:'${version}'}`;
  writeFileSync(
    names,
    `Object.defineProperty(process,'versions',{value:${versions}});Object.defineProperty(process,'version',{value:'v${version}'});`,
  );
  writeFileSync(node, `#!/bin/sh\nexec "${process.execPath}" -r "${names}" "$@"\n`, { mode: 0o755 });
  return node;
}

const SILENT = { code: 0, out: '', err: '', unread: PAYLOAD };
const homeOf = ({ home }: Installed) => ({ WATCHKEEPER_HOME: home });

describe.each(['dash', 'bash'])('hooks/run', (shell) => {
  describeWhereInstalled(`with ${shell}`, { program: shell, remedy: `apt-get install ${shell}` }, () => {
    // rule: the-plugin-starts-the-hook-program
    test('starts the program in its own place, so that the agent is its parent', () => {
      const installed = installedHook();
      const { pid, code, out, err, programs } = start(shell, homeOf(installed));
      expect({ code, err, programs }).toEqual({ code: 0, err: '', programs: ['ls'] });
      const words = ['SessionStart'];
      expect(JSON.parse(out)).toEqual({
        pid,
        parent: process.pid,
        flags: [],
        words,
        variables: [],
        bytes: PAYLOAD.length,
      });
    });

    test('starts Node with the flags that the build names, and without what the agent has Node do', () => {
      const installed = installedHook();
      writeFileSync(join(installed.root, 'dist/bridge/hook/flags'), TRIED);
      writeFileSync(join(installed.home, 'openssl.cnf'), '[[[');
      const agents = {
        ...{ NODE_OPTIONS: '--require /nowhere/hook.cjs', NODE_EXTRA_CA_CERTS: '/etc/certificates.pem' },
        ...{ NODE_CHANNEL_FD: 'abc', NODE_DEBUG: 'fs,module', OPENSSL_CONF: join(installed.home, 'openssl.cnf') },
        TIME_STYLE: 'none that there is',
      };
      const { code, out, err } = start(shell, { ...homeOf(installed), ...agents });
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(JSON.parse(out)).toMatchObject({ flags: ['--no-rehash-snapshot', '--v8-pool-size=1'], variables: [] });
    });

    test('starts the newest build of a checkout rather than what a package would have', () => {
      const installed = installedHook();
      const [build, packed] = ['.builds/newest', 'dist'].map((name) => join(installed.root, name)) as [string, string];
      cpSync(packed, build, { recursive: true });
      writeFileSync(join(build, 'bridge/hook/flags'), TRIED);
      symlinkSync('newest', join(installed.root, '.builds/current'));
      const flags = () => JSON.parse(start(shell, homeOf(installed)).out).flags;
      expect(flags()).toHaveLength(2);
      rmSync(build, { recursive: true });
      expect(flags()).toEqual([]);
    });

    test('knows the flags that the build of the product names', () => {
      const [flags, bytes] = readFileSync(join(packageRoot(), 'dist/bridge/hook/flags'), 'utf8').split('\n');
      expect(bytes).toBe(`${bytesOfNode()}`);
      expect(readFileSync(RUN, 'utf8')).toContain(`'${flags}') exec "$node" ${flags} "$main" "$@"`);
    });

    test('starts another Node than that of the installation without flags', () => {
      const installed = installedHook();
      writeFileSync(installed.file, `${installed.root}\n/nowhere/node\n`);
      writeFileSync(join(installed.root, 'dist/bridge/hook/flags'), TRIED);
      expect(JSON.parse(start(shell, homeOf(installed)).out)).toMatchObject({ flags: [] });
    });

    test.each<[string, string | Buffer | null]>([
      ['was made with another Node', `--no-rehash-snapshot --v8-pool-size=1\n${bytesOfNode() - 1}\n`],
      ['does not say with which Node it was made', '--no-rehash-snapshot --v8-pool-size=1\n'],
      ['names others', `--no-such-flag\n${bytesOfNode()}\n`],
      ['has the line ends of another system', `--no-rehash-snapshot --v8-pool-size=1\r\n${bytesOfNode()}\r\n`],
      ['has code in it', `-e process.exit(7)\n${bytesOfNode()}\n`],
      ['has a pattern in it', `* --no-rehash-snapshot\n${bytesOfNode()}\n`],
      ['is no text', Buffer.from([0, 1, 2, 10, 0xff, 0xfe, 0, 10])],
      ['is empty', ''],
      ['is much too long', '-'.repeat(1_000_000)],
      ['is a pipe', null],
    ])('starts Node without flags if their file %s', (_, content) => {
      const installed = installedHook();
      const path = join(installed.root, 'dist/bridge/hook/flags');
      if (content === null) spawnSync('mkfifo', [path]);
      else writeFileSync(path, content);
      const { code, out, err } = start(shell, homeOf(installed));
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(JSON.parse(out)).toMatchObject({ flags: [] });
    });

    test.each<[string, (installed: Installed, folder: string) => Record<string, string>]>([
      ['WATCHKEEPER_HOME', homeOf],
      [
        'XDG_STATE_HOME',
        ({ home }, folder) => {
          symlinkSync(home, join(folder, 'watchkeeper'));
          return { XDG_STATE_HOME: folder, HOME: '/nowhere' };
        },
      ],
      [
        'HOME, if XDG_STATE_HOME is relative',
        ({ home }, folder) => {
          mkdirSync(join(folder, '.local/state'), { recursive: true });
          cpSync(home, join(folder, '.local/state/watchkeeper'), { recursive: true });
          chmodSync(join(folder, '.local/state/watchkeeper'), 0o700);
          return { XDG_STATE_HOME: 'state', HOME: folder };
        },
      ],
    ])('finds the home by %s', (_, variables) => {
      const folder = testFolder();
      const named = join(folder, 'a "b" $c \'d\'');
      mkdirSync(named);
      expect(start(shell, variables(installedHook(named), folder)).out).toContain('"bytes":34');
    });

    test.each<[string, string]>([
      ['is not there', '/nowhere/node\n'],
      ['is not named', ''],
      ['is a folder', '/tmp\n'],
      ['is followed by lines of a newer version', `${process.execPath}\nanything\n`],
    ])('starts another node, or the same, if the one that is named %s', (_, line) => {
      const installed = installedHook();
      writeFileSync(installed.file, `${installed.root}\n${line}`);
      expect(start(shell, homeOf(installed)).out).toContain('"bytes":34');
    });

    // rule: the-plugin-is-silent-without-an-installation
    test.each(WRONG)('does nothing if the file of the installation %s', (_, damage) => {
      const installed = installedHook();
      damage(installed);
      expect(start(shell, homeOf(installed))).toMatchObject(SILENT);
    });

    test('starts no process in an agent of a bridge, without a home, and without the file', () => {
      const installed = installedHook();
      const idle = { ...SILENT, programs: [] };
      expect(start(shell, { ...homeOf(installed), WATCHKEEPER_RUN: 'run' })).toMatchObject(idle);
      expect(start(shell, {})).toMatchObject(idle);
      expect(start(shell, { WATCHKEEPER_HOME: fromHere(installed.home) })).toMatchObject(idle);
      rmSync(installed.file);
      expect(start(shell, homeOf(installed))).toMatchObject(idle);
    });

    test('does nothing if there is no node', () => {
      const installed = installedHook();
      writeFileSync(installed.file, `${installed.root}\n/nowhere/node\n`);
      expect(start(shell, homeOf(installed), [])).toMatchObject(SILENT);
    });

    test('exits with 0 even if the system cannot execute that node', () => {
      const installed = installedHook();
      const broken = join(installed.root, 'node');
      writeFileSync(broken, '\x7fELF of another machine', { mode: 0o755 });
      writeFileSync(installed.file, `${installed.root}\n${broken}\n`);
      expect(start(shell, homeOf(installed))).toMatchObject({ code: 0, out: '' });
    });

    test('does nothing if what PATH has as node fails, as one of a version manager without a version', () => {
      const installed = installedHook();
      writeFileSync(installed.file, `${installed.root}\n/nowhere/node\n`);
      const shim = '#!/bin/sh\necho "No version is set for command node" >&2\nexit 126\n';
      expect(start(shell, homeOf(installed), [], { node: shim })).toMatchObject(SILENT);
    });

    test.each(['14.21.3', '20.11.1'])(
      'says in one line that Node %s is too old, whichever it is started with',
      (version) => {
        const installed = installedHook();
        cpSync(join(packageRoot(), 'dist/bridge/hook'), join(installed.root, 'dist/bridge/hook'), { recursive: true });
        const old = oldNode(version);
        writeFileSync(installed.file, `${installed.root}\n${old}\n`);
        const line = new RegExp(`^watchkeeper: [^\\n]+ Node ${version}, and 20\\.12 or newer is needed[^\\n]+\\n$`);
        const said = { code: 0, out: '', err: expect.stringMatching(line) };
        expect(start(shell, homeOf(installed))).toMatchObject(said);
        writeFileSync(installed.file, `${installed.root}\n/nowhere/node\n`);
        expect(start(shell, homeOf(installed), [], { node: readFileSync(old, 'utf8') })).toMatchObject(said);
      },
    );

    test.each(['', '/nowhere'])('finds the installation with the PATH "%s"', (path) => {
      const installed = installedHook();
      expect(start(shell, { ...homeOf(installed), PATH: path }).out).toContain('"bytes":34');
    });

    asRoot.each(['home', 'file'] as const)('does nothing if the %s belongs to another user', (which) => {
      const installed = installedHook();
      openToOthers(installed.root);
      chownSync(installed[which], NOBODY, NOBODY);
      expect(start(shell, homeOf(installed))).toMatchObject(SILENT);
    });
  });
});

test('the file that every Node is given has only syntax that each of them knows, back to Node 6', () => {
  const file = readFileSync(join(packageRoot(), 'dist/bridge/hook/main.cjs'), 'utf8');
  // Nothing in it has to be written in another way for that.
  const written = (target: string) => transformSync(file, { target, minifyWhitespace: true }).code;
  expect(written('es2015')).toBe(written('esnext'));
  expect(file).toMatch(/^var __v=process\.versions\.node/);
});

describe('bin/watchkeeper of the plugin', () => {
  const call = (home: string) =>
    spawnSync(join(PLUGIN, 'bin/watchkeeper'), ['--version'], {
      env: { PATH: process.env.PATH, WATCHKEEPER_HOME: home },
      encoding: 'utf8',
    });

  test('is the command line of the installation', () => {
    const { home, file } = installedHook();
    writeFileSync(file, `${packageRoot()}\n${process.execPath}\n`);
    expect(call(home)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  test('says what to do if there is none', () => {
    const { home, file } = installedHook();
    rmSync(file);
    expect(call(home)).toMatchObject({ status: 3, stderr: expect.stringContaining('plugin install') });
  });
});
