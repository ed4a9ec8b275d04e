/** The rows that take seconds; `npm run prove -- rows` proves all of them. */
import { afterEach, beforeEach, test } from '@jest/globals';
import { crashRows } from './crash.js';
import { nameRows } from './names.js';
import { contextRows } from './pluginContext.js';
import { RowScene } from './scene.js';

let scene: RowScene;

beforeEach(() => {
  scene = new RowScene();
});
afterEach(() => scene.remove());

const checks = [...nameRows, ...crashRows, ...contextRows];

test.each(checks.map((check) => [check.check, check] as const))('%s', async (_, check) => check.prove(scene), 60_000);
