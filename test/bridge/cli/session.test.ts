import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Step } from '../../../bridge/agents/scenario.js';
import { Conversation } from '../../e2e/conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS, sayIn } from '../../e2e/testScene.js';

// covers: bridge/cli/incidents.ts
// covers: bridge/cli/session.ts

/** As often as would be a loop, and once more. */
const LOOKS = 6;
/** A command takes processor time from the bridge for which it waits. */
const LOOK_EVERY_MS = 200;
const LOOK: Step = { do: 'call', tool: 'look_at_build', input: { job: 7 }, output: 'building' };

describeScenes('watchkeeper session', () => {
  test(
    'shows the verdict of the watchdog: thresholds of the bridge, facts of the store and the configuration',
    async () => {
      const scene = await openTestScene({
        projects: {
          boat: {
            chats: [{ id: 1 }],
            scenarios: [{ steps: [{ do: 'call', tool: 'bash', input: { command: 'ls' } }, { do: 'silence' }] }],
            actions: { silence: 'report', orphan: 'report' },
          },
          dock: {
            chats: [{ id: 2 }],
            scenarios: [{ steps: [{ do: 'hanging_tool', tool: 'make', timeout_ms: 3_600_000 }] }],
          },
          yard: {
            chats: [{ id: 3 }],
            scenarios: [
              {
                steps: [
                  ...Array.from({ length: LOOKS }, () => LOOK),
                  { do: 'wait_start', kind: 'user' },
                  { do: 'silence' },
                ],
              },
            ],
          },
        },
        polling: { tools: ['look_at_build'] },
        environment: { WATCHDOG_SILENCE_MS: '1200' },
      });
      const bridge = await scene.startBridge();
      const asked = new Conversation(scene, 'boat', 1, 'hello');
      const waiting = new Conversation(scene, 'dock', 2, 'make it');
      const looking = new Conversation(scene, 'yard', 3, 'look at it');
      await scene.until('the incident', () => scene.evidence.criticalEvents().length > 0);
      // In a terminal that knows nothing of the bridge's environment.
      const elsewhere = { WATCHDOG_SILENCE_MS: '600000' };
      const shown = await sayIn(scene, ['session', asked.session, '--json'], elsewhere);
      expect(shown.code).toBe(1);
      expect(JSON.parse(shown.out)).toMatchObject({
        session: { session_id: asked.session, chat_id: '1', message_text: 'hello' },
        assessment: { verdict: 'unhealthy', findings: [{ rule: 'silence' }] },
        judged_by: { source: 'bridge', thresholds: { silence_ms: 1200 }, actions: { silence: 'report' } },
      });
      const words = await sayIn(scene, ['session', asked.session], elsewhere);
      expect(words.out).toMatch(/^judged by +the bridge's thresholds: silence_ms 1200, error_batches 5, /m);
      expect(words.out).toMatch(/^silence +no activity of the agent for .+ since [\d:]+ UTC \(limit /m);
      expect(words.out).toMatch(/^clock +silent for \d.*, since [\d:]+ UTC$/m);

      const calls = () => scene.evidence.journal(waiting.session).filter(({ event }) => event === 'pre_tool_use');
      await scene.until('the call', () => calls().length === 1);
      const live = await sayIn(scene, ['session', waiting.session], elsewhere);
      expect(live.code).toBe(0);
      expect(live.out).toMatch(/^clock +excused by a wait; last activity at [\d:]+ UTC$/m);
      expect(live.out).toMatch(
        /^wait +tool, make \(.+\), since [\d:]+ UTC, until [\d:]+ UTC: excuses, it may run until [\d:]+ UTC$/m,
      );
      expect(live.out).toMatch(/^next +silence can become true at [\d:]+ UTC, in \d+ min, without new activity$/m);
      const asData = await sayIn(scene, ['session', waiting.session, '--json'], elsewhere);
      expect(JSON.parse(asData.out)).toMatchObject({
        assessment: {
          verdict: 'healthy',
          next_rule: 'silence',
          agents: [
            { agent: null, silence_ms: 0, waits: [{ kind: 'tool', owner: 'make', agent: null, excuses: true }] },
          ],
        },
      });

      const looks = () => scene.evidence.journal(looking.session).filter(({ event }) => event === 'wait_start');
      await scene.until('the looks', () => looks().length === 1);
      const polling = await sayIn(scene, ['session', looking.session, '--json'], elsewhere);
      expect(JSON.parse(polling.out)).toMatchObject({ assessment: { verdict: 'healthy', tool_count: LOOKS } });

      const unknown = await sayIn(scene, ['session', 'tg_nobody_1_1'], elsewhere);
      expect(unknown.code).toBe(2);
      expect(unknown.err).toContain('there is no session tg_nobody_1_1; `watchkeeper sessions` lists them');
      const ended = await sayIn(scene, ['cancel', looking.session], elsewhere);
      expect(ended.out).toBe(`${looking.session}: its bridge is asked to end it\n`);

      await bridge.kill();
      const orphaned = await sayIn(scene, ['session', asked.session, '--json'], elsewhere);
      expect(JSON.parse(orphaned.out)).toMatchObject({
        assessment: { verdict: 'unhealthy', findings: [{ rule: 'orphan' }, { rule: 'silence' }] },
      });
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'and incidents say that a second attempt is running, and call it no recovery when it crashes after that',
    async () => {
      const scene = await openTestScene({
        projects: {
          boat: {
            chats: [{ id: 1 }],
            scenarios: [{ steps: [{ do: 'call', tool: 'bash', input: { command: 'ls' } }, { do: 'silence' }] }],
          },
        },
      });
      await scene.startBridge();
      const asked = new Conversation(scene, 'boat', 1, 'hello');
      const killAtWork = async (session: string) => {
        const done = () => scene.evidence.journal(session).some(({ event }) => event === 'post_tool_use');
        await scene.until(`the call of ${session}`, done);
        const pid = (await scene.store.records.session(session))?.run?.pid;
        if (typeof pid !== 'number') throw new Error(`${session} has no process`);
        process.kill(pid, 'SIGKILL');
      };
      // The record follows the event, once the issue has been written.
      const recorded = (session: string) =>
        scene.until(`the closed incident of ${session}`, async () =>
          (await scene.store.records.closedIncidents(2)).some(({ session_id }) => session_id === session),
        );
      await killAtWork(asked.session);
      await scene.until('the call of the second attempt', () =>
        scene.evidence.journal(asked.revival).some(({ event }) => event === 'post_tool_use'),
      );
      const running = await sayIn(scene, ['session', asked.session]);
      expect(running.out).toMatch(/^incident .*, revived: the second attempt is running$/m);
      const open = await sayIn(scene, ['incidents']);
      expect(open.out.replace(/\s+/g, ' ')).toContain('revived: the second attempt is running');

      await killAtWork(asked.revival);
      expect(await asked.closing(asked.revival)).toMatchObject({ event: 'session_unrecoverable' });
      await recorded(asked.revival);
      await recorded(asked.session);
      const first = await sayIn(scene, ['session', asked.session]);
      expect(first.out).toMatch(/^incident .*, closed: the second attempt failed as well, \d+ m?s ago$/m);
      expect(first.out).toMatch(/^status +failed \(the agent was killed by SIGKILL\)$/m);
      expect(first.out).not.toMatch(/^(?:why|status|incident|it ended) .*[a-z]_[a-z]/m);
      const events = asked.events().map(({ event }) => event);
      expect(events).not.toContain('session_recovered');
      const { closed } = JSON.parse((await sayIn(scene, ['incidents', '--json'])).out);
      expect(closed.map(({ outcome }: { outcome: string }) => outcome).sort()).toEqual(['revival_failed', 'told']);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'says why a message waits: its folder is missing, or its provider refuses; and why an answer has not been sent',
    async () => {
      const failure = { do: 'failure', cause: 'provider_unavailable', detail: 'later' } as const;
      const scene = await openTestScene({
        projects: {
          boat: { chats: [{ id: 1 }] },
          dock: { chats: [{ id: 2 }], scenarios: [{ steps: [failure] }] },
          yard: { chats: [{ id: 3 }], scenarios: [{ steps: [{ do: 'answer', text: 'all of it' }] }] },
        },
        timings: { backlogMs: 1_000, providerPauseMs: 600_000 },
      });
      rmSync(join(scene.folder, 'work', 'boat'), { recursive: true });
      const description = 'Bad Request: not enough rights to send text messages to the chat';
      scene.telegram.inject({ kind: 'bad_request', description, chatId: 3, method: 'sendMessage', times: Infinity });
      await scene.startBridge();
      const shown = async (asked: Conversation, line: RegExp) =>
        scene.until(`${line} of ${asked.session}`, async () => {
          const { out } = await sayIn(scene, ['session', asked.session]);
          if (line.test(out.replace(/\n {14}/g, ' '))) return true;
          await pause(LOOK_EVERY_MS);
          return false;
        });
      const asked = (['boat', 'dock', 'yard'] as const).map(
        (project, index) => new Conversation(scene, project, index + 1, 'hello'),
      );
      const [boat, dock, yard] = asked as [Conversation, Conversation, Conversation];
      // Until its event is written, the incident is only opened.
      await shown(boat, /^why .*that folder is missing on [\s\S]*^incident +\w+, detected/m);
      await shown(
        dock,
        /^waits +until \S+ \S+ \S+ \(in \d+ min\): the model's provider is busy or cannot be reached, wait 1$/m,
      );
      const behind = new Conversation(scene, 'dock', 2, 'and this');
      await shown(
        behind,
        new RegExp(
          `^waits +for its turn: 1 message before it in its directory; ${dock.session} waits until \\S+ \\S+ \\S+ \\(in \\d+ min\\): the model's provider is busy or cannot be reached, wait 1$`,
          'm',
        ),
      );
      await scene.until('the doctor, who names the answer', async () => {
        const { checks } = JSON.parse((await sayIn(scene, ['doctor', '--quick', '--json'])).out);
        await pause(LOOK_EVERY_MS);
        const found = checks.find(({ name }: { name: string }) => name === 'answers')?.found;
        return String(found).match(
          `1 final message could not be sent yet, .*: ${yard.session}: 400 .*not enough rights`,
        );
      });
      await shown(
        yard,
        /^delivery +queued, after \d attempts?: 400 .*not enough rights .*; the next one at \S+ \S+ \S+$/m,
      );
    },
    SCENE_TIMEOUT_MS,
  );
});
