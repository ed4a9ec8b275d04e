/**
 * `npm run prove -- mcp-inspector`: the MCP Inspector, a client of others, lists the tools of the server, finds no fault in their schemas,
 * calls each tool, and gets a refusal and an unknown field as errors. npx fetches it, because it brings 150 packages. Exits with 1 after a
 * fault.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownBuild } from '../../src/host/program.js';
import { MINUTE } from '../../src/time.js';
import { proofOptions } from '../harness/proofOptions.js';

proofOptions('mcp-inspector', {});
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';
const LIMIT_MS = 2 * MINUTE;
/** Its exit code for a tool's error. */
const TOOL_ERROR = 5;
/** npm says this of the Inspector on an older Node, and the Inspector of itself. */
const NOT_OURS = /EBADENGINE|ExperimentalWarning|--trace-warnings/;

const folder = mkdtempSync(join(tmpdir(), 'wk-mcp-inspector-'));
const [home, directory] = [join(folder, 'home'), join(folder, 'work')];
let faults = 0;

interface Listed {
  readonly tools: readonly { readonly name: string }[];
}
interface Called {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

function check(isRight: boolean, words: string): void {
  process.stdout.write(`${isRight ? 'ok   ' : 'FAULT'} ${words}\n`);
  if (!isRight) faults += 1;
}

function inspect(words: readonly string[]) {
  const server = [process.execPath, join(ownBuild(), 'bridge/mcp/main.cjs')];
  const run = ['--yes', INSPECTOR, '--cli', ...words, '-e', `WATCHKEEPER_HOME=${home}`, '--', ...server];
  const options = { cwd: directory, encoding: 'utf8', timeout: LIMIT_MS } as const;
  const { status, stdout, stderr } = spawnSync('npx', run, options);
  const said = stderr.split('\n').filter((line) => line.trim() !== '' && !NOT_OURS.test(line));
  return { status, said, value: parsed(stdout) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function call(tool: string, args: Readonly<Record<string, unknown>>) {
  const pairs = Object.entries(args).flatMap(([name, value]) => [
    '--tool-arg',
    `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  ]);
  const { status, said, value } = inspect(['--method', 'tools/call', '--tool-name', tool, ...pairs]);
  const { isError = false, content = [], structuredContent = {} } = (value ?? {}) as Called;
  const isSame = JSON.stringify(parsed(content[0]?.text ?? '')) === JSON.stringify(structuredContent);
  return { status, said, isError, isSame, value: structuredContent };
}

function works(tool: string, args: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  const { status, said, isError, isSame, value } = call(tool, args);
  const isRight = status === 0 && !isError && isSame && said.length === 0;
  check(isRight, `${tool}: ${isRight ? Object.keys(value).slice(0, 6).join(', ') : JSON.stringify({ said, value })}`);
  return value;
}

function refuses(tool: string, args: Readonly<Record<string, unknown>>, code: string): void {
  const { status, isError, isSame, value } = call(tool, args);
  const isRight = status === TOOL_ERROR && isError && isSame && value.code === code;
  check(isRight, `${tool} refuses: ${String(value.code)}: ${String(value.message)}`);
}

const PHASES = [
  { id: 1, name: 'Find it', agents: ['coder'], files: ['a.ts'] },
  { id: '2', name: 'Test it', agents: ['tester'], blocked_by: [1] },
];

function prove(): void {
  const { status, said, value } = inspect(['--strict', '--method', 'tools/list']);
  const tools = ((value ?? { tools: [] }) as Listed).tools.map(({ name }) => name);
  check(status === 0 && said.length === 0, `--strict: exit ${status}, warnings: ${said.join(' | ') || 0}`);
  const called = new Set<string>();
  const does = (tool: string, args: Readonly<Record<string, unknown>> = {}) => {
    called.add(tool);
    return works(tool, args);
  };
  does('initialize_workspace', { workspace_path: directory, state_dir: 'docs/work' });
  does('validate_plan', { phases: PHASES });
  const { session_id } = does('create_session', { task: 'Fix the login', phases: PHASES });
  does('get_session_status');
  does('list_sessions', { here: true });
  does('transition_phase', { next_phase_id: 1, agent: 'coder' });
  does('record_error', { message: 'no key', step: 1 });
  does('record_tokens', { agent: 'coder', input: 5 });
  does('add_note', { text: 'mind the clock' });
  does('update_session', { role: 'lead' });
  does('checkpoint', { list: true });
  const { handoff_id } = does('create_handoff', { title: 'Login', learnings: ['a'], next: ['b'] });
  does('accept_handoff', { id: handoff_id, as: 'follow' });
  does('resume_session', { session_id });
  refuses('transition_phase', { next_phase_id: 2 }, 'blocked');
  refuses('archive_session', {}, 'open_phases');
  refuses('create_session', { task: 'Another', phases: PHASES }, 'ACTIVE_SESSION_EXISTS');
  refuses('transition_phase', { next_phase: 2 }, 'usage');
  refuses('get_session_status', { session_id: 'elsewhere' }, 'usage');
  does('archive_session', { as: 'cancelled', session_id });
  const left = tools.filter((name) => !called.has(name));
  check(tools.length > 0 && left.length === 0, `${called.size} of ${tools.length} tools were called${left.join(' ')}`);
}

mkdirSync(home, { mode: 0o700 });
mkdirSync(directory);
try {
  prove();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`mcp-inspector: ${faults} faults\n`);
process.exitCode = faults === 0 ? 0 : 1;
