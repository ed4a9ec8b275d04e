/**
 * What do plans cost over MCP? An agent waits for each move of a phase, and many agents change one session.
 *
 * Measured: a session with 200 phases; the start of a phase, its completion, both in one call, in a folder and in a git worktree; changes
 * by 16 servers at once.
 * Yardsticks: a server of the same library, whose tool appends one line to a file and syncs it, or as many bytes as the session has; the
 * changes of one server alone.
 * Targets: 2 times that tool; half as many changes a second. Files have to be on a real disk: in memory, syncing takes no time.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { McpClient } from './mcpClient.js';
import { bareServer, ourServer, type ServerPlace, timedCall } from './mcpServers.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, figureOf, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const MOVES = { rounds: 150, warmUpRounds: 20, limitMs: 60_000 } as const;
const SESSIONS = { rounds: 30, warmUpRounds: 5, limitMs: 60_000 } as const;
/** As many as plans have. */
const PHASES = 20;
const SERVERS = 16;
const CHANGES = 320;
const TURNS = 5;
const TIMES = 2;
const LINE = 'x'.repeat(300);

// Agents are the clients of the server, and it looks above itself for one.
process.title = 'claude';
await inScratchFolder(async (folder) => {
  const place = placeIn(folder, 'plain');
  const bare = new McpClient(bareServer(folder, place));
  await bare.list();
  await compareSessions(place, bare, folder);
  await compareMoves('in a folder', place, bare, folder);
  await compareMoves('in a git worktree', worktreeIn(folder), bare, folder);
  await bare.end();
  await compareServers(placeIn(folder, 'many'));
});

function placeIn(folder: string, name: string): ServerPlace {
  const [cwd, home] = [join(folder, name, 'work'), join(folder, name)];
  mkdirSync(cwd, { recursive: true });
  return { cwd, home };
}

function worktreeIn(folder: string): ServerPlace {
  const place = placeIn(folder, 'git');
  const { PATH } = process.env;
  const by = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
  for (const args of [
    ['init', '-q'],
    [...by, 'commit', '-q', '--allow-empty', '-m', 'first'],
  ])
    execFileSync('git', args, { cwd: place.cwd, env: { PATH, HOME: place.home } });
  return place;
}

function phasesOf(count: number) {
  return Array.from({ length: count }, (_, index) => ({ id: index + 1, name: `Phase ${index + 1}` }));
}

async function compareSessions(place: ServerPlace, bare: McpClient, folder: string): Promise<void> {
  const client = new McpClient(ourServer(place));
  const phases = phasesOf(200);
  await client.call('create_session', { task: 'first', phases, session_id: '2020-01-01-first' });
  const worklog = join(place.home, '.local/state/watchkeeper/sessions/2020-01-01-first/worklog.jsonl');
  const text = 'x'.repeat(statSync(worklog).size);
  let number = 0;
  const task = () => ({ task: `measured ${number++}`, phases, on_active: 'concurrent' });
  let file = 0;
  const compared = await compare({
    ours: timedCall(client, 'create_session', task),
    // A file of its own, as a session has.
    yardstick: timedCall(bare, 'append', () => ({ path: join(folder, `bytes ${file++}`), text })),
    ...SESSIONS,
  });
  sayCompared('plans: create_session with 200 phases', 'a tool that writes and syncs its bytes', compared);
  sayTarget({ what: 'times that tool', value: compared.ratio.median, atMost: TIMES, unit: '' });
  await client.end();
}

async function compareMoves(where: string, place: ServerPlace, bare: McpClient, folder: string): Promise<void> {
  const client = new McpClient(ourServer(place));
  const append = timedCall(bare, 'append', () => ({ path: join(folder, 'appended'), text: LINE }));
  let phase = PHASES + 1;
  const next = async () => {
    if (phase <= PHASES) return;
    await client.call('create_session', { task: 'Measure', phases: phasesOf(PHASES), on_active: 'concurrent' });
    phase = 1;
  };
  const moves = [
    ['a start', () => ({ next_phase_id: phase }), () => ({ completed_phase_id: phase++ })],
    ['a completion', () => ({ completed_phase_id: phase++ }), () => ({ next_phase_id: phase })],
  ] as const;
  for (const [name, measured, other] of moves) {
    // What is not measured is moved before, or after.
    const isAfter = name === 'a start';
    const compared = await compare({
      ours: async () => {
        await next();
        if (!isAfter) await client.call('transition_phase', other());
        const ms = await timedCall(client, 'transition_phase', measured)();
        if (isAfter) await client.call('transition_phase', other());
        return ms;
      },
      yardstick: append,
      ...MOVES,
    });
    sayCompared(`plans: transition_phase, ${name} ${where}`, 'a tool that appends and syncs one line', compared);
    sayTarget({ what: 'times that tool', value: compared.ratio.median, atMost: TIMES, unit: '' });
  }
  await client.end();
}

/** Turns of one server and of all; the same number of changes in each. */
async function compareServers(place: ServerPlace): Promise<void> {
  const clients = Array.from({ length: SERVERS }, () => new McpClient(ourServer(place)));
  const [first, ...others] = clients as [McpClient, ...McpClient[]];
  await first.call('create_session', { task: 'Many', phases: phasesOf(20) });
  for (const other of others) await other.call('get_session_status', {});
  const changes = (client: McpClient, count: number) => async () => {
    for (let index = 0; index < count; index += 1) await client.call('add_note', { text: `note ${index}` });
  };
  const ratios: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const alone = await timed(changes(first, CHANGES));
    const together = await timed(() => Promise.all(clients.map((client) => changes(client, CHANGES / SERVERS)())));
    ratios.push(together / alone);
    say(
      `plans: ${perSecond(alone)} changes a second by one server, ${perSecond(together)} by ${SERVERS} of one session`,
    );
  }
  sayTarget({ what: 'times as long as by one', value: figureOf(ratios).median, atMost: TIMES, unit: '' });
  await Promise.all(clients.map((client) => client.end()));
}

function perSecond(ms: number): number {
  return Math.round((CHANGES / ms) * 1_000);
}
