/** One checkout in which a person works for a week, with Claude Code in windows and with Codex, each against a model of this machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programRunner } from '../../bridge/command/runProgram.js';
import { install } from '../../bridge/plugin/change.js';
import { AGENTS } from '../../bridge/plugin/status.js';
import { Places } from '../../memory/home/places.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { packageRoot } from '../../src/host/program.js';
import { HOUR, isoTime, SECOND, systemClock } from '../../src/time.js';
import { nextOf, type TerminalPlace, terminalPlace } from '../e2e/claudeScreen.js';
import { type RunningAgent, startAgent } from '../e2e/recorded.js';
import { afterThisTest } from '../harness/scope.js';
import { say } from '../peers/modelBlocks.js';
import { codexEnvironment, codexOptions } from '../peers/openai/codexCli.js';
import { type OpenaiPeer, startOpenaiPeer } from '../peers/openai/openaiPeer.js';
import { CLAUDE_DEEDS, codexDeed } from './deeds.js';

const ALLOWED = {
  defaultMode: 'acceptEdits',
  allow: ['Bash', 'Write', 'Edit', 'TaskCreate', 'TaskUpdate', 'Agent'],
  ask: ['Bash(touch released)'],
};
const NIGHT_MS = 16 * HOUR;
const COMMIT = ['git', '-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', 'commit', '-q', '-m'];

export interface WeekPlace extends TerminalPlace {
  readonly openai: OpenaiPeer;
  askCodex(prompt: string): RunningAgent;
  commit(subject: string): void;
}

export async function weekPlace(): Promise<WeekPlace> {
  const place = await terminalPlace((request) => nextOf(CLAUDE_DEEDS, request) ?? [say('A title.')], ALLOWED);
  const { folder, home, work } = place;
  const openai = await startOpenaiPeer(codexDeed);
  afterThisTest(() => openai.stop());
  const config = join(folder, 'codex');
  mkdirSync(config);
  const environment = { ...codexEnvironment(config), PATH: process.env.PATH ?? '', WATCHKEEPER_HOME: home };
  const surroundings = { directory: work, process: readProcessIdentity('here'), variables: environment };
  const asker = { run: programRunner(environment, systemClock), surroundings };
  const installation = { places: new Places(home), root: packageRoot(), node: process.execPath };
  for (const { fault } of await install(installation, [AGENTS.codex], asker))
    if (fault !== null) throw new Error(fault);
  const { command } = codexOptions(openai.url) as { command: string[] };
  const words = [...command.slice(1, -1), '-c', 'tools.update_plan.enabled=true', '--dangerously-bypass-hook-trust'];
  const codexPlace = { work, home, environment };
  const commit = (subject: string) => {
    spawnSync('git', ['add', '-A'], { cwd: work });
    spawnSync(COMMIT[0] ?? '', [...COMMIT.slice(1), subject], { cwd: work });
  };
  spawnSync('git', ['init', '-q', '-b', 'main'], { cwd: work });
  writeFileSync(join(work, 'README.md'), 'A shop.\n');
  commit('Begin');
  return { ...place, openai, commit, askCodex: (prompt) => startAgent(codexPlace, ['codex', ...words, prompt]) };
}

/**
 * Nobody waits for a night: instead, all that was written until now becomes so much older, in the memory, in the programs'
 * own files and in the checkout. Git's own dates stay.
 */
export function passNight({ folder }: WeekPlace): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.includes('/.git/')) continue;
    // What is left to be recorded is taken in and removed meanwhile; so are a program's locks.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    // A fold of what is written: the next reader makes it again.
    if (entry.name === 'state.json') rmSync(path);
    else if (path.endsWith('.jsonl')) {
      const text = readFileSync(path, 'utf8');
      const older = text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (at) => isoTime(Date.parse(at) - NIGHT_MS));
      if (older !== text) writeFileSync(path, older);
    }
    if (!existsSync(path)) continue;
    const at = (stats.mtimeMs - NIGHT_MS) / SECOND;
    utimesSync(path, at, at);
  }
}
