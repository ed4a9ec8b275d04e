/** What a test opened is closed when the verdict on the test is known; environment.mjs runs what stands here. */
type Cleanup = (passed: boolean) => Promise<void> | void;

const SCOPES = Symbol.for('watchkeeper.test.scopes');

/** What a proof outside of jest opens is closed when its part is over, whether it held or not. */
export async function withScope<Result>(work: () => Promise<Result>): Promise<Result> {
  const holder = globalThis as { [SCOPES]?: { current: Cleanup[] } };
  const [before, own] = [holder[SCOPES], { current: [] as Cleanup[] }];
  holder[SCOPES] = own;
  let passed = false;
  try {
    const result = await work();
    passed = true;
    return result;
  } finally {
    for (const cleanup of own.current.reverse()) await cleanup(passed);
    if (before === undefined) delete holder[SCOPES];
    else holder[SCOPES] = before;
  }
}

/**
 * @param cleanup runs after the test and its `afterEach` hooks (after the file, where it is called outside of a test),
 *   the last registered first; told whether the test passed, so that a failure can leave its evidence
 */
export function afterThisTest(cleanup: Cleanup): void {
  const scopes = (globalThis as { [SCOPES]?: { current: Cleanup[] } })[SCOPES];
  if (scopes === undefined) throw new Error('afterThisTest works under jest with test/harness/environment.mjs only');
  scopes.current.push(cleanup);
}

/** As {@link afterThisTest}, after all tests of the file, wherever it is called. In a proof, after its part. */
export function afterThisFile(cleanup: Cleanup): void {
  const scopes = (globalThis as { [SCOPES]?: { current: Cleanup[]; file?: Cleanup[] } })[SCOPES];
  if (scopes === undefined) throw new Error('afterThisFile works under jest with test/harness/environment.mjs only');
  (scopes.file ?? scopes.current).push(cleanup);
}
