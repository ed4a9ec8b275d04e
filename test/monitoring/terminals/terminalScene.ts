/** Agents in terminals: their records as their programs and hooks write them, and a clock that the test moves. */
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { endRun, waitForPermission } from '../../../memory/programs/runEnd.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import type { ConversationSource } from '../../../memory/words.js';
import { OwnGaps } from '../../../monitoring/lateness/ownGaps.js';
import { rulesIn } from '../../../monitoring/terminals/directoryRules.js';
import {
  type NoticedSession,
  TerminalWatch,
  type TerminalWatchContext,
} from '../../../monitoring/terminals/terminalWatch.js';
import type { Project } from '../../../src/config/settings.js';
import { isProcessAlive, type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { createLogger } from '../../../src/log/logger.js';
import { createRedactor } from '../../../src/log/redact.js';
import { isoTime, SECOND } from '../../../src/time.js';
import { afterThisTest } from '../../harness/scope.js';
import { type MemoryScene, memoryScene } from '../../memory/scene.js';
import { type Fields, START } from '../../src/transcripts/told.js';

const HERE = readProcessIdentity('host');
/** Of another boot, so it is dead. */
export const DEAD: ProcessIdentity = { ...HERE, boot_id: 'another', pid_start: '1' };

/** A process that is alive until the test is over. */
function living(): ProcessIdentity {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  afterThisTest(() => void child.kill('SIGKILL'));
  return readProcessIdentity('host', child.pid);
}

const PULSE_MS = 5 * SECOND;

export class TerminalScene {
  /** Whether the watches may act. */
  isActing = true;
  readonly memory: MemoryScene = memoryScene();
  readonly noticed: NoticedSession[] = [];
  /** The sessions whose keeping a watch has begun. */
  readonly kept: string[] = [];
  readonly logged: string[] = [];
  readonly #gaps: OwnGaps;
  #transcripts = 0;

  constructor() {
    const { clock } = this.memory;
    const counters = { sinceBootMs: () => clock.monotonic(), processorMs: () => 0 };
    this.#gaps = new OwnGaps({ clock, counters, here: HERE, boundMs: 30 * SECOND });
  }

  /** From now on the process notices when it was away. */
  pulse(): void {
    this.#gaps.now();
    this.#gaps.sleeps(PULSE_MS);
    this.memory.clock.after(PULSE_MS, () => this.pulse());
  }

  /** Seconds since the beginning of the transcripts of the tests. */
  get seconds(): number {
    return (this.memory.clock.now() - START) / SECOND;
  }

  /** An agent starts in the directory of the scene, with its hooks. */
  agent(agent: ProcessIdentity | null = living()): TerminalAgent {
    return new TerminalAgent(this, { ...this.#conversation(), agent, source: 'startup' });
  }

  /** The agent clears its conversation. */
  cleared({ launch }: TerminalAgent): TerminalAgent {
    return new TerminalAgent(this, { ...launch, ...this.#conversation(), source: 'clear' });
  }

  /** A new process goes on with its conversation. */
  resumed({ launch }: TerminalAgent): TerminalAgent {
    return new TerminalAgent(this, { ...launch, agent: living(), source: 'resume' });
  }

  #conversation() {
    this.#transcripts += 1;
    const conversation = `c-${this.#transcripts}`;
    const transcript = join(this.memory.home, '..', `${conversation}.jsonl`);
    writeFileSync(transcript, '');
    return { conversation, transcript };
  }

  watch(projects: readonly Project[] = []): TerminalWatch {
    return new TerminalWatch(this.context(projects));
  }

  context(projects: readonly Project[] = []): TerminalWatchContext {
    const { clock } = this.memory;
    const destinations = [{ name: 'the test', write: (line: string) => void this.logged.push(line) }];
    return {
      clock,
      logger: createLogger({ level: 'debug', redact: createRedactor([]), clock, destinations }),
      gaps: this.#gaps,
      openMemory: () => this.open(),
      rulesIn: (directory) => rulesIn(projects, directory),
      lease: this,
      keep: (_, { id }) => void this.kept.push(id),
      onNotice: async (noticed) => void this.noticed.push(noticed),
    };
  }

  open(): Memory {
    return this.memory.open();
  }

  /** Time passes; the watches look whenever they want to. */
  async pass(ms: number, ...watches: readonly TerminalWatch[]): Promise<void> {
    const { clock } = this.memory;
    const end = clock.now() + ms;
    for (;;) {
      const next = Math.min(...watches.map((watch) => watch.nextLookAt));
      if (next > end) break;
      await clock.advance(Math.max(next - clock.now(), 0));
      for (const watch of watches) if (watch.nextLookAt <= clock.now()) await watch.runOnce();
    }
    await clock.advance(end - clock.now());
  }
}

interface AgentLaunch {
  readonly conversation: string;
  readonly transcript: string;
  /** Null: its hook could not see it. */
  readonly agent: ProcessIdentity | null;
  readonly source: ConversationSource;
}

export class TerminalAgent {
  readonly id: string;
  readonly #scene: TerminalScene;
  readonly launch: AgentLaunch;

  constructor(scene: TerminalScene, launch: AgentLaunch) {
    this.#scene = scene;
    this.launch = launch;
    const { session } = startConversation(scene.open(), {
      ...launch,
      provider: 'claude',
      launchedIn: null,
    });
    session.log.close();
    this.id = session.id;
  }

  /** Its program writes records into the transcript. */
  writes(...records: readonly Fields[]): void {
    appendFileSync(this.launch.transcript, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }

  asksPermission(tool: string, inputDigest: string | null = null): void {
    this.#with((session, memory) => waitForPermission(memory, session, { tool, inputDigest, subAgent: null }));
  }

  /** Its process is killed. */
  async dies(): Promise<void> {
    const { pid } = this.launch.agent ?? { pid: 0 };
    process.kill(pid, 'SIGKILL');
    while (isProcessAlive(this.launch.agent ?? HERE, HERE) !== false) await pause(1);
  }

  ends(): void {
    const { agent } = this.launch;
    if (agent !== null) this.#with((session, memory) => endRun(memory, session, agent, 'prompt_input_exit'));
  }

  pings(ms: number): void {
    const until = isoTime(this.#scene.memory.clock.now() + ms);
    this.#with(({ log }, { stamp }) => log.write(() => [worklogKind.line('ping', { until })], stamp));
  }

  /** The events of its worklog that a watcher writes. */
  get notices(): string[] {
    const path = join(this.#scene.memory.home, 'sessions', this.id, 'worklog.jsonl');
    return readFileSync(path, 'utf8').match(/(?<="event":")notice(?:_closed)?/g) ?? [];
  }

  #with(write: (session: OpenSession, memory: Memory) => void): void {
    const memory = this.#scene.open();
    const session = memory.sessions.open(this.id);
    if (session === null) throw new Error(`session ${this.id} is gone`);
    write(session, memory);
    session.log.close();
  }
}
