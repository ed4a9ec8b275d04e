/** The bridge in a terminal, as a person sees it: a real one, and a pipe behind it. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compiledProgram } from '../../src/host/program.js';
import { testFolder } from '../harness/folder.js';
import { afterThisTest } from '../harness/scope.js';
import { eventually } from './eventually.js';
import { Program } from './program.js';
import { describeScenes, SCENE_TIMEOUT_MS } from './testScene.js';

const MAIN = compiledProgram('bridge/cli/main');
const MESSAGES = ['one', 'two', 'three', 'four', 'five'];
const testInTerminal = spawnSync('script', ['--version']).status === 0 ? test : test.skip;

// covers: bridge/doctor/operatorNotices.ts
describeScenes('a bridge without a bot', () => {
  testInTerminal(
    'prompts when one can type, and shows each message below the answer of the one before',
    async () => {
      const folder = testFolder();
      const terminal = openTerminal(folder);
      await terminal.until('Ready: type a message for local.');
      for (const message of MESSAGES) terminal.type(message);
      await terminal.until('You wrote: five');
      // What is typed is echoed somewhere between.
      const told = terminal.lines().filter((line) => /answer after|working …/.test(line));
      expect(told.map((line) => line.replace(/^\[.*\] | after .*/g, ''))).toEqual(
        MESSAGES.flatMap(() => ['working …', 'answer']),
      );
      const log = readFileSync(join(folder, 'log'), 'utf8');
      expect(log).toMatch(/until then this terminal is the chat[\s\S]*the bridge is up: .*the terminal is the chat/);
    },
    SCENE_TIMEOUT_MS,
  );

  testInTerminal(
    'prints its log as JSON in a terminal, too, with --json',
    async () => {
      const terminal = openTerminal(testFolder(), 'bridge --json');
      await terminal.until('the bridge is up');
      const line = terminal.lines().find((each) => each.includes('the bridge is up')) ?? '';
      expect(JSON.parse(line)).toMatchObject({ level: 'info', msg: expect.stringContaining('the bridge is up') });
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'whose output is a pipe prints the chat there, in the same order, without a prompt for input',
    async () => {
      const folder = testFolder();
      const environment = environmentOf(folder);
      const bridge = new Program(process.execPath, [MAIN, 'bridge'], { workingDirectory: folder, environment });
      afterThisTest(() => bridge.stop().then(() => undefined));
      await bridge.says('the bridge is up');
      expect(bridge.stderr).not.toContain('is the chat');
      expect(bridge.stderr).toContain('nobody can type here');
      expect(bridge.stderr).toContain('messages come from `watchkeeper enqueue` only');
      const ids: string[] = [];
      for (const text of MESSAGES) {
        const args = [MAIN, 'enqueue', '--project', 'local', '--text', text, '--json'];
        const { stdout } = spawnSync(process.execPath, args, { cwd: folder, env: environment, encoding: 'utf8' });
        ids.push(JSON.parse(stdout).session_id);
      }
      await eventually(() => bridge.stdout.includes('You wrote: five'), { what: 'the last answer' });
      const told = bridge.stdout.split('\n').filter((line) => /^(?!\[.*calls?$)./.test(line) && !line.startsWith('('));
      expect(told.map((line) => line.replace(/ after .*/, ''))).toEqual(
        ids.flatMap((id, index) => [`[${id}] working …`, `[${id}] answer`, `You wrote: ${MESSAGES[index]}`]),
      );
    },
    SCENE_TIMEOUT_MS,
  );
});

function environmentOf(folder: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: homedir(), WATCHKEEPER_LOGS: join(folder, 'logs') };
}

/** @param words of the command line; as they are, the log goes to a file */
function openTerminal(folder: string, words = 'bridge 2>log') {
  const command = `exec '${process.execPath}' '${MAIN}' ${words}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder, env: environmentOf(folder) });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  afterThisTest(async () => {
    child.stdin.write('\u0003');
    await ended;
  });
  return {
    type: (line: string) => void child.stdin.write(`${line}\r`),
    until: (words: string, times = 1) =>
      eventually(() => printed.split(words).length > times, {
        what: `${words} in the terminal`,
        withinMs: 30_000,
        instead: () => printed,
      }),
    lines: () => printed.split('\r\n'),
  };
}
