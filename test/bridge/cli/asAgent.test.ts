/** `watchkeeper as-agent`: what an agent in a sandbox sees of its operator's home. The program runs as a person would run it. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
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
import { giveToOrdinaryUser, ORDINARY_USER, productStarter } from '../../e2e/ordinaryUser.js';
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
  const product = (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    for (const folder of [home, dirname(starter)]) giveToOrdinaryUser(folder);
    const env = { PATH: `${join(home, '.local/bin')}:${process.env.PATH}`, HOME: home, ...more };
    return spawnSync(starter, args, { cwd: join(home, 'bridge'), env, encoding: 'utf8' });
  };
  return {
    home,
    own: join(home, 'bridge/logs/homes/api'),
    put,
    product: (...args) => product(args),
    run(line, more) {
      const { stdout, stderr } = product(['as-agent', 'api', '--', 'sh', '-c', line], more);
      return stdout + stderr.replace(/^the home folder in here is .*\n/m, '');
    },
  };
}

const trouble = whyNoSandbox(ORDINARY_USER);
const describeSandbox = trouble === null ? describe : describe.skip;

describeSandbox(`the home of an agent in a sandbox${trouble === null ? '' : ` (skipped: ${trouble})`}`, () => {
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
    expect(run('cat ~/.codex/config.toml; mv ~/.codex ~/x; mv ~/code ~/x; mv ~/.gitconfig ~/x')).toMatch(
      /^\[of-codex\]\n(?:mv: .* busy\n){3}$/,
    );
    expect(
      run('cat ~/.ssh/id ~/code/api/agent.sh ~/.local/bin/tool 2>&1; cat ~/.gitconfig; ls -d ~/.config'),
    ).not.toContain('private');
    expect(existsSync(join(home, '.bash_profile'))).toBe(false);
  });

  // rule: a-sandbox-keeps-agents-in
  test('hides session memory also in a project, and other projects', () => {
    // Outside of the folders that are empty in every sandbox.
    const other = mkdtempSync(join(packageRoot(), '.builds', 'wk-other-'));
    afterThisTest(() => rmSync(other, { recursive: true }));
    writeFileSync(join(other, 'README'), 'mine');
    const { home, put, run } = stage();
    put('code/api/memory/settings.json', 'mine');
    const config = join(home, 'bridge/watchkeeper.config.json');
    const { projects } = JSON.parse(readFileSync(config, 'utf8'));
    giveToOrdinaryUser(other);
    const line = `cat memory/settings.json ${other}/README`;
    expect(run(line).match(/mine/g)).toHaveLength(2);
    writeFileSync(config, JSON.stringify({ projects: { ...projects, other: { directory: other } } }));
    expect(run(line, { WATCHKEEPER_HOME: join(home, 'code/api/memory') })).not.toContain('mine');
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
