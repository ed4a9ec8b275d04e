/** `codex exec` seen from outside: the bridge, the real program, a Responses API on this machine. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { testFolder } from '../harness/folder.js';
import { describeWhereInstalled } from '../harness/installed.js';
import { afterThisTest } from '../harness/scope.js';
import { call, say } from '../peers/modelBlocks.js';
import { CODEX, codexEnvironment, codexOptions } from '../peers/openai/codexCli.js';
import { startOpenaiPeer } from '../peers/openai/openaiPeer.js';
import { Conversation } from './conversation.js';
import { filesOf, printBeside, workShown } from './shownWork.js';
import { SCENE_MARK } from './sweeper.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

const WITHIN_MS = 45_000;
const CHAT = 71;

const shell = (cmd: string) => call('exec_command', { cmd });
const patch = (text: string) => shell(`apply_patch <<'EOF'\n*** Begin Patch\n${text}\n*** End Patch\nEOF`);
const plan = (first: string, second: string) =>
  call('update_plan', {
    plan: [
      { step: 'Move the file', status: first },
      { step: 'Write the tests', status: second },
    ],
  });
/** Two calls a message. */
const DEEDS = [
  [plan('in_progress', 'pending'), patch('*** Add File: new.txt\n+one')],
  [patch('*** Update File: kept.txt\n@@\n-kept\n+changed'), patch('*** Delete File: gone.txt')],
  [patch('*** Update File: old.txt\n*** Move to: moved.txt\n@@\n-old\n+moved'), plan('completed', 'in_progress')],
  [shell('exit 3'), call('exec_command', { command: 1 })],
];

function transcriptBelow(home: string, id: string): string {
  const found = readdirSync(home, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith(`-${id}.jsonl`));
  return join(home, found ?? 'no transcript');
}

describeWhereInstalled('the real codex', CODEX, () => {
  describeScenes('in a chat', () => {
    test(
      'its plan, files, errors and every token that the server counted are what `work show` has',
      async () => {
        const peer = await startOpenaiPeer(({ results }) => DEEDS[results / 2] ?? [say('All of it is done.')]);
        afterThisTest(() => peer.stop());
        const environment = codexEnvironment(testFolder());
        const names = Object.keys(environment).filter((name) => name !== 'HOME');
        const { command, ...options } = codexOptions(peer.url) as { command: string[] };
        const planning = [...command.slice(0, 2), '-c', 'tools.update_plan.enabled=true', ...command.slice(2)];
        const agent = { kind: 'command', ...options, command: planning };
        const scene = await openTestScene({
          projects: { deeds: { chats: [{ id: CHAT }], agent } },
          environment: { ...environment, AGENT_ENV: [SCENE_MARK, ...names].join(' ') },
        });
        const folder = join(scene.folder, 'work', 'deeds');
        mkdirSync(folder, { recursive: true });
        for (const name of ['kept', 'old', 'gone']) writeFileSync(join(folder, `${name}.txt`), `${name}\n`);
        await scene.startBridge();
        const asked = new Conversation(scene, 'deeds', CHAT, 'do every deed');
        await asked.answered('All of it is done.', WITHIN_MS);

        const work = await workShown(scene, asked.session);
        printBeside('Codex', work, { 'tokens by agent': [[peer.requests.length, peer.requests.length]] });
        // The stream says of a step whether it is done, of a moved file its old name, and nothing of a call that was not made.
        expect(work.steps).toMatchObject([
          { title: 'Move the file', status: 'completed' },
          { title: 'Write the tests', status: 'pending' },
        ]);
        const files = { 'new.txt': 'created', 'kept.txt': 'modified', 'gone.txt': 'deleted' };
        expect(filesOf(work)).toEqual({ ...files, 'old.txt': 'modified' });
        expect(work.errors.map(({ tool, outcome }) => [tool, outcome])).toEqual([['command_execution', 'failed']]);
        expect(work.tokens.total).toMatchObject({ input: peer.requests.length, output: peer.requests.length });

        // Its transcript has all of it.
        const transcript = transcriptBelow(environment.CODEX_HOME ?? '', work.conversations.at(-1)?.id ?? '?');
        const { stdout } = await scene.run(['track', 'resume', transcript, '--json']);
        expect(JSON.parse(stdout)).toMatchObject({
          tasks: [{ status: 'completed' }, { title: 'Write the tests', status: 'in_progress' }],
          files: { [join(folder, 'moved.txt')]: { change: 'renamed', from: join(folder, 'old.txt') } },
          errors: [
            { tool: 'exec_command', outcome: 'failed', message: 'Process exited with code 3' },
            { tool: 'exec_command', outcome: 'failed', message: expect.stringContaining('missing field') },
          ],
          tokens: { main: { input: peer.requests.length, output: peer.requests.length } },
        });
      },
      SCENE_TIMEOUT_MS + WITHIN_MS,
    );
  });
});
