import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { AgentName } from '../../../bridge/plugin/agent.js';
import { lookAtInstallation, writeInstallation } from '../../../bridge/plugin/installation.js';
import { AGENTS, agentsHere, statusOf } from '../../../bridge/plugin/status.js';
import { Places } from '../../../memory/home/places.js';
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
    expect(lookAtInstallation(places, '')).toEqual({
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
      const { trouble } = lookAtInstallation(new Places(installed.home), process.env.PATH ?? '');
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
    const remedies = () => lookAtInstallation(new Places(home), '').trouble.map(({ remedy }) => remedy);
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

  test('needs a node: the one that is named, or one on PATH', () => {
    const { home, root, file } = installedHook();
    writeFileSync(file, `${root}\n/nowhere/node\n`);
    const places = new Places(home);
    expect(lookAtInstallation(places, '/nowhere').trouble).toMatchObject([
      { found: expect.stringMatching(/^\/nowhere\/node is no program/) },
    ]);
    expect(lookAtInstallation(places, join(process.execPath, '..')).trouble).toEqual([]);
  });
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

  test.each<[string, string, RegExp]>([
    ['fails', 'exit 4', /exit code 4: sorry: no →/],
    ['prints something else', 'Welcome!', /something else than is expected/],
    ['prints another shape', '{"plugins":1}', /something else than is expected/],
  ])('%s: that is said, and nothing is assumed', async (_, answer, words) => {
    const scene = standIns();
    scene.answer('claude', { 'plugin list --json': answer });
    expect(await look(scene, 'claude')).toEqual({
      hooks: 'none',
      skills: 'none',
      trouble: [expect.stringMatching(words)],
    });
  });

  test('cannot be started: that is said', async () => {
    const scene = standIns();
    rmSync(join(scene.folder, 'bin/claude'));
    const { trouble } = await look(scene, 'claude');
    expect(trouble).toEqual([expect.stringMatching(/could not be started \(ENOENT\)/), expect.any(String)]);
  });
});

describe('Codex', () => {
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
