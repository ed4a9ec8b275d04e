// covers: bridge/assembly/terminals.ts bridge/intake/commands/status.ts monitoring/terminals/noticeEvent.ts
/** A bridge beside a person's terminal: it notices that the agent there is stuck, tells the chat only that, and touches nothing. */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startConversation } from '../../memory/programs/conversationStart.js';
import { Memory } from '../../memory/sessions/memory.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { createRedactor } from '../../src/log/redact.js';
import { isoTime, systemClock } from '../../src/time.js';
import { afterThisTest } from '../harness/scope.js';
import { Conversation } from './conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const SILENCE_MS = 3_000;
const WORDS = 'make me a secret submarine';

describeScenes('an agent in a terminal', () => {
  test(
    'is noticed once beside a bridge: one event, one line in /status without a word of it, no issue, no signal',
    async () => {
      const scene = await openTestScene({
        projects: { ship: { chats: [{ id: 1 }], thresholds: { silence_ms: SILENCE_MS } } },
      });
      const directory = join(scene.folder, 'work', 'ship');
      const home = join(scene.folder, 'memory', 'watchkeeper');
      const agent = spawn('script', ['-qfec', 'echo $$; exec sleep 1000', '/dev/null']);
      afterThisTest(() => void agent.kill('SIGKILL'));
      let screen = '';
      agent.stdout.on('data', (text) => {
        screen += String(text);
      });
      await scene.until('its process', () => screen.endsWith('\n'));
      mkdirSync(directory, { recursive: true });
      const transcript = join(scene.folder, 'transcript.jsonl');
      const common = { parentUuid: null, isSidechain: false, sessionId: 'c1' };
      const record = (uuid: string, type: string, content: unknown, more: object = {}) =>
        `${JSON.stringify({ ...common, type, uuid, timestamp: isoTime(systemClock.now()), message: { role: type, content, ...more } })}\n`;
      const turn = (id: string, stop_reason: string) => {
        // Its time is that of this line: an answer that is older than its question leaves the turn open.
        const asked = record(`asks ${id}`, 'user', WORDS);
        return `${asked}${record(`says ${id}`, 'assistant', [{ type: 'text', text: WORDS }], { id, stop_reason })}`;
      };
      // It rests until the bridge is seen to know of it, however long that takes to start.
      writeFileSync(transcript, turn('m1', 'end_turn'));
      const process = readProcessIdentity(hostname());
      const memory = new Memory({
        surroundings: { directory, process, variables: { WATCHKEEPER_HOME: home } },
        folder: null,
        clock: systemClock,
        redact: createRedactor([]),
      });
      const agentProcess = readProcessIdentity(hostname(), Number(screen.trim()));
      const { session } = startConversation(memory, {
        ...{ provider: 'claude', conversation: 'c1', source: 'startup', transcript, launchedIn: null },
        agent: agentProcess,
      });
      session.log.close();

      const bridge = await scene.startBridge();
      const before = new Conversation(scene, 'ship', 1, '/status');
      await scene.until('the agent in /status', () =>
        before.replies().find(({ text }) => text.endsWith('An agent in a terminal uses this directory.')),
      );
      appendFileSync(transcript, turn('m2', 'tool_use'));
      const notices = () => scene.evidence.criticalEvents().filter(({ action_taken }) => action_taken === 'noticed');
      await scene.until('the event', () => notices().length > 0);
      expect(notices()).toMatchObject([
        { event: 'session_unhealthy', session_id: session.id, project_key: 'ship', rule: 'silence', final: true },
      ]);
      const after = new Conversation(scene, 'ship', 1, '/status');
      await scene.until('its trouble in /status', () =>
        after.replies().find(({ text }) => /uses this directory\. It has seemed stuck for \d+ seconds?\.$/.test(text)),
      );
      await bridge.stop();
      await scene.startBridge();
      const again = new Conversation(scene, 'ship', 1, '/status');
      await scene.until('it again', () => again.replies().find(({ text }) => text.includes('seemed stuck')));
      expect(notices()).toHaveLength(1);
      const worklog = readFileSync(join(home, 'sessions', session.id, 'worklog.jsonl'), 'utf8');
      expect(worklog.match(/"event":"notice"/g)).toHaveLength(1);
      expect(JSON.stringify([scene.telegram.botMessages(1), scene.evidence.criticalEvents()])).not.toContain(
        'submarine',
      );
      expect(scene.evidence.issueWrites()).toEqual([]);
      expect([agent.exitCode, agent.signalCode]).toEqual([null, null]);
      // It rang, once, and printed nothing.
      expect(screen.replace(/^\d+\s+/, '')).toBe('\u0007');
      // Its launcher notes its end, and the bridge is the first to read that.
      const { pid, pid_start, boot_id } = agentProcess;
      const end = { hook_event_name: 'SessionEnd', session_id: 'c1', cwd: directory, reason: 'other' };
      mkdirSync(join(home, 'spool'), { recursive: true, mode: 0o700 });
      const noted = `1 ${boot_id} ${pid}:${pid_start}\n${JSON.stringify(end)}\n`;
      writeFileSync(join(home, 'spool', `${pid}.1`), noted, { mode: 0o600 });
      await scene.until('the copy of its transcript', () =>
        existsSync(join(home, 'sessions', session.id, 'tool_use.jsonl')),
      );
    },
    SCENE_TIMEOUT_MS,
  );
});
