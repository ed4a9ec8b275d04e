// covers: bridge/plugin/hookNode.ts bridge/plugin/claudeSwitches.ts
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { systemProgram } from '../../../bridge/agents/program/findProgram.js';
import type { AgentName } from '../../../bridge/plugin/agent.js';
import { hooksSwitchedOff } from '../../../bridge/plugin/claudeSwitches.js';
import { OLDEST_NODE } from '../../../bridge/plugin/hookNode.js';
import { lookAtInstallation, writeInstallation } from '../../../bridge/plugin/installation.js';
import { AGENTS, agentsHere, statusOf } from '../../../bridge/plugin/status.js';
import { Places } from '../../../memory/home/places.js';
import { packageRoot } from '../../../src/host/program.js';
import { eventually } from '../../e2e/eventually.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { installedHook, WRONG } from '../../plugin/installed.js';
import { ofClaude, ofCodex, type StandIns, standIns } from './standIns.js';

const ID = 'watchkeeper@watchkeeper';

/** What one agent has, and what is amiss with it. */
async function look({ asker }: StandIns, name: AgentName) {
  const { hooks, skills, trouble } = await AGENTS[name].look(asker);
  return { hooks, skills, trouble: trouble.map(({ found, remedy }) => `${found} → ${remedy}`) };
}

function copySkill(folder: string, words = 'run `watchkeeper track resume`') {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), words);
}

describe('the installation', () => {
  test('is as it was written, and nothing is amiss', () => {
    const { home, root } = installedHook();
    const places = new Places(home);
    writeInstallation(places, { root, node: process.execPath });
    expect(lookAtInstallation(places)).toEqual({
      file: join(home, 'installation'),
      installation: { root, node: process.execPath },
      trouble: [],
    });
  });

  // rule: the-status-sees-what-the-launcher-sees
  test.each(WRONG.filter(([what]) => what !== 'is not there' && what !== 'is a link to nothing'))(
    'is reported with a remedy if the file %s',
    (_, damage) => {
      const installed = installedHook();
      damage(installed);
      const { trouble } = lookAtInstallation(new Places(installed.home));
      expect(trouble.length).toBeGreaterThan(0);
      for (const { found, remedy } of trouble) expect([found, remedy]).not.toContain('');
    },
  );

  test('is missing without its file; that matters if an agent has the plugin', async () => {
    const scene = standIns(['claude']);
    const places = new Places(scene.home);
    expect((await statusOf(places, agentsHere(scene.asker.surroundings), scene.asker)).trouble).toEqual([]);
    scene.answer('claude', { 'plugin list --json': [ofClaude(ID)] });
    const { trouble } = await statusOf(places, agentsHere(scene.asker.surroundings), scene.asker);
    expect(trouble).toMatchObject([{ agent: null, found: expect.stringMatching(/installation is missing/) }]);
  });

  test('has no program: a checkout is built, a package installed again; the newest build of a checkout is one', () => {
    const { home, root } = installedHook();
    const remedies = () => lookAtInstallation(new Places(home)).trouble.map(({ remedy }) => remedy);
    renameSync(join(root, 'dist'), join(root, 'newest'));
    expect(remedies()).toEqual([
      expect.stringMatching(/^install the package again, or run `watchkeeper plugin install`/),
    ]);
    writeFileSync(join(root, 'build.mjs'), '');
    expect(remedies()).toEqual([expect.stringMatching(/^run `npm ci` there, or run `watchkeeper plugin install`/)]);
    mkdirSync(join(root, '.builds'));
    symlinkSync('../newest', join(root, '.builds/current'));
    expect(remedies()).toEqual([]);
  });

  test('knows the oldest Node that the package supports', () => {
    const { engines } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
    expect(engines.node).toBe(`>=${OLDEST_NODE.major}.${OLDEST_NODE.minor}`);
  });

  test.each<[string, string | null, string | null, RegExp | null]>([
    ['as it was', `exec "${process.execPath}" "$@"`, null, null],
    [
      'gone, and there is no other',
      null,
      null,
      /^\S+named is gone, and `node` is not on PATH, so the hooks do nothing$/,
    ],
    [
      'gone, and there is another',
      null,
      'echo v22.1.0',
      /^\S+named is gone, and the hooks start \S+bin\/node instead$/,
    ],
    [
      'gone, and the other is too old',
      null,
      'echo v14.21.3',
      /named is gone, and \S+node is Node 14\.21\.3, and 20\.12/,
    ],
    [
      'gone, and the other fails',
      null,
      'exit 126',
      /named is gone, and \S+node fails with exit code 126, so the hooks/,
    ],
    ['too old by now', 'echo v20.11.1', 'echo v22.1.0', /^\S+named is Node 20\.11\.1, and 20\.12 or newer is needed/],
    ['something else by now', 'echo hello', null, /^\S+named is no Node, so the hooks do nothing$/],
  ])('names a node that is %s', async (_, named, onPath, words) => {
    const installed = installedHook();
    const scene = standIns([]);
    const script = (path: string, text: string) => writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const place = join(installed.root, 'named');
    if (named !== null) script(place, named);
    if (onPath !== null) script(join(scene.folder, 'bin/node'), onPath);
    writeFileSync(installed.file, `${installed.root}\n${place}\n`);
    const { trouble } = await statusOf(new Places(installed.home), [], scene.asker);
    expect(trouble.map(({ found }) => found)).toEqual(words === null ? [] : [expect.stringMatching(words)]);
  });
});

test('a node that takes too long to say its version is not said to keep the hooks from running', async () => {
  const { home, root } = installedHook();
  writeInstallation(new Places(home), { root, node: process.execPath });
  const asker = { ...standIns([]).asker, run: async () => ({ kind: 'late' }) as const };
  const { trouble } = await statusOf(new Places(home), [], asker);
  expect(trouble.map(({ found }) => found)).toEqual([expect.stringMatching(/so it is unknown whether the hooks run$/)]);
});

describe('Claude Code', () => {
  test('has nothing, or hooks and skills', async () => {
    const scene = standIns();
    expect(await look(scene, 'claude')).toEqual({ hooks: 'none', skills: 'none', trouble: [] });
    scene.answer('claude', { 'plugin list --json': [ofClaude('other@watchkeeper'), ofClaude(ID)] });
    expect(await look(scene, 'claude')).toEqual({ hooks: 'on', skills: 'plugin', trouble: [] });
  });

  test.each<[string, object[], RegExp]>([
    [
      'for the user and for a project',
      [ofClaude(ID), ofClaude(ID, { scope: 'project', projectPath: "/it's" })],
      /installed twice: .* → keep one, for example: cd '\/it'\\''s' && claude plugin uninstall \S+ --scope project$/,
    ],
    [
      'from two marketplaces',
      [ofClaude(ID), ofClaude('watchkeeper@fork')],
      /installed twice: .*watchkeeper@fork \(user\) → .*uninstall watchkeeper@fork --scope user$/,
    ],
  ])('has it twice: %s', async (_, listed, words) => {
    const scene = standIns();
    scene.answer('claude', { 'plugin list --json': listed });
    expect((await look(scene, 'claude')).trouble).toEqual([expect.stringMatching(words)]);
  });

  test('has it once if it is installed for two projects', async () => {
    const scene = standIns();
    const projects = ['/a', '/b'].map((projectPath) => ofClaude(ID, { scope: 'project', projectPath }));
    scene.answer('claude', { 'plugin list --json': projects });
    expect((await look(scene, 'claude')).trouble).toEqual([]);
  });

  // rule: skills-without-hooks-are-reported
  test.each(['.claude/skills/resume', 'elsewhere/skills/resume'])(
    'has skills by hand, without hooks: %s',
    async (path) => {
      const scene = standIns();
      const { surroundings } = scene.asker;
      const variables = { ...surroundings.variables, CLAUDE_CONFIG_DIR: join(scene.folder, 'elsewhere') };
      const own = { ...scene, asker: { ...scene.asker, surroundings: { ...surroundings, variables } } };
      copySkill(join(scene.folder, path));
      copySkill(join(scene.folder, '.claude/skills/other'), 'nothing of ours');
      expect(await look(own, 'claude')).toEqual({
        hooks: 'none',
        skills: 'by hand',
        trouble: [expect.stringMatching(/without hooks: .*skills\/resume; no session is recorded/)],
      });
      scene.answer('claude', { 'plugin list --json': [ofClaude(ID)] });
      expect(await look(own, 'claude')).toMatchObject({
        skills: 'plugin',
        trouble: [expect.stringMatching(/a second time/)],
      });
    },
  );

  test('has it disabled, cannot load it, or runs no hooks at all', async () => {
    const scene = standIns();
    scene.answer('claude', { 'plugin list --json': [ofClaude(ID, { enabled: false })] });
    expect(await look(scene, 'claude')).toMatchObject({ hooks: 'off', trouble: [expect.stringMatching(/disabled/)] });
    scene.answer('claude', { 'plugin list --json': [ofClaude(ID, { errors: ['failed to load: cache-miss'] })] });
    expect(await look(scene, 'claude')).toMatchObject({ trouble: [expect.stringMatching(/cannot load .*cache-miss/)] });
    scene.answer('claude', { 'plugin list --json': [ofClaude(ID)] });
    mkdirSync(join(scene.folder, '.claude'));
    writeFileSync(join(scene.folder, '.claude/settings.json'), '{"disableAllHooks":true}');
    expect(await look(scene, 'claude')).toMatchObject({
      hooks: 'off',
      trouble: [expect.stringMatching(/disableAllHooks/)],
    });
    writeFileSync(join(scene.folder, '.claude/settings.json'), 'torn {');
    expect(await look(scene, 'claude')).toMatchObject({ hooks: 'on', trouble: [] });
  });

  test.each<[string, Record<string, boolean>, 'on' | 'off' | 'off here']>([
    ['no file says so', {}, 'on'],
    ['the user says so', { 'home/settings.json': true }, 'off'],
    ['the project says so', { '.claude/settings.json': true }, 'off here'],
    ['a person says so in the project', { '.claude/settings.local.json': true }, 'off here'],
    ['the project says otherwise', { 'home/settings.json': true, '.claude/settings.json': false }, 'on'],
    ['a person says otherwise', { '.claude/settings.json': true, '.claude/settings.local.json': false }, 'on'],
    ['the administrator says so', { '.claude/settings.json': false, 'managed/managed-settings.json': true }, 'off'],
    ['the administrator says so in a part', { 'managed/managed-settings.d/1.json': true }, 'off'],
  ])('all hooks are off if %s', (_, files, state) => {
    const { folder, asker } = standIns();
    for (const path of ['home', '.claude', 'managed/managed-settings.d'])
      mkdirSync(join(folder, path), { recursive: true });
    for (const [path, disableAllHooks] of Object.entries(files))
      writeFileSync(join(folder, path), JSON.stringify({ disableAllHooks }));
    const off = hooksSwitchedOff(join(folder, 'home'), asker.surroundings, [join(folder, 'managed')]);
    expect(off === null ? 'on' : off.isHere ? 'off here' : 'off').toBe(state);
    const deciding = Object.entries(files).findLast(([, value]) => value)?.[0] ?? '';
    if (off !== null) expect(off.found).toContain(`\`disableAllHooks\` in ${join(folder, deciding)}`);
  });

  test('only hooks of the administrator run, or the shell has the variable of a mode without hooks', () => {
    const { folder, asker } = standIns();
    const off = (variables = {}) =>
      hooksSwitchedOff(folder, { ...asker.surroundings, variables }, [join(folder, 'managed')])?.found;
    expect(off()).toBeUndefined();
    expect(off({ CLAUDE_CODE_SIMPLE: '1' })).toBe('all hooks are off here: CLAUDE_CODE_SIMPLE is set, as by `--bare`');
    expect(off({ CLAUDE_CODE_SAFE_MODE: '1' })).toMatch(/here: CLAUDE_CODE_SAFE_MODE is set, as by `--safe-mode`$/);
    mkdirSync(join(folder, 'managed'));
    writeFileSync(join(folder, 'managed/managed-settings.json'), '{"allowManagedHooksOnly":true}');
    expect(off()).toMatch(/^all hooks are off: `allowManagedHooksOnly` in /);
  });

  test.each(['--bare', '--safe-mode'])('a window of this directory that was started with %s is named', async (word) => {
    const scene = standIns();
    scene.answer('claude', { 'plugin list --json': [ofClaude(ID)] });
    const program = join(scene.folder, 'stands-in/claude');
    mkdirSync(join(program, '..'));
    copyFileSync(systemProgram('sh') ?? '', program);
    chmodSync(program, 0o755);
    const [here] = [scene.folder, testFolder()].map((cwd) => {
      const window = spawn(program, ['-c', 'read _', word], { cwd, stdio: ['pipe', 'ignore', 'ignore'] });
      afterThisTest(() => void window.kill('SIGKILL'));
      return window;
    });
    const words = new RegExp(`^process ${here?.pid} was started with \`${word}\`, so it runs no hooks → `);
    await eventually(async () => (await look(scene, 'claude')).trouble.length > 0, { what: 'the window' });
    expect(await look(scene, 'claude')).toMatchObject({ hooks: 'on', trouble: [expect.stringMatching(words)] });
  });

  test.each<[string, string, RegExp]>([
    ['fails', 'exit 4', /exit code 4: sorry: no →/],
    ['prints something else', 'Welcome!', /something else than is expected/],
    ['prints another shape', '{"plugins":1}', /something else than is expected/],
  ])('%s: that is said, and nothing is assumed', async (_, answer, words) => {
    const scene = standIns();
    scene.answer('claude', { 'plugin list --json': answer });
    expect(await look(scene, 'claude')).toEqual({
      hooks: 'unknown',
      skills: 'unknown',
      trouble: [expect.stringMatching(words)],
    });
    scene.answer('codex', { 'plugin list --json': answer });
    expect(await AGENTS.codex.look(scene.asker)).toMatchObject({ plugins: null, marketplaces: [], server: 'unknown' });
  });

  test('cannot be started: that is said', async () => {
    const scene = standIns();
    rmSync(join(scene.folder, 'bin/claude'));
    const { trouble } = await look(scene, 'claude');
    expect(trouble).toEqual([expect.stringMatching(/could not be started \(ENOENT\)/), expect.any(String)]);
  });
});

describe('Codex', () => {
  test('runs no hooks here if the feature is switched off', async () => {
    const scene = standIns();
    scene.answer('codex', ofCodex(['trusted']));
    const list = (state: boolean) =>
      `apply_patch  stable  true\nhooks    stable    ${state}\nplugin_hooks   removed  false`;
    scene.answer('codex', { 'features list': list(true) });
    expect(await look(scene, 'codex')).toMatchObject({ hooks: 'on', trouble: [] });
    scene.answer('codex', { 'features list': list(false) });
    expect(await look(scene, 'codex')).toMatchObject({
      hooks: 'off',
      trouble: [expect.stringMatching(/^all hooks are off here: its feature `hooks` .*\.codex\/config\.toml$/)],
    });
    expect(await AGENTS.codex.look(scene.asker)).toMatchObject({ off_here: true });
  });

  // rule: untrusted-hooks-are-reported
  test.each<[string, readonly string[], object, string, RegExp | null]>([
    ['trusted', ['trusted', 'trusted'], {}, 'on', null],
    ['managed', ['managed'], {}, 'on', null],
    ['new', ['trusted', 'untrusted'], {}, 'untrusted', /new or changed .*\/hooks/],
    ['changed', ['modified'], {}, 'untrusted', /new or changed .*\/hooks/],
    ['switched off', ['trusted'], { enabled: false }, 'off', /switched off/],
    ['none', [], {}, 'unknown', /did not say/],
  ])('has hooks that are %s', async (_, trust, more, hooks, words) => {
    const scene = standIns();
    scene.answer('codex', ofCodex(trust, more));
    const trouble = words === null ? [] : [expect.stringMatching(words)];
    expect(await look(scene, 'codex')).toEqual({ hooks, skills: 'plugin', trouble });
  });

  test.each(['.codex/skills/resume', '.agents/skills/resume'])('has skills by hand: %s', async (path) => {
    const scene = standIns();
    copySkill(join(scene.folder, path));
    expect(await look(scene, 'codex')).toMatchObject({ hooks: 'none', skills: 'by hand' });
  });

  test('has a copy that is older than the plugin of the installation', async () => {
    const scene = standIns();
    const [original, copy] = ['original', '.codex/plugins/cache/watchkeeper/watchkeeper/1'].map((path) => {
      const folder = join(scene.folder, path);
      mkdirSync(join(folder, 'hooks'), { recursive: true });
      for (const name of ['README.md', 'hooks/run']) writeFileSync(join(folder, name), name);
      return folder;
    });
    const answers = ofCodex(['trusted']);
    const { installed } = answers['plugin list --json'] as { installed: object[] };
    const more = { marketplaceName: 'watchkeeper', version: '1', source: { path: original } };
    scene.answer('codex', { ...answers, 'plugin list --json': { installed: [{ ...installed[0], ...more }] } });
    expect(await look(scene, 'codex')).toMatchObject({ trouble: [] });
    const older = [
      expect.stringMatching(/copy of the plugin is older than .*original → run `watchkeeper plugin install`/),
    ];
    writeFileSync(join(copy ?? '', 'hooks/run'), 'old');
    expect(await look(scene, 'codex')).toMatchObject({ hooks: 'on', trouble: older });
    rmSync(join(copy ?? '', 'hooks/run'));
    expect(await look(scene, 'codex')).toMatchObject({ trouble: older });
    rmSync(copy ?? '', { recursive: true });
    expect(await look(scene, 'codex')).toMatchObject({ trouble: [] });
  });

  test('has it disabled', async () => {
    const scene = standIns();
    const installed = [{ pluginId: ID, name: 'watchkeeper', enabled: false }];
    scene.answer('codex', { 'plugin list --json': { installed } });
    expect(await look(scene, 'codex')).toMatchObject({ hooks: 'off', trouble: [expect.stringMatching(/disabled/)] });
  });
});
