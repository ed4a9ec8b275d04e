import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ConfigSource, describeReload } from '../../../src/config/configSource.js';
import { readSettings } from '../../../src/config/readSettings.js';
import { placeOf } from '../../../src/config/settings.js';
import { testFolder } from '../../harness/folder.js';

const TOKEN = '123456:the-token-of-a-test';
const NEXT_TOKEN = '123456:another-token-of-a-test';

interface Written {
  readonly source: ConfigSource;
  write(config: object): void;
  writeToken(token: string): void;
}

async function openSource(config: object): Promise<Written> {
  const folder = testFolder();
  for (const name of ['one', 'two']) mkdirSync(join(folder, name));
  const write = (next: object) => writeFileSync(join(folder, 'watchkeeper.config.json'), JSON.stringify(next));
  const writeToken = (token: string) => writeFileSync(join(folder, 'token'), token);
  write(config);
  writeToken(TOKEN);
  const environment = { TELEGRAM_BOT_TOKEN_FILE: 'token' };
  const read = () => readSettings({ environment, workingDirectory: folder });
  return { source: new ConfigSource(await read(), read), write, writeToken };
}

test('callers get the projects of the last good reading: chats, senders and thresholds', async () => {
  const { source, write } = await openSource({ projects: { one: { directory: 'one', chats: [1], senders: [1] } } });
  const { settings } = source;
  const [before] = settings.projects.values();
  write({
    projects: {
      one: { directory: 'one', chats: [1], senders: [1] },
      two: { directory: 'two', chats: [2], senders: [2, 3], thresholds: { silence_ms: 5_000 } },
    },
  });
  expect(placeOf(settings, '2', null)).toBeNull();
  expect(describeReload(await source.reload())).toBe('the configuration was read again: projects added: two');
  expect(placeOf(settings, '2', null)?.project).toMatchObject({
    senders: ['2', '3'],
    thresholds: { silence_ms: 5_000 },
  });
  // What has not changed is the same object: what was made for it stays.
  expect(settings.projects.get('one')).toBe(before);

  write({ projects: { two: { directory: 'two', chats: [2], senders: [3] } } });
  expect(describeReload(await source.reload())).toBe(
    'the configuration was read again: projects removed: one; projects changed: two',
  );
  expect(placeOf(settings, '1', null)).toBeNull();
  expect(describeReload(await source.reload())).toBe('the configuration was read again: nothing has changed');
});

test('a faulty configuration changes nothing, nor does one that needs a missing agent', async () => {
  const { source, write } = await openSource({ projects: { one: { directory: 'one', chats: [1], senders: [1] } } });
  write({ projects: { one: { directory: 'one', chats: [1], senders: [1], thresholds: { silence: 1 } } } });
  await expect(source.reload()).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('"silence"') });
  write({ projects: { two: { directory: 'two' } } });
  const refuse = () => {
    throw new Error('no such agent');
  };
  await expect(source.reload(refuse)).rejects.toThrow('no such agent');
  expect([...source.settings.projects.keys()]).toEqual(['one']);
});

// rule: a-reload-names-what-needs-a-restart
test('settings that need a restart are named at every reload, without a value', async () => {
  const projects = { one: { directory: 'one' } };
  const { source, write, writeToken } = await openSource({ projects });
  write({
    projects,
    timings: { drainMs: 1 },
    daydream: { cron: '0 1 * * *' },
    polling: { tools: ['look'] },
    memory: { texts: false },
  });
  writeToken(NEXT_TOKEN);
  for (const _ of [1, 2]) {
    const reloaded = await source.reload();
    expect(reloaded.needsRestart).toEqual([
      'TELEGRAM_BOT_TOKEN or TELEGRAM_API_ROOT',
      '`timings`',
      '`polling`',
      '`memory`',
      '`daydream.cron`',
    ]);
    expect(JSON.stringify(reloaded)).not.toContain('another-token');
  }
  expect(source.settings).toMatchObject({ telegram: { token: TOKEN }, timings: { drainMs: 20_000 } });
});
