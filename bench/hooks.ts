/**
 * How long does an agent wait for its hooks?
 *
 * Measured: the launcher of the plugin, from its start to the end of its output, in a home of 1,000 sessions of one directory:
 * the start of a conversation after a crash, whose record is kept; the same whose transcript of 20 MB is not; the other events.
 * Yardsticks: a bare `node -e 0`, and `JSON.parse` of each line of that transcript.
 * Targets: 1.5 times a bare start; a bare start and 3 times parsing; 1.3 times a bare start.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type HookEvent, HookScene } from './hookScene.js';
import { say, sayCompared, sayTarget } from './report.js';
import { type Compared, compare, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const KEPT_BYTES = 1e6;
const LONG_BYTES = 20e6;
const MOST_TIMES_START = 1.5;
const MOST_TIMES_OTHER = 1.3;
const MOST_TIMES_PARSING = 3;
const LIMITS = { rounds: 50, warmUpRounds: 2, limitMs: 120_000 } as const;
const OTHERS: readonly HookEvent[] = ['SubagentStart', 'PermissionRequest', 'SessionEnd'];

// The agent's own name: the hook looks for it above itself.
process.title = 'claude';

await inScratchFolder(async (folder) => {
  const scene = new HookScene(folder);
  scene.crash(KEPT_BYTES);
  scene.keep();
  await checkContext(scene);
  const kept = await compareHook(scene, 'SessionStart', bareStart);
  sayCompared('SessionStart, the crashed session kept', 'node -e 0', kept);
  sayTarget({ what: 'times a bare start', value: kept.ratio.median, atMost: MOST_TIMES_START, unit: '' });
  await scene.start();
  for (const event of OTHERS) await measureOther(scene, event);
});

await inScratchFolder(async (folder) => {
  const scene = new HookScene(folder);
  scene.crash(LONG_BYTES);
  await checkContext(scene);
  const lines = readFileSync(scene.transcript, 'utf8').split('\n').filter(Boolean);
  const parse = () => {
    for (const line of lines) JSON.parse(line);
  };
  let bare = 0;
  const yardstick = async () => {
    bare = await bareStart();
    return bare + MOST_TIMES_PARSING * (await timed(parse));
  };
  const long = await compareHook(scene, 'SessionStart', yardstick);
  if (scene.isKept) throw new Error('the transcript was kept meanwhile');
  const what = `node -e 0 and ${MOST_TIMES_PARSING} × JSON.parse of ${lines.length} lines`;
  sayCompared(`SessionStart, a transcript of ${LONG_BYTES / 1e6} MB that is not kept`, what, long);
  sayTarget({ what: 'times that', value: long.ratio.median, atMost: 1, unit: '' });
});

async function measureOther(scene: HookScene, event: HookEvent): Promise<void> {
  scene.save();
  const before = scene.lines();
  await scene.run(event);
  if (scene.lines() === before) throw new Error(`${event} has written nothing`);
  await scene.restore();
  const compared = await compareHook(scene, event, bareStart);
  sayCompared(event, 'node -e 0', compared);
  sayTarget({ what: 'times a bare start', value: compared.ratio.median, atMost: MOST_TIMES_OTHER, unit: '' });
}

async function compareHook(scene: HookScene, event: HookEvent, yardstick: () => Promise<number>): Promise<Compared> {
  scene.save();
  const ours = async () => {
    const { ms } = await scene.run(event);
    await scene.restore();
    return ms;
  };
  return compare({ ours, yardstick, ...LIMITS });
}

/** What is fast and wrong is not measured. */
async function checkContext(scene: HookScene): Promise<void> {
  scene.save();
  const { out } = await scene.run('SessionStart');
  const { hookSpecificOutput, systemMessage } = JSON.parse(out);
  const context = String(hookSpecificOutput?.additionalContext);
  for (const part of ['Its agent crashed', 'Please look into case', 'watchkeeper work show', 'npm test'])
    if (!context.includes(part)) throw new Error(`the context lacks "${part}": ${context}`);
  if (!String(systemMessage).includes('crashed')) throw new Error(`the person is told: ${systemMessage}`);
  say(`hooks: the context has ${context.length} characters`);
  await scene.restore();
}

/** Without what the variables of this shell may let it load, as the hook. */
function bareStart(): Promise<number> {
  return timed(async () => {
    const child = spawn(process.execPath, ['-e', '0'], { env: { PATH: process.env.PATH }, stdio: 'ignore' });
    await once(child, 'exit');
  });
}
