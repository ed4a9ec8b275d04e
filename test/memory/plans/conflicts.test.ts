// covers: memory/plans/conflicts.ts
/** A file that an agent has in hand is no conflict while the agent lives: it is about to finish it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { lookAt } from '../../../memory/look/look.js';
import { conflictsOf } from '../../../memory/plans/conflicts.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { isoTime, SECOND } from '../../../src/time.js';
import { memoryScene } from '../scene.js';

const living = readProcessIdentity('host');

test.each([
  ['lives', living, []],
  ['is dead', { ...living, pid_start: '1' }, [{ kind: 'half_done_file', phase: null, path: 'a.ts', exists: true }]],
])('a file of an open turn whose agent %s', async (_, agent, conflicts) => {
  const scene = memoryScene();
  const transcript = join(scene.directory, 'c-1.jsonl');
  const line = (role: 'user' | 'assistant', second: number, content: unknown) => ({
    ...{ type: role, uuid: `u${second}`, parentUuid: null, sessionId: 'c-1', message: { role, content } },
    timestamp: isoTime(scene.clock.now() + second * SECOND),
  });
  const path = join(scene.directory, 'a.ts');
  const lines = [
    line('user', 0, 'Fix the login'),
    line('assistant', 1, [{ type: 'tool_use', id: 't1', name: 'Write', input: { file_path: path, content: 'x' } }]),
    line('user', 2, [{ type: 'tool_result', tool_use_id: 't1', content: 'written' }]),
  ];
  writeFileSync(transcript, lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
  writeFileSync(path, 'x');
  const memory = scene.open();
  const launch = { provider: 'claude', conversation: 'c-1', source: 'startup', transcript, launchedIn: null } as const;
  const { session } = startConversation(memory, { ...launch, agent });
  const look = await lookAt(memory, session);
  expect(look.fold?.isTurnOpen).toBe(true);
  expect(conflictsOf(memory, look, memory.workspace)).toEqual(conflicts);
  session.log.close();
});
