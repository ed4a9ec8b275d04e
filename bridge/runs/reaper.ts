/**
 * The bridge's side of the reaper: a small child that ends this bridge's runs when the bridge cannot (killed, crashed,
 * stopped). The reaper gets every run before its agent is started.
 *
 * It protects against the death of this process, not of the host, and not against both being killed at once.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { UnreachableError } from '../../src/errors.js';
import { compiledProgram } from '../../src/host/program.js';
import { redactShapes } from '../../src/log/redact.js';
import type { Service } from '../../src/service.js';
import { atMost, type Clock, SECOND, type Timer } from '../../src/time.js';
import { LastWords } from '../agents/program/programOutput.js';
import { DEFAULT_GRACE_MS } from './endRun.js';
import { tickMs } from './reaperDuty.js';

/** It needs little, and must not compete with the agents for memory. */
const NODE_OPTIONS = ['--max-old-space-size=32', '--max-semi-space-size=1'];
const START_LIMIT_MS = 10 * SECOND;
const STOP_LIMIT_MS = 2 * SECOND;
/** The pause between two starts of a child that does not stay up. */
const RESTART_PAUSE_MS = SECOND;
/** A reaper that does not read must not fill this process's memory. */
const MOST_UNREAD_BYTES = 64 * 1024;
const LAST_WORDS_LENGTH = 4 * 1024;
const RUN_ID = /^[A-Za-z0-9_-]{1,100}$/;

export interface ReaperOptions {
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Between SIGTERM and SIGKILL. Default 10 s. */
  readonly graceMs?: number;
  /** Called with a sentence when the child ended by itself, and when the next one is up. */
  readonly notify: (sentence: string) => void;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export class Reaper implements Service {
  readonly name = 'reaper';
  readonly #options: ReaperOptions;
  /** The agents' pids by run; null until one was started. */
  readonly #runs = new Map<string, number | null>();
  #unsaid = '';
  /** Resolves when the lines of this tick are in the pipe; null if there are none. */
  #saying: Promise<void> | null = null;
  #child: Child | null = null;
  #ticking: Timer | null = null;
  #restarting: Timer | null = null;
  #running = false;

  constructor(options: ReaperOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** @throws UnreachableError if the child does not come up; no agent may be started without it */
  async start(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      await this.#untilReady(this.#spawn());
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#tick();
  }

  /** Sends `bye`: the remaining runs are left alone. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#ticking?.cancel();
    this.#restarting?.cancel();
    const child = this.#child;
    if (child === null) return;
    const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.stdin.end('bye\n');
    const late = this.#options.clock.after(STOP_LIMIT_MS, () => child.kill('SIGKILL'));
    await exit;
    late.cancel();
  }

  /** Before the agent is started, and again with its pid. @returns when the child is certain to have the run */
  async watch(runId: string, pid: number | null = null): Promise<void> {
    if (!RUN_ID.test(runId)) throw new Error(`${JSON.stringify(runId)} cannot be reported to the reaper`);
    this.#runs.set(runId, pid);
    await this.#say(describeRun(runId, pid));
  }

  /** Removes a run that is proven dead. The child gets this with the next line: scanning for a dead run does no harm. */
  unwatch(runId: string): void {
    if (this.#runs.delete(runId)) this.#unsaid += `end ${runId}\n`;
  }

  #spawn(): Child {
    const { leaseMs, graceMs = DEFAULT_GRACE_MS } = this.#options;
    const program = [...NODE_OPTIONS, compiledProgram('bridge/runs/reaperMain')];
    const child = spawn(process.execPath, [...program, String(leaseMs), String(graceMs)], {
      cwd: '/',
      // Nothing of the bridge's: no secrets, and no mark of a run that the bridge itself may belong to.
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const lastWords = new LastWords(child.stderr, this.#options.clock);
    const startedAt = this.#options.clock.monotonic();
    const onEnd = (end: string) => {
      if (this.#child !== child) return;
      this.#child = null;
      if (this.#running) this.#restart(startedAt, `${end} ${lastWords.last(LAST_WORDS_LENGTH, redactShapes)}`.trim());
    };
    child.stdin.on('error', () => {});
    child.once('exit', (code, signal) => onEnd(signal ?? `code ${code}`));
    child.on('error', (error) => {
      if (child.pid === undefined) onEnd(error.message);
    });
    this.#child = child;
    this.#unsaid = '';
    for (const [runId, pid] of this.#runs) void this.#say(describeRun(runId, pid));
    return child;
  }

  #restart(startedAt: number, end: string): void {
    const { clock, notify } = this.#options;
    const pauseMs = clock.monotonic() - startedAt < RESTART_PAUSE_MS ? RESTART_PAUSE_MS : 0;
    notify(`the reaper ended by itself (${end}); another one is started`);
    this.#restarting = clock.after(pauseMs, () => {
      const child = this.#spawn();
      child.stdout.once('data', () => notify(`the next reaper is up (pid ${child.pid}), runs: ${this.#runs.size}`));
    });
  }

  async #untilReady(child: Child): Promise<void> {
    const { clock } = this.#options;
    const known = new Promise<string>((resolve) => {
      child.stdout.once('data', () => resolve('ready'));
      child.once('error', (error) => resolve(`could not be started (${error.message})`));
      child.once('exit', (code) => resolve(`exited with code ${code} at once`));
    });
    const outcome = await atMost(clock, START_LIMIT_MS, known, `was not ready after ${START_LIMIT_MS / SECOND} s`);
    if (outcome !== 'ready') {
      throw new UnreachableError(`the reaper ${outcome}; without it no agent is started. Is the product built?`);
    }
  }

  #tick(): void {
    const { clock, leaseMs } = this.#options;
    this.#ticking = clock.after(tickMs(leaseMs), () => {
      const unread = this.#child?.stdin.writableLength ?? 0;
      if (unread < MOST_UNREAD_BYTES) void this.#say('tick\n');
      this.#tick();
    });
  }

  /** Resolves when the line is in the pipe, or if there is no child: the next child gets everything. */
  #say(line: string): Promise<void> {
    if (!this.#child?.stdin.writable) return Promise.resolve();
    this.#unsaid += line;
    this.#saying ??= new Promise((resolve) => process.nextTick(() => this.#sayAll(resolve)));
    return this.#saying;
  }

  /** Each write wakes the child; runs that begin in the same tick wake it once. */
  #sayAll(onSaid: () => void): void {
    const lines = this.#unsaid;
    this.#unsaid = '';
    this.#saying = null;
    if (this.#child?.stdin.writable) this.#child.stdin.write(lines, onSaid);
    else onSaid();
  }
}

function describeRun(runId: string, pid: number | null): string {
  return pid === null ? `run ${runId}\n` : `run ${runId} ${pid}\n`;
}
