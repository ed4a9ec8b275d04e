/** Two builds side by side: this one, and one that writes the next version of every log. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compiledProgram, packageRoot } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';

const MAIN = compiledProgram('bridge/cli/main');
const LIMIT_MS = 120_000;

/** @returns the command line of a build whose lines have the next version */
function newerBuild(folder: string): string {
  const bridge = join(folder, 'dist/bridge');
  cpSync(dirname(dirname(MAIN)), bridge, { recursive: true });
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(packageRoot(), name), join(folder, name));
  const program = join(bridge, 'cli/quickProgram.cjs');
  const [before, ...after] = readFileSync(program, 'utf8').split('LOG_VERSION=1,');
  expect(after).toHaveLength(1);
  writeFileSync(program, `${before}LOG_VERSION=2,${after[0]}`);
  // It was compiled from the older one, which is as long.
  rmSync(`${program}.cache`);
  return join(bridge, 'cli/main.js');
}

test(
  'beside a newer program nothing is lost: its sessions are shown, decisions on them are refused, facts are appended',
  () => {
    const folder = testFolder();
    const [home, directory, other] = ['home', 'work', 'other'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const place of [directory, other]) mkdirSync(join(place, '.git'), { recursive: true });
    const newer = newerBuild(join(folder, 'newer'));
    const run = (main: string, cwd: string, words: string, variables = {}) => {
      const env = { PATH: process.env.PATH ?? '', WATCHKEEPER_HOME: home, ...variables };
      const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words.split(' ')], {
        cwd,
        env,
        encoding: 'utf8',
      });
      return { status, stdout, stderr };
    };
    const inConversation = { CLAUDE_CODE_SESSION_ID: 'c-1' };
    const { session_id: id } = JSON.parse(
      run(MAIN, directory, 'track init Old --step a --json', inConversation).stdout,
    );
    const log = () => readFileSync(join(home, 'sessions', id, 'worklog.jsonl'), 'utf8');
    expect(run(newer, directory, 'track step 1 --start').status).toBe(0);
    const mixed = log();

    for (const words of ['track step 1 --done', 'track done --complete', `work end`, `work archive ${id}`]) {
      const said = run(MAIN, directory, words);
      expect([words, said.status, said.stderr]).toEqual([words, 2, expect.stringContaining('update')]);
    }
    expect(log()).toBe(mixed);
    expect(run(MAIN, directory, 'work list').stdout).toMatch(/newer version/);
    expect(run(MAIN, directory, 'work show').status).toBe(0);

    // Facts: what somebody says, and that the conversation goes on elsewhere.
    expect(run(MAIN, directory, 'track log said').status).toBe(0);
    expect(log()).toMatch(/"v":1.*"message":"said"/);
    expect(run(MAIN, other, 'track init Other', inConversation).status).toBe(0);
    expect(log()).toMatch(/"v":1.*"event":"conversation_moved"/);
    expect(log().startsWith(mixed)).toBe(true);

    expect(run(newer, directory, 'track done --complete').status).toBe(0);
    const state = () => readFileSync(join(home, 'sessions', id, 'state.json'), 'utf8');
    const written = state();
    expect(JSON.parse(written)).toMatchObject({ v: 2, lifecycle: 'ended', log: { unreadable: 0 } });
    expect(run(MAIN, directory, `work rebuild ${id}`)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('update'),
    });
    expect(state()).toBe(written);
    const shown = JSON.parse(run(newer, directory, `work show ${id} --json`).stdout);
    expect(shown.log).toMatchObject({ lines: log().trim().split('\n').length, refused: 0, unreadable: 0 });
  },
  LIMIT_MS,
);
