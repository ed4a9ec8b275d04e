// covers: bridge/command/monitorProcess.ts bridge/cli/track/monitor.ts
/** The monitor as people call it: in a process of its own, which is found, stopped, and never mistaken for another one. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { command as track } from '../../../../bridge/cli/track/track.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { eventually } from '../../../e2e/eventually.js';
import { testFolder } from '../../../harness/folder.js';
import { patience } from '../../../harness/patience.js';
import { afterThisTest } from '../../../harness/scope.js';
import { startAgent } from '../agent.js';
import { runCommand } from '../inProcess.js';
import { watchkeeper } from '../program.js';

const LIMIT_MS = 60_000 * patience();
let home = '';
let directory = '';
let id = '';

const say = (words: string) =>
  watchkeeper(directory, ['track', ...words.split(' ')], { WATCHKEEPER_HOME: home, HOME: home });
const inSession = (name: string) => join(home, 'sessions', id, name);
const events = (): string[] => readFileSync(inSession('worklog.jsonl'), 'utf8').match(/(?<="event":")[a-z_]+/g) ?? [];

beforeEach(() => {
  [home, directory] = [join(testFolder(), 'home'), testFolder()];
  id = JSON.parse(say('init T --json').out).session_id;
});

test(
  'begins once, notices, is stopped, and ends with its session',
  async () => {
    const started = JSON.parse(say('monitor --start --interval 1 --checks 1 --json').out);
    afterThisTest(() => void say('monitor --stop'));
    expect(started).toMatchObject({ session_id: id, interval_s: 1, checks: 1, already: false });
    expect(JSON.parse(say('monitor --start --json').out)).toMatchObject({ pid: started.pid, already: true });
    const limitOf = (words: string) => JSON.parse(say(`monitor --check ${words} --json`).out).limit_ms;
    expect(JSON.parse(say('monitor --check --json').out).limit_ms).toBe(1_000);
    expect([limitOf('--interval 20'), limitOf('--checks 5')]).toEqual([20_000, 5_000]);
    await eventually(() => events().includes('notice'), { what: 'the notice' });
    expect(say('status')).toMatchObject({ code: 1, out: expect.stringContaining('notice, just now: The agent said') });
    expect(say('monitor --stop')).toMatchObject({ code: 0, out: expect.stringContaining('has stopped') });
    expect(readFileSync(inSession('monitor.log'), 'utf8')).toMatch(
      /has begun: .*\n.*said nothing.*\n.*ends: stopped\n$/s,
    );
    expect(say('monitor --stop')).toMatchObject({ code: 0, out: expect.stringContaining('no monitor') });
    expect(JSON.parse(say('monitor --check --json').out).limit_ms).toBe(180_000);
    const again = JSON.parse(say('monitor --start --json').out);
    expect(again.pid).not.toBe(started.pid);
    say('done --complete');
    await eventually(() => readFileSync(inSession('monitor.log'), 'utf8').trimEnd().endsWith('ends: stopped'), {
      what: 'the end of the monitor',
    });
    expect(say(`monitor --start --session ${id}`).code).toBe(2);
  },
  LIMIT_MS,
);

test(
  'gives no signal to a process that has the pid of a former monitor',
  () => {
    const stranger = spawn('sleep', ['1000'], { stdio: 'ignore' });
    afterThisTest(() => void stranger.kill('SIGKILL'));
    say('monitor --start');
    say('monitor --stop');
    const record = JSON.parse(readFileSync(inSession('monitor.json'), 'utf8'));
    writeFileSync(
      inSession('monitor.json'),
      JSON.stringify({ ...record, process: { ...record.process, pid: stranger.pid } }),
    );
    expect(say('monitor --stop')).toMatchObject({ code: 0, out: expect.stringContaining('no monitor') });
    say('done --complete');
    expect(stranger.exitCode).toBeNull();
    expect(stranger.signalCode).toBeNull();
  },
  LIMIT_MS,
);

test(
  'outlives the refusal to archive its session, and ends when that is done',
  async () => {
    const agent = await startAgent();
    const surroundings = {
      directory,
      process: readProcessIdentity(hostname(), agent.shell),
      variables: { WATCHKEEPER_HOME: home, CLAUDE_PID: String(agent.pid) },
    };
    await runCommand(track, ['init', '--resume'], { surroundings });
    const { pid } = JSON.parse(say('monitor --start --json').out);
    afterThisTest(() => void say(`monitor --stop --session ${id}`));
    const over = 'init U --archive-existing';
    expect(say(over)).toMatchObject({ code: 1, err: expect.stringContaining(`process ${agent.pid} works on session`) });
    expect(JSON.parse(say('monitor --start --json').out)).toMatchObject({ pid, already: true });
    await agent.kill();
    expect(say(over)).toMatchObject({ code: 0 });
    expect(say(`monitor --stop --session ${id}`)).toMatchObject({
      code: 0,
      out: expect.stringContaining('no monitor'),
    });
  },
  LIMIT_MS,
);

test('says what is wrong with its words', () => {
  for (const words of [
    'monitor',
    'monitor --start --stop',
    'monitor --check --interval 0',
    'monitor --check --checks x',
  ])
    expect(say(words).code).toBe(2);
});
