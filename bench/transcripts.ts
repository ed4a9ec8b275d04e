/** Transcripts such as Claude Code writes, of any size, and the same at each run. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { isoTime, SECOND } from '../src/time.js';

const BEGIN = Date.UTC(2026, 10, 23, 9);
const CALLS_PER_TURN = 24;
const FILES = 400;
/** Of what an agent reads or a command prints, in characters: from some lines to a file. */
const SHORTEST_OUTPUT = 300;
const LONGEST_OUTPUT = 9_000;
const TASKS = 12;
/** What is read. One letter in them that is not ASCII would make most lines slow to decode. */
const SOURCES = ['monitoring/verdict/timeline/fold', 'memory/observed/observed', 'src/jobs/regain', 'src/jobs/records'];
const OF_REQUEST = {
  requestId: 'req_011CVbenchbenchbenchbench',
  requestedModel: 'claude-opus-5-5',
  promptCacheRequested: '5m',
  effort: 'medium',
  perTurnEffort: 'medium',
  madeBy: 'model',
};
const SESSION = {
  userType: 'external',
  entrypoint: 'cli',
  cwd: '/home/me/popoto',
  sessionId: 'b5b0ad5a-bench',
  version: '2.1.330',
  gitBranch: 'main',
};

type Fields = Readonly<Record<string, unknown>>;

interface Deed {
  readonly name: string;
  readonly input: Fields;
  /** For the model. */
  readonly content: string;
  readonly result: Fields | string;
  readonly isError?: true;
}

/**
 * Writes turns with all that an agent usually does, until the file has so many bytes.
 * @param fails whether every other test fails
 * @returns the text of what follows
 */
export function writeTranscript(path: string, bytes: number, fails = false): TranscriptText {
  const descriptor = openSync(path, 'wx');
  const writer = new TranscriptText(fails);
  for (let written = 0; written < bytes; ) written += writeSync(descriptor, writer.turn());
  closeSync(descriptor);
  return writer;
}

export class TranscriptText {
  readonly #source = SOURCES.map((name) => readFileSync(new URL(`../${name}.js`, import.meta.url), 'utf8')).join('');
  #records = 0;
  #calls = 0;
  #messages = 0;
  #lines: string[] = [];
  readonly #fails: boolean;

  constructor(fails = false) {
    this.#fails = fails;
  }

  /** @returns the records of one turn, each with its line end */
  turn(): string {
    this.#lines = [];
    this.#add('user', {
      message: { role: 'user', content: `Please look into case ${this.#calls} and mend it. ${this.#text(200)}` },
      origin: { kind: 'human' },
      permissionMode: 'acceptEdits',
    });
    for (let call = 0; call < CALLS_PER_TURN; call += 1) this.#call();
    this.#say({ type: 'text', text: `Done. ${this.#text(600)}` }, 'end_turn');
    this.#add('system', { subtype: 'turn_duration', durationMs: 60_000 });
    return `${this.#lines.join('\n')}\n`;
  }

  /** A thought, a call, its result. */
  #call(): void {
    const number = this.#calls;
    this.#calls += 1;
    const file_path = `/home/me/popoto/src/room${number % 8}/file${(number * 7) % FILES}.ts`;
    const output = this.#text(SHORTEST_OUTPUT + ((number * 1_237) % (LONGEST_OUTPUT - SHORTEST_OUTPUT)));
    const id = `toolu_01Bench${number}`;
    this.#say({ type: 'thinking', thinking: this.#text(300), signature: this.#signature() }, 'tool_use');
    if (number % 3 === 0) this.#say({ type: 'text', text: `First the tests — ${this.#text(250)}` }, 'tool_use');
    const { name, input, content, result, isError } = this.#deed(number, { file_path, output });
    this.#say({ type: 'tool_use', id, name, input }, 'tool_use');
    this.#add('user', {
      promptId: uuidOf(0),
      message: { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content, is_error: isError }] },
      toolUseResult: result,
      sourceToolAssistantUUID: uuidOf(this.#records),
    });
  }

  #deed(number: number, { file_path, output }: { file_path: string; output: string }): Deed {
    switch (number % 5) {
      case 0:
      case 1: {
        const file = { filePath: file_path, content: output, numLines: 90, startLine: 1, totalLines: 90 };
        return { name: 'Read', input: { file_path }, content: numbered(output), result: { type: 'text', file } };
      }
      case 2: {
        const [oldString, newString] = [output.slice(0, 300), output.slice(100, 500)];
        const lines = output.slice(0, 800).split('\n');
        const patch = { oldStart: 1, oldLines: lines.length, newStart: 1, newLines: lines.length, lines };
        return {
          name: 'Edit',
          input: { replace_all: false, file_path, old_string: oldString, new_string: newString },
          content: `The file ${file_path} has been updated successfully.`,
          result: { filePath: file_path, oldString, newString, originalFile: output, structuredPatch: [patch] },
        };
      }
      case 3: {
        if (this.#fails && number % 2 === 0) return failing(number, output);
        const stdout = `✓ case ${number}\n${output.slice(0, output.length / 3)}`;
        return {
          name: 'Bash',
          input: { command: `npm test -- --filter case-${number}`, description: 'Run the tests of one case' },
          content: stdout,
          result: { stdout, stderr: '', interrupted: false, isImage: false, noOutputExpected: false },
        };
      }
      default: {
        const [taskId, to] = [`${number % TASKS}`, number % 2 === 0 ? 'in_progress' : 'completed'];
        const statusChange = { from: 'pending', to };
        return {
          name: 'TaskUpdate',
          input: { taskId, status: to },
          content: `Updated task #${taskId} status`,
          result: { success: true, taskId, updatedFields: ['status'], statusChange },
        };
      }
    }
  }

  #say(block: Fields, stop_reason: string): void {
    this.#messages += 1;
    const usage = {
      input_tokens: 4,
      cache_creation_input_tokens: 900,
      cache_read_input_tokens: this.#messages % 150_000,
      cache_creation: { ephemeral_5m_input_tokens: 900, ephemeral_1h_input_tokens: 0 },
      output_tokens: 120,
      service_tier: 'standard',
    };
    const head = { id: `msg_01Bench${this.#messages}`, type: 'message', role: 'assistant', model: 'claude-opus-5-5' };
    this.#add('assistant', {
      message: { ...head, stop_sequence: null, usage, content: [block], stop_reason },
      ...OF_REQUEST,
    });
  }

  #add(type: string, fields: Fields): void {
    this.#records += 1;
    const timestamp = isoTime(BEGIN + this.#records * SECOND);
    const place = { parentUuid: uuidOf(this.#records - 1), isSidechain: false, uuid: uuidOf(this.#records), timestamp };
    this.#lines.push(JSON.stringify({ ...place, type, ...fields, ...SESSION }));
  }

  /** As long as those with which the API proves that a thought is its own. */
  #signature(): string {
    return Buffer.from(this.#text(800)).toString('base64');
  }

  /** Code, each time from another place. */
  #text(length: number): string {
    const from = (this.#records * 911) % (this.#source.length - LONGEST_OUTPUT);
    return this.#source.slice(from, from + length);
  }
}

function uuidOf(count: number): string {
  return `0f3f82eb-bf5c-4ba8-97e4-${String(count).padStart(12, '0')}`;
}

function failing(number: number, output: string): Deed {
  const content = `Exit code 1\n\n> popoto@1.0.0 test\n> jest\n\nError: case ${number} of room${number % 40} failed at 127.0.0.1:${6_000 + (number % 90)}\n${output.slice(0, output.length / 3)}`;
  const input = { command: `npm test -- --filter case-${number} 2>&1 | tail -40` };
  return { name: 'Bash', input, content, result: `Error: ${content}`, isError: true };
}

/** As a file is shown to the model. */
function numbered(text: string): string {
  return text
    .split('\n')
    .map((line, index) => `${index + 1}\t${line}`)
    .join('\n');
}
