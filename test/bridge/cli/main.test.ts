import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { compiledProgram, packageRoot } from '../../../src/host/program.js';
import type { CriticalEvent } from '../../../src/jobs/incidents.js';
import { testFolder } from '../../harness/folder.js';
import { appendLines, eventAt } from '../../monitoring/events/eventLines.js';
import { watchkeeperAgain } from './manyCalls.js';
import { watchkeeper } from './program.js';

// covers: bridge/cli/program.ts bridge/cli/commandLine.ts
// covers: src/files/plainFile.ts

describe('the command line', () => {
  test('prints its version, and its help however it is asked for', () => {
    const folder = testFolder();
    const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
    for (const word of ['--version', '-V', 'version']) {
      expect(watchkeeper(folder, [word])).toEqual({ code: 0, out: `${version}\n`, err: '' });
    }
    const help = watchkeeper(folder, ['events', '--help']);
    expect(help).toMatchObject({ code: 0, out: expect.stringMatching(/^usage: watchkeeper events /) });
    for (const args of [
      ['help', 'events'],
      ['--help', 'events'],
      ['events', '-h'],
    ]) {
      expect(watchkeeperAgain(folder, args)).toEqual(help);
    }
    expect(watchkeeperAgain(folder, [])).toMatchObject({ code: 2, out: '' });
  });

  test('explains one word of a command if it is asked for that one', () => {
    const folder = testFolder();
    const help = watchkeeper(folder, ['track', 'step', '1', '--start', '--help']);
    expect(help).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^usage: watchkeeper track step .*\n\n {2}step ID /),
    });
    expect(watchkeeperAgain(folder, ['help', 'track', 'step'])).toEqual(help);
    expect(watchkeeperAgain(folder, ['track', '--help']).out).toMatch(/^usage: watchkeeper track WORD /);
  });

  test.each([
    [['sesions'], /unknown command "sesions"; did you mean "sessions"\?/],
    [['help', 'evnts'], /unknown command "evnts"; did you mean "events"\?/],
    [['--versoin'], /unknown option "--versoin" before a command; did you mean "--version"\?/],
    [['--json', 'sessions'], /options of a command come after its name/],
    [['events', '--sinse=3'], /unknown option --sinse; did you mean "--since"\?/],
    [['events', '--since'], /--since needs a value/],
    [['assess', '--now', '--json'], /--now needs a value; write one that begins with "-" as --now=VALUE/],
    [['events', '--limit', '-5'], /--limit "-5" is not a number of events/],
    [['events', '--since', '-x'], /as --since=VALUE/],
    [['sessions', '--json=5'], /--json takes no value/],
    [['sessions', 'x'], /"x" is one word too many/],
    [['session', '--', '-h'], /"-h" is not a session id/],
    [['events', 'akc'], /"akc" is not a subcommand of events: use ack, archive, or none to read/],
    [['track', 'step', '--add', 'A', '--add', 'B'], /--add takes one value, and has two, "A" and "B"/],
    [['enqueue', '--project', 'local'], /--text is missing, for example --text "say hello"/],
  ])('%j is a usage error of one line', (args, words) => {
    const said = watchkeeperAgain(testFolder(), args);
    expect(said).toMatchObject({ code: 2, out: '' });
    expect(said.err).toMatch(words);
    expect(said.err).toMatch(/^watchkeeper: .+\n$/);
  });

  test('explains how to run the doctor in a container that restarts because of a configuration fault', () => {
    const folder = testFolder();
    const faulty = { WATCHKEEPER_CONTAINER_DIES_WHOLE: 'yes', AGENT_CONCURRENCY: 'many' };
    for (const command of ['bridge', 'watchdog']) {
      const said = watchkeeperAgain(folder, [command], faulty);
      expect(said).toMatchObject({ code: 2, err: expect.stringContaining('docker compose run --rm bridge doctor') });
    }
    expect(watchkeeperAgain(folder, ['sessions'], faulty).err).not.toContain('docker');
    expect(watchkeeperAgain(folder, ['bridge'], { AGENT_CONCURRENCY: 'many' }).err).not.toContain('docker');
  });

  test('prints text of others without secrets and without terminal sequences', () => {
    const folder = testFolder();
    const hostile = '\u001b[2J\u009b31m\u202e hunter2hunter2 ghp_0123456789abcdefghij0123456789';
    writeFileSync(join(folder, 'token'), 'hunter2hunter2');
    const event = eventAt('i1', 0, { reason: hostile, untrusted_excerpt: hostile });
    appendLines(join(folder, 'logs/critical_events.jsonl'), [event]);
    for (const args of [['events'], ['events', '--json']]) {
      const said = watchkeeperAgain(folder, args, {
        WATCHDOG_PING_URL: 'https://x.example',
        GITHUB_TOKEN_FILE: 'token',
      });
      expect(said.code).toBe(1);
      expect(said.out).toContain('\\u001b[2J\\u009b31m\\u202e [redacted:own_secret] [redacted:github_token]');
      if (args.length === 2)
        expect(JSON.parse(said.out)).toMatchObject({ reason: expect.stringContaining('\u001b[2J') });
    }
  });

  test.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a directory', (path: string) => mkdirSync(path)],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
  ])('reports that %s is in the place of the critical events, and does not wait', (kind, make) => {
    const folder = testFolder();
    mkdirSync(join(folder, 'logs'));
    make(join(folder, 'logs/critical_events.jsonl'));
    for (const args of [['events'], ['events', '--follow'], ['events', 'ack', 'i1.detected'], ['daydream']]) {
      const said = watchkeeperAgain(folder, args);
      expect([args, said.code, said.out]).toEqual([args, 3, '']);
      expect(said.err).toMatch(
        new RegExp(
          `^watchkeeper: .*critical_events\\.jsonl cannot be read \\(it is ${kind}, not a plain file\\): .+\n$`,
        ),
      );
    }
  });

  test('fails if standard output cannot be written, but not if its reader closes early', () => {
    const folder = testFolder();
    const said = (redirection: string) => {
      const line = `set -o pipefail; "$0" "$1" help ${redirection}`;
      const args = ['-c', line, process.execPath, compiledProgram('bridge/cli/main')];
      const { status, stderr } = spawnSync('bash', args, { cwd: folder, encoding: 'utf8' });
      return { status, stderr };
    };
    expect(said('>/dev/full')).toEqual({
      status: 3,
      stderr: 'watchkeeper: the output is incomplete: standard output accepts no more (ENOSPC)\n',
    });
    expect(said('| true')).toEqual({ status: 0, stderr: '' });
  });

  test('never exits with 0 if a command does not come to its end', () => {
    const endless = join(testFolder(), 'endless.cjs');
    writeFileSync(endless, 'Promise.prototype.catch = () => new Promise(() => {});');
    const args = ['--require', endless, compiledProgram('bridge/cli/main'), '--version'];
    expect(spawnSync(process.execPath, args).status).toBe(13);
  });

  test('says that its directory was deleted', () => {
    const args = ['-c', 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" track status'];
    const { status, stderr } = spawnSync('bash', [...args, process.execPath, compiledProgram('bridge/cli/main')], {
      cwd: testFolder(),
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: 'watchkeeper: the current directory was deleted; change to another one and repeat the command\n',
    });
  });

  test('reports a pipe in the place of the Redis endpoint file, or of a cursor', () => {
    const folder = testFolder();
    for (const name of ['logs/redis/endpoint.json', 'logs/consumers/reader.json']) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      execFileSync('mkfifo', [join(folder, name)]);
    }
    expect(watchkeeperAgain(folder, ['sessions'])).toMatchObject({
      code: 3,
      err: expect.stringMatching(/endpoint\.json cannot be read: it is a pipe, not a plain file/),
    });
    appendLines(join(folder, 'logs/critical_events.jsonl'), [eventAt('i1', 0)]);
    expect(watchkeeperAgain(folder, ['events', 'archive'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/reader\.json is damaged \(it is a pipe, not a plain file\): delete it/),
    });
  });

  test.each([
    ['daydream', /\d{4}-\d\d-\d\d\.md\n$/],
    ['events ack i1.detected --consumer reader', /./],
    ['events archive', /./],
  ])('`%s` works if a secret is in a file', (command, words) => {
    const folder = testFolder();
    writeFileSync(join(folder, 'token'), 'hunter2hunter2');
    appendLines(join(folder, 'logs/critical_events.jsonl'), [eventAt('i1', 0)]);
    const said = watchkeeperAgain(folder, command.split(' '), { GITHUB_TOKEN_FILE: 'token' });
    expect(said).toMatchObject({ code: 0, out: expect.stringMatching(words), err: '' });
  });

  // rule: nothing-is-written-through-a-link
  test.each(['bridge.log', 'critical_events.jsonl', 'sessions', 'issues', 'daydream'])(
    'refuses to start if a link is in the place of `%s`',
    (name) => {
      const folder = testFolder();
      mkdirSync(join(folder, 'logs'));
      mkdirSync(join(folder, 'elsewhere'));
      symlinkSync(join(folder, 'elsewhere'), join(folder, 'logs', name));
      expect(watchkeeperAgain(folder, ['bridge'])).toMatchObject({
        code: 2,
        err: expect.stringMatching(new RegExp(`logs/${name} is a link.*not followed: remove it`)),
      });
      expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
    },
  );

  test('writes no review and no acknowledgement through a link', () => {
    for (const [name, command] of [
      ['daydream', ['daydream']],
      ['consumers', ['events', 'ack', 'i1.detected', '--consumer', 'reader']],
    ] as const) {
      const folder = testFolder();
      appendLines(join(folder, 'logs/critical_events.jsonl'), [eventAt('i1', 0)]);
      mkdirSync(join(folder, 'elsewhere'));
      symlinkSync(join(folder, 'elsewhere'), join(folder, 'logs', name));
      expect(watchkeeperAgain(folder, command)).toMatchObject({
        code: 3,
        err: expect.stringContaining('not followed'),
      });
      expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
    }
  });

  // rule: a-newer-line-is-left-out
  test('leaves out critical events of a newer version, counts them, and continues reading', () => {
    const folder = testFolder();
    const newer = { ...eventAt('i2', 1), v: 2 } as unknown as CriticalEvent;
    appendLines(join(folder, 'logs/critical_events.jsonl'), [eventAt('i1', 0), newer, eventAt('i3', 2)]);
    const said = watchkeeperAgain(folder, ['events', '--json']);
    expect(said.err).toMatch(/1 event of a newer version left out/);
    expect(
      said.out
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text).incident_id),
    ).toEqual(['i1', 'i3']);
    expect(watchkeeperAgain(folder, ['daydream']).err).toMatch(/1 event of a newer version left out/);
  });

  test('prints no text of its own that its redactor takes for a secret', () => {
    const folder = testFolder();
    const doctor = watchkeeperAgain(folder, ['doctor', '--quick']);
    expect(doctor.out).toContain('TELEGRAM_BOT_TOKEN is not set: messages come from the terminal');
    const helps = everyHelp();
    expect(helps.length).toBeGreaterThan(10);
    expect([doctor.out, ...helps].join('')).not.toContain('[redacted');
  });

  test('has help that fits 80 columns, except for examples, which are lines to copy', () => {
    const lines = everyHelp().flatMap((help) => (help.split(/^examples?:$/m)[0] ?? '').split('\n'));
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  test('shows no secret from a file when other settings are refused', () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'token'), 'hunter2hunter2');
    writeFileSync(join(folder, 'redis'), 'http://hunter2hunter2');
    const said = watchkeeperAgain(folder, ['sessions'], {
      GITHUB_TOKEN_FILE: 'token',
      REDIS_URL_FILE: 'redis',
      WATCHDOG_CRON: 'hunter2hunter2',
    });
    expect(said.code).toBe(2);
    expect(said.err).toContain('given "[redacted:own_secret]"');
    expect(said.err).not.toContain('hunter2');
  });
});

const helps: string[] = [];

/** @returns the overview, and the help of every command; asked once */
function everyHelp(): readonly string[] {
  if (helps.length > 0) return helps;
  const folder = testFolder();
  const overview = watchkeeperAgain(folder, ['help']).out;
  const names = [...overview.matchAll(/^ {2}(\w+) {2}/gm)].map(([, name = '']) => name);
  helps.push(overview, ...names.map((name) => watchkeeperAgain(folder, ['help', name]).out));
  return helps;
}
