/**
 * What does the plugin cost a person, over a session of Claude Code with 200 calls?
 *
 * Measured: the real `claude` with one prompt and the plugin, from its start to its end; its model, on this machine, asks for
 * one shell command after the other.
 * Yardstick: the same without the plugin.
 * Target: at most 5 % more. Hooks run at the start and at the end, and none per call.
 *
 * It needs the program: `npm run add-claude`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findInstallation, HOW_TO_INSTALL } from '../bridge/agents/claude/installation.js';
import { programRunner } from '../bridge/command/runProgram.js';
import { writeInstallation } from '../bridge/plugin/installation.js';
import { Places } from '../memory/home/places.js';
import { packageRoot } from '../src/host/program.js';
import { MINUTE, systemClock } from '../src/time.js';
import { AnthropicPeer } from '../test/peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../test/peers/anthropic/environment.js';
import { toolResults } from '../test/peers/anthropic/messages.js';
import { call, say as words } from '../test/peers/modelBlocks.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const CALLS = 200;
const MOST_TIMES = 1.05;
const ROUNDS = 5;
const WARM_UP_ROUNDS = 1;
const LIMIT_MS = 10 * MINUTE;
const RUN_LIMIT_MS = 2 * MINUTE;

const installation = findInstallation();
if (installation.kind !== 'complete')
  say(`pluginCalls: not measured, there is no claude: ${installation.why}; ${HOW_TO_INSTALL}`);
else await inScratchFolder((folder) => measure(folder, installation.program));

async function measure(folder: string, program: string): Promise<void> {
  const peer = new AnthropicPeer((request) => {
    const done = toolResults(request).length;
    return [done < CALLS ? call('Bash', { command: `echo ${done}` }) : words('done')];
  });
  await peer.listen();
  const [home, work, config] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'user/.claude')];
  for (const path of [work, config]) mkdirSync(path, { recursive: true });
  writeFileSync(join(config, 'settings.json'), JSON.stringify({ permissions: { allow: ['Bash'] } }));
  writeInstallation(new Places(home), { root: packageRoot(), node: process.execPath });
  execFileSync('git', ['init', '-q'], { cwd: work });
  const environment = {
    PATH: process.env.PATH,
    ...claudeEnvironment(peer, join(folder, 'user')),
    WATCHKEEPER_HOME: home,
  };
  const run = programRunner(environment, systemClock);
  const session = async (plugin: readonly string[]) => {
    const before = peer.requests.length;
    const end = await run({ program, args: [...plugin, '-p', 'go'], directory: work, limitMs: RUN_LIMIT_MS });
    if (end.kind !== 'exited' || end.code !== 0) throw new Error(`claude has not done it: ${JSON.stringify(end)}`);
    if (peer.requests.length - before <= CALLS) throw new Error(`claude has made fewer than ${CALLS} calls`);
  };
  say(`pluginCalls: ${CALLS} shell commands of a real Claude Code, in turns with and without the plugin`);
  const compared = await compare({
    ours: () => timed(() => session(['--plugin-dir', join(packageRoot(), 'plugin')])),
    yardstick: () => timed(() => session([])),
    rounds: ROUNDS,
    warmUpRounds: WARM_UP_ROUNDS,
    limitMs: LIMIT_MS,
  });
  await peer.stop();
  sayCompared('with the plugin', 'without it', compared);
  sayTarget({
    what: 'ratio of the medians',
    value: compared.ours.median / compared.yardstick.median,
    atMost: MOST_TIMES,
    unit: '',
  });
}
