/** The provider of the agents' model goes away and comes back, seen from outside. */
import { expect, test } from '@jest/globals';
import type { Timings } from '../../src/config/settings.js';
import { MINUTE, SECOND } from '../../src/time.js';
import { afterThisTest } from '../harness/scope.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH, stepOf } from './conversation.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene } from './testScene.js';

const TIMEOUT_MS = 240_000;
const ALL_WITHIN_MS = 120_000;
const SILENCE_MS = 4 * SECOND;

/** Words and no calls, so that no call in flight excuses whoever stops here. */
const THINKS: Scenario = {
  when: { attempt: 1 },
  steps: [
    {
      do: 'repeat',
      times: 100,
      steps: [
        { do: 'say', text: 'thought {{index}}' },
        { do: 'sleep', ms: 250 },
      ],
    },
    { do: 'answer', text: 'thought to the end' },
  ],
};
/** Its first successful call comes a while after its start, so that two at once would show. */
const WORKS: Scenario = {
  when: { attempt: 2 },
  steps: [
    { do: 'call', tool: 'read', input: { path: 'notes' }, output: 'enough', takes_ms: 700 },
    { do: 'answer', text: 'done at last' },
  ],
};

function openFleet(chats: number, timings: Partial<Timings> = {}): Promise<BridgeScene> {
  return openTestScene({
    timings,
    projects: {
      hull: {
        chats: Array.from({ length: chats }, (_, index) => ({ id: index + 1, directory: `deck-${index + 1}` })),
        scenarios: [WORKS, THINKS],
        thresholds: { silence_ms: SILENCE_MS },
      },
    },
    concurrency: chats,
  });
}

async function askAll(scene: BridgeScene, count: number): Promise<Conversation[]> {
  const asked = Array.from({ length: count }, (_, index) => new Conversation(scene, 'hull', index + 1, 'think'));
  for (const conversation of asked) await conversation.start();
  return asked;
}

/** What an agent's process looks like whose model does not answer. */
async function loseProvider(affected: readonly Conversation[]): Promise<void> {
  const pids = await Promise.all(affected.map(async (conversation) => (await conversation.start()).pid));
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // It was ended meanwhile.
      }
    }
  };
  signalAll('SIGSTOP');
  afterThisTest(() => signalAll('SIGCONT'));
}

function outageEvents(scene: BridgeScene) {
  return scene.evidence.criticalEvents().filter(({ event }) => event === 'provider_outage');
}

function firstSuccess(scene: BridgeScene, { revival }: Conversation): number {
  const result = scene.evidence.journal(revival).find(({ event }) => event === 'post_tool_use');
  return Date.parse(String(result?.timestamp));
}

async function allDone(scene: BridgeScene, affected: readonly Conversation[]): Promise<void> {
  for (const conversation of affected) await conversation.answered('done at last', ALL_WITHIN_MS);
  for (const conversation of affected) await conversation.closing();
  await scene.until('the end of the outage', () => outageEvents(scene).some(({ final }) => final), ALL_WITHIN_MS);
  expect(scene.github.issues()).toMatchObject([{ title: '[Watchdog] hull: provider_outage' }]);
  const [issue] = scene.github.issues();
  for (const conversation of affected) {
    expect(conversation.starts()).toHaveLength(1);
    expect(conversation.starts(conversation.revival)).toHaveLength(1);
    expect(conversation.repliesWith(FAILURE_PARAGRAPH)).toEqual([]);
    expect((await conversation.closing()).github_issue).toBe(issue?.url);
  }
}

describeScenes('five of eight agents whose provider is unavailable', () => {
  // rule: an-outage-is-probed
  test(
    'make one issue; one message is tried, the others follow one at a time, and all are answered',
    async () => {
      const scene = await openFleet(8);
      await scene.startBridge();
      const asked = await askAll(scene, 8);
      const affected = asked.slice(0, 5);
      await loseProvider(affected);
      await allDone(scene, affected);
      expect(outageEvents(scene).map(stepOf)).toEqual(['detected', 'reported', 'closed']);
      expect(outageEvents(scene).at(-1)).toMatchObject({ details: { outcome: 'recovered' }, rule: 'provider_outage' });

      const starts = affected.map((conversation) => ({
        startedAt: conversation.starts(conversation.revival)[0]?.at ?? 0,
        succeededAt: firstSuccess(scene, conversation),
      }));
      starts.sort((left, right) => left.startedAt - right.startedAt);
      for (const [index, { startedAt }] of starts.entries()) {
        const before = starts[index - 1];
        if (before !== undefined) expect(startedAt).toBeGreaterThanOrEqual(before.succeededAt);
      }
      const told = scene.evidence.transcript().filter(({ text }) => text.includes('seems to be down'));
      expect(told.map(({ chat }) => chat).sort()).toEqual([1, 2, 3, 4, 5]);
      for (const conversation of asked.slice(5)) {
        expect(conversation.events()).toEqual([]);
        await conversation.answered('thought to the end', ALL_WITHIN_MS);
      }
    },
    TIMEOUT_MS,
  );
});

describeScenes('a bridge that is killed while its agents wait for their provider', () => {
  // rule: an-outage-survives-its-watchdog
  test(
    'is followed by one that continues at the same point: nothing is lost, and nothing runs twice',
    async () => {
      // Without its link no message is tried, so none is at work when the bridge dies.
      const scene = await openFleet(5, { reportWaitMs: 2 * MINUTE });
      const away = scene.github.inject({ kind: 'reset', times: Number.POSITIVE_INFINITY });
      const bridge = await scene.startBridge();
      const affected = await askAll(scene, 5);
      await loseProvider(affected);
      const isHeld = async () => {
        const open = await scene.store.records.openIncidents();
        return open.filter(({ hold }) => hold?.is_told === true).length >= 4;
      };
      await scene.until('messages that wait', isHeld, ALL_WITHIN_MS);
      process.kill(bridge.pid, 'SIGKILL');
      away.remove();
      await scene.startBridge();
      await allDone(scene, affected);
    },
    TIMEOUT_MS,
  );
});
