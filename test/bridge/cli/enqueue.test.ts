/** `enqueue --text -`: what another program prints is a message. */
import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { compiledProgram } from '../../../src/host/program.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../../e2e/testScene.js';
import { testFolder } from '../../harness/folder.js';

// covers: bridge/cli/enqueue.ts

const TEXT = 'Prüfe das:\n\n- eins\n- 漢字 🚢\n\tund "mehr"; $HOME \\n\n';

function enqueue(folder: string, input: string | Uint8Array, environment: Readonly<Record<string, string>> = {}) {
  const args = [compiledProgram('bridge/cli/main'), 'enqueue', '--project', 'local', '--json', '--text', '-'];
  const env = { PATH: process.env.PATH, ...environment };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, input, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

describeScenes('enqueue from standard input', () => {
  test(
    'reads all of it unchanged, even text that fills many chunks',
    async () => {
      const { redis, store } = await openTestScene({ projects: {} });
      // Three bytes a letter, so that some are torn between two chunks.
      for (const text of [TEXT, '漢'.repeat(100_000), 'x'.repeat(100_000)]) {
        const said = enqueue(testFolder(), text, { REDIS_URL: redis.url });
        expect(said).toMatchObject({ code: 0, err: '' });
        const session = await store.records.session(JSON.parse(said.out).session_id);
        expect(session?.request.message_text).toBe(text);
      }
      expect(enqueue(testFolder(), 'x'.repeat(100_001), { REDIS_URL: redis.url })).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringMatching(/100001 characters; 100000 is the limit/),
      });
      expect(await store.records.sessionIds('pending')).toHaveLength(3);
    },
    SCENE_TIMEOUT_MS,
  );
});

test.each([
  ['nothing', '', /standard input is empty, so nothing was started/],
  ['white space alone', ' \n\t\n', /standard input is empty, so nothing was started/],
  ['no UTF-8', Buffer.from([0x68, 0xff, 0xfe, 0x69]), /standard input is not UTF-8 text/],
  ['UTF-16', Buffer.from('say hello', 'utf16le'), /standard input is not UTF-8 text/],
  ['far too much', Buffer.alloc(2_000_000, 'x'), /standard input has more than 100000 characters/],
])('an input with %s is refused in one line, before Redis is used', (_, input, words) => {
  const said = enqueue(testFolder(), input);
  expect(said).toMatchObject({ code: 2, out: '' });
  expect(said.err).toMatch(words);
  expect(said.err).toMatch(/^watchkeeper: .+\n$/);
});
