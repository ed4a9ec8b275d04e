/** Sessions of which nothing can be seen: what was asked there is unknown, and never nothing. */
// covers: memory/fold/unused.ts memory/observed/programFolders.ts
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { crashesHere, crashLines, crashOf } from '../../../memory/brief/crashReport.js';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { keepSession } from '../../../memory/keeping/keep.js';
import { listSessions } from '../../../memory/look/list.js';
import { lookAt } from '../../../memory/look/look.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { noteGiven } from '../../../memory/programs/delegatedContext.js';
import { endRun, waitForPermission } from '../../../memory/programs/runEnd.js';
import { startContext } from '../../../memory/programs/sessionContext.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { claude } from '../../../src/agents/claude.js';
import { codex } from '../../../src/agents/codex.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { RECORDED } from '../../src/transcripts/told.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const living = readProcessIdentity('host');
const dead: ProcessIdentity = { ...living, pid_start: '1' };

function launch(conversation: string, more: object = {}) {
  const plain = {
    provider: 'claude',
    conversation,
    source: 'startup',
    transcript: null,
    agent: living,
    launchedIn: null,
  };
  return { ...plain, ...more } as Parameters<typeof startConversation>[1];
}

const open = (scene: MemoryScene) =>
  scene.open({ CODEX_HOME: join(scene.home, 'codex'), CLAUDE_CONFIG_DIR: join(scene.directory, '.claude') });

function begin(scene: MemoryScene, conversation: string, more: object = {}) {
  return startConversation(open(scene), launch(conversation, more));
}

/** Ends its run in order. @returns what became of the session */
function ended(scene: MemoryScene, conversation: string, more: object = {}) {
  const { session } = begin(scene, conversation, more);
  endRun(open(scene), session, living, 'prompt_input_exit');
  const { lifecycle, end } = session.log.state;
  session.log.close();
  return end?.reason ?? lifecycle;
}

test('one that was killed crashed, whatever it was asked: it is listed, reported, and told to the next agent once', async () => {
  const scene = memoryScene();
  const { session } = begin(scene, 'c-1', { agent: dead, transcript: join(scene.home, 'none.jsonl') });
  const report = await crashOf(scene.open(), session);
  session.log.close();
  const [found] = await crashesHere(scene.open());
  expect(found?.id).toBe(session.id);
  expect(report === null ? [] : crashLines(report, scene.clock.now())).toContain(
    'task:           unknown: nothing of it was recorded, because its program kept no transcript, or that is gone.',
  );
  const next = launch('c-2');
  const started = startConversation(scene.open(), next);
  const { text } = await startContext(scene.open(), started, next);
  started.session.log.close();
  expect(text).toContain(`Session ${session.id}\n`);
  expect(text).toContain('Its agent crashed');
  expect(text).toContain('What was asked is unknown: nothing of it was recorded');
});

test.each<[string, object[], boolean]>([
  ['has lines from before it, and none of it', [{ timestamp: 1, sessionId: 'another', display: 'x' }], false],
  ['begins after it', [{ timestamp: Number.MAX_SAFE_INTEGER, sessionId: 'another', display: 'x' }], true],
  [
    'has a line of it',
    [
      { timestamp: 1, sessionId: 'another', display: 'x' },
      { timestamp: 2, sessionId: 'c-1', display: '/resume' },
    ],
    true,
  ],
  ['is missing', [], true],
])("a window that was killed and has no transcript: its program's history %s", async (_, lines, hasCrashed) => {
  for (const unrecorded of [undefined, true]) {
    const scene = memoryScene();
    const memory = open(scene);
    begin(scene, 'c-1', { agent: dead, transcript: join(scene.home, 'none.jsonl'), unrecorded }).session.log.close();
    if (lines.length > 0) typed(memory, ...lines);
    expect(await crashesHere(open(scene))).toHaveLength(hasCrashed || unrecorded === true ? 1 : 0);
  }
});

test('one that ended in order was asked nothing, unless its program keeps no transcript, or has packed it', () => {
  const scene = memoryScene();
  const folder = join(scene.home, 'codex');
  expect(ended(scene, 'c-1')).toBe('superseded');
  expect(ended(scene, 'c-2', { unrecorded: true })).toBe('active');
  const packed = join(folder, 'sessions/2026/11/28/rollout-2026-11-28T00-00-00-c-3.jsonl.zst');
  mkdirSync(dirname(packed), { recursive: true });
  writeFileSync(packed, 'packed');
  expect(ended(scene, 'c-3', { provider: 'codex' })).toBe('active');
  expect(ended(scene, 'c-4', { provider: 'codex' })).toBe('superseded');
});

function typed({ surroundings }: Memory, ...lines: readonly object[]): void {
  const folder = surroundings.variables.CLAUDE_CONFIG_DIR ?? '';
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'history.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

test('one in which only a command of its program was typed was asked nothing', () => {
  const scene = memoryScene();
  typed(open(scene), { display: '/exit', sessionId: 'c-1' }, { display: 'Paint the door', sessionId: 'another' });
  expect(ended(scene, 'c-1')).toBe('superseded');
});

/** The traces that a window leaves of a prompt, apart from its transcript. */
const SIGNS: Readonly<Record<string, (memory: Memory, session: OpenSession) => void>> = {
  'had a transcript when it ended': () => {},
  'has a prompt in the history of its program': (memory) =>
    typed(memory, { display: '/exit', sessionId: 'c-1' }, { display: 'Paint the door', sessionId: 'c-1' }),
  'was resumed': ({ sessions }, session) => sessions.addFacts(session, [conversationLine('resume')]),
  'was compacted': ({ sessions }, session) => sessions.addFacts(session, [conversationLine('compact')]),
  'asked for a permission': (memory, session) =>
    waitForPermission(memory, session, { tool: 'Bash', inputDigest: null, subAgent: null }),
  'started a sub-agent': (memory, session) =>
    noteGiven(memory, session, { level: 'delegated', text: 'words', notice: null, subAgent: 'a1' }),
};
const conversationLine = (source: 'resume' | 'compact') =>
  worklogKind.line('conversation', { provider: 'claude', conversation: 'c-1', source });

test.each(Object.entries(SIGNS))(
  'one that %s was asked something, although its transcript has vanished',
  async (name, leave) => {
    const scene = memoryScene();
    const transcript = join(scene.home, 'c-1.jsonl');
    const memory = open(scene);
    const { session } = begin(scene, 'c-1', { transcript });
    leave(memory, session);
    if (name.startsWith('had')) writeFileSync(transcript, '{"type":"user"}\n');
    endRun(memory, session, living, 'prompt_input_exit');
    rmSync(transcript, { force: true });
    await keepSession(memory, session, Number.POSITIVE_INFINITY);
    const { lifecycle } = session.log.state;
    session.log.close();
    expect(lifecycle).toBe('active');
    // It is unknown what it was about, and nothing accuses its agent.
    const { rows } = await listSessions(open(scene), {
      ...{ where: 'here', which: 'all', judge: async () => null, onUnreadable: () => {} },
    });
    expect(rows.map(({ session_id, condition }) => [session_id, condition.agent, condition.weight])).toEqual([
      [session.id, 'ended', 'rests'],
    ]);
  },
);

test('an archived rollout of Codex is read where it was moved to', async () => {
  const scene = memoryScene();
  const folder = join(scene.home, 'codex');
  const place = join(folder, 'archived_sessions');
  mkdirSync(place, { recursive: true });
  const id = '01a22460-e183-79c1-ba04-a4c8ac9ce804';
  const rollout = readFileSync(join(RECORDED, 'codex-0.169.0/exit.jsonl'));
  writeFileSync(join(place, `rollout-2026-11-28T22-57-38-${id}.jsonl`), rollout);
  const { session } = begin(scene, id, { provider: 'codex', transcript: join(folder, 'sessions/gone.jsonl') });
  const { fold } = await lookAt(open(scene), session);
  session.log.close();
  expect(fold?.prompts).toBeGreaterThan(0);
  expect(ended(scene, id, { provider: 'codex' })).toBe('active');
  rmSync(place, { recursive: true });
  expect(ended(scene, 'c-9', { provider: 'codex' })).toBe('superseded');
});

test('programs say that they keep no transcript', () => {
  const marked =
    (value: string | null, mark = 'CLAUDE_CODE_CHILD_SESSION') =>
    (name: string) =>
      name === mark ? value : null;
  expect(claude.isUnrecorded(['claude', '-p', 'x', '--no-session-persistence'], marked(null))).toBe(true);
  expect(claude.isUnrecorded(['claude'], marked('1'))).toBe(true);
  expect(claude.isUnrecorded(['claude'], marked('1', 'CLAUDE_CODE_SKIP_PROMPT_HISTORY'))).toBe(true);
  expect(['0', '', null].map((value) => claude.isUnrecorded(['claude'], marked(value)))).toEqual([false, false, false]);
  expect(codex.isUnrecorded(['codex', 'exec', '--ephemeral', 'x'], marked(null))).toBe(true);
  expect(codex.isUnrecorded(['codex'], marked('1'))).toBe(false);
});
