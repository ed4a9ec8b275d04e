// covers: bridge/hook/input.ts bridge/hook/program.ts
/** An agent that leaves its hook's input open, or closes nothing. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { testFolder } from '../../harness/folder.js';
import { begin, eventsOf, failed, HOOK, HOOK_FLAGS, payload, type Scene, scene, worklogs } from './hookScene.js';

/** Its own limit is two seconds; the machine of the tests has other work. */
const LONGEST_ANSWER_MS = 6_000;

interface Input {
  readonly child: ChildProcess;
  write(words: string): void;
  close(): void;
}

/** As Node gives it to its children, which is a socket. */
function socket(place: Scene): Input {
  const child = begin(place);
  const { stdin } = child as { stdin: Writable };
  stdin.on('error', () => undefined);
  return { child, write: (words) => void stdin.write(words), close: () => stdin.destroy() };
}

/** As a shell gives it. Both ends are open here, so that the hook never sees an end. */
function pipe(place: Scene): Input {
  const path = join(testFolder(), 'input');
  execFileSync('mkfifo', [path]);
  const both = openSync(path, constants.O_RDWR);
  const input = openSync(path, constants.O_RDONLY);
  const env = { PATH: process.env.PATH, HOME: place.work, WATCHKEEPER_HOME: place.home };
  const child = spawn(process.execPath, [...HOOK_FLAGS, HOOK, 'SessionStart'], {
    ...{ cwd: place.work, env },
    stdio: [input, 'pipe', 'pipe'],
  });
  closeSync(input);
  return { child, write: (words) => void writeSync(both, words), close: () => closeSync(both) };
}

async function endOf({ child }: Input) {
  const begun = performance.now();
  const [said, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')]);
  expect(performance.now() - begun).toBeLessThan(LONGEST_ANSWER_MS);
  return { code, said };
}

describe.each([
  ['a socket', socket],
  ['a pipe', pipe],
])('an input that is %s and stays open', (_, open) => {
  test('is not waited for once the payload is whole', async () => {
    const place = scene();
    const input = open(place);
    input.write(JSON.stringify(payload(place, 'SessionStart', { source: 'startup' })));
    expect(await endOf(input)).toEqual({ code: 0, said: '' });
    input.close();
    expect(eventsOf(place)).toEqual(['session_started', 'conversation', 'run_started']);
  });

  test.each([
    ['nothing', ''],
    ['half a payload', '{"hook_event_name":"Sess'],
  ])('and brings %s is given up in time, in one line', async (__, words) => {
    const place = scene();
    const input = open(place);
    input.write(words);
    expect(await endOf(input)).toEqual({ code: 0, said: failed.said });
    input.close();
    expect(worklogs(place)).toEqual([]);
  });
});
