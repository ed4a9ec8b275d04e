// covers: memory/sessions/knownLogs.ts memory/logs/lastRead.ts
/** A process that stays reads on in the logs that it knows, and keeps nothing that they decide. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { LastRead } from '../../../memory/logs/lastRead.js';
import { KnownLogs } from '../../../memory/sessions/knownLogs.js';
import { Memory } from '../../../memory/sessions/memory.js';
import { memoryScene } from '../scene.js';

const BOUND = { provider: 'claude', conversation: 'c-1' };

let others: Memory;
/** @returns a memory as a call of a server sees it */
let next: () => Memory;

beforeEach(() => {
  others = memoryScene().open();
  const known = new KnownLogs();
  const { surroundings, places, clock, stamp } = others;
  next = () => new Memory({ surroundings, folder: places.root, clock, redact: stamp.redact, known });
});

test('what another process changes in a binding, a claim or a session is seen by the next call', () => {
  const begin = (purpose: string) =>
    others.lifecycle.begin(others.workspace, { purpose, fields: {}, plan: [], concurrent: false }).id;
  const first = begin('first');
  others.bindings.bind(BOUND, first);
  for (let count = 0; count < 2; count += 1) {
    expect(next().bindings.sessionOf(BOUND)).toBe(first);
    expect(next().claims.holder(others.workspace)).toBe(first);
    expect(next().claims.mirrorOf(others.workspace)).toBeNull();
    expect(next().which(first).log.state.lifecycle).toBe('planned');
  }
  others.lifecycle.end(others.which(first), others.workspace, { lines: () => [], reason: 'completed' });
  const second = begin('second');
  others.bindings.bind(BOUND, second);
  others.claims.setMirror(others.workspace, 'state');
  expect(next().bindings.sessionOf(BOUND)).toBe(second);
  expect(next().claims.holder(others.workspace)).toBe(second);
  expect(next().claims.mirrorOf(others.workspace)).toBe('state');
  expect(next().which(first).log.state.lifecycle).toBe('ended');
  next().bindings.bind(BOUND, first);
  expect(others.bindings.sessionOf(BOUND)).toBe(first);
  rmSync(join(others.places.root, 'bindings'), { recursive: true });
  expect(next().bindings.sessionOf(BOUND)).toBeNull();
});

test('the logs that were read last are kept, and no more', () => {
  const logs = new LastRead<unknown, never>(2);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name }) as never);
  logs.set('a', a as never);
  logs.set('b', b as never);
  logs.set('a', a as never);
  logs.set('c', c as never);
  expect([logs.get('a'), logs.get('b'), logs.get('c')]).toEqual([a, undefined, c]);
  logs.delete('a');
  expect(logs.get('a')).toBeUndefined();
});
