/** Reading an agent's stream in tests. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { AgentEnd, AgentEvent } from '../../bridge/agents/program/contract.js';
import { systemProcessTable } from '../../src/host/processes.js';
import { readStat } from '../../src/host/procfs.js';
import type { HostProcess } from '../../src/host/table.js';
import type { JournalEvent } from '../../src/journal/schema.js';

/** Between two looks at what another process does: without a pause they would take the processor from it. */
const LOOK_EVERY_MS = 5;

export async function readOn(events: AsyncIterator<AgentEvent>): Promise<AgentEvent[]> {
  const read: AgentEvent[] = [];
  for (let next = await events.next(); !next.done; next = await events.next()) read.push(next.value);
  return read;
}

export async function untilNote(events: AsyncIterator<AgentEvent>): Promise<void> {
  for (let next = await events.next(); next.value?.type !== 'note'; next = await events.next()) {
    if (next.done) throw new Error('the agent ended without a note');
  }
}

export async function untilGone(pid: number): Promise<void> {
  while (typeof readStat(pid) !== 'string') await pause(LOOK_EVERY_MS);
}

/** What was killed may take a moment to die. */
export async function untilGroupGone(runId: string, group: number | null): Promise<readonly HostProcess[]> {
  for (;;) {
    const { marked } = systemProcessTable().snapshot(runId);
    if (marked.every((found) => found.group !== group)) return marked;
    await pause(LOOK_EVERY_MS);
  }
}

export function endOf(events: readonly AgentEvent[]): AgentEnd {
  const ends = events.flatMap((event) => (event.type === 'end' ? [event.end] : []));
  expect(ends).toHaveLength(1);
  expect(events.at(-1)?.type).toBe('end');
  const [end] = ends;
  if (end === undefined) throw new Error('no end');
  return end;
}

export function journalOf(events: readonly AgentEvent[]): JournalEvent[] {
  return events.flatMap((event) => (event.type === 'journal' ? [event.line] : []));
}

export function firstResult(lines: readonly JournalEvent[]): JournalEvent | undefined {
  return lines.find((line) => line.event === 'post_tool_use');
}

export function conversationOf(events: readonly AgentEvent[]): string {
  const told = events.find((event) => event.type === 'conversation');
  if (told?.type !== 'conversation') throw new Error('no conversation was told');
  return told.conversationId;
}
