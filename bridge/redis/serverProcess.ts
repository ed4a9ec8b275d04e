/** Starts and stops the server. In its own process group it survives Ctrl-C and a killed bridge; the next bridge finds it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { isOwnTrouble, UnreachableError, UsageError } from '../../src/errors.js';
import { SHARED_BITS } from '../../src/files/privateFiles.js';
import { isProcessAlive, type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { compiledProgram } from '../../src/host/program.js';
import { closeRedis, connectOrExplain, openRedis, redactUrl } from '../../src/redis/connect.js';
import { type Clock, MINUTE, SECOND } from '../../src/time.js';
import { type Endpoint, logPath, type Place, pidPath, socketPath, writeEndpoint } from './endpoint.js';
import type { ServerProgram } from './programs.js';

/** Reading a large append-only file takes time. */
const START_LIMIT_MS = 2 * MINUTE;
const STOP_LIMIT_MS = 10 * SECOND;
const LOOK_AGAIN_MS = 20;
/** Since this version no client may change the folder unless the settings allow it. */
const FIRST_PROTECTED_MAJOR = 7;
const LARGEST_LOG_BYTES = 1024 * 1024;

export interface ServerFolder {
  /** For the data, the socket and the log. */
  readonly folder: string;
  readonly here: ProcessIdentity;
  readonly clock: Clock;
  /** Aborted when this process is to end: nothing more is awaited. */
  readonly stopping: AbortSignal;
}

/** When its `stopping` aborts, the start ends at once and the server is killed. */
export interface ServerStart extends ServerFolder {
  /** Null starts the JavaScript server. */
  readonly program: ServerProgram | null;
  readonly place: Place;
  readonly about: Omit<Endpoint, 'server'>;
}

/** @returns the server, once it answers @throws UnreachableError if it does not come up (with its log), or if stopped first */
export async function startServer(start: ServerStart): Promise<Endpoint> {
  const { folder, program, place, about, here } = start;
  rmSync(socketPath(folder), { force: true });
  const child = program === null ? spawnJavaScriptServer(folder, place) : spawnServer(folder, program, place);
  if (child.pid === undefined) throw new UnreachableError(`${program?.path ?? process.execPath} could not be started`);
  const endpoint = { ...about, server: readProcessIdentity(here.host, child.pid) };
  try {
    // At once, so that the server is recorded before anything else can fail.
    writeEndpoint(folder, endpoint);
    await untilAnswering(child, start);
  } catch (error) {
    child.kill('SIGKILL');
    if (!hasEnded(child)) await once(child, 'exit');
    throw error;
  }
  child.unref();
  return endpoint;
}

/**
 * Stops the server in order, so that it writes its data. Kills it after 10 s. A server whose process is not visible from here,
 * for example in another container, is shut down through its connection instead, because its pid may belong to another process
 * here.
 * The endpoint is known to serve this folder.
 * @param stopping leaves a server that does not end to the next bridge; without it, its end is awaited
 * @throws UnreachableError if a server that must not be signalled does not end in time
 */
export async function stopServer(
  { server, url }: Endpoint,
  { folder, here, clock }: Omit<ServerFolder, 'stopping'>,
  stopping?: AbortSignal,
): Promise<void> {
  const end = clock.monotonic() + STOP_LIMIT_MS;
  // With an unreadable start time or another namespace, the pid proves nothing, and is not signalled.
  signalServer(server, here, 'SIGTERM');
  for (let alive = isProcessAlive(server, here); alive !== false; alive = isProcessAlive(server, here)) {
    if (stopping?.aborted) return;
    if (alive === null) {
      if (await endByConnection(url, clock, stopping)) break;
      throw new UnreachableError(
        `the Redis at ${redactUrl(url)} was asked to end but is still running; its process ${server.pid} cannot be seen from here: end it by hand`,
      );
    }
    if (clock.monotonic() > end) signalServer(server, here, 'SIGKILL');
    await clock.sleep(LOOK_AGAIN_MS, stopping);
  }
  // A server that may still be running keeps its socket.
  if (stopping?.aborted) return;
  for (const path of [socketPath(folder), pidPath(folder)]) rmSync(path, { force: true });
}

/** Waits 10 s at most. @returns whether the server has stopped answering after one shutdown request; false if it could not be asked */
export async function endByConnection(url: string, clock: Clock, stopping?: AbortSignal): Promise<boolean> {
  const end = clock.monotonic() + STOP_LIMIT_MS;
  for (let asked = false; ; ) {
    const isAnswering = await answers(url, clock, stopping);
    if (isAnswering === false) return true;
    if (isAnswering === true && !asked) {
      asked = true;
      await askToEnd(url, clock);
    }
    if (clock.monotonic() > end) return false;
    await clock.sleep(LOOK_AGAIN_MS, stopping);
  }
}

/** Sends the signal if the process is visible from here and is still the server's. */
export function signalServer(server: ProcessIdentity, here: ProcessIdentity, name: NodeJS.Signals): void {
  if (isProcessAlive(server, here) !== true) return;
  try {
    process.kill(server.pid, name);
  } catch {
    // It is gone already; the caller checks for that.
  }
}

/** @returns whether a server answers, false also if stopped; null if this process has no descriptor to ask with, which proves nothing */
export async function answers(url: string, clock: Clock, stopping?: AbortSignal): Promise<boolean | null> {
  if (stopping?.aborted) return false;
  const redis = openRedis(url, { purpose: 'commands', clock });
  const hangUp = () => closeRedis(redis);
  stopping?.addEventListener('abort', hangUp, { once: true });
  try {
    await connectOrExplain(redis, url);
    return true;
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof UnreachableError)) throw error;
    return isOwnTrouble(error.cause) ? null : false;
  } finally {
    stopping?.removeEventListener('abort', hangUp);
    closeRedis(redis);
  }
}

async function askToEnd(url: string, clock: Clock): Promise<void> {
  const redis = openRedis(url, { purpose: 'commands', clock });
  // A successful shutdown answers by closing the connection.
  await redis.shutdown().catch(() => undefined);
  closeRedis(redis);
}

export function refuseWhenStopping(stopping: AbortSignal): void {
  if (stopping.aborted) throw new UnreachableError('the bridge was stopped before its own Redis was up');
}

/** The settings go through standard input, because everybody can read a command line. */
function spawnServer(folder: string, program: ServerProgram, place: Place): ChildProcess {
  const listening =
    'socket' in place
      ? ['port 0', `unixsocket ${quoted(place.socket)}`, 'unixsocketperm 700']
      : [`port ${place.port}`, 'bind 127.0.0.1', `requirepass ${place.password}`];
  const settings = [
    ...listening,
    `dir ${quoted(folder)}`,
    `pidfile ${quoted(pidPath(folder))}`,
    'daemonize no',
    'save ""',
    'appendonly yes',
    'appendfsync everysec',
    'maxmemory-policy noeviction',
    // So that the bridge can give the server its folder again after that was deleted; older versions know no such setting.
    ...(program.major >= FIRST_PROTECTED_MAJOR ? ['enable-protected-configs local'] : []),
  ];
  return spawnDetached(program.path, '-', folder, `${settings.join('\n')}\n`);
}

function spawnJavaScriptServer(folder: string, place: Place): ChildProcess {
  return spawnDetached(
    process.execPath,
    compiledProgram('bridge/redis/javascriptServerMain'),
    folder,
    JSON.stringify(place),
  );
}

/** Gives an empty environment: the server does not need the bridge's secrets. Only its own user can read its files. */
function spawnDetached(program: string, argument: string, folder: string, input: string): ChildProcess {
  const log = openLog(folder);
  const mask = process.umask(SHARED_BITS);
  try {
    const child = spawn(program, [argument], { cwd: folder, detached: true, env: {}, stdio: ['pipe', log, log] });
    // If a program cannot be started, or exits before it has read its settings, the missing answer shows it.
    child.on('error', () => undefined);
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    return child;
  } finally {
    process.umask(mask);
    closeSync(log);
  }
}

function openLog(folder: string): number {
  const path = logPath(folder);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGEST_LOG_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

async function untilAnswering(child: ChildProcess, { folder, place, clock, stopping }: ServerStart): Promise<void> {
  const end = clock.monotonic() + START_LIMIT_MS;
  while (!(await answers(place.url, clock, stopping))) {
    refuseWhenStopping(stopping);
    if (hasEnded(child)) throw new UnreachableError(`Redis ended while it started; ${logPath(folder)} says why`);
    if (clock.monotonic() > end) {
      throw new UnreachableError(`Redis was started but does not answer; ${logPath(folder)} may say why`);
    }
    await clock.sleep(LOOK_AGAIN_MS, stopping);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Quotes as the server's settings file expects. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
