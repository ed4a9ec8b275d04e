// covers: memory/sessions/bridgeRun.ts
/** A run of a bridge leaves its variables to what it has started, which a person may use long after its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { isInBridgeRun } from '../../../memory/sessions/bridgeRun.js';
import { BridgeSession } from '../../../memory/sessions/bridgeSession.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';

const HERE = readProcessIdentity('host');
const PARENT = readProcessIdentity('host', process.ppid);

/** The memory of a bridge, with a run of one process. */
function bridge(agent: ProcessIdentity) {
  const memory = join(testFolder(), 'logs');
  mkdirSync(memory, { mode: 0o700 });
  const session = new BridgeSession(memory, 's-1', { clock: systemClock, redact: redactShapes });
  session.write([
    worklogKind.line('session_started', { session_id: 's-1', purpose: 'x' }),
    worklogKind.line('run_started', { process: agent, agent: 'claude', run_id: 'r-1' }),
  ]);
  const variables: Readonly<Record<string, string>> = {
    ...{ WATCHKEEPER_RUN: 'r-1', WATCHKEEPER_MEMORY: memory, WATCHKEEPER_SESSION: 's-1' },
  };
  const isIn = (more: Readonly<Record<string, string | null>> = {}) =>
    isInBridgeRun((name) => ({ ...variables, ...more })[name] ?? null, process.pid, HERE);
  return { memory, session, isIn };
}

// rule: an-inherited-run-hides-no-job
test('a process below the agent of a living run belongs to it', () => {
  expect(bridge(PARENT).isIn()).toBe(true);
  expect(bridge(HERE).isIn()).toBe(true);
});

test('a run that has ended, died or lives elsewhere on this host has left only its variables', async () => {
  const ended = bridge(PARENT);
  ended.session.append([worklogKind.line('run_ended', { process: PARENT, reason: 'completed', run_id: 'r-1' })]);
  expect(ended.isIn()).toBe(false);
  expect(bridge({ ...PARENT, pid_start: '1' }).isIn()).toBe(false);
  const other = spawn('sleep', ['60']);
  expect(bridge(readProcessIdentity('host', other.pid)).isIn()).toBe(false);
  const gone = once(other, 'exit');
  other.kill('SIGKILL');
  await gone;
});

test('a run whose record was removed is over', () => {
  const { memory, session, isIn } = bridge(PARENT);
  session.close();
  rmSync(join(memory, 'sessions', 's-1'), { recursive: true });
  expect(isIn()).toBe(false);
});

test('what cannot be seen counts as a living run', () => {
  const { memory, isIn } = bridge(PARENT);
  expect(isIn({ WATCHKEEPER_RUN: 'r-2' })).toBe(true);
  expect(isIn({ WATCHKEEPER_MEMORY: null })).toBe(true);
  expect(bridge({ ...PARENT, pid_namespace: '1' }).isIn()).toBe(true);
  writeFileSync(join(memory, 'sessions', 's-1', 'worklog.jsonl'), '');
  expect(isIn()).toBe(true);
  expect(isIn({ WATCHKEEPER_RUN: null })).toBe(false);
  // As in a sandbox.
  rmSync(join(memory, 'sessions'), { recursive: true });
  expect(isIn()).toBe(true);
});
