// covers: memory/verbs/stateFiles.ts bridge/cli/state/state.ts
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { command } from '../../../../bridge/cli/state/state.js';
import { initializeWorkspace } from '../../../../memory/verbs/initializeWorkspace.js';
import { start } from '../../../../memory/verbs/lifecycle.js';
import { packageRoot } from '../../../../src/host/program.js';
import { type Scratch, scratch } from '../../../memory/verbs/asked.js';
import { runCommand } from '../inProcess.js';

let scene: Scratch;
const at = (path: string) => join(scene.directory, 'm', path);
const state = (args: readonly string[], piped?: string) =>
  runCommand(command, args, {
    surroundings: scene.memory().surroundings,
    ...(piped !== undefined && { piped }),
  });
const failed = (args: readonly string[], piped?: string) =>
  state(args, piped).then(
    ({ out }) => out,
    (error: Error & { code: string }) => [error.code, error.message],
  );

beforeEach(async () => {
  scene = scratch();
  await scene.asked(initializeWorkspace, { workspace_path: scene.directory, state_dir: 'm' });
});

describe('state', () => {
  test('writes what is piped in and reads it, byte for byte, also below new folders', async () => {
    const text = '# Plan\n\n\t- ünï 🙂\n';
    await state(['write', 'plans/deep/er/a.md'], text);
    expect(readFileSync(at('plans/deep/er/a.md'), 'utf8')).toBe(text);
    expect((await state(['read', './plans/deep/er/a.md'])).out).toBe(text);
    expect(JSON.parse((await state(['read', 'plans/deep/er/a.md', '--json'])).out)).toMatchObject({ text });
  });

  test('read without a file prints the active session', async () => {
    await expect(state(['read'])).rejects.toThrow(/no session holds/);
    await scene.asked(start, { purpose: 'Ship it' });
    expect((await state(['read'])).out).toMatch(/^---\nsession_id: /);
  });

  test.each(['../x', '/etc/passwd', 'plans/../../x', 'out/x', 'out', 'plans/a\nb', ''])('refuses %j', async (path) => {
    mkdirSync(`${scene.directory}-out`);
    writeFileSync(`${scene.directory}-out/x`, 'secret');
    symlinkSync(`${scene.directory}-out`, at('out'));
    for (const [word, piped] of [
      ['read', undefined],
      ['write', 'text'],
    ] as const)
      expect((await failed([word, path], piped))[0]).toMatch(/^(?:outside|usage)$/);
    expect(readdirSync(`${scene.directory}-out`)).toEqual(['x']);
    expect(readFileSync(`${scene.directory}-out/x`, 'utf8')).toBe('secret');
  });

  test.each(['state/active-session.md', './state//Active-Session.md'])(
    'refuses to write %s, and says what to call instead',
    async (path) => {
      const [code, message] = await failed(['write', path], 'mine');
      expect([code, message]).toEqual(['generated', expect.stringContaining('transition_phase')]);
      expect(readdirSync(at('state'))).toEqual(['archive']);
    },
  );

  test('keeps the old content if the new one cannot be read to its end', async () => {
    await state(['write', 'plans/a.md'], 'old\n');
    expect((await failed(['write', 'plans/a.md'], 'x'.repeat(4 * 1024 * 1024)))[1]).toContain('more than');
    expect((await failed(['write', 'plans/a.md'], ''))[1]).toContain('empty');
    expect(readFileSync(at('plans/a.md'), 'utf8')).toBe('old\n');
    expect(readdirSync(at('plans')).sort()).toEqual(['a.md', 'archive']);
  });

  test('says what is missing: a file, or the state_dir', async () => {
    expect(await failed(['read', 'plans/none.md'])).toEqual(['usage', expect.stringContaining('it is not there')]);
    expect(await failed(['read', 'plans'])).toEqual(['usage', expect.stringContaining('a directory')]);
    await scene.asked(initializeWorkspace, { workspace_path: scene.directory, state_dir: null });
    expect(await failed(['read', 'plans/a.md'])).toEqual(['usage', expect.stringContaining('has no state_dir')]);
  });
});

describe('the scripts of the plugin', () => {
  const script = (plugin: string, name: string, args: readonly string[], input = '') =>
    spawnSync(process.execPath, [join(plugin, 'scripts', name), ...args], {
      cwd: scene.directory,
      encoding: 'utf8',
      input,
      env: { PATH: process.env.PATH, WATCHKEEPER_HOME: scene.home },
    });

  test.each([
    ['in the package', false],
    ['in a copy that knows no package', true],
  ])('call `watchkeeper state` of the installation, %s', async (_, isCopied) => {
    writeFileSync(join(scene.home, 'installation'), `${packageRoot()}\n${process.execPath}\n`, { mode: 0o600 });
    let plugin = join(packageRoot(), 'plugin');
    if (isCopied) {
      cpSync(plugin, join(scene.home, '..', 'copy'), { recursive: true });
      plugin = join(scene.home, '..', 'copied plugin');
      renameSync(join(scene.home, '..', 'copy'), plugin);
    }
    expect(script(plugin, 'write-state.js', ['plans/a.md'], 'the plan\n').status).toBe(0);
    expect(script(plugin, 'read-state.js', ['plans/a.md'])).toMatchObject({ status: 0, stdout: 'the plan\n' });
    await scene.asked(start, { purpose: 'Ship it' });
    expect(script(plugin, 'read-active-session.js', []).stdout).toContain('Ship it');
    expect(existsSync(at('plans/a.md'))).toBe(true);
    expect(script(plugin, 'read-state.js', ['../x']).status).toBe(1);
  });
});
