import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readSettings } from '../../src/config/readSettings.js';
import { placeOf, type Settings } from '../../src/config/settings.js';
import { UsageError } from '../../src/errors.js';
import { DEFAULT_THRESHOLDS } from '../../src/model.js';
import { testFolder } from '../harness/folder.js';

const BOT_TOKEN = '123456:ABC-DEF1234567890';

interface Given {
  readonly config?: unknown;
  readonly environment?: Record<string, string>;
  readonly folder?: string;
  /** Folders to make. */
  readonly folders?: readonly string[];
}

async function read({ config, environment = {}, folder = testFolder(), folders = [] }: Given): Promise<Settings> {
  for (const name of folders) mkdirSync(join(folder, name), { recursive: true });
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  if (config !== undefined) writeFileSync(join(folder, 'watchkeeper.config.json'), text);
  return readSettings({ environment, workingDirectory: folder });
}

/** @returns the message of the refusal */
async function faultsOf(given: Given): Promise<string> {
  const error = await read(given).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UsageError);
  return (error as UsageError).message;
}

function projectsOf(projects: Record<string, object>): unknown {
  return { projects };
}

describe('a configuration', () => {
  test('that is absent tries everything out here, and says so', async () => {
    const settings = await read({});
    expect([...settings.projects.keys()]).toEqual(['local']);
    expect(settings.notices.join()).toContain('no watchkeeper.config.json here');
    expect(settings).toMatchObject({ redisUrl: null, telegram: null, github: null, watchdogCron: '*/5 * * * *' });
    expect(Object.isFrozen(settings)).toBe(true);
  });

  test('tells all its faults at once, each with what is allowed', async () => {
    const message = await faultsOf({
      config: {
        projects: {
          popoto: { directory: 'nowhere', chats: ['abc'], senderz: ['1'], actions: { silence: 'maybe', crash: 'off' } },
          'Bad Key': { directory: '.' },
        },
        thresholds: { silence_ms: -1, silense_ms: 5 },
        timings: { runLeaseMs: 10 },
      },
      environment: {
        WATCHDOG_CRON: '* * *',
        WATCHDOG_SILENCE_MS: '10m',
        WATCHDOG_SILENSE_MS: '5',
        WATCHKEEPER_LOG: 'x',
        AGENT_CONCURRENCY: '0',
        LOG_LEVEL: 'loud',
        TELEGRAM_API_ROOT: 'not an address',
        GITHUB_API_URL: 'neither',
        REDIS_URL: 'redis://:hunter2hunter2@host:notaport',
        TELEGRAM_BOT_TOKEN: 'hunter2hunter2',
        AGENT_ENV: 'PATH GITHUB_TOKEN REDIS_URL_FILE',
      },
    });
    for (const expected of [
      'projects.popoto.chats.0',
      'unknown key "senderz"; did you mean "senders"?',
      'projects.popoto.actions.silence: must be one of revive, report, off',
      'projects.popoto.actions.crash: must be one of revive, report',
      'thresholds.silence_ms: must be more than 0 ms',
      'unknown key "silense_ms"; did you mean "silence_ms"?',
      'timings.runLeaseMs: must be at least 1000 ms',
      'WATCHDOG_CRON: must be a cron pattern',
      'WATCHDOG_SILENCE_MS: must be a whole number',
      'WATCHDOG_SILENSE_MS: no such setting; did you mean "WATCHDOG_SILENCE_MS"?',
      'WATCHKEEPER_LOG: no such setting; did you mean "WATCHKEEPER_LOGS"?',
      'AGENT_CONCURRENCY: must be more than 0',
      'LOG_LEVEL: must be one of fatal,',
      'TELEGRAM_API_ROOT: must be an address',
      'GITHUB_API_URL: must be an address',
      'REDIS_URL: ',
      'TELEGRAM_BOT_TOKEN: is not a bot token',
      "AGENT_ENV: GITHUB_TOKEN is Watchkeeper's own secret",
      "AGENT_ENV: REDIS_URL_FILE is Watchkeeper's own secret",
    ]) {
      expect(message).toContain(expected);
    }
    expect(message).not.toContain('hunter2');
  });

  test('names the faults of projects too: keys, directories, shared chats', async () => {
    const message = await faultsOf({
      config: projectsOf({
        popoto: { directory: 'a', chats: [-1] },
        other: { directory: 'b', chats: [-1] },
        third: { directory: 'nowhere' },
        fourth: { directory: 'watchkeeper.config.json' },
        'Bad Key': { directory: '.' },
      }),
      folders: ['a', 'b'],
    });
    expect(message).toContain('projects.other.chats: chat -1 belongs to "popoto" already');
    expect(message).toContain('nowhere does not exist');
    expect(message).toContain('is not a directory');
    expect(message).toContain('projects."Bad Key"');
    expect(message.match(/^ {2}- /gm)).toHaveLength(4);
  });

  test('that is no JSON is a fault that shows nothing of the file', async () => {
    const message = await faultsOf({ config: `{"agent": hunter2hunter2}` });
    expect(message).toContain('is not JSON');
    expect(message).not.toContain('hunter2');
  });

  test('that cannot be read is a fault, not an absent one', async () => {
    const folder = testFolder();
    mkdirSync(join(folder, 'watchkeeper.config.json'));
    expect(await faultsOf({ folder })).toContain('cannot be read');
    expect(await faultsOf({ environment: { WATCHKEEPER_CONFIG: 'gone.json' } })).toContain('WATCHKEEPER_CONFIG');
  });

  test('does not stumble over the marks that a run gives to its agent', async () => {
    const environment = { WATCHKEEPER_RUN: 'r', WATCHKEEPER_SESSION: 's', WATCHKEEPER_ATTEMPT: '1' };
    expect((await read({ environment })).projects.size).toBe(1);
  });

  test('of the watchdog’s schedule is a pattern of five or six fields that comes again', async () => {
    for (const pattern of ['*/5 * * * *', '*/2 * * * * *', '0 3 * * 1-5']) {
      expect((await read({ environment: { WATCHDOG_CRON: pattern } })).watchdogCron).toBe(pattern);
    }
    for (const pattern of ['0 0 31 2 *', '2099-01-01T00:00:00', '61 * * * *']) {
      expect(await faultsOf({ environment: { WATCHDOG_CRON: pattern } })).toContain('WATCHDOG_CRON');
    }
  });
});

describe('secrets', () => {
  test('come from the environment or a file, and never from both', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'bot'), `${BOT_TOKEN}\n`);
    const settings = await read({
      folder,
      environment: { TELEGRAM_BOT_TOKEN_FILE: 'bot', GITHUB_TOKEN: 'ghp_x', REDIS_URL: 'redis://:pa%40ss@h:1/0' },
    });
    expect(settings.telegram?.token).toBe(BOT_TOKEN);
    expect(settings.github?.token).toBe('ghp_x');
    expect(settings.secrets).toEqual(expect.arrayContaining([BOT_TOKEN, 'ghp_x', 'pa@ss']));
    writeFileSync(join(folder, 'empty'), '\n');
    const message = await faultsOf({
      folder,
      environment: {
        TELEGRAM_BOT_TOKEN: BOT_TOKEN,
        TELEGRAM_BOT_TOKEN_FILE: 'bot',
        GITHUB_TOKEN_FILE: 'missing',
        REDIS_URL_FILE: 'empty',
      },
    });
    expect(message).toContain('TELEGRAM_BOT_TOKEN: given twice');
    expect(message).toContain('GITHUB_TOKEN_FILE: cannot read missing');
    expect(message).toContain('REDIS_URL_FILE: empty is empty');
    expect(message).not.toContain(BOT_TOKEN);
  });

  test('do not reach the agent, whose environment is an allow-list', async () => {
    const { agentEnvironment } = await read({
      environment: {
        PATH: '/bin',
        HOME: '/home/x',
        TELEGRAM_BOT_TOKEN: BOT_TOKEN,
        GITHUB_TOKEN: 'ghp_x',
        REDIS_URL: 'redis://h',
        SOMETHING: '1',
        ANTHROPIC_API_KEY: 'k',
        AGENT_ENV: 'ANTHROPIC_API_KEY, UNSET',
      },
    });
    expect(agentEnvironment).toEqual({ PATH: '/bin', HOME: '/home/x', ANTHROPIC_API_KEY: 'k' });
  });
});

describe('projects', () => {
  test('allow nobody where nobody is listed', async () => {
    const settings = await read({ config: projectsOf({ popoto: { directory: '.', chats: [-5] } }) });
    expect(settings.projects.get('popoto')?.senders).toEqual([]);
  });

  test('have the scripted agent where none is named, with what else its settings say', async () => {
    const agents = { scenario: { scenario: 'story.json' }, nothing: {}, none: undefined };
    for (const [name, agent] of Object.entries(agents)) {
      const settings = await read({ config: projectsOf({ popoto: { directory: '.', agent } }) });
      expect([name, settings.projects.get('popoto')?.agent]).toMatchObject([
        name,
        { kind: 'scripted', options: agent ?? {} },
      ]);
    }
  });

  test('must not share a directory, nor have one within another’s, whatever they are called', async () => {
    const folder = testFolder();
    mkdirSync(join(folder, 'a/deep'), { recursive: true });
    mkdirSync(join(folder, 'ab'));
    symlinkSync(join(folder, 'a/deep'), join(folder, 'link'));
    const overlapping = (projects: Record<string, object>) => faultsOf({ folder, config: projectsOf(projects) });
    expect(await overlapping({ one: { directory: 'a' }, two: { directory: 'a/../a' } })).toContain('equal or nested');
    expect(await overlapping({ one: { directory: 'a' }, two: { directory: 'link' } })).toContain('equal or nested');
    expect(
      await overlapping({
        one: { directory: 'ab', chats: [{ id: -1, directory: 'a' }] },
        two: { directory: 'a/deep' },
      }),
    ).toContain('equal or nested');
    const apart = await read({ folder, config: projectsOf({ one: { directory: 'a' }, two: { directory: 'ab' } }) });
    expect(apart.projects.size).toBe(2);
  });

  test('know their chats and topics, a topic before its whole chat', async () => {
    const settings = await read({
      config: projectsOf({
        popoto: { directory: 'a', chats: [-5, { id: '-5', topic: 7, directory: 'a/t' }] },
        other: { directory: 'b', chats: [{ id: -6, topic: 1 }] },
      }),
      folders: ['a/t', 'b'],
    });
    expect(placeOf(settings, '-5', null)?.place.threadId).toBeNull();
    expect(placeOf(settings, '-5', '7')?.place.directory).toMatch(/a\/t$/);
    expect(placeOf(settings, '-5', '8')?.place.threadId).toBeNull();
    expect(placeOf(settings, '-6', null)).toBeNull();
    expect(placeOf(settings, '-6', '1')?.project.key).toBe('other');
  });

  test('have thresholds and actions of their own before those of all', async () => {
    const settings = await read({
      config: {
        projects: {
          one: { directory: 'a', thresholds: { silence_ms: 1 }, actions: { silence: 'off' } },
          two: { directory: 'b' },
        },
        thresholds: { silence_ms: 2, runaway_ms: 3 },
        actions: { silence: 'report' },
      },
      environment: { WATCHDOG_RUNAWAY_MS: '4' },
      folders: ['a', 'b'],
    });
    const [one, two] = [...settings.projects.values()];
    expect(one?.thresholds).toEqual({ ...DEFAULT_THRESHOLDS, silence_ms: 1, runaway_ms: 4 });
    expect(two?.thresholds).toEqual({ ...DEFAULT_THRESHOLDS, silence_ms: 2, runaway_ms: 4 });
    expect([one?.actions.silence, two?.actions.silence, two?.actions.crash]).toEqual(['off', 'report', 'revive']);
  });
});
