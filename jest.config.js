export default {
  testEnvironment: '<rootDir>/test/harness/environment.mjs',
  globalSetup: '<rootDir>/test/harness/globalSetup.mjs',
  globalTeardown: '<rootDir>/test/harness/globalTeardown.mjs',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^zod$': '<rootDir>/test/harness/shared/zod.cjs',
    '^zod/mini$': '<rootDir>/test/harness/shared/zodMini.cjs',
    '^zod/v4/core$': '<rootDir>/test/harness/shared/zodCore.cjs',
    '^bullmq$': '<rootDir>/test/harness/shared/bullmq.cjs',
    '^ioredis$': '<rootDir>/test/harness/shared/ioredis.cjs',
  },
  transform: {
    '^.+\\.ts$': [
      '<rootDir>/test/harness/transform.mjs',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: true },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.builds/'],
  watchPathIgnorePatterns: ['<rootDir>/logs/', '<rootDir>/.builds/'],
  reporters: ['default', '<rootDir>/test/harness/tally.mjs'],
  testTimeout: 30_000,
  // More than the two cores of CI: half of the files mostly wait for programs.
  maxWorkers: 5,
  testSequencer: '<rootDir>/test/harness/sequencer.mjs',
};
