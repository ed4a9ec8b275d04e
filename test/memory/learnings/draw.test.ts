// covers: memory/learnings/draw.ts memory/learnings/drawFrom.ts memory/learnings/attempts.ts memory/learnings/pattern.ts memory/observed/records.ts memory/show/learningWords.ts
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import type { FailureGroup } from '../../../memory/learnings/draw.js';
import { drawFromSessions } from '../../../memory/learnings/drawFrom.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { failuresOf, refusalsOf } from '../../../memory/show/learningWords.js';
import { testFolder } from '../../harness/folder.js';
import { memoryScene } from '../scene.js';
import { type MadeSession, writeSession } from './madeSessions.js';
import { REFUSED, REPEATS, type Repeat, SESSIONS } from './prepared.js';

const LEAST = 0.9;

let memory: Memory;
let folder: string;

beforeEach(() => {
  memory = memoryScene().open();
  folder = testFolder();
});

function record(session: MadeSession): string {
  const { provider, conversation } = session;
  const transcript = join(folder, `${conversation}.jsonl`);
  writeSession(transcript, session);
  const begun = memory.lifecycle.begin(memory.workspace, { purpose: 'x', fields: {}, plan: [], concurrent: true });
  const line = worklogKind.line('conversation', { provider, conversation, transcript, source: 'startup', since: null });
  begun.log.write(() => [line], memory.stamp);
  begun.log.close();
  return begun.id;
}

function isOf({ call, error, count, sessions }: Repeat, group: FailureGroup): boolean {
  const words = group.command === '' ? group.tool : `${group.tool}: ${group.command}`;
  return call.test(words) && error.test(group.error) && group.count === count && group.sessions === sessions.length;
}

describe('twelve prepared sessions', () => {
  test('what came back is found, and nothing else', async () => {
    for (const session of SESSIONS) record(session);
    const draw = await drawFromSessions(memory, false);
    const found = failuresOf(draw).filter(({ sessions }) => sessions > 1);
    const right = found.filter((group) => REPEATS.some((repeat) => isOf(repeat, group)));
    const missed = REPEATS.filter((repeat) => !found.some((group) => isOf(repeat, group)));
    const [precision, recall] = [right.length / found.length, 1 - missed.length / REPEATS.length];
    process.stdout.write(
      `learn draw: precision ${precision.toFixed(2)}, recall ${recall.toFixed(2)} of ${REPEATS.length} repeats in ${draw.sessions} sessions\n`,
    );
    for (const { call, error } of missed) process.stdout.write(`  missed: ${call} ${error}\n`);
    for (const group of found.filter((group) => !right.includes(group)))
      process.stdout.write(`  wrong: ${group.command} ${group.error}\n`);
    expect(precision).toBeGreaterThanOrEqual(LEAST);
    expect(recall).toBeGreaterThanOrEqual(LEAST);
    for (const repeat of REPEATS) {
      const ways = [...(found.find((group) => isOf(repeat, group))?.worked.values() ?? [])];
      if (repeat.worked !== undefined)
        expect(ways.map(({ call, after }) => `${call ?? ''}${call === null ? after : ''}`).join('\n')).toMatch(
          repeat.worked,
        );
    }
    const said = refusalsOf(draw).flatMap(({ call, said }) => [...said].map((words) => ({ call, said: words })));
    expect(said).toHaveLength(REFUSED.length);
    for (const { call, said: words } of REFUSED)
      expect(said).toContainEqual({ call: expect.stringMatching(call), said: words });
  });
});
