/** A place in which Claude Code works with a model of the proof, and what it and Watchkeeper say of its sessions there. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Memory } from '../../memory/sessions/memory.js';
import type { PublishedState } from '../../src/agents/agentProgram.js';
import { claude } from '../../src/agents/claude.js';
import { publishedBy, publishedStates } from '../../src/agents/published.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { compiledProgram, packageRoot } from '../../src/host/program.js';
import { redactShapes } from '../../src/log/redact.js';
import { type Clock, systemClock } from '../../src/time.js';
import { type Deeds, nextOf, type TerminalPlace, terminalPlace } from '../e2e/claudeScreen.js';
import { call, say } from '../peers/modelBlocks.js';

const MAIN = compiledProgram('bridge/cli/main');
export const PLUGIN = `--plugin-dir ${join(packageRoot(), 'plugin')}`;
const delegated = { description: 'look', prompt: 'the INNER task', subagent_type: 'general-purpose' };
const question = {
  ...{ question: 'Which colour?', header: 'Colour', multiSelect: false },
  options: ['Red', 'Blue'].map((label) => ({ label, description: label })),
};

/** What the model does, by the words in a prompt. */
export const DEEDS: Deeds = {
  'PERMISSION first': [[call('Bash', { command: 'touch asked', description: 'x' })], [say('Permitted.')]],
  'QUESTION first': [[call('AskUserQuestion', { questions: [question] })], [say('Answered.')]],
  'PLAN first': [[call('ExitPlanMode', { plan: 'Do it well.' })], [say('Planned.')]],
  'FORM first': [[call('mcp__asker__ask', {})], [say('Filled in.')]],
  'DELEGATE it': [[call('Agent', { ...delegated, run_in_background: false })], [say('Delegated.')]],
  'the INNER task': [[call('Bash', { command: 'touch asked', description: 'x' })], [say('Inner done.')]],
  'WORK on': [
    [call('Bash', { command: 'touch busy-$$ && tail -f /dev/null', description: 'x', timeout: 600_000 })],
    [say('Worked.')],
  ],
  'GREET me': [[say('Hello to you.')]],
};

const PERMISSIONS = {
  defaultMode: 'default',
  allow: ['Agent', 'mcp__asker__ask', 'Bash'],
  ask: ['Bash(touch asked)'],
};

export async function publishedPlace(): Promise<TerminalPlace> {
  const place = await terminalPlace((request) => nextOf(DEEDS, request) ?? [say('A title.')], PERMISSIONS);
  const server = { command: process.execPath, args: [join(packageRoot(), 'test/published/asker.mjs')] };
  // A daemon starts workers again without the variables of the shell that began them.
  const { ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, CLAUDE_CONFIG_DIR = '' } = place.environment;
  const env = { ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY };
  writeFileSync(join(CLAUDE_CONFIG_DIR, 'settings.json'), JSON.stringify({ permissions: PERMISSIONS, env }));
  writeFileSync(mcpFile(place), JSON.stringify({ mcpServers: { asker: server } }));
  return place;
}

export function mcpFile({ folder }: TerminalPlace): string {
  return join(folder, 'mcp.json');
}

const foldersOf = ({ environment }: TerminalPlace) => ({ CLAUDE_CONFIG_DIR: environment.CLAUDE_CONFIG_DIR });

export function publishedIn(place: TerminalPlace): PublishedState[] {
  return publishedStates(claude, foldersOf(place));
}

export function publishedOf(place: TerminalPlace, pid: number): PublishedState | null {
  return publishedBy(claude, foldersOf(place), pid);
}

/** @returns the memory as a command sees it, at the time of a clock */
export function memoryOf({ home, work, environment }: TerminalPlace, clock: Clock = systemClock): Memory {
  const { CLAUDE_CONFIG_DIR } = environment;
  const variables = { WATCHKEEPER_HOME: home, ...(CLAUDE_CONFIG_DIR !== undefined && { CLAUDE_CONFIG_DIR }) };
  const host = environment.WATCHKEEPER_HOST ?? readFileSync('/proc/sys/kernel/hostname', 'utf8').trim();
  const surroundings = { directory: work, process: readProcessIdentity(host), variables };
  return new Memory({ surroundings, folder: null, clock, redact: redactShapes });
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end. The model of the proof must be able to answer in the meantime. */
export function run(place: TerminalPlace, program: string, words: readonly string[]): Promise<Ran> {
  const child = spawn(program, words, { cwd: place.work, env: place.environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...texts }));
  });
}

/** @returns what a command of Watchkeeper prints as JSON */
export async function asked<Answer>(place: TerminalPlace, words: string): Promise<Answer> {
  const { out, err } = await run(place, process.execPath, [MAIN, ...words.split(' '), '--json']);
  if (out === '') throw new Error(`\`${words}\` has printed nothing: ${err}`);
  return JSON.parse(out) as Answer;
}

/** @returns the session of a conversation; null if none has it */
export function sessionOf(place: TerminalPlace, conversation: string): string | null {
  return memoryOf(place).bindings.sessionOf({ provider: 'claude', conversation });
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
