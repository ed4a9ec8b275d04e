// Removes the folder of the run, ends the Redis that globalSetup.mjs started, and waits until it is gone.
import { once } from 'node:events';
import { rmSync } from 'node:fs';

export default async function globalTeardown() {
  rmSync(process.env.WATCHKEEPER_TEST_RUN_FOLDER, { recursive: true, force: true });
  const started = globalThis[Symbol.for('watchkeeper.test.redis')];
  if (started === undefined) return;
  const { keeper, folder } = started;
  if (keeper.exitCode === null && keeper.signalCode === null) {
    keeper.ref();
    const gone = once(keeper, 'exit');
    keeper.stdin.end();
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}
