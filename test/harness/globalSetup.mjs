// One real Redis for the whole jest run: started here, ended in globalTeardown.mjs, its URL handed to the test files in
// WATCHKEEPER_TEST_REDIS_URL. A URL that is set already is used as it is, and left alone afterwards. And one folder for what a
// test file makes for the others, in WATCHKEEPER_TEST_RUN_FOLDER.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryPlace } from './memoryFolder.mjs';

const URL_NAME = 'WATCHKEEPER_TEST_REDIS_URL';
const TRIES = 5;

// Ends the server when this process is gone, however it ended: the shell's standard input is a pipe from here.
const KEEPER = '"$@" & server=$!; read -r line; kill -KILL "$server"; wait "$server" 2>/dev/null';

// Twice as many programs as cores run at once, and the machine may have other work: a limit is for what never comes.
process.env.WATCHKEEPER_TEST_PATIENCE ??= '4';

export default async function globalSetup() {
  process.env.TMPDIR = temporaryPlace();
  process.env.WATCHKEEPER_TEST_RUN_FOLDER = mkdtempSync(join(tmpdir(), 'wk-run-'));
  if (process.env[URL_NAME]) return;
  const program = findOnPath(['redis-server', 'valkey-server']);
  if (program === null) return;
  for (let tries = 1; ; tries += 1) {
    const outcome = await startServer(program);
    if (outcome.url !== null) {
      process.env[URL_NAME] = outcome.url;
      globalThis[Symbol.for('watchkeeper.test.redis')] = outcome;
      return;
    }
    if (tries === TRIES) throw new Error(`${program} did not start for the tests:\n${outcome.said}`);
  }
}

async function startServer(program) {
  const folder = mkdtempSync(join(tmpdir(), 'wk-redis-'));
  const port = await freePort();
  const settings = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction', '--dir', folder];
  const keeper = spawn(
    '/bin/sh',
    ['-c', KEEPER, 'sh', program, '--port', `${port}`, '--bind', '127.0.0.1', ...settings],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let said = '';
  for await (const line of createInterface({ input: keeper.stdout })) {
    said += `${line}\n`;
    if (/ready to accept connections/i.test(line)) {
      keeper.stdout.destroy();
      keeper.unref();
      keeper.stdin.unref();
      return { url: `redis://127.0.0.1:${port}`, keeper, folder, said };
    }
    if (/failed|can't/i.test(line)) break;
  }
  keeper.stdin.end();
  await once(keeper, 'exit');
  return { url: null, keeper, folder, said };
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

function findOnPath(names) {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not in this folder.
      }
    }
  }
  return null;
}
