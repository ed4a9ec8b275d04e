import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkAgentOptions } from '../../../bridge/agents/options.js';
import { describeIssuePlaces } from '../../../src/config/issuePlaces.js';
import { readSettings } from '../../../src/config/readSettings.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { placeOf, type Settings } from '../../../src/config/settings.js';
import { UsageError } from '../../../src/errors.js';
import { testFolder } from '../../harness/folder.js';

const BOT_TOKEN = '123456:ABC-DEF1234567890';

interface Given {
  readonly config?: unknown;
  readonly environment?: Record<string, string>;
  readonly folder?: string;
  /** Folders to make. */
  readonly folders?: readonly string[];
  readonly onSecret?: (secret: string) => void;
}

async function read({
  config,
  environment = {},
  folder = testFolder(),
  folders = [],
  onSecret,
}: Given): Promise<Settings> {
  for (const name of folders) mkdirSync(join(folder, name), { recursive: true });
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  if (config !== undefined) writeFileSync(join(folder, 'watchkeeper.config.json'), text);
  const checkAgent = checkAgentOptions;
  return readSettings({ environment, workingDirectory: folder, checkAgent, ...(onSecret && { onSecret }) });
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
  test('can name a project of another host without its directory; with it, this host can take over', async () => {
    const config = projectsOf({
      ship: { directory: 'ship', host: 'harbour' },
      dock: { directory: 'dock', host: 'harbour' },
    });
    const settings = await read({ config, folders: ['dock'], environment: { WATCHKEEPER_HOST: 'hill' } });
    expect([...settings.projects.values()].map(({ key, isServedHere }) => [key, isServedHere])).toEqual([
      ['ship', false],
      ['dock', true],
    ]);
    expect(settings.notices.join()).toContain('project "ship" is served by harbour, not here');
    // At home it is out of service until its directory is there; the bridge says so.
    const atHome = await read({ config, environment: { WATCHKEEPER_HOST: 'harbour' } });
    expect([...atHome.projects.values()].map(({ isServedHere }) => isServedHere)).toEqual([true, true]);
    expect(await faultsOf({ config: projectsOf({ ship: { directory: '.', host: 'no name' } }) })).toContain(
      'projects.ship.host: must be the name of a host',
    );
  });

  test('that is absent makes a local trial setup, and says so', async () => {
    const settings = await read({});
    expect([...settings.projects.keys()]).toEqual(['local']);
    expect(settings.notices.join()).toContain('no watchkeeper.config.json here');
    expect(settings).toMatchObject({ redisUrl: null, telegram: null, github: null, watchdogCron: '*/5 * * * *' });
    expect(Object.isFrozen(settings)).toBe(true);
  });

  test.each([
    [{}, ['a/b', 'a/c'], 'issues are files in logs/issues (no GITHUB_TOKEN)'],
    [{ GITHUB_TOKEN: 't' }, ['a/b', 'a/c'], 'issues go to GitHub'],
    [{ GITHUB_TOKEN: 't' }, ['a/b', undefined], /^issues go to GitHub, but those of two are files in logs\/issues/],
    [{ GITHUB_TOKEN: 't' }, [undefined, undefined], /^issues are files in logs\/issues \(no project has a/],
  ])('with %j and the repositories %j describes where issues go', async (environment, [one, two], words) => {
    const projects = { one: { directory: 'one', repository: one }, two: { directory: 'two', repository: two } };
    const settings = await read({ config: { projects }, environment, folders: ['one', 'two'] });
    expect(describeIssuePlaces(settings)).toEqual(typeof words === 'string' ? words : expect.stringMatching(words));
  });

  test('reports all its faults at once, each with the allowed values', async () => {
    const message = await faultsOf({
      config: {
        projects: {
          popoto: {
            directory: 'nowhere',
            chats: ['abc'],
            senders: ['@ann'],
            senderz: ['1'],
            actions: { silence: 'maybe', crash: 'off' },
          },
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
      'projects.popoto.senders.0: must be a Telegram id, such as 123456789 or -5294327191; given "@ann"',
      'unknown key "senderz"; did you mean "senders"?',
      'projects.popoto.actions.silence: must be one of revive, report, off',
      'projects.popoto.actions.crash: must be one of revive, report',
      'thresholds.silence_ms: must be a whole number of milliseconds, at least 1; given -1',
      'unknown key "silense_ms"; did you mean "silence_ms"?',
      'timings.runLeaseMs: must be a whole number of milliseconds, at least 1000; given 10',
      'WATCHDOG_CRON: must be a cron pattern in UTC such as "*/5 * * * *"; given "* * *"',
      'WATCHDOG_SILENCE_MS: must be a whole number of milliseconds, at least 1; given "10m"',
      'WATCHDOG_SILENSE_MS: no such setting; did you mean "WATCHDOG_SILENCE_MS"?',
      'WATCHKEEPER_LOG: no such setting; did you mean "WATCHKEEPER_LOGS"?',
      'AGENT_CONCURRENCY: must be a whole number of agents, at least 1; given "0"',
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

  test('names the faults of projects too: keys, shared chats, nested directories', async () => {
    const message = await faultsOf({
      config: projectsOf({
        popoto: { directory: 'a', chats: [-1] },
        other: { directory: 'b', chats: [-1] },
        third: { directory: 'nowhere' },
        fourth: { directory: 'nowhere/below' },
        'Bad Key': { directory: 'c' },
      }),
      folders: ['a', 'b', 'c'],
    });
    expect(message).toContain('projects.other.chats: chat -1 belongs to "popoto" already');
    expect(message).toMatch(/projects\.third and projects\.fourth: .* equal or nested/);
    expect(message).toContain('projects."Bad Key"');
    expect(message.match(/^ {2}- /gm)).toHaveLength(3);
  });

  test('that is faulty is read as far as possible: faults of keys, agents and directories are listed with all others', async () => {
    const message = await faultsOf({
      config: {
        projects: {
          one: { directory: 'a', senderz: [], agent: { kind: 'scriptd' } },
          two: { agent: { kind: 'command', command: 'run --key hunter2hunter2', output: 'xml' } },
          three: [],
          four: { directory: 'gone', chats: [{ id: 1, topc: 2 }] },
          'Five!': { directory: 'b', thresholds: 5 },
        },
        thresholds: { silence_ms: '10m', loop_repeats: 1.5 },
        timings: [],
        memory: { freshness: { stale_h: 1 }, keep_days: '90', text: false },
      },
      environment: { WATCHDOG_RUNAWAY_MS: '1e3', HEALTH_PORT: 'x' },
      folders: ['a', 'b'],
    });
    for (const expected of [
      'projects.one: unknown key "senderz"; did you mean "senders"?',
      'projects.one.agent.kind: no agent "scriptd"; did you mean "scripted"?',
      'projects.two.directory: must be the path of a directory; it is missing',
      'projects.two.agent.command: must be a list: the program and its arguments, each by itself; given a text (not shown)',
      'projects.two.agent.output: must be one of text,',
      'projects.three: must be an object, such as {"key": …}; given an empty list',
      'projects.four.chats.0: unknown key "topc"; did you mean "topic"? (known: id, topic, directory, trigger)',
      'projects."Five!": a project\'s key is',
      'projects."Five!".thresholds: must be an object, such as {"key": …}; given 5',
      'thresholds.silence_ms: must be a whole number of milliseconds, at least 1; given "10m"',
      'thresholds.loop_repeats: must be a whole number of calls, at least 1; given 1.5',
      'timings: must be an object',
      'memory.freshness.stale_h: must be more than freshness.resumable_h (1); given 1',
      'memory.keep_days: must be a number; given "90"',
      'memory: unknown key "text"; did you mean "texts"?',
      'WATCHDOG_RUNAWAY_MS: must be a whole number of milliseconds, at least 1; given "1e3"',
      'HEALTH_PORT: must be a port, from 1 to 65535; given "x"',
    ]) {
      expect(message).toContain(expected);
    }
    expect(message).not.toMatch(/hunter2|received|expected|NaN|Invalid/);
  });

  test('of another shape is a fault of the file', async () => {
    for (const [config, given] of [
      ['[]', 'an empty list'],
      ['[1]', 'a list'],
      ['"x"', '"x"'],
      ['null', 'null'],
    ] as const) {
      const faults = await faultsOf({ config });
      expect(faults).toContain(`watchkeeper.config.json: must be an object, such as {"key": …}; given ${given}`);
    }
  });

  test('that is a pipe, a device or a directory is refused at once', async () => {
    const folder = testFolder();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const [path, kind] of [
      [join(folder, 'pipe'), 'a pipe'],
      ['/dev/zero', 'a device'],
      [folder, 'a directory'],
    ] as const) {
      const environment = { WATCHKEEPER_CONFIG: path, GITHUB_TOKEN_FILE: path };
      const faults = await faultsOf({ environment });
      expect(faults).toContain(`WATCHKEEPER_CONFIG: ${path} cannot be read (it is ${kind}, not a plain file)`);
      expect(faults).toContain(`GITHUB_TOKEN_FILE: cannot read ${path} (it is ${kind}, not a plain file)`);
    }
  });

  test('that is not JSON is a fault that shows nothing of the file', async () => {
    const message = await faultsOf({ config: `{"agent": hunter2hunter2}` });
    expect(message).toContain('is not JSON');
    expect(message).not.toContain('hunter2');
  });

  test('with two projects of the same name is a fault: the first one would be lost silently', async () => {
    const project = '{ "directory": ".", "chats": [{ "id": 1 }, { "id": 2 }] }';
    const message = await faultsOf({ config: `{ "projects": {\n"ship": ${project},\n"ship": ${project} } }` });
    expect(message).toContain('has "ship" twice in one object (line 3)');
    const quoted = '{ "projects": { "ship": { "directory": "\\"a\\": {", "directory": "b" } } }';
    expect(await faultsOf({ config: quoted })).toContain('has "directory" twice');
  });

  test('that cannot be read is a fault, not an absent one', async () => {
    const folder = testFolder();
    mkdirSync(join(folder, 'watchkeeper.config.json'));
    expect(await faultsOf({ folder })).toContain('cannot be read (it is a directory, not a plain file)');
    expect(await faultsOf({ environment: { WATCHKEEPER_CONFIG: 'gone.json' } })).toContain('WATCHKEEPER_CONFIG');
  });

  test('accepts the marks that a run gives to its agent, and the home of memory', async () => {
    const environment = {
      WATCHKEEPER_RUN: 'r',
      WATCHKEEPER_LANE: 'l',
      WATCHKEEPER_SESSION: 's',
      WATCHKEEPER_ATTEMPT: '1',
      WATCHKEEPER_MEMORY: '/logs',
      WATCHKEEPER_HOME: '/home/me/memory',
    };
    expect((await read({ environment })).projects.size).toBe(1);
  });

  test('of the schedule of the watchdog is a recurring pattern of five or six fields', async () => {
    for (const pattern of ['*/5 * * * *', '*/2 * * * * *', '0 3 * * 1-5']) {
      expect((await read({ environment: { WATCHDOG_CRON: pattern } })).watchdogCron).toBe(pattern);
    }
    for (const pattern of ['0 0 31 2 *', '2099-01-01T00:00:00', '61 * * * *']) {
      expect(await faultsOf({ environment: { WATCHDOG_CRON: pattern } })).toContain('WATCHDOG_CRON');
    }
  });
});

describe('secrets', () => {
  test('from files are known before anything else is refused, and are shown nowhere', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'secret'), 'hunter2hunter2\n');
    const told: string[] = [];
    const message = await faultsOf({
      folder,
      environment: { GITHUB_TOKEN_FILE: 'secret', GITHUB_API_URL: 'hunter2hunter2', WATCHDOG_CRON: 'x hunter2hunter2' },
      onSecret: (secret) => told.push(secret),
    });
    expect(told).toEqual(['hunter2hunter2']);
    expect(message.match(/\[redacted:own_secret\]/g)).toHaveLength(2);
    expect(message).not.toContain('hunter2');
  });

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
    expect(message).toContain('TELEGRAM_BOT_TOKEN is given twice; keep either');
    expect(message).toContain('GITHUB_TOKEN_FILE: cannot read missing (ENOENT)');
    expect(message).toContain('REDIS_URL_FILE: cannot read empty (it is empty)');
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
  test('allow nobody if nobody is listed', async () => {
    const settings = await read({ config: projectsOf({ popoto: { directory: '.', chats: [-5] } }) });
    expect(settings.projects.get('popoto')?.senders).toEqual([]);
  });

  test('have the scripted agent if none is named, with the other settings of the agent', async () => {
    const agents = { scenario: { scenario: 'story.json' }, nothing: {}, none: undefined };
    for (const [name, agent] of Object.entries(agents)) {
      const settings = await read({ config: projectsOf({ popoto: { directory: '.', agent } }) });
      expect([name, settings.projects.get('popoto')?.agent]).toMatchObject([
        name,
        { kind: 'scripted', options: agent ?? {} },
      ]);
    }
  });

  test('must not share a directory, nor be nested, whatever name it has', async () => {
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
        other: { directory: 'b', chats: [{ id: -6, topic: 3 }] },
      }),
      folders: ['a/t', 'b'],
    });
    expect(placeOf(settings, '-5', null)?.place.threadId).toBeNull();
    expect(placeOf(settings, '-5', '7')?.place.directory).toMatch(/a\/t$/);
    expect(placeOf(settings, '-5', '8')?.place.threadId).toBeNull();
    expect(placeOf(settings, '-6', null)).toBeNull();
    expect(placeOf(settings, '-6', '3')?.project.key).toBe('other');
  });

  test('know which messages of a group are for the bot: those that address it, unless chat or project say otherwise', async () => {
    const settings = await read({
      config: projectsOf({
        popoto: { directory: 'a', chats: [-5, { id: -6, trigger: 'any' }, { id: -6, topic: 7 }] },
        other: { directory: 'b', trigger: 'any', chats: [-7, { id: -8, trigger: 'addressed' }] },
      }),
      folders: ['a', 'b'],
    });
    const places = [...settings.projects.values()].flatMap((project) => project.places);
    const triggers = places.map(({ chatId, threadId, trigger }) => [chatId, threadId, trigger]);
    expect(triggers).toEqual([
      ['-5', null, 'addressed'],
      ['-6', null, 'any'],
      ['-6', '7', 'addressed'],
      ['-7', null, 'any'],
      ['-8', null, 'addressed'],
    ]);
  });

  test('prefer their own thresholds and actions to the general ones', async () => {
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
