/** Plays a scenario's steps: an agent's life, with every fault it can have. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, isoTime } from '../../src/time.js';
import type { ScenarioCall, Step } from './scenario.js';

/** Played if there is no scenario file. */
export const DEFAULT_STEPS: readonly Step[] = [
  { do: 'say', text: 'Looking at your message' },
  { do: 'call', tool: 'read', input: { path: 'README.md' }, output: 'A scripted agent reads nothing.', takes_ms: 50 },
  { do: 'call', tool: 'bash', input: { command: 'echo hello' }, output: 'hello', takes_ms: 50 },
  { do: 'answer', text: 'You wrote: {{first_line}}\n\n(Scripted agent, attempt {{attempt}}, turn {{turn}}.)' },
];

/** Longer than any process lives, and still within a timer's range. */
const FOR_EVER_MS = 2 ** 31 - 1;
const STDOUT = 1;
const STDERR = 2;
const CHUNK_BYTES = 1024 * 1024;
const SIGTERM_EXIT_CODE = 143;

/** The values of the template variables. */
export type Words = Readonly<Record<string, string>>;

export interface Stage {
  readonly clock: Clock;
  readonly words: Words;
  /** For the tools that the agent starts. */
  readonly environment: NodeJS.ProcessEnv;
  /** Called before the process kills itself with a signal. */
  readonly onCrash: () => void;
  /** Ends the process. */
  readonly exit: (code: number) => never;
}

type CallStep = Extract<Step, { do: 'call' }>;
type ToolStep = Extract<Step, { do: 'hanging_tool' }>;

export class ScenarioPlayer {
  readonly #stage: Stage;
  #calls = 0;
  #batches = 0;
  #ignoresSigterm = false;
  #index = 1;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** SIGTERM has arrived. */
  onSigterm(): void {
    if (!this.#ignoresSigterm) this.#stage.exit(SIGTERM_EXIT_CODE);
  }

  /** Resolves after the last step; a step that ends the process does not return. */
  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#play(step);
  }

  async #play(step: Step): Promise<void> {
    switch (step.do) {
      case 'note':
        return this.#tell({ event: 'note', text: this.#fill(step.text) });
      case 'say':
        return this.#tell({ event: 'assistant_message', text: this.#fill(step.text) });
      case 'call':
        return this.#batch([step]);
      case 'batch':
        return this.#batch(step.calls);
      case 'sub_agent':
        return this.#subAgent(step);
      case 'wait_start':
        return this.#tell({ event: 'wait_start', kind: step.kind, ...this.#until(step.until_ms) });
      case 'wait_end':
        return this.#tell({ event: 'wait_end', kind: step.kind });
      case 'heartbeat':
        return this.#tell({ event: 'heartbeat', ...(step.source === undefined ? {} : { source: step.source }) });
      case 'compaction':
        return this.#tell({ event: 'compaction' });
      case 'sleep':
        return this.#stage.clock.sleep(step.ms);
      case 'silence':
        return this.#stage.clock.sleep(FOR_EVER_MS);
      case 'hanging_tool':
        return this.#hangingTool(step);
      case 'garbage':
        return this.#garbage(step.text, step.bytes);
      case 'huge_line':
        return hugeLine(step.bytes);
      case 'stderr':
        return writeAll(STDERR, Buffer.from(`${this.#fill(step.text)}\n`));
      case 'write_file':
        mkdirSync(dirname(step.path), { recursive: true });
        return writeFileSync(step.path, this.#fill(step.text));
      case 'ignore_sigterm':
        this.#ignoresSigterm = true;
        return;
      case 'crash':
        return this.#crash(step.signal);
      case 'exit':
        if (step.stderr !== undefined) writeAll(STDERR, Buffer.from(`${this.#fill(step.stderr)}\n`));
        return this.#stage.exit(step.code);
      case 'failure':
        return this.#tell({
          event: 'failure',
          cause: step.cause,
          detail: this.#fill(step.detail),
          ...this.#until(step.until_ms),
        });
      case 'answer':
        return this.#tell({ event: 'answer', text: this.#fill(step.text) });
      case 'repeat':
        for (this.#index = 1; this.#index <= step.times; this.#index += 1) await this.play(step.steps);
        return;
      default:
        return step satisfies never;
    }
  }

  async #batch(calls: readonly (ScenarioCall | CallStep)[], lineage: object = {}): Promise<void> {
    this.#batches += 1;
    const batch = `batch_${this.#batches}`;
    this.#tell({ event: 'assistant_message', stop_reason: 'tool_use', ...lineage });
    const requested = calls.map((call) => ({ call, id: this.#request(call, { batch, ...lineage }) }));
    for (const { call, id } of requested) {
      if (call.returns === false) continue;
      if (call.takes_ms !== undefined) await this.#stage.clock.sleep(call.takes_ms);
      const outcome = { outcome: call.outcome ?? 'ok', tool_output: this.#fill(call.output ?? '') };
      this.#tell({ event: 'post_tool_use', tool_use_id: id, duration_ms: call.takes_ms ?? 0, ...outcome, ...lineage });
    }
  }

  #request(call: Pick<ScenarioCall, 'tool' | 'input' | 'timeout_ms' | 'polling'>, extra: object): string {
    this.#calls += 1;
    const id = `call_${this.#calls}`;
    const { tool, input = {}, timeout_ms, polling } = call;
    const declared = { ...(timeout_ms === undefined ? {} : { timeout_ms }), ...(polling ? { polling } : {}) };
    const toolInput: unknown = JSON.parse(JSON.stringify(input), (_, value: unknown) =>
      typeof value === 'string' ? this.#fill(value) : value,
    );
    this.#tell({
      event: 'pre_tool_use',
      tool_use_id: id,
      tool_name: tool,
      tool_input: toolInput,
      ...declared,
      ...extra,
    });
    return id;
  }

  async #subAgent(step: Extract<Step, { do: 'sub_agent' }>): Promise<void> {
    this.#tell({ event: 'assistant_message', stop_reason: 'tool_use' });
    const parent = this.#request({ tool: 'task', input: { prompt: step.prompt ?? '' } }, {});
    const lineage = { agent_id: step.agent_id, parent_tool_use_id: parent };
    this.#tell({ event: 'user_prompt', ...lineage });
    for (const call of step.calls) await this.#batch([call], lineage);
    if (step.returns === false) return;
    this.#tell({ event: 'turn_end', ...lineage });
    this.#tell({ event: 'post_tool_use', tool_use_id: parent, outcome: 'ok' });
  }

  /** The tool prints its pid and then lives until it is killed. */
  async #hangingTool(step: ToolStep): Promise<void> {
    const id = this.#request({ ...step, tool: step.tool ?? 'bash', input: step.input ?? { command: 'hang' } }, {});
    const script = `${step.ignores_sigterm ? "process.on('SIGTERM', () => {});" : ''}
      process.stdout.write('up\\n', () => setInterval(() => {}, ${FOR_EVER_MS}));`;
    const tool = spawn(process.execPath, ['-e', script], {
      detached: step.own_session ?? true,
      env: this.#stage.environment,
      stdio: ['ignore', 'pipe', step.holds_output ? 'inherit' : 'ignore', ...(step.holds_output ? [STDOUT] : [])],
    });
    await new Promise((resolve) => tool.stdout?.once('data', resolve));
    tool.stdout?.destroy();
    tool.unref();
    this.#tell({ event: 'note', text: `tool ${id} runs as ${tool.pid}` });
    if (step.in_background !== true) await this.#stage.clock.sleep(FOR_EVER_MS);
  }

  #garbage(text: string | undefined, bytes: number | undefined): void {
    if (text !== undefined) writeAll(STDOUT, Buffer.from(`${text}\n`));
    if (bytes === undefined) return;
    // Every byte value, including line ends and broken UTF-8.
    const binary = Buffer.from(Array.from({ length: bytes }, (_, place) => (place * 167 + 13) % 256));
    writeAll(STDOUT, Buffer.concat([binary, Buffer.from('\n')]));
  }

  async #crash(signal: NodeJS.Signals): Promise<void> {
    this.#stage.onCrash();
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    await this.#stage.clock.sleep(FOR_EVER_MS);
  }

  #until(untilMs: number | undefined): { until?: string } {
    return untilMs === undefined ? {} : { until: isoTime(this.#stage.clock.now() + untilMs) };
  }

  #fill(text: string): string {
    const words: Words = { ...this.#stage.words, index: String(this.#index) };
    return text.replace(/\{\{(\w+)\}\}/g, (whole, word: string) => words[word] ?? whole);
  }

  #tell(line: object): void {
    writeAll(STDOUT, Buffer.from(`${JSON.stringify(line)}\n`));
  }
}

function hugeLine(bytes: number): void {
  for (let left = bytes; left > 0; left -= CHUNK_BYTES)
    writeAll(STDOUT, Buffer.alloc(Math.min(left, CHUNK_BYTES), 'x'));
  writeAll(STDOUT, Buffer.from('\n'));
}

/** Synchronous, so that a crash in the next step loses nothing written before. */
function writeAll(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}
