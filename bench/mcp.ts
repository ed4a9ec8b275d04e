/**
 * How long does an agent wait for the server of tools, and what does the server cost?
 *
 * Measured: from its start until a client has the list of its tools, with and without the line of the plugin that finds it; calls of
 * `add_note`; its memory and open files after 1,000 calls. Plans have a bench of their own.
 * Yardsticks: a server of the same library with one tool, bundled, whose tool appends a line to a file and syncs it; a bare `node -e 0`.
 * Targets: 1.2 times that server and 2.5 times a bare start; 1.3 times its memory, and as many files as before.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/host/program.js';
import { McpClient, type ServerCommand } from './mcpClient.js';
import { bareServer, ourServer, serverCommand, timedCall } from './mcpServers.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, figureOf, type Timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const LIMITS = { rounds: 30, warmUpRounds: 3, limitMs: 120_000 } as const;
const CALL_LIMITS = { rounds: 300, warmUpRounds: 20, limitMs: 60_000 } as const;
const MOST = { timesBare: 1.2, timesNode: 2.5, timesMemory: 1.3 } as const;
const CALLS = 1_000;
const PAIRS = 5;
const PHASES = 20;

// Agents are the clients of the server, and it looks above itself for one.
process.title = 'claude';
await inScratchFolder(async (folder) => {
  const work = join(folder, 'work');
  mkdirSync(work);
  const place = { cwd: work, home: folder };
  const [ours, bare] = [ourServer(place), bareServer(folder, place)];
  await compareStarts(ours, bare, serverCommand(launcherIn(folder), place));
  await compareCalls(ours, bare, join(folder, 'appended'));
  await compareHeld(ours, bare, join(folder, 'appended'));
});

/** @returns the words with which an agent starts the server, in a home where this package is installed */
function launcherIn(folder: string): string[] {
  const home = join(folder, '.local/state/watchkeeper');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'installation'), `${packageRoot()}\n${process.execPath}\n`, { mode: 0o600 });
  const { mcpServers } = JSON.parse(readFileSync(join(packageRoot(), 'plugin/.mcp.json'), 'utf8'));
  const { command, args } = mcpServers.watchkeeper;
  return [command, ...args];
}

function listing(command: ServerCommand): Timed {
  return async () => {
    const begun = performance.now();
    const client = new McpClient(command);
    const tools = await client.list();
    const ms = performance.now() - begun;
    if (tools === 0) throw new Error(`${command.words.join(' ')} lists no tools`);
    await client.end();
    return ms;
  };
}

/** Started as the servers are, and waited for to its end. */
async function bareStart(): Promise<number> {
  const begun = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { env: { PATH: process.env.PATH }, stdio: 'ignore' }), 'exit');
  return performance.now() - begun;
}

async function compareStarts(ours: ServerCommand, bare: ServerCommand, launched: ServerCommand): Promise<void> {
  const toBare = await compare({ ours: listing(ours), yardstick: listing(bare), ...LIMITS });
  sayCompared('mcp: start to tools/list', 'a bundled server with one tool', toBare);
  const [timesBare, timesNode] = [MOST.timesBare, MOST.timesNode];
  sayTarget({ what: 'times the bare server', value: toBare.ratio.median, atMost: timesBare, unit: '' });
  const toNode = await compare({ ours: listing(ours), yardstick: bareStart, ...LIMITS });
  sayCompared('mcp: start to tools/list', 'node -e 0', toNode);
  sayTarget({ what: 'times a bare start', value: toNode.ratio.median, atMost: timesNode, unit: '' });
  const byLine = await compare({ ours: listing(launched), yardstick: bareStart, ...LIMITS });
  sayCompared('mcp: the same by the line of the plugin', 'node -e 0', byLine);
  sayTarget({ what: 'times a bare start', value: byLine.ratio.median, atMost: timesNode, unit: '' });
}

async function compareCalls(ours: ServerCommand, bare: ServerCommand, path: string): Promise<void> {
  const [client, yardstick] = await Promise.all([begun(ours), listed(bare)]);
  const append = timedCall(yardstick, 'append', () => ({ path, text: 'x'.repeat(300) }));
  const note = await compare({
    ours: timedCall(client, 'add_note', () => ({ text: 'measured' })),
    yardstick: append,
    ...CALL_LIMITS,
  });
  sayCompared('mcp: add_note', 'a tool that appends and syncs one line', note);
  await Promise.all([client.end(), yardstick.end()]);
}

async function listed(command: ServerCommand): Promise<McpClient> {
  const client = new McpClient(command);
  await client.list();
  return client;
}

/** @returns a client whose server has made a session and begun its first phase */
async function begun(ours: ServerCommand): Promise<McpClient> {
  const client = await listed(ours);
  const phases = Array.from({ length: PHASES }, (_, index) => ({ id: index + 1, name: `Phase ${index + 1}` }));
  await client.call('create_session', { task: 'Measure', phases, on_active: 'concurrent' });
  await client.call('transition_phase', { next_phase_id: 1 });
  return client;
}

/** How much memory a process has left over differs from one to the next, so there are several of each. */
async function compareHeld(ours: ServerCommand, bare: ServerCommand, path: string): Promise<void> {
  const [ratios, more]: [number[], number[]] = [[], []];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const [client, yardstick] = await Promise.all([begun(ours), listed(bare)]);
    const before = client.held;
    for (let count = 0; count < CALLS; count += 1) {
      await client.call(...callOf(count));
      await yardstick.call('append', { path, text: 'x' });
    }
    const [after, other] = [client.held, yardstick.held];
    say(`mcp: after ${CALLS} more calls ${megabytes(after.bytes)} MB, the bare server ${megabytes(other.bytes)} MB`);
    ratios.push(after.bytes / other.bytes);
    more.push(after.files - before.files);
    await Promise.all([client.end(), yardstick.end()]);
  }
  sayTarget({ what: 'times its memory', value: figureOf(ratios).median, atMost: MOST.timesMemory, unit: '' });
  sayTarget({ what: 'more open files', value: Math.max(...more), atMost: 0, unit: '' });
}

/** As an orchestrator calls: mostly it looks, and now and then it writes. */
function callOf(count: number): [tool: string, args: object] {
  return count % 3 === 0 ? ['add_note', { text: `note ${count}` }] : ['get_session_status', {}];
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
