import { describe, expect, test } from '@jest/globals';
import { findUnreached } from './reached.js';
import { readSources } from './sourceFiles.js';

const LONG = 'export const a = 1;\n'.repeat(61);

test('every product file of more than 60 lines is reached by a test of its room, or named by another one', () => {
  expect(findUnreached(readSources(['src', 'memory', 'monitoring', 'bridge']), readSources(['test']))).toEqual([]);
});

describe('a file of 61 lines', () => {
  const unreached = (tests: Record<string, string>) =>
    findUnreached(
      new Map([
        ['bridge/chat/long.ts', LONG],
        ['bridge/chat/door.ts', "import './long.js';\n"],
      ]),
      new Map(Object.entries(tests)),
    );

  test.each<[string, Record<string, string>]>([
    ['a test of its room imports it', { 'test/bridge/chat/a.test.ts': "import '../../../bridge/chat/long.js';" }],
    ['through another file', { 'test/bridge/chat/a.test.ts': "import '../../../bridge/chat/door.js';" }],
    ['a test of its ring does', { 'test/bridge/all.test.ts': "import '../../bridge/chat/long.js';" }],
    ['another test names it', { 'test/e2e/a.test.ts': '  // covers: bridge/chat/long.ts\n' }],
  ])('is reached if %s', (_, tests) => expect(unreached(tests)).toEqual([]));

  test.each<[string, Record<string, string>]>([
    ['no test imports it', {}],
    ['a test of another room does', { 'test/bridge/runs/a.test.ts': "import '../../../bridge/chat/long.js';" }],
    ['only a file without tests does', { 'test/bridge/chat/scene.ts': "import '../../../bridge/chat/long.js';" }],
  ])('is not reached if %s', (_, tests) =>
    expect(unreached(tests)).toEqual([expect.stringMatching(/^bridge\/chat\/long\.ts: /)]),
  );

  test('must exist under the name that a test gives', () => {
    expect(unreached({ 'test/e2e/a.test.ts': '// covers: bridge/chat/long.ts bridge/chat/gone.ts\n' })).toEqual([
      'test/e2e/a.test.ts: covers bridge/chat/gone.ts, which is no file of the product',
    ]);
  });
});
