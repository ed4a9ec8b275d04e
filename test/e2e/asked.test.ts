/** What an operator reads of a job that failed: what was asked, and which version of which agent was to do it. */
import { expect, test } from '@jest/globals';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const STATES_ITS_VERSION = `echo '{"event":"agent","version":"9.8.7"}'; echo '{"event":"note","text":"up"}'; sleep 0.3; exit 3`;

describeScenes('a job that fails', () => {
  test(
    'has what was asked and the agent with its version in its events, its issue and the daily review',
    async () => {
      const agent = { kind: 'command', command: ['sh', '-c', STATES_ITS_VERSION], output: 'json_lines' };
      const scene = await openTestScene({ projects: { ship: { chats: [{ id: 1 }], agent } } });
      await scene.github.setPrivate(true);
      await scene.startBridge();
      const asked = new Conversation(scene, 'ship', 1, 'paint the\nhull');
      await asked.answered(FAILURE_PARAGRAPH);
      await asked.closing(asked.revival);
      const events = [...asked.events(), ...asked.events(asked.revival)];
      expect(events.length).toBeGreaterThan(4);
      for (const event of events)
        expect(event).toMatchObject({ asked: 'paint the hull', agent: { name: 'command', version: '9.8.7' } });
      const [issue] = scene.github.issues();
      expect(issue?.body).toContain('- Agent: `command 9.8.7`');
      expect(issue?.body).toContain('`paint the hull`');
      const { stdout } = await scene.run(['daydream', '--date', new Date().toISOString().slice(0, 10), '--json']);
      expect(stdout).toContain('"asked"');
      expect(stdout).toContain('paint the hull');
      expect(stdout).toContain('command 9.8.7');
    },
    SCENE_TIMEOUT_MS,
  );
});
