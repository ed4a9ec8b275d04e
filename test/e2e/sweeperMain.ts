/** The sweeper's program (sweeper.ts). Usage: `sweeperMain.js MARK LOGS_FOLDER`; it works when its standard input ends. */
import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { canScan, type FoundProcess, findByEnvironment } from './processScan.js';
import { SCENE_MARK } from './sweeper.js';

const LONGEST_MS = 10_000;
const LOOK_EVERY_MS = 20;

const [mark = '', logsFolder = ''] = process.argv.slice(2);

/** A bridge's own Redis has an empty environment; it is known by its record and its working directory. */
function findOwnRedis(): FoundProcess[] {
  const folder = join(logsFolder, 'redis');
  try {
    const { server } = JSON.parse(readFileSync(join(folder, 'endpoint.json'), 'utf8')) as { server: { pid: number } };
    if (readlinkSync(`/proc/${server.pid}/cwd`) !== realpathSync(folder)) return [];
    return [{ pid: server.pid, session: server.pid, command: "the bridge's own Redis" }];
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}

await text(process.stdin);
const ended = new Map<number, FoundProcess>();
if (mark !== '' && canScan()) {
  const end = performance.now() + LONGEST_MS;
  for (;;) {
    const found = [...findByEnvironment(SCENE_MARK, mark), ...findOwnRedis()];
    if (found.length === 0 || performance.now() > end) break;
    for (const each of found) {
      ended.set(each.pid, each);
      kill(each.pid);
    }
    await pause(LOOK_EVERY_MS);
  }
}
// Whoever was killed reads it no more.
process.stdout.on('error', () => undefined);
process.stdout.write(JSON.stringify([...ended.values()]));
