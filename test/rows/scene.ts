/** A scratch home and a scratch git repository, in which the command line is used as people type it: in a shell. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listPids, readArguments } from '../../src/host/procfs.js';
import { packageRoot } from '../../src/host/program.js';
import { parseJson } from '../../src/json.js';
import { isoTime } from '../../src/time.js';
import { fixture } from './fixtures.js';

/** Of one shell line. */
const LIMIT_MS = 60_000;
const COMMANDS = { wk: 'watchkeeper', 'session-tracker': 'session-tracker' } as const;
const KEEPERS_LIMIT_MS = 20_000;
const LOOK_EVERY_MS = 20;
const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

export interface Answer {
  readonly line: string;
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Caller {
  /** Standard input; a closed one if missing. */
  readonly piped?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

export class RowScene {
  readonly folder = mkdtempSync(join(tmpdir(), 'wk-row-'));
  readonly home = join(this.folder, 'home');
  readonly repository = join(this.folder, 'repository');
  /** Everything that was typed, with its answers. */
  readonly answers: Answer[] = [];
  readonly #bin = join(this.folder, 'bin');
  readonly #agents: ChildProcess[] = [];

  constructor() {
    mkdirSync(this.repository);
    mkdirSync(this.#bin);
    for (const [name, program] of Object.entries(COMMANDS))
      symlinkSync(join(packageRoot(), 'bin', program), join(this.#bin, name));
    this.sh('git init -q && git -c user.name=n -c user.email=e@example.com commit -q --allow-empty -m begin');
  }

  /** Runs a line in the repository. */
  sh(line: string, { piped = '', variables = {} }: Caller = {}): Answer {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
      cwd: this.repository,
      env: { ...this.#environment(), ...variables },
      encoding: 'utf8',
      input: piped,
      timeout: LIMIT_MS,
    });
    const answer = { line, code: status, out: stdout, err: stderr };
    this.answers.push(answer);
    return answer;
  }

  /** Runs a line that must succeed. */
  do(line: string, caller: Caller = {}): Answer {
    const answer = this.sh(line, caller);
    assert.equal(answer.code, 0, `${line}: exit ${answer.code}, ${answer.err}`);
    return answer;
  }

  /** @returns what a line answers as JSON, whatever its exit code */
  json(line: string, caller: Caller = {}): unknown {
    const { out, err } = this.sh(`${line} --json`, caller);
    const value = parseJson(out);
    assert.notEqual(value, null, `${line} --json answers no JSON: ${out}${err}`);
    return value;
  }

  /** @returns the id of a session that this line has begun */
  begin(line: string, caller: Caller = {}): string {
    const { session_id: id } = Object(this.json(line, caller));
    assert.equal(typeof id, 'string');
    return id;
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.repository, path)), { recursive: true });
    writeFileSync(join(this.repository, path), text);
  }

  /** The lines of a session's worklog, as they are. */
  worklog(id: string): string {
    return readFileSync(this.#worklog(id), 'utf8');
  }

  /** Lets time pass for a session: its lines were written earlier. */
  age(id: string, ms: number): void {
    this.#awaitKeepers();
    const text = this.worklog(id).replace(INSTANT, (instant) => isoTime(Date.parse(instant) - ms));
    this.rewrite(id, text);
  }

  /** Puts another log in the place of a session's, once nobody works on it in the background any more. */
  rewrite(id: string, text: string): void {
    this.#awaitKeepers();
    writeFileSync(this.#worklog(id), text);
    rmSync(join(dirname(this.#worklog(id)), 'state.json'), { force: true });
  }

  /**
   * Lets an agent of Claude Code have worked: its recorded transcript lies where the program keeps it.
   * @param name of the recording
   * @param endedAgo when its last record was written, in milliseconds before now
   * @returns the variables of a shell of that agent
   */
  converse(name: string, endedAgo = 0): Record<string, string> {
    const conversation = `conversation-${name.replace(/\W/g, '-')}`;
    const place = join(this.folder, 'claude/projects/p', conversation);
    const { transcript, companions } = fixture(name);
    const text = readFileSync(transcript, 'utf8');
    const last = Math.max(...[...text.matchAll(INSTANT)].map(([instant]) => Date.parse(instant)));
    const shift = Date.now() - endedAgo - last;
    const shifted = (old: string) => old.replace(INSTANT, (instant) => isoTime(Date.parse(instant) + shift));
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(`${place}.jsonl`, shifted(text));
    if (companions !== null) {
      cpSync(companions, place, { recursive: true });
      for (const path of filesBelow(place)) writeFileSync(path, shifted(readFileSync(path, 'utf8')));
    }
    return { CLAUDE_CODE_SESSION_ID: conversation, CLAUDECODE: '1' };
  }

  /** Begins a process that looks like an agent's, runs lines in its shell, and stays until it is killed. */
  async agent(script: string, variables: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    const path = join(this.folder, `agent-${this.#agents.length}`, 'claude');
    mkdirSync(dirname(path));
    writeFileSync(path, `#!/bin/sh\n${script}\necho ready\nread line\n`, { mode: 0o700 });
    const child = spawn(path, {
      cwd: this.repository,
      env: { ...this.#environment(), ...variables },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#agents.push(child);
    let said = '';
    const ready = (async () => {
      for await (const chunk of child.stdout) {
        said += chunk;
        if (said.endsWith('ready\n')) return;
      }
    })();
    await ready;
    this.answers.push({ line: `an agent's shell: ${script}`, code: null, out: said, err: '' });
    return child;
  }

  async kill(child: ChildProcess): Promise<void> {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    this.answers.push({ line: `kill -9 ${child.pid}`, code: 0, out: '', err: '' });
  }

  remove(): void {
    for (const child of this.#agents) child.kill('SIGKILL');
    this.#awaitKeepers();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  /** What a command has left to a process of its own would be written into another time, or into no folder. */
  #awaitKeepers(): void {
    const isAtWork = (words: readonly string[]) => words.includes('keep') && words.includes(this.home);
    const until = performance.now() + KEEPERS_LIMIT_MS;
    while (listPids().some((pid) => isAtWork(readArguments(pid))) && performance.now() < until)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
  }

  #worklog(id: string): string {
    const path = filesBelow(this.home).find((file) => file.endsWith(join(id, 'worklog.jsonl')));
    assert.notEqual(path, undefined, `there is no worklog of ${id}`);
    return path ?? '';
  }

  #environment(): Record<string, string> {
    return {
      PATH: `${this.#bin}:${process.env.PATH}`,
      HOME: this.folder,
      WATCHKEEPER_HOME: this.home,
      CLAUDE_CONFIG_DIR: join(this.folder, 'claude'),
      CODEX_HOME: join(this.folder, 'codex'),
    };
  }
}

export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** @returns the value at a path of keys; undefined if it is not there */
export function at(value: unknown, ...keys: readonly (string | number)[]): unknown {
  return keys.reduce<unknown>((inner, key) => Object(inner)[key], value);
}

/** @returns the list at a path of keys */
export function listAt(value: unknown, ...keys: readonly (string | number)[]): readonly unknown[] {
  const list = at(value, ...keys);
  assert.ok(Array.isArray(list), `${keys.join('.')} is no list`);
  return list;
}
