/** The product's processes in a scene, each started again when it died, as a supervisor does it. */
import { readdirSync, readFileSync } from 'node:fs';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import type { Program } from '../e2e/program.js';

export type Role = 'bridge' | 'watchdog';

/** How long a process that stopped itself stands: longer than the leases. */
const STOPPED_MS = 3_500;
const LOOK_EVERY_MS = 25;

interface Member {
  program: Program;
  /** The failpoint that it was started with. */
  readonly armed: string | null;
  /** When it is to go on, or to be started again; performance.now(). */
  resumeAt: number | null;
}

export class Crew {
  private readonly scene: BridgeScene;
  private readonly members = new Map<Role, Member>();
  private timer: NodeJS.Timeout | null = null;
  /** Milliseconds that the next one that dies stays away. */
  awayMs = 200;
  /** What tripped processes said, in order. */
  readonly tripped: string[] = [];

  constructor(scene: BridgeScene) {
    this.scene = scene;
  }

  /** Starts both, and cares for them until {@link dismiss}. */
  muster(): void {
    for (const role of ['bridge', 'watchdog'] as const) this.start(role, null);
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  }

  /** No longer starts anybody; whoever stands still goes on. */
  dismiss(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.look();
    for (const { program } of this.members.values()) program.signal('SIGCONT');
  }

  /**
   * Replaces both by ones with this failpoint, unless they have it; null: unless they have none.
   * @returns when the ones before are gone
   */
  async arm(failpoint: string | null): Promise<void> {
    this.look();
    const others = [...this.members].filter(([, member]) => member.armed !== failpoint);
    await Promise.all(others.map(([role, member]) => this.replace(role, member, failpoint)));
  }

  private async replace(role: Role, member: Member, failpoint: string | null): Promise<void> {
    member.resumeAt = Number.POSITIVE_INFINITY;
    member.program.signal('SIGCONT');
    await member.program.stop().catch(() => undefined);
    this.look();
    this.start(role, failpoint);
  }

  signal(role: Role, signal: NodeJS.Signals): void {
    const member = this.members.get(role);
    member?.program.signal(signal);
    if (signal === 'SIGSTOP' && member !== undefined) member.resumeAt = performance.now() + STOPPED_MS;
  }

  /** @returns the pid of the living bridge's reaper; null where there is none now */
  reaperPid(): number | null {
    const bridge = this.members.get('bridge')?.program;
    if (bridge === undefined) return null;
    const isReaper = (pid: string) =>
      parentOf(pid) === bridge.pid && read(`/proc/${pid}/cmdline`).includes('reaperMain');
    const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isReaper(name));
    return pid === undefined ? null : Number(pid);
  }

  describe(): string {
    return [...this.members.values()].map(({ program }) => program.lastWords()).join('\n');
  }

  private start(role: Role, armed: string | null): void {
    const environment = armed === null ? {} : { WATCHKEEPER_FAILPOINT: armed };
    this.members.set(role, { program: this.scene.start([role], environment), armed, resumeAt: null });
  }

  private look(): void {
    const now = performance.now();
    for (const [role, member] of this.members) {
      const said = /^failpoint .* tripped: (\w+)$/m.exec(member.program.stderr);
      if (said !== null && !this.tripped.includes(`${member.program.pid} ${said[0]}`)) {
        this.tripped.push(`${member.program.pid} ${said[0]}`);
        if (said[1] === 'stop') member.resumeAt = now + STOPPED_MS;
      }
      if (member.program.exit !== null) {
        member.resumeAt ??= now + this.awayMs;
        // Without a failpoint, so that each trips once.
        if (now >= member.resumeAt) this.start(role, null);
      } else if (member.resumeAt !== null && now >= member.resumeAt) {
        member.program.signal('SIGCONT');
        member.resumeAt = null;
      }
    }
  }
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
