/** A conversation that cannot go on: the second attempt begins a new one with a record of it, and no later message is lost in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const KNOWN = {
  'an image that the API refuses': {
    detail: 'API Error: 400 messages.3.content.1.image.source.base64: image cannot be empty',
  },
  'a rollout that is gone': { detail: 'Error: thread/resume failed: no rollout found for thread id x' },
  'the words of an unknown program': { detail: 'session 1 does not exist' },
  'a conversation that became too long': { cause: 'context_overflow', detail: 'full' },
  'the cause of the protocol': { cause: 'conversation_unusable', detail: 'whatever' },
};

/** Its first messages are answered; whatever continues their conversation fails so. */
function agentWhoseConversationsDie(failure: object) {
  // A second attempt takes a moment, in which its reason is shown.
  const fresh = `cat > prompt.$$; cp prompt.$$ fresh.prompt; [ -e resumed ] && sleep 3
printf '%s\\n' '{"event":"conversation","conversation_id":"c-'$$'"}' '{"event":"answer","text":"fresh answer '$$'"}'`;
  const resumed = `cat >/dev/null; echo r >> resumed; printf '%s\\n' '${JSON.stringify({ event: 'failure', cause: 'crash', ...failure })}'`;
  return {
    kind: 'command',
    output: 'json_lines',
    command: ['sh', '-c', fresh],
    resume: ['sh', '-c', `: {conversation}; ${resumed}`],
  };
}

describeScenes('a conversation that cannot go on', () => {
  let scene: BridgeScene;

  beforeAll(async () => {
    const failures = [...Object.values(KNOWN), { detail: 'Zonk' }];
    const projects = failures.map((failure, index) => [
      `ship${index + 1}`,
      { chats: [{ id: index + 1 }], agent: agentWhoseConversationsDie(failure) },
    ]);
    scene = await openTestScene({ projects: Object.fromEntries(projects) });
    await scene.startBridge();
  }, SCENE_TIMEOUT_MS);

  /** @param chat also the number of its project */
  async function openDeadConversation(chat: number) {
    const ask = (text: string) => new Conversation(scene, `ship${chat}`, chat, text);
    const file = (name: string) => readFileSync(join(scene.folder, 'work', `ship${chat}`, name), 'utf8');
    await ask('where is the harbour').answered('fresh answer');
    return { ask, file };
  }

  // rule: a-dead-conversation-is-left
  test(
    'whose failures nobody knows costs one message: the failure says that the next one begins a new conversation',
    async () => {
      const { ask, file } = await openDeadConversation(Object.keys(KNOWN).length + 1);
      const second = ask('and who is the pilot');
      const failed = await second.answered(FAILURE_PARAGRAPH);
      expect(failed.text).toContain('your next message begins a new one, like /new');
      await ask('and now').answered('fresh answer');
      expect(file('resumed').trim().split('\n')).toHaveLength(2);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-dead-conversation-is-left
  test.each(Object.keys(KNOWN).map((words, index) => [words, index + 1] as const))(
    '(%s) is left by the second attempt, which gets a record of it',
    async (_, chat) => {
      const { ask, file } = await openDeadConversation(chat);
      const second = ask('and who is the pilot');
      await second.answered('fresh answer');
      const [first] = second.events();
      expect(first?.action_taken).toBe('detected');
      expect((await second.closing()).details?.outcome).toBe('recovered');
      const prompt = file('fresh.prompt');
      expect(prompt).toContain('and who is the pilot');
      expect(prompt).toContain('cannot be continued, so this is a new one');
      expect(prompt).toContain('"where is the harbour"');
      expect(prompt).toMatch(/Answered: "fresh answer \d+"/);
      expect(file('resumed').trim().split('\n')).toHaveLength(1);
      const edits = scene.telegram.transcript
        .filter((entry) => entry.chat === chat && entry.what === 'edit')
        .map(({ text }) => text);
      expect(edits.join('\n')).toContain('I am trying again in a new conversation, with a record of the old one');
    },
    SCENE_TIMEOUT_MS,
  );
});
