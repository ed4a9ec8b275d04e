/** A provider that is busy or unreachable for a while: the message waits longer and longer, and no attempt is spent. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const CHAT = 1;
const FIRST_PAUSE_MS = 400;
const BUSY_RUNS = 3;

/** Notes when each run began; the first ones fail with the words that it is given. */
function busyAgent(failure: object) {
  const script = `cat >/dev/null
date +%s%3N >> runs
if [ "$(wc -l < runs)" -le ${BUSY_RUNS} ]; then printf '%s\\n' '${JSON.stringify({ event: 'failure', ...failure })}'
else echo '{"event":"answer","text":"all good"}'; fi`;
  return { kind: 'command', output: 'json_lines', command: ['sh', '-c', script] };
}

async function ask(failure: object): Promise<{ scene: BridgeScene; asked: Conversation }> {
  const projects = { ship: { chats: [{ id: CHAT }], agent: busyAgent(failure) } };
  const scene = await openTestScene({ projects, timings: { providerPauseMs: FIRST_PAUSE_MS } });
  await scene.startBridge();
  return { scene, asked: new Conversation(scene, 'ship', CHAT, 'work') };
}

function pausesIn(scene: BridgeScene): number[] {
  const begun = readFileSync(join(scene.folder, 'work', 'ship', 'runs'), 'utf8')
    .trim()
    .split('\n')
    .map(Number);
  return begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
}

describeScenes('a provider that is busy for a while', () => {
  // rule: a-busy-provider-is-waited-for
  test.each([
    ['of the protocol', { cause: 'provider_unavailable', detail: 'later' }],
    ['of Claude Code', { cause: 'crash', detail: 'API Error: 529 overloaded_error: Overloaded' }],
    ['of Codex', { cause: 'crash', detail: 'stream disconnected before completion: error sending request' }],
  ])(
    'in the words %s is waited for, longer each time; the chat reads it, and no attempt is spent',
    async (_, failure) => {
      const { scene, asked } = await ask(failure);
      await scene.until('the word of the wait', () =>
        asked.replies().some(({ text }) => /provider is busy .* try again at \d\d:\d\d:\d\d UTC/.test(text)),
      );
      await asked.answered('all good');
      const pauses = pausesIn(scene);
      expect(pauses).toHaveLength(BUSY_RUNS);
      for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(FIRST_PAUSE_MS * 2 ** index);
      expect(asked.events()).toEqual([]);
      const session = await scene.store.records.session(asked.session);
      expect(session).toMatchObject({ status: 'completed', attempt: 1, interruptions: 0, wait: { times: BUSY_RUNS } });
    },
    SCENE_TIMEOUT_MS,
  );
});
