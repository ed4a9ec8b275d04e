import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { command as eventsCommand } from '../../../bridge/cli/events.js';
import type { CommandContext } from '../../../bridge/command/command.js';
import { EventReader } from '../../../monitoring/events/reader.js';
import type { Settings } from '../../../src/config/settings.js';
import { createRedactor } from '../../../src/log/redact.js';
import { HOUR, isoTime, MINUTE, systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { appendLines, eventAt } from '../../monitoring/events/eventLines.js';
import { SOMEWHERE } from './surroundings.js';

/** The closing lines of three incidents, the first one of three hours ago. */
function logsFolder(): string {
  const folder = testFolder();
  const closing = (id: string, outcome: string, ageMs: number) => ({
    v: 1,
    id: `${id}.closed`,
    incident_id: id,
    final: true,
    timestamp: isoTime(systemClock.now() - ageMs),
    event: 'session_unhealthy',
    session_id: `tg_app_1_${id}`,
    project_key: 'app',
    reason: 'run_failed_exit_1',
    rule: 'crash',
    action_taken: 'revival_attempted',
    github_issue: null,
    details: { outcome },
  });
  const lines = [
    closing('a', 'revival_failed', 3 * HOUR),
    closing('b', 'cancelled_by_person', 10_000),
    closing('c', 'told', 5_000),
  ];
  writeFileSync(join(folder, 'critical_events.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return folder;
}

function events(...args: string[]): Promise<string[]> {
  return eventsOf(join(logsFolder(), 'critical_events.jsonl'), ...args);
}

async function eventsOf(file: string, ...args: string[]): Promise<string[]> {
  let out = '';
  const context: CommandContext = {
    io: {
      stdout: (text) => {
        out += text;
      },
      stderr: () => undefined,
    },
    readSettings: async () => ({ logsFolder: dirname(file) }) as Settings,
    surroundings: SOMEWHERE,
    openInput: () => null,
    input: process.stdin,
    startDetached: () => undefined,
    runProgram: () => Promise.reject(new Error('this command runs no program')),
    logStream: process.stderr,
    redact: createRedactor([]),
    untilStopped: () => new AbortController().signal,
    handleSignals: () => undefined,
  };
  await eventsCommand.run(args, context);
  return out.trim().split('\n');
}

describe('watchkeeper events', () => {
  test('shows how an incident ended: a failed revival and a cancellation look different', async () => {
    const lines = await events();
    expect(lines.map((line) => /\((closed: \w+)\)$/.exec(line)?.[1])).toEqual([
      'closed: revival_failed',
      'closed: cancelled_by_person',
      'closed: told',
    ]);
  });

  test('accepts an age with and without a minus', async () => {
    for (const age of [['--since', '1h'], ['--since', '-1h'], ['--since=-1h']])
      expect(await events(...age)).toHaveLength(2);
  });

  test('shows the last line of each incident alone, in the order of these lines, with --collapse', async () => {
    const file = join(testFolder(), 'critical_events.jsonl');
    const at = Date.UTC(2026, 1, 5);
    appendLines(file, [eventAt('a', at), eventAt('b', at), { ...eventAt('a', at), id: 'a.closed', final: true }]);
    const ids = async (...args: string[]) =>
      (await eventsOf(file, '--json', ...args)).map((line) => JSON.parse(line).id);
    expect(await ids()).toEqual(['a.detected', 'b.detected', 'a.closed']);
    expect(await ids('--collapse')).toEqual(['b.detected', 'a.closed']);
  });

  test('prints the requested number: the newest in their order, and behind a cursor the next ones', async () => {
    const closings = (lines: readonly string[]) => lines.map((line) => /\((closed: \w+)\)$/.exec(line)?.[1]);
    expect(closings(await events('--limit', '2'))).toEqual(['closed: cancelled_by_person', 'closed: told']);
    expect(closings(await events('--after', 'start', '--limit', '2'))).toEqual([
      'closed: revival_failed',
      'closed: cancelled_by_person',
    ]);
  });

  test('counts only events since the requested instant', async () => {
    const file = join(testFolder(), 'critical_events.jsonl');
    const now = systemClock.now();
    // Events of several processes are only nearly in order.
    appendLines(file, [eventAt('a', now - 2 * MINUTE), eventAt('b', now), eventAt('c', now - 2 * HOUR)]);
    const lines = await eventsOf(file, '--since', '1h', '--limit', '2', '--json');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(['a.detected', 'b.detected']);
  });

  test('includes the archive if the live file begins less than an hour before the requested instant', async () => {
    const file = join(testFolder(), 'critical_events.jsonl');
    appendLines(file, [eventAt('a', systemClock.now() - 90 * MINUTE)]);
    const reader = new EventReader(file);
    expect(await reader.startFor(systemClock.now() - HOUR)).toBeNull();
    expect(await reader.startFor(systemClock.now())).toBe('live');
  });

  test('rejects a value that is neither an age nor an instant, and an invalid cursor, with an explanation', async () => {
    await expect(events('--since', 'nope')).rejects.toThrow('neither an instant (2026-02-05T10:00:00Z) nor an age');
    // JavaScript would make it the year 2001.
    await expect(events('--since', '5')).rejects.toThrow('neither an instant');
    await expect(events('--after', 'nope')).rejects.toThrow('"nope" is no cursor');
  });
});
