// covers: bridge/mcp/outdated.ts memory/logs/newerLog.ts bridge/mcp/callTool.ts
/** A record of a newer version: the program is updated, or the server is started again, if the installation is newer than it. */
import { appendFileSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { callTool } from '../../../bridge/mcp/callTool.js';
import { isOutdated, RESTART } from '../../../bridge/mcp/outdated.js';
import { createSession } from '../../../memory/verbs/createSession.js';
import { redactShapes } from '../../../src/log/redact.js';
import { testFolder } from '../../harness/folder.js';
import { scratch } from '../../memory/verbs/asked.js';

describe('the installation is newer than the server', () => {
  let [home, root] = ['', ''];

  beforeEach(() => {
    const folder = testFolder();
    [home, root] = [join(folder, 'home'), join(folder, 'package')];
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, 'installation'), `${root}\n${process.execPath}\n`, { mode: 0o600 });
  });

  /** @param seconds of its time @returns the folder of the build */
  function build(name: string, version: string, seconds = 1_000): string {
    const folder = join(root, name);
    mkdirSync(join(folder, 'bridge/mcp'), { recursive: true });
    const list = join(folder, 'bridge/mcp/tools.json');
    writeFileSync(list, JSON.stringify({ version, tools: [] }));
    utimesSync(list, seconds, seconds);
    return folder;
  }

  const outdated = (version: string, folder: string) => isOutdated({ version, folder }, { WATCHKEEPER_HOME: home });

  test('if a package was replaced by one of a higher version', () => {
    const dist = build('dist', '1.10.0');
    expect(['1.9.3', '0.11.0', '1.10.0', '1.10.1', '2.0.0'].map((own) => outdated(own, dist))).toEqual([
      ...[true, true, false, false, false],
    ]);
  });

  test('if a checkout was built again, also if the own build was removed', () => {
    const [older, newer] = [build('.builds/1', '1.0.0', 1_000), build('.builds/2', '1.0.0', 2_000)];
    symlinkSync('2', join(root, '.builds/current'));
    expect(outdated('1.0.0', newer)).toBe(false);
    expect(outdated('1.0.0', older)).toBe(true);
    rmSync(older, { recursive: true });
    expect(outdated('1.0.0', older)).toBe(true);
    rmSync(join(root, '.builds/current'));
    symlinkSync('1', join(root, '.builds/current'));
    build('.builds/1', '1.0.0', 1_000);
    expect(outdated('1.0.0', newer)).toBe(false);
  });

  test('not if there is none, or it is none', () => {
    expect(outdated('0.0.1', '/nowhere')).toBe(false);
    writeFileSync(join(home, 'installation'), '');
    expect(outdated('0.0.1', '/nowhere')).toBe(false);
    rmSync(home, { recursive: true });
    expect(outdated('0.0.1', '/nowhere')).toBe(false);
    expect(isOutdated({ version: '0.0.1', folder: '/nowhere' }, { WATCHKEEPER_HOME: 'relative' })).toBe(false);
  });
});

test.each([
  ['an update', false, 'update this one'],
  ['a restart', true, RESTART],
])('a tool asks for %s', async (_, isOlder, words) => {
  const scene = scratch();
  const { session_id } = await scene.asked(createSession, { task: 'T', phases: [{ id: 1, name: 'a' }] });
  const log = scene.memory().which(session_id).log.path;
  appendFileSync(log, '{"v":99,"id":"01ZZ","timestamp":"2030-01-01T00:00:00Z","event":"step"}\n');
  const { surroundings } = scene.memory();
  const call = (name: string, args: object) =>
    callTool(name, args, {
      ...{
        surroundings,
        folder: null,
        redact: redactShapes,
        startDetached: () => undefined,
        isOutdated: () => isOlder,
      },
    });
  expect(await call('transition_phase', { next_phase_id: 1 })).toMatchObject({
    isError: true,
    value: { code: 'usage', message: expect.stringContaining(words) },
  });
  const status = await call('get_session_status', {});
  expect(status).toMatchObject({ isError: false, value: { session_id, damage: [expect.stringContaining(words)] } });
  // A fact decides nothing.
  expect(await call('add_note', { text: 'a' })).toMatchObject({ isError: false });
});
