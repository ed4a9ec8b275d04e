/** A failed question about a Redis, or about the claim of its folder, is no reason to delete either. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import type { ProcessIdentity } from '../../../src/host/identity.js';
import { systemClock } from '../../../src/time.js';
import { failAt, standInForFiles } from '../../harness/failingFiles.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';

standInForFiles();
const { OnlyBridge } = await import('../../../bridge/health/onlyBridge.js');
const { claimFolder } = await import('../../../bridge/redis/claim.js');
const { endpointPath, pidPath, socketPath, writeEndpoint } = await import('../../../bridge/redis/endpoint.js');
const { adopt, ownerLives } = await import('../../../bridge/redis/obtainServer.js');
const { answers, endByConnection } = await import('../../../bridge/redis/serverProcess.js');
const { UnreachableError } = await import('../../../src/errors.js');
const { readProcessIdentity } = await import('../../../src/host/identity.js');
const { contentDigest } = await import('../../../src/journal/digest.js');
const { createLogger } = await import('../../../src/log/logger.js');

const HERE = readProcessIdentity(`unanswered-${process.pid}`);
const CLAIM = 'claim-000000000000001-3-cd.json';
const stopping = new AbortController().signal;

function ours(folder: string) {
  return { folder, here: HERE, clock: systemClock, stopping };
}

/** @returns a living process that the kernel gives no answer about */
function hidden(): ProcessIdentity {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  afterThisTest(() => void child.kill('SIGKILL'));
  const found = readProcessIdentity(HERE.host, child.pid);
  afterThisTest(failAt(`/proc/${found.pid}/stat`, 'EMFILE'));
  return found;
}

/** Connections fail, as they do without free descriptors. */
function withoutConnections(): void {
  const spy = jest.spyOn(net, 'createConnection').mockImplementation(() => {
    const socket = new net.Socket();
    process.nextTick(() => socket.destroy(Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' })));
    return socket;
  });
  afterThisTest(() => spy.mockRestore());
}

test.each(['EMFILE', 'EIO', 'EACCES'])('a claim stays if reading it fails with %s', async (code) => {
  const folder = testFolder();
  writeFileSync(join(folder, CLAIM), JSON.stringify(HERE));
  const end = failAt(join(folder, CLAIM), code);
  await expect(claimFolder(ours(folder), async () => false)).rejects.toThrow(code);
  expect(readdirSync(folder)).toEqual([CLAIM]);
  end();
  (await claimFolder(ours(folder), async () => false)).release();
  expect(readdirSync(folder)).toEqual([]);
});

test('a bridge of which the kernel says nothing may own the folder', async () => {
  await expect(ownerLives(hidden(), ours(testFolder()))).rejects.toThrow(UnreachableError);
});

test('a server of which the kernel says nothing gets no second one on its data', async () => {
  const folder = testFolder();
  const [server, url] = [hidden(), `unix://${socketPath(folder)}`];
  writeEndpoint(folder, { v: 1, url, kind: 'redis-server', persistent: true, server, owner: HERE });
  await expect(adopt(ours(folder), [])).rejects.toThrow(`process ${server.pid} on ${HERE.host} may still be the Redis`);
  expect(existsSync(endpointPath(folder))).toBe(true);
});

test('nor does one that has only left its pid', async () => {
  // So deep that its socket has no path, by which it could be asked.
  const folder = join(testFolder(), 'd'.repeat(100));
  mkdirSync(folder);
  const server = hidden();
  writeFileSync(pidPath(folder), String(server.pid));
  await expect(adopt(ours(folder), [])).rejects.toThrow(`process ${server.pid} may still be the Redis of ${folder}`);
  expect(existsSync(pidPath(folder))).toBe(true);
});

test('the claim of a host id stays if the kernel says nothing of its process', async () => {
  const logsFolder = testFolder();
  const logger = createLogger({ level: 'silent', redact: (text) => text, clock: systemClock, destinations: [] });
  const folder = join(logsFolder, 'claims', contentDigest(HERE.host));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, CLAIM), JSON.stringify(hidden()));
  const base = { here: HERE, clock: systemClock, logger, logsFolder, stopping };
  const only = new OnlyBridge({ ...base, redisUrl: 'redis://localhost' });
  await only.claimMachine();
  await only.stop();
  expect(readdirSync(folder)).toEqual([CLAIM]);
});

test('without free descriptors, it is unknown whether a server answers, and none has ended', async () => {
  withoutConnections();
  const url = `unix://${socketPath(testFolder())}`;
  expect(await answers(url, systemClock)).toBeNull();
  const ended = new AbortController();
  let isOver = false;
  const ending = endByConnection(url, systemClock, ended.signal).then(() => {
    isOver = true;
  });
  expect(await answers(url, systemClock)).toBeNull();
  expect(isOver).toBe(false);
  ended.abort();
  await ending;
});
