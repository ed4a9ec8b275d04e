/** The whole product on the JavaScript server, where no Redis is installed: the part that runs on any machine. */

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkPrivacy } from '../../bridge/doctor/privacyChecks.js';
import { testFolder } from '../harness/folder.js';
import { Conversation, stepOf } from './conversation.js';
import { openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/assembly/bridge.ts
// covers: bridge/assembly/chat.ts
// covers: bridge/assembly/foundation.ts
// covers: bridge/assembly/intakes.ts
// covers: bridge/assembly/watchdog.ts
// covers: bridge/assembly/work.ts

// rule: a-logs-folder-is-private
test(
  'on a machine without Redis: a message is answered, a crash is reported and revived, `sessions` finds the store',
  async () => {
    const scene = await openTestScene({
      redis: 'bridge',
      searchPath: pathWithNodeOnly(),
      projects: {
        dinghy: {
          chats: [
            { id: 1, directory: 'one' },
            { id: 2, directory: 'two' },
          ],
          scenarios: [
            { when: { message: '^crash', attempt: 1 }, steps: [{ do: 'exit', code: 1 }] },
            {
              steps: [
                { do: 'call', tool: 'read', input: { path: 'a' }, output: 'b' },
                { do: 'answer', text: 'ashore' },
              ],
            },
          ],
        },
      },
    });
    const bridge = await scene.startBridge();
    await bridge.says('KEEPS NOTHING');
    await bridge.says('the bridge owns a js-redis-server"');
    const healthy = new Conversation(scene, 'dinghy', 1, 'hello');
    const crashing = new Conversation(scene, 'dinghy', 2, 'crash once');
    await healthy.answered('ashore');
    await crashing.answered('ashore');
    expect((await crashing.closing()).event).toBe('session_recovered');
    expect(crashing.events().map(stepOf)).toEqual(['detected', 'reported', 'revived', 'closed']);
    expect(healthy.events()).toEqual([]);
    const listed = await scene.run(['sessions', '--json']);
    const { sessions } = JSON.parse(listed.stdout) as { sessions: { session_id: string; status: string }[] };
    expect(Object.fromEntries(sessions.map(({ session_id, status }) => [session_id, status]))).toEqual({
      [healthy.session]: 'completed',
      [crashing.session]: 'failed',
      [crashing.revival]: 'completed',
    });
    // Journals, events, issues and logs hold what people and agents said.
    expect(await checkPrivacy(scene.logs)).toMatchObject({ verdict: 'ok' });
    expect(await bridge.stop()).toMatchObject({ code: 0 });
    expect((await scene.run(['sessions'])).exit).toMatchObject({ code: 3 });
  },
  SCENE_TIMEOUT_MS,
);

function pathWithNodeOnly(): string {
  const folder = join(testFolder(), 'bin');
  mkdirSync(folder);
  symlinkSync(process.execPath, join(folder, 'node'));
  return folder;
}
