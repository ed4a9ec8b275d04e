/** What a program wrote last is read, however late the bridge gets to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { LastWords, ProgramOutput } from '../../../../bridge/agents/program/programOutput.js';
import { createRedactor } from '../../../../src/log/redact.js';
import { atMost, giveWay, systemClock } from '../../../../src/time.js';

/** Longer than silence may last after a program's end. */
const STALL_MS = 400;

/** A program that writes a word to both outputs, and ends, as soon as it is told to. */
function startSpeaker() {
  const child = spawn('/bin/sh', ['-c', 'read -r go; printf answer; printf fault >&2'], { stdio: 'pipe' });
  return { child, ended: once(child, 'close') };
}

/** As on a machine that is too busy to run this process until that one has ended. */
function standStillUntilEnded(pid: number | undefined): void {
  const end = performance.now() + STALL_MS;
  while (performance.now() < end || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
}

test('the last output of a program is kept if its exit is seen first and nobody reads for a while', async () => {
  const { child, ended } = startSpeaker();
  const output = new ProgramOutput(child.stdout, systemClock);
  const first = output.chunks().next();
  await giveWay();
  child.stdin.write('go\n');
  output.programEnded();
  standStillUntilEnded(child.pid);
  expect(String((await first).value)).toBe('answer');
  output.close();
  await ended;
});

test('its last standard error is available after a short wait as well', async () => {
  const { child, ended } = startSpeaker();
  const output = new ProgramOutput(child.stdout, systemClock);
  const words = new LastWords(child.stderr, systemClock);
  child.stdin.write('go\n');
  const spoken = atMost(systemClock, STALL_MS / 2, words.spoken, null);
  standStillUntilEnded(child.pid);
  await spoken;
  expect(words.last(100, createRedactor([]))).toBe('fault');
  output.close();
  await ended;
});
