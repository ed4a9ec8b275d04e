/** Plays a scenario's steps: an agent's life, with every fault it can have. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { isoTime, systemClock } from '../../src/time.js';
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

type Words = Readonly<Record<string, string>>;

export class ScenarioPlayer {
  readonly #words: Words;
  readonly #onEnd: () => void;
  #calls = 0;
  #batches = 0;
  #ignoresSigterm = false;
  #index = 1;

  /** @param onEnd called before this process exits, or kills itself with a signal */
  constructor(words: Words, onEnd: () => void) {
    this.#words = words;
    this.#onEnd = onEnd;
  }

  onSigterm(): void {
    if (!this.#ignoresSigterm) this.exit(SIGTERM_EXIT_CODE);
  }

  exit(code: number): never {
    this.#onEnd();
    process.exit(code);
  }

  /** Resolves after the last step; a step that ends the process does not return. */
  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#play(step);
  }

  async #play(step: Step): Promise<void> {
    switch (step.do) {
      case 'note':
        return this.#print({ event: 'note', text: this.#fill(step.text) });
      case 'say':
        return this.#print({ event: 'assistant_message', text: this.#fill(step.text) });
      case 'call':
        return this.#batch([step]);
      case 'batch':
        return this.#batch(step.calls);
      case 'sub_agent':
        return this.#subAgent(step);
      case 'wait_start':
        return this.#print({ event: 'wait_start', kind: step.kind, until: until(step.until_ms) });
      case 'wait_end':
        return this.#print({ event: 'wait_end', kind: step.kind });
      case 'heartbeat':
        return this.#print({ event: 'heartbeat', source: step.source });
      case 'compaction':
        return this.#print({ event: 'compaction' });
      case 'plan':
        return this.#print({ event: 'plan', mode: 'replace', items: step.items });
      case 'sleep':
        return systemClock.sleep(step.ms);
      case 'silence':
        return systemClock.sleep(FOR_EVER_MS);
      case 'hanging_tool':
        return this.#hangingTool(step);
      case 'garbage':
        return this.#garbage(step.text, step.bytes);
      case 'huge_line':
        return hugeLine(step.bytes);
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
        return this.exit(step.code);
      case 'failure': {
        const { cause, detail, until_ms } = step;
        return this.#print({ event: 'failure', cause, detail: this.#fill(detail), until: until(until_ms) });
      }
      case 'answer':
        return this.#print({ event: 'answer', text: this.#fill(step.text) });
      case 'repeat':
        for (this.#index = 1; this.#index <= step.times; this.#index += 1) await this.play(step.steps);
        return;
      default:
        return step satisfies never;
    }
  }

  async #batch(calls: readonly ScenarioCall[], lineage: object = {}): Promise<void> {
    this.#batches += 1;
    const batch = `batch_${this.#batches}`;
    this.#print({ event: 'assistant_message', stop_reason: 'tool_use', ...lineage });
    const requested = calls.map((call) => ({ call, id: this.#request(call, { batch, ...lineage }) }));
    for (const { call, id } of requested) {
      if (call.returns === false) continue;
      if (call.takes_ms !== undefined) await systemClock.sleep(call.takes_ms);
      const outcome = { outcome: call.outcome ?? 'ok', tool_output: this.#fill(call.output ?? '') };
      this.#print({ event: 'post_tool_use', tool_use_id: id, duration_ms: call.takes_ms ?? 0, ...outcome, ...lineage });
    }
  }

  #request({ tool, input = {}, timeout_ms, polling }: ScenarioCall, extra: object): string {
    this.#calls += 1;
    const id = `call_${this.#calls}`;
    const filled = (_: string, value: unknown) => (typeof value === 'string' ? this.#fill(value) : value);
    const tool_input: unknown = JSON.parse(JSON.stringify(input), filled);
    const declared = { timeout_ms, ...(polling && { polling }) };
    this.#print({ event: 'pre_tool_use', tool_use_id: id, tool_name: tool, tool_input, ...declared, ...extra });
    return id;
  }

  async #subAgent(step: Extract<Step, { do: 'sub_agent' }>): Promise<void> {
    this.#print({ event: 'assistant_message', stop_reason: 'tool_use' });
    const parent = this.#request({ tool: 'task', input: { prompt: step.prompt ?? '' } }, {});
    const lineage = { agent_id: step.agent_id, parent_tool_use_id: parent };
    this.#print({ event: 'user_prompt', ...lineage });
    for (const call of step.calls) await this.#batch([call], lineage);
    if (step.returns === false) return;
    this.#print({ event: 'turn_end', ...lineage });
    this.#print({ event: 'post_tool_use', tool_use_id: parent, outcome: 'ok' });
  }

  /** The tool prints its pid and then lives until it is killed. */
  async #hangingTool(step: Extract<Step, { do: 'hanging_tool' }>): Promise<void> {
    const id = this.#request({ ...step, tool: step.tool ?? 'bash', input: step.input ?? { command: 'hang' } }, {});
    const script = `${step.ignores_sigterm ? "process.on('SIGTERM', () => {});" : ''}
      process.stdout.write('up\\n', () => setInterval(() => {}, ${FOR_EVER_MS}));`;
    const tool = spawn(process.execPath, ['-e', script], {
      detached: step.own_session ?? true,
      env: process.env,
      stdio: ['ignore', 'pipe', step.holds_output ? 'inherit' : 'ignore', ...(step.holds_output ? [STDOUT] : [])],
    });
    await new Promise((resolve) => tool.stdout?.once('data', resolve));
    tool.stdout?.destroy();
    tool.unref();
    this.#print({ event: 'note', text: `tool ${id} runs as ${tool.pid}` });
    if (step.in_background !== true) await systemClock.sleep(FOR_EVER_MS);
  }

  #garbage(text: string | undefined, bytes: number | undefined): void {
    if (text !== undefined) writeAll(STDOUT, Buffer.from(`${text}\n`));
    if (bytes === undefined) return;
    // Every byte value, including line ends and broken UTF-8.
    const binary = Buffer.from(Array.from({ length: bytes }, (_, place) => (place * 167 + 13) % 256));
    writeAll(STDOUT, Buffer.concat([binary, Buffer.from('\n')]));
  }

  async #crash(signal: NodeJS.Signals): Promise<void> {
    this.#onEnd();
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    await systemClock.sleep(FOR_EVER_MS);
  }

  #fill(text: string): string {
    const words: Words = { ...this.#words, index: String(this.#index) };
    return text.replace(/\{\{(\w+)\}\}/g, (whole, word: string) => words[word] ?? whole);
  }

  /** A field that is undefined is left out. */
  #print(line: object): void {
    writeAll(STDOUT, Buffer.from(`${JSON.stringify(line)}\n`));
  }
}

function until(untilMs: number | undefined): string | undefined {
  return untilMs === undefined ? undefined : isoTime(systemClock.now() + untilMs);
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
