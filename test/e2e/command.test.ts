/** Real agents through `command`, seen from outside: a healthy job, and one whose model hangs. */
import { expect, test } from '@jest/globals';
import { testFolder } from '../harness/folder.js';
import { describeWhereInstalled, type Installable } from '../harness/installed.js';
import { patience } from '../harness/patience.js';
import { afterThisTest } from '../harness/scope.js';
import { GEMINI, geminiEnvironment, geminiOptions } from '../peers/gemini/geminiCli.js';
import { startGeminiPeer } from '../peers/gemini/geminiPeer.js';
import { type Asked, type Block, call, say } from '../peers/modelBlocks.js';
import { CODEX, codexEnvironment, codexOptions } from '../peers/openai/codexCli.js';
import { startOpenaiPeer } from '../peers/openai/openaiPeer.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import { findRun } from './processScan.js';
import { SCENE_MARK } from './sweeper.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const SILENCE_MS = 8_000;
const WITHIN_MS = 45_000;
/** A look goes through all processes or to Redis, and a silence lasts long. */
const LOOK_EVERY_MS = 150;
const TIMEOUT_MS = 2 * SCENE_TIMEOUT_MS;
/** In a process session of its own: Codex ends the group of a shell that has returned. */
const DEAF_TOOL = `setsid node -e "process.on('SIGTERM', () => {}); require('fs').writeFileSync('deaf', ''); setInterval(() => {}, 1e6)" >/dev/null 2>&1 & until [ -e deaf ]; do sleep 0.1; done; echo up`;

interface RealAgent {
  readonly options: Record<string, unknown>;
  readonly environment: Record<string, string>;
}

/** @param shell a call of the agent's own tool for commands */
function modelWith(shell: (command: string) => Block) {
  return ({ texts, results }: Asked): readonly Block[] | { readonly kind: 'hang' } => {
    if (texts.some((text) => text.includes('This is the second and last attempt'))) return [say('done at last')];
    const hangs = texts.some((text) => text.includes('hang please'));
    if (results === 0) return [shell(hangs ? DEAF_TOOL : 'echo hello')];
    return hangs ? { kind: 'hang' } : [say('It says hello.')];
  };
}

function describeAgent(
  kind: string,
  installable: Installable,
  prepare: () => Promise<RealAgent>,
  beforehand: (scene: BridgeScene) => Promise<void> = async () => {},
): void {
  describeWhereInstalled(`the real ${kind}`, installable, () => {
    describeScenes('in a chat', () => {
      const open = async () => {
        const { options, environment } = await prepare();
        const names = Object.keys(environment).filter((name) => name !== 'HOME');
        const scene = await openTestScene({
          projects: {
            healthy: { chats: [{ id: 61 }], agent: { kind: 'command', ...options } },
            silent: {
              chats: [{ id: 62 }],
              agent: { kind: 'command', ...options },
              // A program that starts late is not silent yet.
              thresholds: { silence_ms: SILENCE_MS * patience() },
            },
          },
          environment: { ...environment, AGENT_ENV: [SCENE_MARK, ...names].join(' ') },
          concurrency: 2,
        });
        await scene.startBridge();
        return scene;
      };

      test(
        'that hangs is found silent, ended with its tool, and answered in its conversation',
        async () => {
          const scene = await open();
          await beforehand(scene);
          const silent = new Conversation(scene, 'silent', 62, 'hang please');
          const runOf = (id: string) =>
            scene.until(
              `the run of ${id}`,
              async () => (await scene.store.records.session(id))?.run,
              WITHIN_MS,
              LOOK_EVERY_MS,
            );
          const first = await runOf(silent.session);
          const isTool = ({ command }: { command: string }) => command.startsWith('node -e');
          await scene.until('the tool', () => findRun(first.run_id).some(isTool), WITHIN_MS, LOOK_EVERY_MS);
          await runOf(silent.revival);
          expect(findRun(first.run_id)).toEqual([]);
          await silent.answered('done at last', WITHIN_MS);
          expect(await silent.closing()).toMatchObject({ rule: 'silence', event: 'session_recovered' });
          const [before, after] = await Promise.all(
            [silent.session, silent.revival].map((id) => scene.store.records.session(id)),
          );
          expect(before?.conversation_id).toMatch(/./);
          expect(after?.conversation_id).toBe(before?.conversation_id);
          expect(scene.evidence.journal(silent.revival)[1]).toMatchObject({ source: 'resume' });
        },
        TIMEOUT_MS,
      );
    });
  });
}

describeAgent(
  'codex',
  CODEX,
  async () => {
    const peer = await startOpenaiPeer(modelWith((cmd) => call('exec_command', { cmd })));
    afterThisTest(() => peer.stop());
    return { options: codexOptions(peer.url), environment: codexEnvironment(testFolder()) };
  },
  answersHealthyJob,
);

/** Gemini, which takes much longer, answers one in `sandboxedAgents.test.ts`. */
async function answersHealthyJob(scene: BridgeScene): Promise<void> {
  const healthy = new Conversation(scene, 'healthy', 61, 'say hello');
  await healthy.answered('It says hello.', WITHIN_MS);
  const results = scene.evidence.journal(healthy.session).filter((line) => line.event === 'post_tool_use');
  expect(results).toMatchObject([{ outcome: 'ok', tool_output_preview: expect.stringContaining('hello') }]);
  expect(healthy.events()).toEqual([]);
}

describeAgent('gemini', GEMINI, async () => {
  const peer = await startGeminiPeer(modelWith((command) => call('run_shell_command', { command })));
  afterThisTest(() => peer.stop());
  return { options: geminiOptions, environment: geminiEnvironment(peer.url, testFolder()) };
});
