/** A home with a thousand sessions, the last of which crashed, and the launcher of the plugin as an agent starts it in there. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type WorklogLine, worklogKind } from '../memory/fold/rules/kind.js';
import { stampLine, textOfLine } from '../memory/logs/line.js';
import { Memory } from '../memory/sessions/memory.js';
import { readProcessIdentity } from '../src/host/identity.js';
import { packageRoot } from '../src/host/program.js';
import { redactShapes } from '../src/log/redact.js';
import { MINUTE, systemClock } from '../src/time.js';
import { writeTranscript } from './transcripts.js';
import { type Waited, waitedFor } from './waitedFor.js';

const STEPS = 5;
const LAUNCHER = join(packageRoot(), 'plugin/hooks/run');
const LOOK_MS = 5;
/** Starts the launcher as an agent's only deed, and is killed. */
const CRASHING_AGENT = `"$0" SessionStart <"$1" >&2; kill -9 $$`;

export type HookEvent = 'SessionStart' | 'SubagentStart' | 'PermissionRequest' | 'SessionEnd';

export class HookScene {
  readonly transcript: string;
  readonly #folder: string;
  readonly #home: string;
  readonly #work: string;
  /** What {@link restore} puts back. */
  readonly #saved: string;
  #session = '';

  /** @param sessions how many the home has, all of one directory */
  constructor(folder: string, sessions: number) {
    this.#folder = folder;
    this.#home = join(folder, 'home');
    this.#work = join(folder, 'work');
    this.#saved = join(folder, 'saved');
    this.transcript = join(folder, 'claude/projects/p/crashed.jsonl');
    mkdirSync(join(this.#work, '.git'), { recursive: true });
    mkdirSync(join(folder, 'claude/projects/p'), { recursive: true });
    mkdirSync(join(this.#home, 'bindings'), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.#home, 'installation'), `${packageRoot()}\n${process.execPath}\n`, { mode: 0o600 });
    // No round over all sessions begins, which would keep what an agent that crashes has left.
    writeFileSync(join(this.#home, 'kept'), '');
    this.#populate(sessions);
  }

  /** Has another agent begin and end there, in which nothing is asked. */
  async look(): Promise<void> {
    for (const event of ['SessionStart', 'SessionEnd'] as const) {
      await this.run(event);
      await this.settled();
    }
  }

  /** @param bytes of the transcript of the agent that crashes */
  crash(bytes: number): void {
    writeTranscript(this.transcript, bytes);
    const before = new Set(readdirSync(join(this.#home, 'sessions')));
    const payload = join(this.#folder, 'payload.json');
    writeFileSync(payload, this.#payload('SessionStart', { session_id: 'crashed', transcript_path: this.transcript }));
    const call = { cwd: this.#work, env: this.#environment(), argv0: 'claude' };
    spawnSync('sh', ['-c', CRASHING_AGENT, LAUNCHER, payload], call);
    this.#session = readdirSync(join(this.#home, 'sessions')).find((id) => !before.has(id)) ?? '';
    if (this.#session === '') throw new Error('the agent that crashes has left no session');
  }

  /** Keeps what the transcript of the crashed agent shows, as the next start would. */
  keep(): void {
    const words = ['work', 'keep', this.#session];
    const program = join(packageRoot(), 'dist/bridge/cli/main.js');
    const { status, stderr } = spawnSync(process.execPath, [program, ...words], { env: this.#environment() });
    if (status !== 0 || !this.isKept) throw new Error(`nothing was kept: ${stderr}`);
  }

  /** Whether there is a copy of what the transcript of the crashed agent shows. */
  get isKept(): boolean {
    return existsSync(join(this.#home, 'sessions', this.#session, 'tool_use.jsonl'));
  }

  /** Lets this process be an agent, whose hooks come from now on. */
  async start(): Promise<void> {
    await this.run('SessionStart');
  }

  save(): void {
    for (const name of ['bindings', 'workspaces'])
      cpSync(join(this.#home, name), join(this.#saved, name), { recursive: true });
    for (const id of this.#touched()) cpSync(this.#worklog(id), join(this.#saved, id));
    writeFileSync(join(this.#saved, 'sessions.json'), JSON.stringify(readdirSync(join(this.#home, 'sessions'))));
  }

  /** Waits until nothing that a hook began in the background is at work. */
  async settled(): Promise<void> {
    while (isAtWork(this.#home)) await setTimeout(LOOK_MS);
  }

  /** Takes back what a hook has written since {@link save}, once nothing that it began is at work. */
  async restore(): Promise<void> {
    await this.settled();
    const spool = join(this.#home, 'spool');
    if (existsSync(spool) && readdirSync(spool).length > 0) throw new Error('an end was noted, and is not recorded');
    const ids = new Set<string>(JSON.parse(readFileSync(join(this.#saved, 'sessions.json'), 'utf8')));
    for (const id of readdirSync(join(this.#home, 'sessions')))
      if (!ids.has(id)) rmSync(join(this.#home, 'sessions', id), { recursive: true });
    for (const name of ['bindings', 'workspaces']) {
      rmSync(join(this.#home, name), { recursive: true });
      cpSync(join(this.#saved, name), join(this.#home, name), { recursive: true });
    }
    for (const id of ids) if (existsSync(join(this.#saved, id))) cpSync(join(this.#saved, id), this.#worklog(id));
  }

  /** Runs the launcher, which this process starts through a shell, and reads its answer to the end. */
  async run(event: HookEvent): Promise<Waited> {
    const input = this.#payload(event, MORE[event]);
    return waitedFor({ words: [LAUNCHER, event], input, cwd: this.#work, env: this.#environment() });
  }

  /** @returns how many lines the worklogs have that a hook may have written to */
  lines(): number {
    return readdirSync(join(this.#home, 'sessions'))
      .map((id) => readFileSync(this.#worklog(id), 'utf8').split('\n').length - 1)
      .reduce((sum, count) => sum + count, 0);
  }

  #touched(): string[] {
    return readdirSync(join(this.#home, 'sessions')).filter((id) => id.startsWith('ses_'));
  }

  #worklog(id: string): string {
    return join(this.#home, 'sessions', id, 'worklog.jsonl');
  }

  #environment(): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    return { PATH, HOME: this.#folder, WATCHKEEPER_HOME: this.#home, CLAUDE_CONFIG_DIR: join(this.#folder, 'claude') };
  }

  #payload(hook_event_name: HookEvent, more: object): string {
    const transcript_path = join(this.#folder, 'claude/projects/p/present.jsonl');
    return JSON.stringify({ session_id: 'present', transcript_path, cwd: this.#work, hook_event_name, ...more });
  }

  /** All of one directory, so that each is one that a start may have to look at. */
  #populate(sessions: number): void {
    let now = systemClock.now() - sessions * MINUTE;
    const clock = { ...systemClock, now: () => now };
    const variables = { WATCHKEEPER_HOME: this.#home };
    const surroundings = { directory: this.#work, process: readProcessIdentity('bench'), variables };
    const memory = new Memory({ surroundings, folder: null, clock, redact: redactShapes });
    for (let index = 0; index < sessions; index += 1) {
      now += MINUTE;
      const id = `2026-11-01-case-${index + 1}`;
      const folder = memory.places.sessionFolder(id);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      memory.claims.enter(memory.workspace, id);
      const lines = linesOf(id, index).map((line) =>
        textOfLine(stampLine({ session_id: id, ...line }, { clock, redact: redactShapes, origin: 'agent' })),
      );
      writeFileSync(join(folder, 'worklog.jsonl'), lines.join(''), { mode: 0o600 });
    }
  }
}

const MORE: Readonly<Record<HookEvent, object>> = {
  SessionStart: { source: 'startup' },
  SubagentStart: { agent_id: 'a0b1c2d3e4', agent_type: 'general-purpose' },
  PermissionRequest: { tool_name: 'Bash', tool_input: { command: 'npm test' } },
  SessionEnd: { reason: 'other' },
};

/** A small piece of work that is done. */
function linesOf(id: string, index: number): WorklogLine[] {
  const steps = Array.from({ length: STEPS }, (_, step) => `${step + 1}`);
  return [
    worklogKind.line('session_started', { session_id: id, purpose: `Fix case ${index} of the login`, explicit: true }),
    ...steps.map((step) => worklogKind.line('step_added', { step, title: `Part ${step}: find the cause and mend it` })),
    ...steps.flatMap((step) => [
      worklogKind.line('step', { step, to: 'in_progress', paths: [`src/room${index % 17}/part${step}.ts`] }),
      worklogKind.line('log', { message: `the tests of part ${step} pass`, step }),
      worklogKind.line('step', { step, to: 'completed' }),
    ]),
    worklogKind.line('note', { text: 'the API wants UTC', priority: 'high' }),
    worklogKind.line('session_ended', { reason: 'completed' }),
  ];
}

/** @returns whether a program goes on that nobody waits for; all that serve this home have it in their environment */
function isAtWork(home: string): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`WATCHKEEPER_HOME=${home}\0`);
    } catch {
      return false;
    }
  });
}
