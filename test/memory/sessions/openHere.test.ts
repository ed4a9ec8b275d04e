import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { mostUrgentFirst, openIn } from '../../../memory/sessions/openHere.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { MINUTE } from '../../../src/time.js';
import { type MemoryScene, memoryScene } from '../scene.js';

const living = readProcessIdentity('host');
const [dead, deadToo] = [1, 2].map((number) => ({ ...living, pid: 2 ** 22 - number, pid_start: '1' })) as [
  ProcessIdentity,
  ProcessIdentity,
];
const elsewhere: ProcessIdentity = { ...living, host: 'another' };

/** @returns the id of a session whose agent is the process */
function begin(scene: MemoryScene, conversation: string, agent: ProcessIdentity | null): string {
  scene.clock.advance(MINUTE);
  const memory = scene.open();
  const { session } = startConversation(memory, {
    ...{ provider: 'claude', conversation, source: 'startup', transcript: null, agent, launchedIn: null },
  });
  memory.sessions.addFacts(session, [worklogKind.line('note', { text: conversation })]);
  session.log.close();
  return session.id;
}

test('each open session of a workspace says who works on it, and the lost one that no agent was told of is first', () => {
  const scene = memoryScene();
  const shown = begin(scene, 'shown', dead);
  const crashed = begin(scene, 'crashed', deadToo);
  const resting = begin(scene, 'resting', null);
  const working = begin(scene, 'working', living);
  const away = begin(scene, 'away', elsewhere);
  const [ended, archived] = [begin(scene, 'ended', null), begin(scene, 'archived', null)];
  const memory = scene.open();
  memory.sessions.addFacts(shown, [worklogKind.line('context_given', { to: working })]);
  memory.sessions.addFacts(ended, [worklogKind.line('session_ended', { reason: 'completed' })]);
  memory.sessions.addFacts(archived, [worklogKind.line('session_archived', {})]);
  const here = openIn(memory, memory.workspace);
  expect(here.map(({ id, manning }) => [id, manning])).toEqual([
    [shown, 'lost'],
    [crashed, 'lost'],
    [resting, 'left'],
    [working, 'at_work'],
    [away, 'elsewhere'],
  ]);
  expect(mostUrgentFirst(here).map(({ id }) => id)).toEqual([crashed, away, working, resting, shown]);
  expect(openIn(memory, memory.workspace, away).map(({ id }) => id)).not.toContain(away);
});

test('facts go to an open session, to one that is named, and nowhere if there is none', () => {
  const scene = memoryScene();
  const id = begin(scene, 'c', null);
  const { sessions } = scene.open();
  const line = worklogKind.line('note', { text: 'x' });
  expect(sessions.addFacts(id, [line])).toEqual([null]);
  expect(sessions.withSession(id, (session) => sessions.addFacts(session, () => [line, line]))).toEqual([null, null]);
  expect(sessions.addFacts(null, [line])).toEqual([]);
  expect(sessions.addFacts('2026-01-01-none', [line])).toEqual([]);
  expect(sessions.read(id)?.log.state.notes).toHaveLength(4);
});
