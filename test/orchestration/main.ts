/**
 * `npm run prove -- orchestration`: a real Claude Code splits work into four phases, two of them in sub-agents at the same time; one fails
 * and is retried; the program is killed in the last one. A real Codex in its sandbox takes over and finishes. What both models saw is
 * printed, beside what is on record.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findInstallation } from '../../bridge/agents/claude/installation.js';
import { programRunner } from '../../bridge/command/runProgram.js';
import { install } from '../../bridge/plugin/change.js';
import { AGENTS } from '../../bridge/plugin/status.js';
import { Places } from '../../memory/home/places.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { packageRoot } from '../../src/host/program.js';
import { systemClock } from '../../src/time.js';
import { ClaudeTerminal, terminalPlace } from '../e2e/claudeScreen.js';
import { eventually } from '../e2e/eventually.js';
import { killAtOnce, processesOf, shown, startAgent, worklogsIn } from '../e2e/recorded.js';
import { proofOptions } from '../harness/proofOptions.js';
import { afterThisTest, withScope } from '../harness/scope.js';
import { type ContentBlock, type MessagesRequest, resultText, toolResults } from '../peers/anthropic/messages.js';
import { say } from '../peers/modelBlocks.js';
import { codexEnvironment, codexOptions } from '../peers/openai/codexCli.js';
import { startOpenaiPeer } from '../peers/openai/openaiPeer.js';
import { CLAUDE_PREFIX, codexDeed, deedIn, ORCHESTRATE, TAKE_OVER } from './deeds.js';

proofOptions('orchestration', {});
const WITHIN_MS = 90_000;
const ALLOWED = { defaultMode: 'acceptEdits', allow: ['Bash', 'Write', 'Edit', 'Agent', `${CLAUDE_PREFIX}*`] };
let faults = 0;

const installation = findInstallation();
const onPath = spawnSync('sh', ['-c', 'command -v claude'], { encoding: 'utf8' }).stdout.trim();
const program = installation.kind === 'complete' ? installation.program : onPath;
if (program === '' || spawnSync('codex', ['--version']).status !== 0) {
  print('orchestration: Claude Code and Codex are needed; docs/agents.md says how to install them');
  process.exitCode = 2;
} else {
  await withScope(() => play(program));
  print(faults === 0 ? '\nall as it should be' : `\n${faults} FAULTS`);
  process.exitCode = faults === 0 ? 0 : 1;
}

async function play(claude: string): Promise<void> {
  const place = await terminalPlace((request) => deedIn(request) ?? [say('A title.')], ALLOWED);
  const { work, home, folder, peer } = place;
  for (const words of [
    ['init', '-q'],
    ['-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'x'],
  ])
    spawnSync('git', words, { cwd: work });

  print('==== a person asks Claude Code in a window');
  const window = new ClaudeTerminal(place, claude, work);
  // A person takes longer to type than the server to start.
  await eventually(() => hasServer(folder), { what: 'the connected server', withinMs: WITHIN_MS });
  await window.type(ORCHESTRATE);
  const isAtWork = () => existsSync(join(work, 'manual-started'));
  await eventually(isAtWork, {
    what: 'the last phase',
    withinMs: WITHIN_MS,
    instead: () => window.screen.slice(-2_000),
  });
  const asked = peer.requests.map(({ request }) => request).filter((request) => deedIn(request) !== null);
  const [first] = asked;
  const whole = (first?.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith(CLAUDE_PREFIX));
  const named = new Set(JSON.stringify(first).match(new RegExp(`${CLAUDE_PREFIX}\\w+`, 'g')));
  print(`Claude's first request has ${named.size} tools by name, with a schema: ${whole.join(', ')}`);
  check("all tools are in Claude's first request, get_session_status whole", whole.length > 0 && named.size >= 13);
  const last = asked.findLast(
    (request) => JSON.stringify(request.messages).includes(`"${ORCHESTRATE}`) || mentions(request),
  );
  if (last !== undefined) for (const result of resultsIn(last)) print(`  the model read: ${result}`);
  check(
    'a file that was never written is unseen',
    JSON.stringify(last).includes('never.ts') && text(last).includes('"why":"missing"'),
  );

  print('==== it is killed with SIGKILL in the last phase');
  const [id] = [...worklogsIn(place)].find(([, lines]) => lines.some(({ event }) => event === 'step_added')) ?? [];
  if (id === undefined) return check('the session is on record', false);
  const pid = processesOf(worklogsIn(place).get(id)).at(-1);
  await killAtOnce(pid);
  await window.ended;

  print('==== Codex takes over, in its sandbox');
  const openai = await startOpenaiPeer(codexDeed);
  afterThisTest(() => openai.stop());
  const config = join(folder, 'codex');
  const tmp = join(folder, 'tmp');
  for (const path of [config, tmp]) mkdirSync(path);
  // Its sandbox needs programs of its own, which it does not keep below the folder for temporary files.
  const environment = {
    ...codexEnvironment(config),
    TMPDIR: tmp,
    PATH: process.env.PATH ?? '',
    WATCHKEEPER_HOME: home,
  };
  const surroundings = { directory: work, process: readProcessIdentity('here'), variables: environment };
  const asker = { run: programRunner(environment, systemClock), surroundings };
  const here = { places: new Places(home), root: packageRoot(), node: process.execPath };
  for (const { fault } of await install(here, [AGENTS.codex], asker)) if (fault !== null) check(fault, false);
  const { command } = codexOptions(openai.url) as { command: string[] };
  const words = command.slice(1, -1).map((word) => (word === 'danger-full-access' ? 'workspace-write' : word));
  const codex = startAgent({ work, home, environment }, [
    'codex',
    ...words,
    '--dangerously-bypass-hook-trust',
    TAKE_OVER,
  ]);
  const { out, err, code } = await codex.ended;
  const [begun = ''] = openai.bodies;
  const offered = ['get_session_status', 'transition_phase', 'resume_session'].filter(
    (name) => begun.includes(`"${name}"`) || begun.includes(`__${name}"`),
  );
  print(`tools in Codex's first request: ${offered.join(', ')}`);
  check("Codex's first request has the tools", offered.length === 3);
  for (const output of outputsIn(openai.bodies.at(-1) ?? '{}')) print(`  the model read: ${output}`);
  check(`Codex ends with 0 (${code})`, code === 0);
  if (code !== 0) print(`${out.slice(-2_000)}\n${err.slice(-2_000)}`);

  print('==== what is on record');
  const archived = join(home, 'archive', String(new Date().getFullYear()), id);
  check('the session is in the archive', existsSync(archived));
  const file = join(existsSync(archived) ? archived : join(home, 'sessions', id), 'session.md');
  const lines = existsSync(file) ? readFileSync(file, 'utf8') : '';
  print(lines.replace(/^/gm, '    '));
  const { tokens } = await eventually(() => withObserved(shown<Shown>(place, `work show ${id} --json`)), {
    what: 'the tokens of both transcripts',
    withinMs: WITHIN_MS,
  });
  const claudes = tokensOf(peer.requests.filter(({ request }) => deedIn(request) !== null));
  // Its API server counts one token in and one out for each answer.
  const counted = claudes + 2 * openai.requests.length;
  const sum = Object.values(tokens.by_agent).reduce((all, each) => all + each.input + each.output + each.cached, 0);
  const { input, output, cached } = tokens.total;
  print(`tokens: ${JSON.stringify(tokens.by_agent)}`);
  print(`total ${input + output + cached}, by agent ${sum}; the API servers counted ${counted}`);
  check(
    'the sum of tokens by agent is the total, and what the API servers counted',
    sum === input + output + cached && sum === counted,
  );
  check(
    'tokens that the orchestrator reported, too, are not counted twice',
    tokens.by_agent['api-coder'] === undefined,
  );
  print(`files in the workspace: ${readdirSync(work).join(', ')}`);
}

/** Claude Code keeps a log of each server. */
function hasServer(folder: string): boolean {
  const cache = join(folder, 'user/.cache');
  const logs = existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: 'utf8' }) : [];
  return logs.some((name) => name.endsWith('.jsonl') && readFileSync(join(cache, name), 'utf8').includes('onnected'));
}

interface Tokens {
  readonly input: number;
  readonly output: number;
}

interface Shown {
  readonly tokens: {
    readonly total: Tokens & { readonly cached: number };
    readonly by_agent: Readonly<Record<string, Tokens & { readonly cached: number }>>;
  };
}

/** Only declared tokens are shown as long as no transcript was read. */
function withObserved(shown: Shown): Shown | null {
  return 'main' in shown.tokens.by_agent ? shown : null;
}

function tokensOf(requests: readonly { readonly tokens: Tokens }[]): number {
  return requests.reduce((sum, { tokens }) => sum + tokens.input + tokens.output, 0);
}

function mentions(request: MessagesRequest): boolean {
  return JSON.stringify(request.messages).includes(ORCHESTRATE);
}

function text(request: MessagesRequest | undefined): string {
  return request === undefined ? '' : toolResults(request).map(resultText).join('\n');
}

function resultsIn(request: MessagesRequest): string[] {
  return toolResults(request).map((block: ContentBlock) => resultText(block).slice(0, 400));
}

function outputsIn(body: string): string[] {
  const { input = [] } = JSON.parse(body) as { input?: { type: string; output?: unknown }[] };
  return input.flatMap(({ type, output }) => (type.endsWith('_output') ? [JSON.stringify(output).slice(0, 400)] : []));
}

function check(what: string, holds: boolean): void {
  if (!holds) faults += 1;
  print(`${holds ? 'ok   ' : 'FALSE'} ${what}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
