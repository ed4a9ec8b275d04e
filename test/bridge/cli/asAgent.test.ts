/** `watchkeeper as-agent`: what an agent in a sandbox sees of its operator's home. The program runs as a person would run it. */

import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { whyNoSandbox } from '../../../bridge/agents/program/sandbox.js';
import { packageRoot } from '../../../src/host/program.js';
import { giveToOrdinaryUser, isRoot, ORDINARY_USER, productStarter } from '../../e2e/ordinaryUser.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';

// covers: bridge/agents/program/ownHome.ts
// covers: bridge/agents/program/foreground.ts

interface Stage {
  readonly home: string;
  readonly own: string;
  /** Puts a file into the operator's home. */
  put(path: string, text: string): void;
  /** Runs a command of the product as the operator. */
  product(...args: string[]): SpawnSyncReturns<string>;
  readonly starter: string;
  readonly environment: Readonly<Record<string, string>>;
  /** @returns what the line printed as an agent of the project */
  run(line: string, more?: Readonly<Record<string, string>>): string;
}

/** A home with a project in `code/api`. */
function stage(project: object = {}, directory = 'code/api'): Stage {
  const home = testFolder();
  const agent = { kind: 'command', command: ['codex', 'exec'] };
  const starter = productStarter(testFolder());
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  mkdirSync(join(home, directory), { recursive: true });
  put(
    'bridge/watchkeeper.config.json',
    JSON.stringify({ projects: { api: { directory: join(home, directory), agent, ...project } } }),
  );
  const environment = { PATH: `${join(home, '.local/bin')}:${process.env.PATH}`, HOME: home };
  const product = (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    for (const folder of [home, dirname(starter)]) giveToOrdinaryUser(folder);
    const env = { ...environment, ...more };
    return spawnSync(starter, args, { cwd: join(home, 'bridge'), env, encoding: 'utf8' });
  };
  return {
    home,
    own: join(home, 'bridge/logs/homes/api'),
    put,
    product: (...args) => product(args),
    starter,
    environment,
    run(line, more) {
      const { stdout, stderr } = product(['as-agent', 'api', '--', 'sh', '-c', line], more);
      return stdout + stderr.replace(/^its home folder is kept in .*\n/m, '');
    },
  };
}

const trouble = whyNoSandbox(ORDINARY_USER);
const describeSandbox = trouble === null ? describe : describe.skip;

describeSandbox(`the home of an agent in a sandbox${trouble === null ? '' : ` (skipped: ${trouble.why})`}`, () => {
  // rule: a-sandbox-keeps-agents-in
  test("is the project's own and is kept, and shows nothing of the operator's home", () => {
    const { home, own, put, run } = stage();
    put('.bashrc', 'mine');
    put('notes.txt', 'mine');
    expect(run('cd; ls -A; echo of-the-agent >.bashrc')).toBe('code\n');
    expect(run('cat ~/.bashrc; ls ~/notes.txt; pwd')).toMatch(/^of-the-agent\n(?:.*\n)*.*No such file/);
    expect(readFileSync(join(home, '.bashrc'), 'utf8')).toBe('mine');
    expect(readFileSync(join(own, '.bashrc'), 'utf8')).toBe('of-the-agent\n');
    expect(lstatSync(own).mode & 0o777).toBe(0o700);
  });

  // rule: a-sandbox-keeps-agents-in
  test("shows, read-only, git's settings, those of its own program, programs on PATH and what the project names", () => {
    const { home, put, run } = stage({ readable: ['~/.ssh/known_hosts', '~/tools'] });
    for (const path of [
      '.gitconfig',
      '.codex/config.toml',
      '.claude/settings.json',
      '.codex/auth.json',
      '.git-credentials',
    ])
      put(path, `[${path}]\n`);
    for (const path of ['.ssh/known_hosts', '.ssh/id', 'tools/deep/file', 'lib/node_modules/linked/main.js'])
      put(path, `[${path}]\n`);
    mkdirSync(join(home, '.local/bin'), { recursive: true });
    symlinkSync(join(home, 'lib/node_modules/linked/main.js'), join(home, '.local/bin/linked'));
    const seen = run(
      'cd; find . -type f -o -type l | sort; cat .gitconfig .local/bin/linked; for f in .gitconfig .codex/config.toml tools/deep/file .local/bin/new; do (echo x >>$f) 2>/dev/null && echo wrote $f; done',
    );
    expect(seen.split('\n')).toEqual([
      './.codex/config.toml',
      './.gitconfig',
      './.local/bin/linked',
      './.ssh/known_hosts',
      './lib/node_modules/linked/main.js',
      './tools/deep/file',
      '[.gitconfig]',
      '[lib/node_modules/linked/main.js]',
      '',
    ]);
  });

  // rule: a-sandbox-keeps-agents-in
  test('shows nothing that an agent has linked to, in its project or in its own home', () => {
    const { home, own, put, run } = stage({ agent: { kind: 'command', command: ['/bin/sh', 'PROGRAM', 'codex'] } });
    put('.ssh/id', 'private');
    put('.gitconfig', '[mine]\n');
    const config = join(home, 'bridge/watchkeeper.config.json');
    writeFileSync(config, readFileSync(config, 'utf8').replace('PROGRAM', join(home, 'code/api/agent.sh')));
    for (const name of ['agent.sh', 'tool']) symlinkSync(join(home, '.ssh/id'), join(home, 'code/api', name));
    // A program that the operator develops in the project, and has on PATH.
    mkdirSync(join(home, '.local/bin'), { recursive: true });
    symlinkSync('../../code/api/tool', join(home, '.local/bin/tool'));
    // What it puts into its own home, to have the next sandbox follow it.
    run('cd; mkdir -p elsewhere; ln -s ../../../.. .config; ln -s ../../.bash_profile .gitconfig 2>&1');
    symlinkSync(home, join(own, '.codex'));
    put('.codex/config.toml', '[of-codex]\n');
    put('.gemini/settings.json', '{}');
    // What it was given it cannot replace.
    expect(run('cat ~/.codex/config.toml; mv ~/code/api ~/x; mv ~/.gitconfig ~/x')).toMatch(
      /^\[of-codex\]\n(?:mv: .* busy\n){2}$/,
    );
    expect(
      run('cat ~/.ssh/id ~/code/api/agent.sh ~/.local/bin/tool 2>&1; cat ~/.gitconfig; ls -d ~/.config'),
    ).not.toContain('private');
    expect(existsSync(join(home, '.bash_profile'))).toBe(false);
  });

  // rule: a-sandbox-keeps-agents-in
  test('hides session memory and other projects', () => {
    // Outside of the folders that are empty in every sandbox.
    const place = isRoot ? '/opt' : join(packageRoot(), '.builds');
    const other = mkdtempSync(join(place, 'wk-other-'));
    afterThisTest(() => rmSync(other, { recursive: true }));
    writeFileSync(join(other, 'README'), 'mine');
    const { home, put, run } = stage();
    put('.local/state/watchkeeper/settings.json', 'mine');
    const config = join(home, 'bridge/watchkeeper.config.json');
    const { projects } = JSON.parse(readFileSync(config, 'utf8'));
    giveToOrdinaryUser(other);
    const line = `cat ~/.local/state/watchkeeper/settings.json ${other}/README`;
    expect(run(line).match(/mine/g)).toHaveLength(1);
    writeFileSync(config, JSON.stringify({ projects: { ...projects, other: { directory: other } } }));
    expect(run(line)).not.toContain('mine');
  });

  test('lets a linked worktree commit to its repository, if that repository knows it', () => {
    const { home, run } = stage({}, 'code/linked');
    const git = (...args: string[]) => spawnSync('git', ['-C', join(home, 'code'), ...args], { encoding: 'utf8' });
    git('init', '-q', 'main');
    const commit = '-c user.name=a -c user.email=a@b commit -q --allow-empty -m';
    git('-C', 'main', ...commit.split(' '), 'first');
    git('-C', 'main', 'worktree', 'add', '-q', '--force', join(home, 'code/linked'));
    expect(run(`git -c safe.directory=* ${commit} second && git -c safe.directory=* log --format=%s -1`)).toBe(
      'second\n',
    );
    // An agent says that its project belongs to another repository.
    git('init', '-q', 'strange');
    git('-C', 'strange', ...commit.split(' '), 'first');
    git('-C', 'strange', 'worktree', 'add', '-q', join(home, 'elsewhere/linked'));
    writeFileSync(join(home, 'code/linked/.git'), `gitdir: ${join(home, 'code/strange/.git/worktrees/linked')}\n`);
    expect(run(`ls ${join(home, 'code/strange/.git')}`)).toContain('No such file');
  });

  // rule: a-sandbox-keeps-agents-in
  test("holds what the doctor asks the agent's program, too", () => {
    const check = ['sh', '-c', 'echo asked; cat ~/notes.txt 2>&1; exit 1'];
    const { put, product } = stage({ agent: { kind: 'command', command: ['sh'], check } });
    put('notes.txt', 'private\n');
    const { checks } = JSON.parse(product('doctor', '--json').stdout);
    const [found] = checks.filter(({ name }: { name: string }) => name === 'agent of api');
    expect(found).toMatchObject({ verdict: 'fault', found: expect.stringMatching(/asked.*No such file/) });
    expect(found.found).not.toContain('private');
  });

  // rule: a-sandbox-keeps-agents-in
  test('gives no repository for what an agent says of itself, and of a real one no hooks and settings', () => {
    const forged = stage({}, 'worktrees/feature');
    forged.put('.bashrc', 'mine');
    const claims = 'printf "gitdir: %s\\n" "$PWD" >.git; printf "%s/.git\\n" "$PWD" >gitdir; echo ../.. >commondir';
    forged.run(`${claims}; mkdir -p ../../objects ../../refs 2>/dev/null; echo x >HEAD`);
    expect(forged.run('cat ~/.bashrc; echo evil >>~/.bashrc; cat ~/.bashrc')).not.toContain('mine');
    expect(readFileSync(join(forged.home, '.bashrc'), 'utf8')).toBe('mine');

    const { home, run } = stage({}, 'code/linked');
    const git = (...args: string[]) => spawnSync('git', ['-C', join(home, 'code'), ...args], { encoding: 'utf8' });
    git('init', '-q', 'main');
    git('-C', 'main', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first');
    git('-C', 'main', 'worktree', 'add', '-q', '--force', join(home, 'code/linked'));
    const planted = run('cd ../main/.git && for f in hooks/post-checkout config worktrees/other; do echo x >>$f; done');
    expect(planted.match(/Read-only file system/g)).toHaveLength(3);
  });

  // rule: a-sandbox-keeps-agents-in
  test('follows no link in place of a directory of a chat', () => {
    const { home, put, run } = stage({ chats: [{ id: 1, directory: 'DIRECTORY' }] });
    const config = join(home, 'bridge/watchkeeper.config.json');
    writeFileSync(config, readFileSync(config, 'utf8').replace('DIRECTORY', join(home, 'code/api/packages/web')));
    put('.ssh/id', 'private');
    put('code/api/packages/web/file', 'x');
    run('mv packages former; mkdir packages; ln -s ../../../.ssh packages/web');
    expect(run('cat ../../.ssh/id ~/.ssh/id packages/web/id; echo x >>packages/web/authorized_keys')).not.toContain(
      'private',
    );
    expect(existsSync(join(home, '.ssh/authorized_keys'))).toBe(false);
  });

  // rule: a-sandbox-keeps-agents-in
  test("shows nothing to which another project's agent has linked", () => {
    const { home, put, run } = stage();
    const config = join(home, 'bridge/watchkeeper.config.json');
    const { projects } = JSON.parse(readFileSync(config, 'utf8'));
    mkdirSync(join(home, 'code/garden'), { recursive: true });
    writeFileSync(
      config,
      JSON.stringify({ projects: { ...projects, garden: { directory: join(home, 'code/garden') } } }),
    );
    put('.ssh/id', 'private');
    mkdirSync(join(home, '.local/bin'), { recursive: true });
    symlinkSync('../../code/garden/tool', join(home, '.local/bin/tool'));
    symlinkSync('../../.ssh/id', join(home, 'code/garden/tool'));
    expect(run('cat ~/.ssh/id ~/.local/bin/tool')).not.toContain('private');
  });

  // rule: a-sandbox-keeps-agents-in
  test('is refused if an agent could replace what it hides, or what a person decides by', () => {
    const { home, run } = stage();
    const config = join(home, 'bridge/watchkeeper.config.json');
    writeFileSync(join(home, 'code/api/settings.json'), readFileSync(config));
    rmSync(config);
    symlinkSync('../code/api/settings.json', config);
    expect(run('true')).toMatch(/watchkeeper.config.json is a link in a directory|^$/);
    symlinkSync(join(home, 'code/api/settings.json'), join(home, 'code/api/link.json'));
    const linked = { WATCHKEEPER_CONFIG: join(home, 'code/api/link.json') };
    expect(run('true', linked)).toMatch(/link.json is a link in a directory in which its agents write/);
    const memory = { WATCHKEEPER_HOME: join(home, 'code/api/memory') };
    expect(run('true', memory)).toMatch(/session memory, .*, is in a directory in which its agents write/);
  });

  // rule: a-sandbox-keeps-agents-in
  test('never has the logs folder where its agents work', () => {
    const { run } = stage();
    const inProject = { WATCHKEEPER_LOGS: '../code/api/logs' };
    expect(run('ls', inProject)).toMatch(/WATCHKEEPER_LOGS: .* lies in a directory of the project "api"/);
  });

  // rule: a-sandbox-keeps-agents-in
  test('is none that an agent opens by descriptors or rights of the process that starts it', () => {
    const { home, put, product, starter, environment } = stage();
    put('notes.txt', 'private');
    // Gives the files to that user.
    product('--help');
    for (const file of [home, join(home, 'notes.txt')]) chmodSync(file, 0o755);
    const line = `exec 9<${home}/notes.txt 40<${home}; "${starter}" as-agent api -- sh -c 'echo nine; cat <&9; echo forty; cat /proc/self/fd/40/notes.txt; ls -l /proc/self/fd'`;
    const { stdout } = spawnSync('bash', ['-c', line], {
      cwd: join(home, 'bridge'),
      env: environment,
      encoding: 'utf8',
    });
    expect(stdout).not.toContain('private');
  });

  test('starts soon also with many links on PATH', () => {
    const { home, put, run } = stage();
    mkdirSync(join(home, '.local/bin'), { recursive: true });
    for (let number = 0; number < 3_000; number += 1) {
      put(`apps/app${number}/run`, '');
      symlinkSync(join(home, `apps/app${number}/run`), join(home, `.local/bin/run${number}`));
    }
    expect(run('echo started')).toBe('started\n');
  });

  test('is refused for a project that contains the home', () => {
    const { run } = stage({ isolation: 'bubblewrap' }, '.');
    expect(run('cat ~/notes.txt')).toMatch(
      /projects.api.isolation: .* contains the home folder, which a sandbox hides/,
    );
  });
});

describe('as-agent', () => {
  test('says which projects there are, and passes on whether the command succeeded', () => {
    const { run, home, product } = stage({ isolation: 'none' });
    expect(run('echo $HOME; exit 0')).toBe(`${home}\n`);
    const at = (...args: string[]) => product('as-agent', ...args);
    expect(at('nosuch', '--', 'true')).toMatchObject({ status: 2, stderr: expect.stringContaining('(known: api)') });
    expect(at('api', '--', 'false').status).toBe(1);
    expect(at('api', '--', 'true').status).toBe(0);
    expect(at('api', '--', 'no-such-program')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/cannot be started \((?:ENOENT|EACCES)\)/),
    });
  });
});
