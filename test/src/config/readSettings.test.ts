import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createAgents } from '../../../bridge/agents/registry.js';
import { readSettings } from '../../../src/config/readSettings.js';
import { testFolder } from '../../harness/folder.js';

const read = (environment: Record<string, string>) => readSettings({ environment, workingDirectory: testFolder() });

test.each([
  ['REDIS_URL', 'redis://:hun%ter2@127.0.0.1', /REDIS_URL: cannot be read .* %25/],
  ['REDIS_URL', 'redis://us er:hunter2@ho st', /REDIS_URL: cannot be read/],
  ['AGENT_CONCURRENCY', 'many', /AGENT_CONCURRENCY: must be a whole number of agents, at least 1; given "many"$/m],
  ['WATCHDOG_CRON', '2020-01-01T00:00:00', /WATCHDOG_CRON: must be a cron pattern/],
  ['WATCHDOG_CRON', '0 0 31 2 *', /WATCHDOG_CRON: must be a cron pattern/],
  ['WATCHDOG_PING_URL', 'ftp://example.com/hunter2', /WATCHDOG_PING_URL: must begin with https/],
  ['HEALTH_PORT', '70000', /HEALTH_PORT: /],
])('%s=%s is a fault with an explanation, without the value of a secret', async (name, value, words) => {
  const refused = read({ [name]: value });
  await expect(refused).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(words) });
  await expect(refused).rejects.not.toThrow(/hun%?ter2/);
});

test('an API address must be HTTP', async () => {
  const environment = { TELEGRAM_BOT_TOKEN: '1:token-of-a-test', TELEGRAM_API_ROOT: 'ftp://example.com' };
  await expect(read(environment)).rejects.toThrow('TELEGRAM_API_ROOT: must be an address');
});

test('a schedule, and a password with escapes, are accepted', async () => {
  const settings = await read({ WATCHDOG_CRON: '0 4 29 2 *', REDIS_URL: 'redis://:50%25%40x@localhost/3' });
  expect(settings).toMatchObject({ watchdogCron: '0 4 29 2 *', secrets: ['50%@x'] });
});

test('health is served on loopback by default, and the ping address is a secret', async () => {
  const pingUrl = 'https://example.com/a1b2c3';
  const settings = await read({ HEALTH_PORT: '8787', WATCHDOG_PING_URL: pingUrl });
  expect(settings).toMatchObject({ health: { host: '127.0.0.1', port: 8787 }, pingUrl, secrets: [pingUrl] });
  await expect(read({ AGENT_ENV: 'WATCHDOG_PING_URL' })).rejects.toThrow('is never given to an agent');
});

test('agents run as a listed user, or as any uid:gid, and never as root', async () => {
  const as = (user: string) => read({ WATCHKEEPER_AGENT_USER: user });
  const nobody = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  const [uid, gid] = [Number(nobody?.[1]), Number(nobody?.[2])];
  expect(await as('nobody')).toMatchObject({ agentUser: { name: 'nobody', uid, gid } });
  expect(await as(`${uid}:4711`)).toMatchObject({ agentUser: { name: 'nobody', uid, gid: 4711 } });
  expect(await as('47110:4711')).toMatchObject({ agentUser: { name: null, home: null, uid: 47_110, gid: 4711 } });
  for (const refused of ['root', '0:4711', '4711:0', 'no-such-user', '4711'])
    await expect(as(refused)).rejects.toThrow('WATCHKEEPER_AGENT_USER: must be a user of this host');
});

test('no agent is found under a name that every object has', async () => {
  const [local] = (await read({})).projects.values();
  if (local === undefined) throw new Error('there is a project for trying out');
  for (const kind of ['constructor', 'toString', '__proto__']) {
    expect(() => createAgents([{ ...local, agent: { kind, options: {} } }])).toThrow(`no agent "${kind}"`);
  }
});

test('an agent gets no value of a secret, under any variable name', async () => {
  const secrets = { TELEGRAM_BOT_TOKEN: '1:token-of-a-test', REDIS_URL: 'redis://:hun%25ter2@localhost' };
  for (const [name, value] of [
    ['GH_TOKEN', '1:token-of-a-test'],
    ['NOTES', 'the token is 1:token-of-a-test.'],
    ['CACHE', 'redis://:hun%25ter2@localhost'],
    ['PASSWORD', 'hun%ter2'],
    ['HEADER', `Basic ${Buffer.from('bot:1:token-of-a-test').toString('base64')}`],
  ] as const) {
    const refused = read({ ...secrets, AGENT_ENV: name, [name]: value });
    await expect(refused).rejects.toThrow(`AGENT_ENV: ${name} holds one of Watchkeeper's own secrets`);
    await expect(refused).rejects.not.toThrow(/token-of|ter2/);
  }
  const others = { ...secrets, AGENT_ENV: 'GH_TOKEN', GH_TOKEN: 'ghp_of_the_agents_own' };
  expect((await read(others)).agentEnvironment).toMatchObject({ GH_TOKEN: 'ghp_of_the_agents_own' });
});

test.each([
  '../..',
  'owner/..',
  'owner/.',
  './name',
  '../name',
  'owner/na me',
  'owner/name/more',
  '-owner/name',
  'owner/',
])('a repository is an owner and a name, and no path: %s', async (repository) => {
  const folder = testFolder();
  const file = join(folder, 'watchkeeper.config.json');
  writeFileSync(file, JSON.stringify({ projects: { boat: { directory: '.', repository } } }));
  const refused = readSettings({ environment: {}, workingDirectory: folder });
  await expect(refused).rejects.toThrow('projects.boat.repository: must be a repository, as "owner/name"');
});

test.each(['owner/name', 'own-er_x/.github', 'a/b.c-d_e'])('a repository can be %s', async (repository) => {
  const folder = testFolder();
  const file = join(folder, 'watchkeeper.config.json');
  writeFileSync(file, JSON.stringify({ projects: { boat: { directory: '.', repository } } }));
  const { projects } = await readSettings({ environment: {}, workingDirectory: folder });
  expect(projects.get('boat')?.repository).toBe(repository);
});

test.each([
  '{"__proto__": {"projects": {}}, "projects": {}}',
  '{"projects": {"__proto__": {"directory": "."}}}',
  '{"projects": {},\n "\\u005f_proto__": 1}',
])('a key __proto__ is a fault with an explanation: %s', async (text) => {
  const folder = testFolder();
  writeFileSync(join(folder, 'watchkeeper.config.json'), text);
  const refused = readSettings({ environment: {}, workingDirectory: folder });
  await expect(refused).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/has the key "__proto__", which nothing may be called \(line [12]\)/),
  });
});

describe('the logs folder', () => {
  /** A checkout in which a bridge is started, with a project in `directory` and one outside. */
  function checkout(directory: string, agent: object = { kind: 'command', command: ['true'] }) {
    const folder = testFolder();
    const project = { directory, chats: [], senders: [], agent, isolation: 'none' };
    writeFileSync(join(folder, 'watchkeeper.config.json'), JSON.stringify({ projects: { shop: project } }));
    mkdirSync(join(folder, 'work'));
    const state = testFolder();
    const settings = (environment: Record<string, string> = {}) =>
      readSettings({ environment: { XDG_STATE_HOME: state, ...environment }, workingDirectory: folder });
    return { folder, state, settings };
  }

  // rule: no-agent-works-in-the-logs-folder
  test('is beside the bridge, or if agents work there, has a place of its own, which the operator reads', async () => {
    const apart = checkout('work');
    expect((await apart.settings()).logsFolder).toBe(join(apart.folder, 'logs'));
    const inside = checkout('.');
    const { logsFolder, notices } = await inside.settings();
    expect(logsFolder).toMatch(new RegExp(`^${inside.state}/watchkeeper-bridge/[\\w-]+-[0-9a-f]{8}$`));
    expect(notices.join()).toContain(`the logs are in ${logsFolder}, because ${join(inside.folder, 'logs')} lies in`);
    expect((await inside.settings()).logsFolder).toBe(logsFolder);
    const scripted = checkout('.', { kind: 'scripted' });
    expect((await scripted.settings()).logsFolder).toBe(join(scripted.folder, 'logs'));
  });

  // rule: no-agent-works-in-the-logs-folder
  test.each(['work/logs', 'work', 'link'])(
    'that is named in a project, as %s, is refused with a place for it',
    async (named) => {
      const { folder, settings } = checkout('work');
      symlinkSync(join(folder, 'work'), join(folder, 'link'));
      const refused = settings({ WATCHKEEPER_LOGS: named });
      await expect(refused).rejects.toMatchObject({ code: 'usage' });
      await expect(refused).rejects.toThrow(
        /lies in a directory of the project "shop".*name a folder outside, such as \//,
      );
    },
  );

  // rule: no-agent-works-in-the-logs-folder
  test('of an earlier version in a project is not left behind with its messages', async () => {
    const { folder, settings } = checkout('.');
    mkdirSync(join(folder, 'logs'));
    writeFileSync(join(folder, 'logs', 'watchdog.id'), 'x');
    await expect(settings()).rejects.toThrow(/`mkdir -p \S+ && mv \S+\/logs \S+`/);
  });
});
