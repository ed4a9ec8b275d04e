/** An end that a launcher has noted is taken in by the next reader, whichever it is: that one begins what its program would have. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { memoryIn } from '../../../bridge/cli/sessionMemory.js';
import { command as work } from '../../../bridge/cli/work/work.js';
import { answerOf } from '../../../bridge/hook/answers.js';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { endRun } from '../../../memory/programs/runEnd.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { redactShapes } from '../../../src/log/redact.js';
import { type MemoryScene, memoryScene } from '../../memory/scene.js';
import { TerminalScene } from '../../monitoring/terminals/terminalScene.js';
import { runCommand } from '../cli/inProcess.js';

const HERE = readProcessIdentity('host');

/** @returns the session of an agent that has ended, as its launcher has noted */
function endedSession(scene: MemoryScene): string {
  const memory = scene.open();
  const { session } = startConversation(memory, {
    ...{ provider: 'claude', conversation: 'c-1', source: 'startup', transcript: null, agent: HERE, launchedIn: null },
  });
  memory.sessions.addFacts(session, [worklogKind.line('note', { text: 'n' })]);
  session.log.close();
  const spool = join(scene.home, 'spool');
  mkdirSync(spool, { mode: 0o700 });
  const payload = { hook_event_name: 'SessionEnd', session_id: 'c-1', cwd: '/', reason: 'other' };
  const head = `1 ${HERE.boot_id} ${HERE.pid}:${HERE.pid_start}`;
  writeFileSync(join(spool, `${HERE.pid}.1`), `${head}\n${JSON.stringify(payload)}\n`, { mode: 0o600 });
  return session.id;
}

const surroundingsOf = ({ home, directory }: MemoryScene) => ({
  directory,
  process: HERE,
  variables: { WATCHKEEPER_HOME: home },
});

type Reader = (scene: MemoryScene, detached: (args: readonly string[]) => void) => Promise<unknown>;

const READERS: readonly (readonly [string, Reader])[] = [
  ['a verb', (scene, detached) => runCommand(work, ['list'], { surroundings: surroundingsOf(scene), detached })],
  [
    'a command that shows sessions',
    async (scene, startDetached) =>
      memoryIn(scene.home, { surroundings: surroundingsOf(scene), redact: redactShapes, startDetached }),
  ],
];

test.each(READERS)('%s begins to keep the session whose end it takes in, once', async (_, read) => {
  const scene = memoryScene();
  const id = endedSession(scene);
  const begun: (readonly string[])[] = [];
  for (let time = 0; time < 2; time++) await read(scene, (args) => begun.push(args));
  expect(begun).toEqual([['work', 'keep', id, '--dir', scene.home]]);
});

test('a reader begins to keep it also if the one that recorded the end has died since', async () => {
  const scene = memoryScene();
  const id = endedSession(scene);
  const memory = scene.open();
  memory.sessions.withSession(id, (session) => endRun(memory, session, HERE, 'other'));
  const begun: (readonly string[])[] = [];
  const detached = (args: readonly string[]) => void begun.push(args);
  await runCommand(work, ['list'], { surroundings: surroundingsOf(scene), detached });
  expect(begun).toEqual([['work', 'keep', id, '--dir', scene.home]]);
});

test('the start of another agent begins to keep it, once', async () => {
  const scene = memoryScene();
  const id = endedSession(scene);
  const begun: (readonly string[])[] = [];
  const payload = { event: 'SessionStart', provider: 'claude', conversation: 'c-2', transcript: null } as const;
  await answerOf({
    ...{ memory: scene.open(), waitedMs: 0, agent: null, launchedIn: null },
    payload: {
      ...{ ...payload, directory: scene.directory, source: 'startup', reason: null, tool: null },
      ...{ inputDigest: null, subAgent: null },
    },
    startDetached: (args) => begun.push(args),
    report: (error) => {
      throw error;
    },
  });
  expect(begun).toContainEqual(['work', 'keep', id, '--dir', scene.home]);
});

test('the watch of the terminals begins to keep it, once', async () => {
  const terminals = new TerminalScene();
  const id = endedSession(terminals.memory);
  const watch = terminals.watch();
  for (let round = 0; round < 2; round++) await watch.runOnce();
  expect(terminals.kept).toEqual([id]);
});
