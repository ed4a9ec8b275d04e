/**
 * Recorded sessions that ended well, as if they had been in terminals: their journals grow line by line while they are watched. It is
 * every third of them; `test/monitoring/verdict/recorded.test.ts` judges all at every instant.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MINUTE } from '../../../src/time.js';
import { TerminalScene } from './terminalScene.js';

const FIXTURES = join(import.meta.dirname, '../../fixtures/sessions');
const LIMIT_MS = 2 * MINUTE;
const ENDED_WELL = 88;
const EVERY = 3;
/** Of `labels.csv`. */
const OUTCOME = 5;

function recordedWell(): string[] {
  const rows = readFileSync(join(FIXTURES, 'labels.csv'), 'utf8').trim().split('\n').slice(1);
  return rows.map((row) => row.split(',')).flatMap((cells) => (cells[OUTCOME] === 'committed' ? [cells[0] ?? ''] : []));
}

// rule: no-healthy-session-is-accused
test(
  'none of them is noticed, at any instant',
  async () => {
    const scene = new TerminalScene();
    const start = scene.memory.clock.now();
    const all = recordedWell();
    expect(all).toHaveLength(ENDED_WELL);
    const watched = all.filter((_, index) => index % EVERY === 0);
    const lines = watched.flatMap((file) => {
      const agent = scene.agent();
      const records = readFileSync(join(FIXTURES, file), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const shift = start - Date.parse(records[0].timestamp);
      return records.map((record, index) => {
        const at = Date.parse(record.timestamp) + shift;
        const isLast = index === records.length - 1;
        return { at, agent, isLast, record: { ...record, timestamp: new Date(at).toISOString() } };
      });
    });
    const watch = scene.watch();
    await watch.runOnce();
    expect(watch.live).toHaveLength(watched.length);
    let count = 0;
    for (const { at, agent, isLast, record } of lines.sort((left, right) => left.at - right.at)) {
      await scene.pass(Math.max(at - scene.memory.clock.now(), 0), watch);
      agent.writes(record);
      // What came after, nobody has recorded.
      if (isLast) agent.ends();
      count += 1;
    }
    await scene.pass(MINUTE, watch);
    expect(count).toBeGreaterThan(10_000);
    expect(scene.noticed.map(({ notice }) => notice.sentence)).toEqual([]);
  },
  LIMIT_MS,
);
