/**
 * How many times longer than on a quiet machine a test may wait for something before it is called missing. It stretches
 * limits only, never what is measured, so a test that passes is no slower.
 * @returns the factor in `WATCHKEEPER_TEST_PATIENCE`, which tests have always (globalSetup.mjs); 1 without it
 */
export function patience(): number {
  const factor = Number(process.env.WATCHKEEPER_TEST_PATIENCE ?? 1);
  return factor >= 1 ? factor : 1;
}
