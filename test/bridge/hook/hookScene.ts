/** A home, a folder in which an agent works, and the program behind its hooks. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from '@jest/globals';
import { compiledProgram } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';

export const HOOK = compiledProgram('bridge/hook/main').replace(/\.js$/, '.cjs');
/** As the launcher of the plugin starts it. */
export const HOOK_FLAGS = readFileSync(join(HOOK, '../flags'), 'utf8').split('\n', 1).join('').split(' ');

export interface Scene {
  readonly home: string;
  readonly work: string;
}

export function scene(): Scene {
  const folder = testFolder();
  const [home, work] = [join(folder, 'home'), join(folder, 'work')];
  mkdirSync(join(work, '.git'), { recursive: true });
  return { home, work };
}

export function begin({ home, work }: Scene, variables = {}, event = 'SessionStart'): ChildProcess {
  const env = { PATH: process.env.PATH, HOME: work, WATCHKEEPER_HOME: home, ...variables };
  return spawn(process.execPath, [...HOOK_FLAGS, HOOK, event], { cwd: work, env, stdio: 'pipe' });
}

/** As an agent calls its hook, which is this process. */
export async function hook(place: Scene, input: string | Buffer | { hook_event_name?: string }, variables = {}) {
  const isBytes = typeof input === 'string' || Buffer.isBuffer(input);
  const child = begin(place, variables, isBytes ? undefined : input.hook_event_name);
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error('no pipes');
  stdin.end(isBytes ? input : JSON.stringify(input));
  const [out, said, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
  return { code, out, said };
}

export const payload = (place: Scene, event: string, more = {}) => ({
  hook_event_name: event,
  session_id: 'c-1',
  transcript_path: join(place.work, 'c-1.jsonl'),
  cwd: place.work,
  ...more,
});

export function worklogs({ home }: Scene): string[] {
  const folder = join(home, 'sessions');
  const ids = existsSync(folder) ? readdirSync(folder) : [];
  return ids.map((id) => readFileSync(join(folder, id, 'worklog.jsonl'), 'utf8'));
}

/** @returns the events of the only session */
export function eventsOf(place: Scene): string[] {
  const logs = worklogs(place);
  expect(logs).toHaveLength(1);
  const lines = (logs[0] ?? '').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line).event);
}

export const silent = { code: 0, out: '', said: '' };
export const failed = {
  code: 0,
  out: '',
  said: expect.stringMatching(/^watchkeeper: the hook has recorded nothing: [^\n]+\n$/),
};
