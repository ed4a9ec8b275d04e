/**
 * Ends every process of a run: first by SIGTERM, then by SIGKILL, until a new scan finds nothing.
 *
 * The process group alone is not enough: agents start tools in process sessions of their own, which outlive the group. Limit:
 * it cannot see into another pid namespace or boot. The caller must share both with the run.
 */
import { failpoint } from '../../src/failpoints.js';
import type { HostProcess, ProcessTable } from '../../src/host/table.js';
import type { DeathProof } from '../../src/jobs/model.js';
import { type Clock, SECOND } from '../../src/time.js';
import { type Look, RunProcesses, type RunTarget } from './runProcesses.js';

export const DEFAULT_GRACE_MS = 10 * SECOND;
const DEFAULT_GIVE_UP_MS = 60 * SECOND;
/** A child between fork and exec does not carry the mark yet; a second scan, this much later, finds it. */
const DEFAULT_QUIET_MS = 50;
const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

export interface EndOptions {
  readonly clock: Clock;
  /** How long the run may take to end after SIGTERM, in milliseconds. Default 10 s. */
  readonly graceMs?: number;
  /** How long to keep killing processes that do not die, in milliseconds. Default 60 s. */
  readonly giveUpMs?: number;
  /** How long the scans must find nothing before that counts, in milliseconds. Default 50 ms. */
  readonly quietMs?: number;
  readonly table?: ProcessTable;
}

export interface EndReport {
  /** No process of the run is left: two scans found none, and nothing changed during them. */
  readonly proven: boolean;
  /** `tree`: this host shows no marks, so only the recorded process tree could be followed. */
  readonly by: 'mark' | 'tree';
  /** How many processes got SIGTERM; `killed` counts SIGKILL. */
  readonly asked: number;
  readonly killed: number;
  /** Pids that were left, or could not be read, when it gave up. */
  readonly survivors: readonly number[];
  readonly tookMs: number;
}

/**
 * Sends SIGTERM to the group, waits up to `graceMs` for everything to end, then sends SIGKILL to every process of the run until
 * none is left. Processes outside the group get SIGTERM as soon as the group is gone. Idempotent: a run without processes is
 * proven dead after `quietMs`.
 * @param target the run; a `groupPid` that now belongs to other processes is recognised and left alone
 * @returns what was done; does not throw for processes that cannot be ended
 * @throws the error of scanning or signalling, if it persists until the time to give up
 */
export async function endRun(target: RunTarget, options: EndOptions): Promise<EndReport> {
  const { clock, graceMs = DEFAULT_GRACE_MS, giveUpMs = DEFAULT_GIVE_UP_MS, quietMs = DEFAULT_QUIET_MS } = options;
  const begun = clock.monotonic();
  const ending = new Ending(target, options.table);
  let quietSince: number | null = null;
  let pauseMs = SHORTEST_PAUSE_MS;

  for (;;) {
    const forced = clock.monotonic() - begun >= graceMs;
    let look: Look;
    try {
      look = forced ? ending.kill() : ending.ask();
    } catch (error) {
      if (clock.monotonic() - begun >= graceMs + giveUpMs) throw error;
      // For example no free file descriptors right now. Only this loop tries again; without it the other processes would live on.
      await clock.sleep(LONGEST_PAUSE_MS);
      continue;
    }
    const now = clock.monotonic();
    if (!isEmpty(look)) quietSince = null;
    else if (look.settled) {
      quietSince ??= now;
      if (now - quietSince >= quietMs) return ending.report(look, true, now - begun);
    }
    if (now - begun >= graceMs + giveUpMs) return ending.report(look, false, now - begun);
    await clock.sleep(isEmpty(look) ? quietMs : pauseMs);
    pauseMs = forced ? SHORTEST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** As {@link endRun}. @returns the proof that no process is left; null if something could not be ended */
export async function endProcesses(target: RunTarget, options: EndOptions): Promise<DeathProof | null> {
  const { proven } = await endRun(target, options);
  return proven ? { run_id: target.runId, proven_at: options.clock.now(), by: 'scan' } : null;
}

function isEmpty(look: Look): boolean {
  return look.left.length === 0 && look.doubtful.length === 0;
}

/** Records which processes got SIGTERM and SIGKILL so far. */
class Ending {
  readonly #target: RunTarget;
  readonly #processes: RunProcesses;
  readonly #asked = new Set<string>();
  /** Signalled by their own pid, because a process that leaves the group while the group is signalled may have missed it. */
  readonly #askedAlone = new Set<string>();
  readonly #killed = new Set<string>();
  #groupWasAsked = false;

  constructor(target: RunTarget, table?: ProcessTable) {
    this.#target = target;
    this.#processes = new RunProcesses(target, table);
  }

  ask(): Look {
    const look = this.#processes.look();
    const inGroup = look.left.filter((member) => member.group === this.#target.groupPid);
    if (inGroup.length > 0) this.#askGroup(look, inGroup);
    else for (const member of look.left) this.#askOne(member);
    return look;
  }

  kill(): Look {
    // Killed as soon as it is seen: a process that replaces itself quickly is gone by the time the whole host is read.
    const look = this.#processes.look((found) => this.#killOne(found));
    this.#processes.signalGroup(look.left, 'SIGKILL');
    for (const member of look.left) this.#killOne(member);
    return look;
  }

  report(look: Look, proven: boolean, tookMs: number): EndReport {
    return {
      proven,
      by: look.showsMarks ? 'mark' : 'tree',
      asked: this.#asked.size,
      killed: this.#killed.size,
      survivors: [...look.left, ...look.doubtful].map((found) => found.pid),
      tookMs,
    };
  }

  #askGroup(look: Look, inGroup: readonly HostProcess[]): void {
    if (this.#groupWasAsked) return;
    failpoint('run.ask.before');
    this.#groupWasAsked = this.#processes.signalGroup(look.left, 'SIGTERM');
    if (!this.#groupWasAsked) return;
    for (const member of inGroup) this.#asked.add(name(member));
    // A stopped process acts on SIGTERM only after SIGCONT.
    this.#processes.signalGroup(look.left, 'SIGCONT');
    failpoint('run.ask.after');
  }

  #askOne(member: HostProcess): void {
    if (this.#askedAlone.has(name(member)) || !this.#processes.signal(member, 'SIGTERM')) return;
    this.#askedAlone.add(name(member));
    this.#asked.add(name(member));
    this.#processes.signal(member, 'SIGCONT');
  }

  #killOne(member: HostProcess): void {
    failpoint('run.kill.before');
    if (this.#processes.signal(member, 'SIGKILL')) this.#killed.add(name(member));
    failpoint('run.kill.after');
  }
}

function name(member: HostProcess): string {
  return `${member.pid}@${member.start}`;
}
