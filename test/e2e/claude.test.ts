/** The agent `claude` seen from outside: Telegram, the bridge, the real SDK and its program, a Messages API on this machine. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { findInstallation } from '../../bridge/agents/claude/installation.js';
import { testFolder } from '../harness/folder.js';
import { afterThisTest } from '../harness/scope.js';
import { AnthropicPeer, type Model } from '../peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../peers/anthropic/environment.js';
import { type MessagesRequest, toolResults, userTexts } from '../peers/anthropic/messages.js';
import type { Reply } from '../peers/anthropic/replies.js';
import { type Block, call, say } from '../peers/modelBlocks.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import { findRun } from './processScan.js';
import { filesOf, inOrder, printBeside, tokensOf, workShown } from './shownWork.js';
import { SCENE_MARK } from './sweeper.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/agents/claude/claudeMain.ts

/** Claude Code needs a second or two for its first word, on a busy machine more. */
const SILENCE_MS = 6_000;
const WORK_MS = 2_500;
const WITHIN_MS = 45_000;
/** A look goes through all processes or to Redis, and a silence lasts long. */
const LOOK_EVERY_MS = 100;
const TIMEOUT_MS = SCENE_TIMEOUT_MS + 30_000;

const sleepFor = (ms: number) => call('Bash', { command: `node -e "setTimeout(() => {}, ${ms})"` });
const DEAF_TOOL = call('Bash', {
  command: `node -e "process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6)" >/dev/null 2>&1 &`,
});

const delegate = (prompt: string) => call('Agent', { description: 'look', prompt, subagent_type: 'general-purpose' });
const edit = (file: string, old_string: string, new_string: string) =>
  call('Edit', { file_path: `./${file}`, old_string, new_string });
/** Every deed that the memory of a session knows, message by message. */
const DEEDS: Readonly<Record<string, readonly (readonly Block[])[]>> = {
  'every deed': [
    [
      call('TaskCreate', { subject: 'Move the file', description: 'x' }),
      call('TaskCreate', { subject: 'Write the tests', description: 'x' }),
    ],
    [call('TaskUpdate', { taskId: '1', status: 'in_progress' })],
    [call('Read', { file_path: './kept.txt' })],
    [edit('kept.txt', 'kept', 'changed'), call('Write', { file_path: './new.txt', content: 'new' })],
    [call('Bash', { command: 'mv old.txt moved.txt && rm gone.txt' })],
    [
      call('TaskUpdate', { taskId: '1', status: 'completed' }),
      call('TaskUpdate', { taskId: '2', status: 'in_progress' }),
    ],
    [call('Bash', { command: 'exit 3' })],
    [call('Read', { path: 1 })],
    [call('WebFetch', { url: 'http://example.invalid/', prompt: 'read' })],
    [delegate('the inner DEED')],
    [say('All of it is done.')],
  ],
  'the inner DEED': [
    [call('Read', { file_path: './kept.txt' })],
    [delegate('the innermost DEED')],
    [say('Inner done.')],
  ],
  'the innermost DEED': [[call('Write', { file_path: './deep.txt', content: 'deep' })], [say('Innermost done.')]],
};

/** What the model does for a prompt that holds the word; `done` counts the results in its conversation. */
const SCRIPT: Readonly<Record<string, (done: number, request: MessagesRequest) => Reply>> = {
  'hang please': (done) => (done === 0 ? [DEAF_TOOL] : { kind: 'hang', after: [say('Let me think')] }),
  'fail again': (done) => (done < 6 ? [call('Bash', { command: `exit ${done + 1}` })] : { kind: 'hang' }),
  'wrong key': () => ({ kind: 'unauthorized' }),
  'too much': () => ({ kind: 'rate_limited', retryAfterS: 7_200 }),
  'ask another': (done, request) => {
    const isOther = userTexts(request).some((text) => text.includes('SUBTASK'));
    if (isOther) return done < 4 ? [sleepFor(WORK_MS)] : [say('looked')];
    const other = { description: 'look', prompt: 'SUBTASK', subagent_type: 'general-purpose' };
    return done === 0 ? [call('Agent', other)] : [say('The other one has looked.')];
  },
  'forbidden thing': (done) => {
    if (done === 0) return [call('WebFetch', { url: 'http://example.invalid/', prompt: 'read' })];
    return done === 1 ? [sleepFor(WORK_MS)] : [say('I could not fetch it.')];
  },
};

const model: Model = (request) => {
  const texts = userTexts(request).join('\n');
  const deeds = Object.keys(DEEDS).find((candidate) => texts.includes(candidate));
  if (deeds !== undefined) {
    const turns = request.messages.filter(({ role }) => role === 'assistant').length;
    return DEEDS[deeds]?.[turns] ?? [say('?')];
  }
  const done = toolResults(request).length;
  if (texts.includes('This is the second and last attempt')) {
    const last = request.messages.findLast(({ role }) => role === 'user');
    const isNew = JSON.stringify(last).includes('tool_result');
    return isNew ? [say('done at last')] : [call('Bash', { command: 'echo another way' })];
  }
  if (texts.includes('SUBTASK')) return SCRIPT['ask another']?.(done, request) ?? [];
  const words = Object.keys(SCRIPT).find((candidate) => texts.includes(candidate)) ?? '';
  return SCRIPT[words]?.(done, request) ?? [say('?')];
};

/** What the server counted for the deeds, each agent by its own prompt: the innermost prompt is the last one that a request has. */
function countedBy(requests: AnthropicPeer['requests']): { input: number; output: number }[] {
  const prompts = Object.keys(DEEDS).reverse();
  const counted = new Map<string, { input: number; output: number }>();
  for (const { request, tokens } of requests) {
    const texts = userTexts(request).join('\n');
    const prompt = prompts.find((candidate) => texts.includes(candidate));
    if (prompt === undefined) continue;
    const before = counted.get(prompt) ?? { input: 0, output: 0 };
    counted.set(prompt, { input: before.input + tokens.input, output: before.output + tokens.output });
  }
  return [...counted.values()];
}

if (findInstallation().kind !== 'complete') {
  describe.skip('claude in a chat (skipped: its SDK is not installed; `npm run add-claude` adds it)', () => {
    test('works', () => {});
  });
} else describeScenes('claude in a chat', tests);

function tests(): void {
  let scene: BridgeScene;
  const chats = {
    silent: 52,
    cascade: 53,
    refused: 54,
    parent: 56,
    denied: 57,
    limited: 58,
    deeds: 59,
  } as const;
  let peer: AnthropicPeer;
  const ask = (chat: keyof typeof chats, text: string) => new Conversation(scene, chat, chats[chat], text);
  const runOf = async (session: string) =>
    scene.until(
      `the run of ${session}`,
      async () => (await scene.store.records.session(session))?.run,
      WITHIN_MS,
      LOOK_EVERY_MS,
    );

  beforeAll(async () => {
    peer = new AnthropicPeer(model);
    await peer.listen();
    afterThisTest(() => peer.stop());
    const environment = claudeEnvironment(peer, testFolder());
    const names = Object.keys(environment).filter((name) => name !== 'HOME');
    const project = (chat: number, further: object = {}) => ({
      chats: [{ id: chat }],
      agent: { kind: 'claude', allowedTools: ['Bash', 'Agent'] },
      ...further,
    });
    const thresholds = { silence_ms: SILENCE_MS };
    scene = await openTestScene({
      projects: {
        silent: project(chats.silent, { thresholds }),
        cascade: project(chats.cascade),
        refused: project(chats.refused),
        // A call in flight excuses nobody for long here: what keeps the parent is the sub-agent at work alone.
        parent: project(chats.parent, { thresholds: { ...thresholds, tool_wait_ms: 500 } }),
        denied: project(chats.denied),
        limited: project(chats.limited),
        deeds: project(chats.deeds),
      },
      environment: { ...environment, AGENT_ENV: [SCENE_MARK, ...names].join(' ') },
      concurrency: 2,
    });
    await scene.startBridge();
  }, SCENE_TIMEOUT_MS);

  test(
    'a silent model is found, its run ended with its tool, and the message answered in the same conversation',
    async () => {
      const asked = ask('silent', 'hang please');
      const first = await runOf(asked.session);
      await scene.until(
        'the tool, in a process session of its own',
        () => {
          const found = findRun(first.run_id);
          return found.some(({ command, session }) => command.includes('SIGTERM') && session !== first.pid);
        },
        WITHIN_MS,
        LOOK_EVERY_MS,
      );
      await runOf(asked.revival);
      expect(findRun(first.run_id)).toEqual([]);
      await asked.answered('done at last', WITHIN_MS);
      expect(await asked.closing()).toMatchObject({ rule: 'silence', event: 'session_recovered' });
      const [before, after] = await Promise.all(
        [asked.session, asked.revival].map((session) => scene.store.records.session(session)),
      );
      expect(after?.conversation_id).toBe(before?.conversation_id);
      expect(scene.evidence.journal(asked.revival)[1]).toMatchObject({ event: 'session_start', source: 'resume' });
    },
    TIMEOUT_MS,
  );

  test(
    'six failing batches are an error cascade',
    async () => {
      const asked = ask('cascade', 'fail again');
      await asked.answered('done at last', WITHIN_MS);
      expect(await asked.closing()).toMatchObject({ rule: 'error_cascade', reason: expect.stringMatching(/_of_6$/) });
    },
    TIMEOUT_MS,
  );

  // Every other cause that is not revived is recognised in test/bridge/agents/claude.test.ts.
  test(
    'a refused key is reported, and not revived',
    async () => {
      const asked = ask('refused', 'wrong key');
      await asked.answered(FAILURE_PARAGRAPH, WITHIN_MS);
      const reason = 'run_failed_authentication';
      expect(await asked.closing()).toMatchObject({ event: 'session_unrecoverable', rule: 'crash', reason });
      expect(await scene.store.records.session(asked.revival)).toBeNull();
    },
    TIMEOUT_MS,
  );

  test(
    'too many requests are waited for, and no attempt is spent',
    async () => {
      const asked = ask('limited', 'too much');
      const isSaid = () => asked.repliesWith("The model's provider is busy or cannot be reached.").length > 0;
      await scene.until('the word of the wait', isSaid, WITHIN_MS);
      const session = await scene.store.records.session(asked.session);
      expect(session).toMatchObject({ status: 'pending', attempt: 1, wait: { for: 'provider', times: 1 } });
      expect(asked.events()).toEqual([]);
      await scene.store.transitions.cancel(asked.session, 'Cancelled');
    },
    TIMEOUT_MS,
  );

  test(
    'a working sub-agent keeps its parent from being silent',
    async () => {
      const asked = ask('parent', 'ask another');
      await asked.answered('The other one has looked.', WITHIN_MS);
      const times = scene.evidence
        .journal(asked.session)
        .filter((line) => line.agent_id === undefined)
        .map(({ timestamp }) => Date.parse(timestamp));
      const longest = Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
      expect(longest).toBeGreaterThan(SILENCE_MS);
      expect(asked.events()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'a call that no rule allows is denied, and the chat shows it: at once, and below the answer',
    async () => {
      const asked = ask('denied', 'forbidden thing');
      const answer = await asked.answered('I could not fetch it.', WITHIN_MS);
      expect(answer.text).toContain('WebFetch: http://example.invalid/');
      const edits = scene.telegram.transcript.filter(({ chat, what }) => chat === chats.denied && what === 'edit');
      expect(edits.some(({ text }) => text.includes('Denied: WebFetch'))).toBe(true);
      const results = scene.evidence.journal(asked.session).filter((line) => line.event === 'post_tool_use');
      expect(results[0]).toMatchObject({ tool_name: 'WebFetch', outcome: 'rejected' });
    },
    TIMEOUT_MS,
  );

  test(
    'a message becomes calls and an answer; tasks, files, errors, sub-agents of sub-agents, and every token that the server counted are what `work show` has',
    async () => {
      const folder = join(scene.folder, 'work', 'deeds');
      mkdirSync(folder, { recursive: true });
      for (const name of ['kept', 'old', 'gone']) writeFileSync(join(folder, `${name}.txt`), `${name}\n`);
      // Only within a repository does a shell command say which files it changed.
      execFileSync('git', ['init', '-q'], { cwd: folder });
      const asked = ask('deeds', 'do every deed');
      await asked.answered('All of it is done.', WITHIN_MS);
      expect(['new.txt', 'moved.txt'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual([
        'new',
        'old\n',
      ]);
      const results = scene.evidence.journal(asked.session).filter((line) => line.event === 'post_tool_use');
      for (const tool_name of ['Bash', 'Write'])
        expect(results).toContainEqual(expect.objectContaining({ tool_name, outcome: 'ok' }));
      const work = await workShown(scene, asked.session);
      const server = { 'tokens by agent': inOrder(countedBy(peer.requests)) };
      printBeside('Claude Code', work, server);
      expect(work.purpose).toBe('do every deed');
      expect(work.steps).toMatchObject([
        { title: 'Move the file', status: 'completed' },
        { title: 'Write the tests', status: 'in_progress' },
      ]);
      expect(filesOf(work)).toEqual({
        'kept.txt': 'modified',
        'new.txt': 'created',
        'moved.txt': 'from old.txt',
        'gone.txt': 'deleted',
        'deep.txt': 'created',
      });
      expect(work.errors.map(({ tool, outcome }) => [tool, outcome])).toEqual([
        ['Bash', 'failed'],
        ['Read', 'failed'],
        ['WebFetch', 'rejected'],
      ]);
      expect(work.agents.map(({ depth }) => depth)).toEqual([1, 2]);
      expect(tokensOf(work)).toEqual(server['tokens by agent']);
      expect(tokensOf(work)).toHaveLength(3);
      const sum = (which: 'input' | 'output') => countedBy(peer.requests).reduce((all, agent) => all + agent[which], 0);
      expect(work.tokens.total).toMatchObject({ input: sum('input'), output: sum('output') });
      expect(asked.events()).toEqual([]);
    },
    TIMEOUT_MS,
  );
}
