/** What a look at an agent does not do: wait for ever, or carry a credential elsewhere. */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { askForModels } from '../../../bridge/agents/claude/modelsQuestion.js';
import { runProbe } from '../../../bridge/agents/program/probe.js';
import { systemClock } from '../../../src/time.js';
import { untilGone } from '../../contracts/agentStream.js';
import { eventually } from '../../e2e/eventually.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';

const KEY = { kind: 'api_key', value: 'sk-of-nobody' } as const;
const never = new AbortController().signal;

async function serve(answer: Parameters<typeof createServer>[1]): Promise<{ server: Server; url: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterThisTest(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('asking the provider', () => {
  test.each([
    [200, 'accepted'],
    [401, 'refused'],
    [403, 'troubled'],
    [404, 'cannot_say'],
    [429, 'troubled'],
    [503, 'troubled'],
  ])('%i is %s', async (status, kind) => {
    const { url } = await serve((_, response) => response.writeHead(status).end('sk-of-nobody'));
    const answer = await askForModels(KEY, `${url}/`, never, systemClock);
    expect(answer).toMatchObject({ kind });
    expect(answer.words).not.toContain(KEY.value);
  });

  test('gives up when its time is up', async () => {
    const { server, url } = await serve(() => {});
    const clock = new ManualClock();
    const answer = askForModels(KEY, url, never, clock);
    await once(server, 'request');
    await clock.advance(8_000);
    expect(await answer).toMatchObject({ kind: 'troubled', words: expect.stringContaining('no answer within 8 s') });
  });

  test('does not follow redirects with the key', async () => {
    let followed = 0;
    const other = await serve((_, response) => {
      followed += 1;
      response.end();
    });
    const { url } = await serve((_, response) => response.writeHead(302, { location: other.url }).end());
    expect(await askForModels(KEY, url, never, systemClock)).toMatchObject({ kind: 'troubled' });
    expect(followed).toBe(0);
  });

  test.each(['no address', 'ftp://a.example', 'http://user:hunter2@127.0.0.1:1'])('%s is not called', async (url) => {
    const answer = await askForModels(KEY, url, never, systemClock);
    expect(answer).toEqual({ kind: 'troubled', words: 'ANTHROPIC_BASE_URL is no address that can be asked' });
  });

  test('does not reveal a key that cannot be sent', async () => {
    const { url } = await serve((_, response) => response.end());
    const answer = await askForModels({ kind: 'api_key', value: 'sk-of\nnobody' }, url, never, systemClock);
    expect(answer).toMatchObject({ kind: 'troubled', words: expect.not.stringContaining('nobody') });
  });
});

describe('a short run of a program', () => {
  const probe = (script: string) => ({
    command: process.execPath,
    args: ['-e', script],
    environment: {},
    workingDirectory: testFolder(),
    limitMs: 5_000,
  });

  test('is killed with its whole process group when its time is up', async () => {
    const clock = new ManualClock();
    const folder = testFolder();
    const child =
      "require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'inherit' })";
    const script = `const { pid } = ${child}; require('fs').writeFileSync('pid.new', String(pid)); require('fs').renameSync('pid.new', 'pid'); setInterval(() => {}, 1e6)`;
    const end = runProbe({ ...probe(script), workingDirectory: folder }, never, clock);
    const read = () => existsSync(join(folder, 'pid')) && Number(readFileSync(join(folder, 'pid'), 'utf8'));
    const pid = await eventually(read, { what: 'the pid of its child', withinMs: 10_000 });
    await clock.advance(5_000);
    expect(await end).toEqual({ kind: 'late' });
    await untilGone(pid);
  });

  test('does not wait for processes that keep its output open after its exit', async () => {
    const held = "spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'inherit', detached: true })";
    const script = `const held = require('child_process').${held}; held.unref(); console.log(held.pid)`;
    const end = await runProbe(probe(script), never, systemClock);
    expect(end).toEqual({ kind: 'exited', code: 0, output: expect.stringMatching(/^\d+$/) });
    const pid = Number(end.kind === 'exited' ? end.output : Number.NaN);
    process.kill(pid, 'SIGKILL');
    await untilGone(pid);
  });
});
