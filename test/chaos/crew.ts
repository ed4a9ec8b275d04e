/** The product's processes in a scene, each started again when it died, as a supervisor does it. */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import type { Program } from '../e2e/program.js';

export type Role = 'bridge' | 'watchdog';
export const ROLES: readonly Role[] = ['bridge', 'watchdog'];

/** How long a process stands that waits for its successor. */
const LONGEST_STOP_MS = 4_000;
/** So that its successor does nothing before it has woken up. */
const HOLD_SUCCESSOR = 'commit.take_lease.after:delay:1';
const LOOK_EVERY_MS = 25;

interface Member {
  program: Program;
  /** When it is to go on, or to be started again; performance.now(). */
  resumeAt: number | null;
  /** How many times it has said that it tripped. */
  trips: number;
}

export class Crew {
  private readonly scene: BridgeScene;
  private readonly environments: Readonly<Record<Role, Readonly<Record<string, string>>>>;
  private readonly orders: string;
  private readonly members = new Map<Role, Member>();
  private timer: NodeJS.Timeout | null = null;
  /** Milliseconds that the next one that dies stays away. */
  awayMs = 200;
  /** Milliseconds that the next one that is stopped stands; null: until the other one acts as watchdog. */
  stoppedMs: number | null = null;
  /** Who is dead stays dead. */
  isHeld = false;
  /** When a process of the product was broken, UTC epoch milliseconds. */
  private readonly onBroken: (at: number, isOrderly?: boolean) => void;
  /** What tripped processes said, in order. */
  readonly tripped: string[] = [];

  /**
   * @param environments what each of them has besides the scene's variables
   * @param onBroken called when one of them dies, is stopped, or has tripped; `isOrderly` if the bridge is asked to stop
   */
  constructor(
    scene: BridgeScene,
    environments: Readonly<Record<Role, Readonly<Record<string, string>>>>,
    onBroken: (at: number, isOrderly?: boolean) => void = () => undefined,
  ) {
    this.onBroken = onBroken;
    this.scene = scene;
    this.environments = environments;
    this.orders = join(scene.folder, 'failpoint');
  }

  /** Starts both, and cares for them until {@link dismiss}. */
  muster(): void {
    for (const role of ROLES) this.start(role);
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  }

  /** No longer starts anybody; whoever stands goes on. */
  dismiss(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.arm(null);
    this.look();
    for (const { program } of this.members.values()) program.signal('SIGCONT');
  }

  /** Whether one of them stands that is not dead. */
  get isAnyoneStopped(): boolean {
    return [...this.members.values()].some(({ program, resumeAt }) => resumeAt !== null && program.exit === null);
  }

  /** Orders a failpoint, for whoever passes it first; null takes the order back. */
  arm(failpoint: string | null): void {
    rmSync(this.orders, { force: true });
    if (failpoint === null) return;
    // Whole or not at all.
    writeFileSync(`${this.orders}.new`, failpoint);
    renameSync(`${this.orders}.new`, this.orders);
  }

  signal(role: Role, signal: NodeJS.Signals): void {
    const member = this.members.get(role);
    member?.program.signal(signal);
    this.onBroken(Date.now(), role === 'bridge' && signal === 'SIGTERM');
    if (signal === 'SIGSTOP' && member !== undefined) member.resumeAt = this.endOfStop();
  }

  /** Stops the bridge for good: it is killed before it can go on. Resolves when it has been. */
  async freeze(forMs: number): Promise<void> {
    const bridge = this.members.get('bridge')?.program;
    bridge?.signal('SIGSTOP');
    this.onBroken(Date.now());
    await pause(forMs);
    bridge?.signal('SIGKILL');
    this.onBroken(Date.now());
  }

  /** Wakes the one up that stands at the very moment of its replacement. */
  onActing(role: Role): void {
    for (const [other, member] of this.members) {
      if (other === role || member.resumeAt === null || member.program.exit !== null || this.stoppedMs !== null)
        continue;
      member.program.signal('SIGCONT');
      member.resumeAt = null;
    }
  }

  /** @returns the pid of the living bridge's reaper; null where there is none now */
  reaperPid(): number | null {
    const bridge = this.members.get('bridge')?.program;
    if (bridge === undefined) return null;
    const isIts = (pid: string) => parentOf(pid) === bridge.pid && isReaper(Number(pid));
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isIts(name));
    return pid === undefined ? null : Number(pid);
  }

  private start(role: Role): void {
    const environment = { WATCHKEEPER_FAILPOINT: `@${this.orders}`, ...this.environments[role] };
    this.members.set(role, { program: this.scene.start([role], environment), resumeAt: null, trips: 0 });
  }

  private endOfStop(): number {
    return performance.now() + (this.stoppedMs ?? LONGEST_STOP_MS);
  }

  private look(): void {
    const now = performance.now();
    for (const [role, member] of this.members) {
      const said = [...member.program.stderr.matchAll(/^failpoint .* tripped: (\w+)$/gm)];
      for (const [words, action] of said.slice(member.trips)) {
        this.tripped.push(words);
        this.onBroken(Date.now());
        if (action !== 'stop') continue;
        member.resumeAt = this.endOfStop();
        if (this.stoppedMs === null) this.arm(HOLD_SUCCESSOR);
      }
      member.trips = said.length;
      if (member.program.exit !== null) {
        if (member.resumeAt === null) this.onBroken(Date.now());
        member.resumeAt ??= now + this.awayMs;
        if (now >= member.resumeAt && !this.isHeld) this.start(role);
      } else if (member.resumeAt !== null && now >= member.resumeAt) {
        member.program.signal('SIGCONT');
        member.resumeAt = null;
      }
    }
  }
}

/** @returns whether a living process is a reaper: a zombie has no command line */
export function isReaper(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`).includes('reaperMain');
}

function parentOf(pid: string): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
