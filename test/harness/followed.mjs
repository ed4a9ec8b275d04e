// Ends what jest leaves behind in its worker: for each file it makes an AsyncLocalStorage, in which it notes the test that a
// promise belongs to, and it never disables one. From then on each new promise of the worker is entered in each of them, so
// that the hundredth file pays for a hundred.
import { AsyncLocalStorage } from 'node:async_hooks';

const used = new Set();
const { run } = AsyncLocalStorage.prototype;

AsyncLocalStorage.prototype.run = function notedRun(...call) {
  used.add(this);
  return run.apply(this, call);
};

/** For the end of a test file: nobody asks its storages any more. */
export function forgetStorages() {
  for (const storage of used) storage.disable();
  used.clear();
}
