import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { StallJudge } from '../../../bridge/health/stallGuard.js';
import { compiledProgram } from '../../../src/host/program.js';
import { Conversation } from '../../e2e/conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../../e2e/testScene.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';

// covers: bridge/health/stallGuard.ts
// covers: bridge/health/stallGuardMain.ts

const LIMIT_MS = 600;

describe('a blocked event loop', () => {
  const TICK_MS = 100;

  test.each<[string, readonly (readonly [beats: number, tookMs: number])[], number]>([
    [
      'counts by what the ticks took',
      [
        [1, 100],
        [1, 100],
        [1, 130],
      ],
      230,
    ],
    [
      'is forgiven with the first beat',
      [
        [1, 100],
        [1, 100],
        [2, 100],
        [2, 100],
      ],
      100,
    ],
    [
      'does not count while the whole process stood',
      [
        [1, 100],
        [1, 90_000],
        [1, 100],
      ],
      100,
    ],
    [
      'goes on counting after that',
      [
        [1, 100],
        [1, 100],
        [1, 90_000],
        [1, 100],
      ],
      200,
    ],
  ])('%s', (_, looks, stood) => {
    const judge = new StallJudge(TICK_MS, 0);
    expect(looks.map(([beats, tookMs]) => judge.look(beats, tookMs)).at(-1)).toBe(stood);
  });
});

describe('a process whose event loop', () => {
  // rule: a-standstill-is-ended
  test('that is blocked is ended, and its last line names the code position', async () => {
    const { child, logFile, stderr } = await startGuarded();
    child.stdin?.write('block\n');
    const [code, signal] = await once(child, 'exit');
    expect([code, signal]).toEqual([null, 'SIGKILL']);
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
    const words = lines.map((line) => JSON.parse(line));
    expect(words[0]).toMatchObject({
      level: 'fatal',
      pid: child.pid,
      msg: expect.stringContaining('the event loop has been blocked for 600 ms'),
    });
    expect(words[1].msg).toMatch(/the event loop was at standStillForEver file:.*blockedMain\.js:\d+/);
    expect(stderr.join('')).toContain('the event loop has been blocked');
  });

  test('that was only stopped with its process continues', async () => {
    const { child, next } = await startGuarded();
    child.kill('SIGSTOP');
    // Real time is the very thing: three limits of it pass while nothing of the process runs.
    await pause(3 * LIMIT_MS);
    child.kill('SIGCONT');
    // Two limits more, so that a guard that held the pause against it would have spoken.
    child.stdin?.write('beats 8\n');
    expect(await next()).toBe('beaten');
    child.stdin?.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

describeScenes('a bridge', () => {
  test(
    'that hangs ends itself, and the next one takes over its work',
    async () => {
      const scene = await openTestScene({ projects: { boat: { chats: [{ id: 1 }] } }, timings: { stallMs: 1_000 } });
      const hangs = join(scene.folder, 'hangs.cjs');
      writeFileSync(hangs, "process.on('SIGUSR2', function hangs() { for (;;); });");
      const bridge = await scene.startBridge({ NODE_OPTIONS: `--require ${hangs}` });
      bridge.signal('SIGUSR2');
      expect(await bridge.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
      const log = readFileSync(join(scene.logs, 'bridge.log'), 'utf8');
      expect(log).toContain('the event loop has been blocked for 1 s');
      expect(log).toMatch(/the event loop was at hangs file:.*hangs\.cjs:1/);
      await scene.startBridge();
      await new Conversation(scene, 'boat', 1, 'hello').answered('You wrote: hello');
    },
    SCENE_TIMEOUT_MS,
  );
});

async function startGuarded() {
  const logFile = join(testFolder(), 'bridge.log');
  const child: ChildProcess = spawn(process.execPath, [
    compiledProgram('test/bridge/health/blockedMain'),
    logFile,
    String(LIMIT_MS),
  ]);
  afterThisTest(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
  const stderr: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => void stderr.push(text));
  if (child.stdout === null) throw new Error('no standard output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  expect(await next()).toBe('up');
  return { child, logFile, stderr, next };
}
