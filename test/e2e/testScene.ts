/** Scenes for tests: closed with the test or the file that opened them; the folder stays where something failed. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import { watchkeeperMeanwhile } from '../bridge/cli/manyCalls.js';
import type { Said } from '../bridge/cli/program.js';
import { afterThisTest } from '../harness/scope.js';
import { type BridgeScene, openScene, type SceneOptions } from './bridgeScene.js';
import { findRedisServer } from './redisServer.js';

/** The product in whole takes its time, and the machine may be busy. */
export const SCENE_TIMEOUT_MS = 60_000;

/** `describe` for scenes that read a real Redis; skipped, with the reason, where there is none. */
export function describeScenes(name: string, tests: () => void): void {
  if (findRedisServer() !== null) describe(name, tests);
  else describe.skip(`${name} (skipped: neither redis-server nor valkey-server is on PATH)`, tests);
}

/** @param options the Redis is the scene's own unless told otherwise */
export async function openTestScene(
  options: Omit<SceneOptions, 'folder' | 'redis'> & Partial<Pick<SceneOptions, 'redis'>>,
): Promise<BridgeScene> {
  const folder = mkdtempSync(join(tmpdir(), 'wk-e2e-'));
  const scene = await openScene({ redis: 'scene', ...options, folder });
  afterThisTest(async (passed) => {
    await scene.stop();
    if (passed) rmSync(folder, { recursive: true, force: true });
    else process.stderr.write(`evidence of the failed scene: ${folder}\n`);
  });
  return scene;
}

/** Runs a command to its end as `scene.run` does, but all of them in one process: for tests that ask a bridge many times. @throws if it does not end */
export async function sayIn(
  scene: BridgeScene,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const said = await watchkeeperMeanwhile(scene.folder, args, scene.variables(environment));
  if (said.code === null) throw new Error(`\`watchkeeper ${args.join(' ')}\` does not end`);
  return said;
}
