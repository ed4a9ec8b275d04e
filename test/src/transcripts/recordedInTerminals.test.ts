/** Sessions recorded with the real programs, each judged as the person judged it who sat before them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AssessedSession, assessPaths } from '../../../monitoring/offline/assessPaths.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { HOUR, isoTime } from '../../../src/time.js';
import { watchkeeper } from '../../bridge/cli/program.js';
import { tableBelow } from '../../docs/markdown.js';
import { testFolder } from '../../harness/folder.js';
import { RECORDED } from './told.js';

const VERDICTS = tableBelow(readFileSync(join(RECORDED, 'README.md'), 'utf8'), '## Verdicts').map(
  ([name = '', seen = '', byPerson = '', allowed = '']) => {
    return { name: name.replaceAll('`', ''), seen, verdict: (allowed || byPerson).replace(/: .*[a-z].*$/, '') };
  },
);

/** @returns an hour after the last line, UTC epoch milliseconds */
function anHourLater(path: string): number {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return Math.max(...lines.map((line) => Date.parse(JSON.parse(line).timestamp) || 0)) + HOUR;
}

/** @returns the verdict in the words of the table */
function inWords({ findings, attention, agents }: AssessedSession): string {
  const accused = findings.map(({ rule }) => rule);
  if (accused.length > 0) {
    expect(accused).toEqual(['silence']);
    const foundAt = Date.parse(findings[0]?.since ?? '');
    return `hangs since ${clock(foundAt - DEFAULT_THRESHOLDS.silence_ms)}`;
  }
  if (attention !== 'waiting') return attention === 'idle' ? 'healthy' : attention;
  const waits = agents.flatMap((agent) => agent.waits);
  const forPerson = waits.filter(({ kind, excuses }) => excuses && (kind === 'permission' || kind === 'user'));
  return `waits for a person since ${clock(Math.min(...forPerson.map(({ since }) => Date.parse(since))))}`;
}

function clock(instant: number): string {
  return isoTime(instant).slice(11, 19);
}

describe('a session recorded in a terminal', () => {
  test('has its verdict in the table', () => {
    const recorded = ['claude-2.1.330', 'codex-0.169.0'].flatMap((folder) =>
      readdirSync(join(RECORDED, folder))
        .filter((name) => name.endsWith('.jsonl'))
        .map((name) => `${folder}/${name.slice(0, -'.jsonl'.length)}`),
    );
    expect(VERDICTS.map(({ name }) => name).sort()).toEqual(recorded.sort());
  });

  test.each(VERDICTS.map(({ name, seen, verdict }) => [name, seen, verdict] as const))(
    '%s: %s: %s',
    async (name, _seen, verdict) => {
      const path = join(RECORDED, `${name}.jsonl`);
      const options = { thresholds: DEFAULT_THRESHOLDS, now: anHourLater(path), replay: true };
      const { sessions } = await assessPaths([path], options);
      expect(sessions.map(inWords)).toEqual([verdict]);
    },
  );

  test('gets the same verdict from the command, in words', () => {
    const path = join(RECORDED, 'claude-2.1.330/mode-changed-meanwhile.jsonl');
    const args = ['assess', path, '--replay', '--now', isoTime(anHourLater(path))];
    const { code, out } = watchkeeper(testFolder(), args);
    expect(code).toBe(0);
    expect(out).toContain('clock: waits for a person since 09:40:04 UTC');
  });
});
