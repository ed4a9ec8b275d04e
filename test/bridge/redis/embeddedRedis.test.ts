import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Queue, Worker } from 'bullmq';
import { checkPrivacy } from '../../../bridge/doctor/privacyChecks.js';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../../bridge/redis/embeddedRedis.js';
import { findEmbeddedRedis } from '../../../bridge/redis/endpoint.js';
import { UnreachableError, UsageError } from '../../../src/errors.js';
import { isProcessAlive, readProcessIdentity } from '../../../src/host/identity.js';
import { systemProcessTable } from '../../../src/host/processes.js';
import { compiledProgram } from '../../../src/host/program.js';
import { closeRedis, connectOrExplain, openRedis } from '../../../src/redis/connect.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedisProgram } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';

const PATH = process.env.PATH ?? '';

describeWithRedisProgram('a real server of its own', () => {
  test('starts, is found by others, leaves nothing when it is stopped, and keeps its data', async () => {
    const logs = logsFolder();
    const first = await start(logs);
    expect(first).toMatchObject({ persistent: true, notice: null });
    expect(findEmbeddedRedis(logs).url).toBe(first.url);
    expect(statSync(join(logs, 'redis', 'endpoint.json')).mode & 0o777).toBe(0o600);
    const { server } = findEmbeddedRedis(logs);
    expect(systemProcessTable().find(server.pid)?.group).toBe(server.pid);
    await use(first.url, async (redis) => {
      await redis.set('kept', 'yes');
      expect(await redis.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
      expect(await redis.config('GET', 'append*')).toEqual(expect.arrayContaining(['everysec', 'yes']));
    });
    expect(await checkPrivacy(logs)).toMatchObject({ verdict: 'ok' });
    await Promise.all([first.stop(), first.stop()]);
    expect(isAlive(server)).toBe(false);
    expect(await checkPrivacy(logs)).toMatchObject({ verdict: 'ok' });
    expect(readdirSync(join(logs, 'redis')).sort()).toEqual(['appendonlydir', 'server.log']);
    expect(() => findEmbeddedRedis(logs)).toThrow(UnreachableError);
    const second = await start(logs);
    await use(second.url, async (redis) => expect(await redis.get('kept')).toBe('yes'));
    await second.stop();
  });

  // rule: an-own-redis-has-one-owner
  test('a second start is refused with the pid of the living owner, which continues', async () => {
    const logs = logsFolder();
    const owner = await startOwner(logs);
    const refused = start(logs);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(`another bridge (process ${owner.child.pid} on test) owns the Redis in`);
    await use(findEmbeddedRedis(logs).url, async (redis) => expect(await redis.ping()).toBe('PONG'));
    await owner.stop();
    expect(() => findEmbeddedRedis(logs)).toThrow('start `watchkeeper bridge`');
  });

  // rule: an-own-redis-has-one-owner
  test('owner killed: its server continues; exactly one of three successors adopts it', async () => {
    const logs = logsFolder();
    const owner = await startOwner(logs);
    await use(findEmbeddedRedis(logs).url, (redis) => redis.set('kept', 'yes'));
    await owner.kill();
    const { server } = findEmbeddedRedis(logs);
    expect(isAlive(server)).toBe(true);
    const successors = await Promise.all([startOwner(logs), startOwner(logs), startOwner(logs)]);
    const winners = successors.filter((successor) => successor.refused === null);
    expect(winners).toHaveLength(1);
    for (const loser of successors.filter((successor) => successor.refused !== null)) {
      expect(loser.refused).toContain('another bridge (process');
    }
    const adopted = findEmbeddedRedis(logs);
    expect(adopted.server).toEqual(server);
    expect(adopted.owner.pid).toBe(winners[0]?.child.pid);
    await use(adopted.url, async (redis) => expect(await redis.get('kept')).toBe('yes'));
    await winners[0]?.stop();
    expect(isAlive(server)).toBe(false);
    expect(readdirSync(join(logs, 'redis')).filter((name) => name.startsWith('claim'))).toEqual([]);
  });

  test('owner and server killed: the next start has the data again', async () => {
    const logs = logsFolder();
    const owner = await startOwner(logs);
    const { server, url } = findEmbeddedRedis(logs);
    await use(url, (redis) => redis.set('kept', 'yes'));
    await owner.kill();
    process.kill(server.pid, 'SIGKILL');
    while (isAlive(server)) await systemClock.sleep(5);
    expect(() => findEmbeddedRedis(logs)).toThrow(`(process ${server.pid}) is no longer running`);
    const next = await start(logs);
    expect(findEmbeddedRedis(logs).server.pid).not.toBe(server.pid);
    await use(next.url, async (redis) => expect(await redis.get('kept')).toBe('yes'));
    await next.stop();
  });

  // rule: an-own-redis-has-one-owner
  test('a server in another pid namespace is ended by its connection; a local process with its pid is left alone', async () => {
    const logs = logsFolder();
    const owner = await startOwner(logs);
    await owner.kill();
    const record = join(logs, 'redis', 'endpoint.json');
    const found = findEmbeddedRedis(logs);
    const stranger = spawn('sleep', ['60']);
    afterThisTest(() => end(stranger.pid));
    const elsewhere = { ...found.server, pid_namespace: '1', pid: stranger.pid ?? 0 };
    writeFileSync(record, JSON.stringify({ ...found, server: elsewhere }));
    const adopter = await start(logs);
    expect(adopter.url).toBe(found.url);
    await adopter.stop();
    while (isAlive(found.server)) await systemClock.sleep(5);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    expect(readdirSync(join(logs, 'redis')).sort()).toEqual(['appendonlydir', 'server.log']);
  });

  test('a damaged record is replaced and logged; a server that lost its record is ended first', async () => {
    const logs = logsFolder();
    const owner = await startOwner(logs);
    const { server, url } = findEmbeddedRedis(logs);
    await use(url, (redis) => redis.set('kept', 'yes'));
    await owner.kill();
    writeFileSync(join(logs, 'redis', 'endpoint.json'), '{"v":1,"url":');
    expect(() => findEmbeddedRedis(logs)).toThrow('endpoint.json cannot be read; start `watchkeeper bridge`');
    const next = await start(logs);
    expect(next.notice).toBe(`${join(logs, 'redis', 'endpoint.json')} could not be read and was replaced`);
    expect(isAlive(server)).toBe(false);
    await use(next.url, async (redis) => expect(await redis.get('kept')).toBe('yes'));
    await next.stop();
  });

  test('a path too long for a socket: a local port with a password; its server without a record is respected', async () => {
    const logs = join(testFolder(), `it's a "long" path ${'é'.repeat(60)}`);
    const owner = await startOwner(logs);
    const { url, server } = findEmbeddedRedis(logs);
    afterThisTest(() => end(server.pid));
    const withoutPassword = url.replace(/:[0-9a-f]{48}@/, '');
    expect(withoutPassword).not.toBe(url);
    await expect(use(withoutPassword, (redis) => redis.ping())).rejects.toThrow('refused the login');
    await use(url, (redis) => redis.set('kept', 'yes'));
    expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).not.toMatch(/[0-9a-f]{48}/);
    await owner.kill();
    const record = join(logs, 'redis', 'endpoint.json');
    const saved = readFileSync(record);
    rmSync(record);
    await expect(start(logs)).rejects.toThrow(`process ${server.pid} may still be the Redis of`);
    writeFileSync(record, saved);
    const next = await start(logs);
    await use(next.url, async (redis) => expect(await redis.get('kept')).toBe('yes'));
    await next.stop();
  });

  test('a server that does not come up is reported with the path of its log, and leaves no claim', async () => {
    const logs = logsFolder();
    const folder = join(logs, 'redis');
    mkdirSync(join(folder, 'appendonlydir'), { recursive: true });
    writeFileSync(join(folder, 'appendonlydir', 'appendonly.aof.manifest'), 'nonsense\n');
    await expect(start(logs)).rejects.toThrow(`Redis ended while it started; ${join(folder, 'server.log')} says why`);
    rmSync(join(folder, 'appendonlydir'), { recursive: true });
    await (await start(logs)).stop();
  });
});

describeWithRedisProgram('a server that is killed while its bridge runs', () => {
  test.each([
    ['on a socket', () => logsFolder()],
    ['on a port', () => join(testFolder(), 'x'.repeat(100))],
  ])('%s: it is restarted with its data, at the same address, and logged once', async (_, folder) => {
    const logs = folder();
    const { notify, told } = listening();
    const redis = await start(logs, { notify });
    afterThisTest(() => redis.stop());
    const connected = openRedis(redis.url, { purpose: 'commands', clock: systemClock });
    afterThisTest(() => closeRedis(connected));
    await connectOrExplain(connected, redis.url);
    await connected.set('kept', 'yes');
    const sentence = told();
    const killed = await killServer(logs);
    const again = await sentence;
    const { server, url, owner } = findEmbeddedRedis(logs);
    expect([url, owner.pid]).toEqual([redis.url, process.pid]);
    expect(again).toBe(
      `the bridge's own Redis (redis-server, process ${killed}) was gone; process ${server.pid} serves its data again`,
    );
    // The connection that was open all the time.
    expect(await connected.get('kept')).toBe('yes');
    await redis.stop();
    expect(isAlive(server)).toBe(false);
  });

  test('while it is down, other processes see that its bridge restarts it', async () => {
    const logs = logsFolder();
    const redis = await start(logs);
    const { server } = findEmbeddedRedis(logs);
    process.kill(server.pid, 'SIGKILL');
    while (isAlive(server)) await pause(1);
    expect(() => findEmbeddedRedis(logs)).toThrow(
      `its bridge (process ${process.pid}) is restarting it; try again in a few seconds`,
    );
    await redis.stop();
  });

  test('five times in a row is given up, with the path of its log and what to do', async () => {
    const logs = logsFolder();
    const redis = await start(logs);
    const lost = once(redis.lost, 'abort');
    const manifest = join(logs, 'redis', 'appendonlydir', 'appendonly.aof.manifest');
    writeFileSync(manifest, 'nonsense\n');
    await killServer(logs);
    await lost;
    const { reason } = redis.lost as { reason: unknown };
    expect(reason).toBeInstanceOf(UnreachableError);
    expect((reason as Error).message).toContain('(redis-server) ended 5 times in a row');
    expect((reason as Error).message).toContain(`${join(logs, 'redis', 'server.log')} says why`);
    await redis.stop();
    expect(readdirSync(join(logs, 'redis')).sort()).toEqual(['appendonlydir', 'server.log']);
  }, 30_000);

  test('is not restarted if a stop comes meanwhile, and leaves no server', async () => {
    const logs = logsFolder();
    const redis = await start(logs);
    const { server } = findEmbeddedRedis(logs);
    await killServer(logs);
    const record = join(logs, 'redis', 'endpoint.json');
    const successor = async () => (JSON.parse(readFileSync(record, 'utf8')) as { server: typeof server }).server;
    while ((await successor()).pid === server.pid) await systemClock.sleep(5);
    const started = await successor();
    await redis.stop();
    expect(isAlive(started)).toBe(false);
    expect(readdirSync(join(logs, 'redis')).filter((name) => name.startsWith('claim'))).toEqual([]);
  });
});

describeWithRedisProgram('a stop while the bridge waits for its own Redis', () => {
  test('ends the wait for a server that does not answer, and the server with it', async () => {
    const logs = logsFolder();
    const stopping = new AbortController();
    const refused = start(logs, { path: `${serverThat('exec sleep 600')}:${PATH}`, stopping: stopping.signal });
    const record = join(logs, 'redis', 'endpoint.json');
    while (!existsSync(record)) await systemClock.sleep(5);
    const { server } = findEmbeddedRedis(logs);
    stopping.abort();
    await expect(refused).rejects.toThrow('the bridge was stopped before its own Redis was up');
    expect(isAlive(server)).toBe(false);
    expect(readdirSync(join(logs, 'redis')).filter((name) => name.startsWith('claim'))).toEqual([]);
  });

  test('ends the wait for a predecessor that hangs, and leaves it to the next bridge', async () => {
    const logs = logsFolder();
    const owner = await startOwner(logs);
    await owner.kill();
    const { server } = findEmbeddedRedis(logs);
    process.kill(server.pid, 'SIGSTOP');
    const stopping = new AbortController();
    const refused = start(logs, { stopping: stopping.signal });
    while (!readdirSync(join(logs, 'redis')).some((name) => name.startsWith('claim'))) await systemClock.sleep(5);
    stopping.abort();
    const began = performance.now();
    await expect(refused).rejects.toThrow('the bridge was stopped before its own Redis was up');
    expect(performance.now() - began).toBeLessThan(4_000);
    process.kill(server.pid, 'SIGCONT');
    const next = await start(logs);
    expect(findEmbeddedRedis(logs).server).toEqual(server);
    await next.stop();
  });
});

describe('programs on PATH', () => {
  test('a version that is too old is refused with the required version', async () => {
    const bin = testFolder();
    writeFileSync(join(bin, 'redis-server'), '#!/bin/sh\necho "Redis server v=6.0.16 sha=00000000:0"\n');
    chmodSync(join(bin, 'redis-server'), 0o755);
    const started = start(logsFolder(), { path: bin });
    await expect(started).rejects.toThrow(UsageError);
    await expect(started).rejects.toThrow(
      `${bin}/redis-server is version 6.0.16; install version 6.2 or newer, or set REDIS_URL to a Redis that is already running`,
    );
  });
});

describe('the JavaScript server', () => {
  test('is used with a prominent warning, works, and outlives its owner', async () => {
    const logs = logsFolder();
    const bin = testFolder();
    symlinkSync(process.execPath, join(bin, 'node'));
    const owner = await startOwner(logs, bin);
    expect(owner).toMatchObject({ kind: 'js-redis-server', persistent: false });
    expect(owner.notice).toContain('KEEPS NOTHING');
    const { server, url } = findEmbeddedRedis(logs);
    await use(url, async (redis) => {
      await redis.set('kept', 'yes');
      expect(await redis.eval('return redis.call("GET", KEYS[1])', 1, 'kept')).toBe('yes');
    });
    await owner.kill();
    const next = await start(logs, { path: bin });
    expect(findEmbeddedRedis(logs).server).toEqual(server);
    await use(next.url, async (redis) => expect(await redis.get('kept')).toBe('yes'));
    await next.stop();
    expect(isAlive(server)).toBe(false);
    expect(readdirSync(join(logs, 'redis'))).toEqual(['server.log']);
  });

  test('is replaced by an empty one if it is killed while its bridge runs, and the loss is logged', async () => {
    const logs = logsFolder();
    const { notify, told } = listening();
    const redis = await start(logs, { path: testFolder(), notify });
    await use(redis.url, (connection) => connection.set('kept', 'yes'));
    const sentence = told();
    await killServer(logs);
    expect(await sentence).toContain('AND ALL ITS DATA IS LOST: waiting messages, sessions,');
    await use(redis.url, async (connection) => expect(await connection.get('kept')).toBeNull());
    await redis.stop();
  });

  test('runs a BullMQ job', async () => {
    const redis = await start(logsFolder(), { path: testFolder() });
    const producer = openRedis(redis.url, { purpose: 'commands', clock: systemClock });
    const consumer = openRedis(redis.url, { purpose: 'blocking', clock: systemClock });
    const queue = new Queue('smoke', { connection: producer });
    const seen: unknown[] = [];
    const worker = new Worker('smoke', async (job) => void seen.push(job.data), { connection: consumer });
    const done = once(worker, 'completed');
    await queue.add('one', { text: 'hello' });
    await done;
    expect(seen).toEqual([{ text: 'hello' }]);
    await worker.close();
    await queue.close();
    closeRedis(producer);
    closeRedis(consumer);
    await redis.stop();
  });

  test('on a port, listens only on this host, with a password', async () => {
    const logs = join(testFolder(), 'x'.repeat(100));
    const redis = await start(logs, { path: testFolder() });
    const { port } = new URL(redis.url);
    const table = readFileSync('/proc/net/tcp', 'utf8') + readFileSync('/proc/net/tcp6', 'utf8');
    const listening = table.split('\n').filter((line) => line.includes(`:${Number(port).toString(16).toUpperCase()} `));
    expect(listening.length).toBeGreaterThan(0);
    for (const line of listening) expect(line).toMatch(/^\s*\d+: 0100007F:/);
    await use(redis.url, async (connection) => expect(await connection.ping()).toBe('PONG'));
    await expect(use(`redis://127.0.0.1:${port}`, (connection) => connection.ping())).rejects.toThrow(
      'refused the login',
    );
    await redis.stop();
  });
});

function logsFolder(): string {
  const logs = join(testFolder(), 'logs');
  afterThisTest(() => {
    try {
      end(findEmbeddedRedis(logs).server.pid);
    } catch {
      // Stopped, as it should be.
    }
  });
  return logs;
}

interface StartOptions {
  readonly path?: string;
  readonly stopping?: AbortSignal;
  readonly notify?: (sentence: string) => void;
}

function start(logs: string, options: StartOptions = {}): Promise<EmbeddedRedis> {
  const { path = PATH, stopping = new AbortController().signal, notify = () => undefined } = options;
  return startEmbeddedRedis({
    logsFolder: logs,
    path,
    host: 'test',
    clock: systemClock,
    stopping,
    hungMs: 60_000,
    notify,
  });
}

/** @returns a notify, and what it was told next */
function listening(): { notify: (sentence: string) => void; told: () => Promise<string> } {
  const said = new EventEmitter();
  return {
    notify: (sentence) => void said.emit('sentence', sentence),
    told: async () => ((await once(said, 'sentence')) as [string])[0],
  };
}

/** @returns the pid that was killed */
async function killServer(logs: string): Promise<number> {
  const { server } = findEmbeddedRedis(logs);
  process.kill(server.pid, 'SIGKILL');
  while (isAlive(server)) await systemClock.sleep(5);
  return server.pid;
}

/** @returns a folder for PATH with a server that says its version and then what the shell is told */
function serverThat(shell: string): string {
  const bin = testFolder();
  const program = `#!/bin/sh\ncase "$1" in --version) echo "Redis server v=7.0.15 sha=0:0";; *) ${shell};; esac\n`;
  writeFileSync(join(bin, 'redis-server'), program);
  chmodSync(join(bin, 'redis-server'), 0o755);
  return bin;
}

interface Owner {
  readonly child: ChildProcess;
  readonly refused: string | null;
  readonly kind?: string;
  readonly persistent?: boolean;
  readonly notice?: string | null;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

async function startOwner(logs: string, path = PATH): Promise<Owner> {
  const child = spawn(process.execPath, [compiledProgram('test/bridge/redis/ownerMain'), logs, path], {
    cwd: dirname(compiledProgram('test/bridge/redis/ownerMain')),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  afterThisTest(() => end(child.pid));
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  lines.close();
  const report = JSON.parse(line) as Pick<Owner, 'refused' | 'kind' | 'persistent' | 'notice'>;
  if (report.refused !== null) await gone;
  return {
    ...report,
    child,
    async stop() {
      child.stdin.end();
      await gone;
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function use<T>(url: string, work: (redis: ReturnType<typeof openRedis>) => Promise<T>): Promise<T> {
  const redis = openRedis(url, { purpose: 'commands', clock: systemClock });
  try {
    await connectOrExplain(redis, url);
    return await work(redis);
  } finally {
    closeRedis(redis);
  }
}

function isAlive(server: ReturnType<typeof findEmbeddedRedis>['server']): boolean {
  return isProcessAlive(server, readProcessIdentity(server.host)) !== false;
}

function end(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
