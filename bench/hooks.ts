/**
 * How long does an agent wait for its hooks?
 *
 * Measured: the launcher of the plugin, from its start to its exit, as processor time and as time. The start of a conversation: in a
 * small home; in one of 1,000 sessions of the same directory; there after a crash, whose record is kept; the same whose transcript of
 * 20 MB is not. The other events, in the home of 1,000 sessions. The end of a program is recorded in the background: that is no part of
 * what the person waits for, and is looked at afterwards.
 * Yardsticks: a bare `node -e 0`, and `JSON.parse` of each line of that transcript.
 * Targets: 2.2, 2.6 and 2.8 times a bare start, a bare start and 3 times parsing; 2 times a bare start for the others, half of one for the
 * end; all of the processor's time.
 */
import { readFileSync } from 'node:fs';
import { type HookEvent, HookScene } from './hookScene.js';
import { say, sayCompared, sayTarget } from './report.js';
import { type Compared, compareEach, processed, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';
import { type Waited, waitedFor } from './waitedFor.js';

const FEW = 3;
const MANY = 1_000;
const KEPT_BYTES = 1e6;
const LONG_BYTES = 20e6;
/** Times the processor's time of a bare start. */
const MOST_AT_START = { small: 2.2, large: 2.6, crashed: 2.8 } as const;
const MOST_OTHERS = { SubagentStart: 2, PermissionRequest: 2, SessionEnd: 0.5 } as const;
const MOST_TIMES_PARSING = 3;
const LIMITS = { rounds: 50, warmUpRounds: 2, limitMs: 120_000 } as const;

interface Measured {
  readonly what: string;
  readonly event: HookEvent;
  readonly atMost: number;
}

// The agent's own name: the hook looks for it above itself.
process.title = 'claude';

await inScratchFolder(async (folder) => {
  const scene = new HookScene(folder, FEW);
  await measure(scene, { what: `SessionStart, ${FEW} sessions`, event: 'SessionStart', atMost: MOST_AT_START.small });
});

await inScratchFolder(async (folder) => {
  const scene = new HookScene(folder, MANY);
  // The first start in a directory notes how each of its sessions was left.
  await scene.look();
  await measure(scene, { what: `SessionStart, ${MANY} sessions`, event: 'SessionStart', atMost: MOST_AT_START.large });
  scene.crash(KEPT_BYTES);
  scene.keep();
  await checkContext(scene);
  const crashed = 'SessionStart, the crashed session kept';
  await measure(scene, { what: crashed, event: 'SessionStart', atMost: MOST_AT_START.crashed });
  await scene.run('SessionStart');
  await scene.settled();
  for (const event of ['SubagentStart', 'PermissionRequest', 'SessionEnd'] as const) {
    await checkWriting(scene, event);
    await measure(scene, { what: event, event, atMost: MOST_OTHERS[event] });
  }
});

await inScratchFolder(async (folder) => {
  const scene = new HookScene(folder, MANY);
  scene.crash(LONG_BYTES);
  await checkContext(scene);
  const lines = readFileSync(scene.transcript, 'utf8').split('\n').filter(Boolean);
  const parse = () => {
    for (const line of lines) JSON.parse(line);
  };
  const yardstick = async () => {
    const { ms, processorMs } = await bareStart();
    const parsing = await processed(parse);
    return {
      ms: ms + MOST_TIMES_PARSING * (await timed(parse)),
      processorMs: processorMs + MOST_TIMES_PARSING * parsing,
    };
  };
  const unkept = await compareHook(scene, 'SessionStart', yardstick);
  if (scene.isKept) throw new Error('the transcript was kept meanwhile');
  const what = `node -e 0 and ${MOST_TIMES_PARSING} × JSON.parse of ${lines.length} lines`;
  sayBoth(`SessionStart, a transcript of ${LONG_BYTES / 1e6} MB that is not kept`, what, unkept);
  sayTarget({ what: 'times the processor time of that', value: unkept.processorMs.ratio.median, atMost: 1, unit: '' });
});

async function measure(scene: HookScene, { what, event, atMost }: Measured): Promise<void> {
  const compared = await compareHook(scene, event, bareStart);
  sayBoth(what, 'node -e 0', compared);
  const value = compared.processorMs.ratio.median;
  sayTarget({ what: 'times the processor time of a bare start', value, atMost, unit: '' });
}

type Both = Readonly<Record<'ms' | 'processorMs', Compared>>;

function sayBoth(ours: string, yardstick: string, { ms, processorMs }: Both): void {
  sayCompared(`${ours}, processor time`, yardstick, processorMs);
  sayCompared(`${ours}, time`, yardstick, ms);
}

async function compareHook(
  scene: HookScene,
  event: HookEvent,
  yardstick: () => Promise<Pick<Waited, 'ms' | 'processorMs'>>,
): Promise<Both> {
  scene.save();
  const ours = async () => {
    const waited = await scene.run(event);
    await scene.restore();
    return waited;
  };
  return compareEach(['ms', 'processorMs'], { ours, yardstick, ...LIMITS });
}

/** A hook that records nothing is not measured. */
async function checkWriting(scene: HookScene, event: HookEvent): Promise<void> {
  scene.save();
  const before = scene.lines();
  await scene.run(event);
  await scene.settled();
  if (scene.lines() === before) throw new Error(`${event} has written nothing`);
  await scene.restore();
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
function bareStart(): Promise<Waited> {
  return waitedFor({ words: [process.execPath, '-e', '0'], env: { PATH: process.env.PATH } });
}
