/**
 * The logs folders whose incidents this watchdog acts on: its own, and those of other folders that have lost their watchdogs.
 * An incident belongs to the folder of the run that it is about, so it has one actor at any instant.
 *
 * A folder is lost when its watchdogs' lease expired two run leases ago, by our own watch: a host that died for good, or is
 * away for longer than a restart takes. The process that takes its lease acts for it, so only one of two survivors does. When a
 * watchdog of the folder comes back, it takes the lease from its substitute. The fencing number then refuses whatever the
 * substitute still tries to store.
 */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { isOwnerAlive } from '../../src/host/lifeSign.js';
import { ulid } from '../../src/ids.js';
import type { Incident } from '../../src/jobs/incidents.js';
import type { Guard } from '../../src/jobs/incidentTransitions.js';
import type { Store } from '../../src/jobs/store.js';
import { parseObject } from '../../src/json.js';
import type { Logger } from '../../src/log/logger.js';
import type { HeldLease, Leases } from '../../src/redis/leases.js';
import { RepeatedService } from '../../src/rounds.js';
import type { Clock } from '../../src/time.js';
import { Unchanged } from '../../src/unchanged.js';
import type { EventLog } from '../events/notice.js';
import { type WatchdogLease, watchdogLeaseName } from './watchdogLease.js';

const LOOKS_PER_LEASE = 3;

export interface ActedFoldersOptions {
  readonly own: WatchdogLease;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly here: ProcessIdentity;
  readonly logsFolder: string;
  readonly watchdogLeaseMs: number;
  readonly runLeaseMs: number;
  runFolders(): ReadonlySet<string>;
  openIncidents(): Promise<readonly Incident[]>;
  /** Called when the set of folders that are acted for has changed. */
  onChange(): void;
}

export interface Acting {
  /** @param logsId of an incident or a run; records of older versions have none, and any watchdog acts on those */
  actsFor(logsId: string | undefined): boolean;
  /** One check per lease that it acts under, for a commit. @throws FencedError if it does not act */
  guard(): Guard;
}

/** The common parts of all that the acting watchdog does, except judging. */
export interface ActingContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventLog;
  readonly folders: Acting;
}

export class ActedFolders extends RepeatedService implements Acting {
  readonly name = 'lost hosts';
  readonly #options: ActedFoldersOptions;
  readonly #owner: string;
  readonly #adopted = new Map<string, HeldLease>();
  /** Leases without a holder. */
  readonly #unheld: Unchanged;
  /** Folders of the incidents found by the last full check. */
  #incidentFolders: ReadonlySet<string> = new Set();

  constructor(options: ActedFoldersOptions) {
    super(options.clock, Math.min(options.watchdogLeaseMs, options.runLeaseMs) / LOOKS_PER_LEASE, 'with a pause');
    this.#options = options;
    this.#unheld = new Unchanged(options.clock, options.runLeaseMs);
    this.#owner = JSON.stringify({ ...options.here, id: ulid(options.clock), stands_in: true });
  }

  actsFor(logsId: string | undefined): boolean {
    return logsId === undefined || logsId === this.#options.own.logsId || this.#adopted.has(logsId);
  }

  guard(): Guard {
    const { own, leases } = this.#options;
    return [...own.guard(), ...[...this.#adopted.values()].flatMap((lease) => leases.guard(lease))];
  }

  /** Takes in the result of a full check. */
  noteIncidents(incidents: readonly Incident[]): void {
    this.#incidentFolders = foldersOf(incidents);
  }

  protected override round(): Promise<unknown> {
    const again = (err: unknown) => this.#options.logger.warn({ err }, 'lost hosts will be checked for again');
    return this.runOnce().catch(again);
  }

  override async stop(): Promise<void> {
    await super.stop();
    for (const logsId of [...this.#adopted.keys()]) await this.#giveBack(logsId).catch(() => undefined);
  }

  /** Checks the leases of the other folders once, and renews those that are held. */
  async runOnce(): Promise<void> {
    if (!this.#options.own.isActing) return this.#leaveAll();
    const wanted = await this.#foldersWithWork();
    for (const logsId of this.#adopted.keys()) if (!wanted.has(logsId)) await this.#giveBack(logsId);
    for (const logsId of this.#unheld.names()) if (!wanted.has(logsId)) this.#unheld.forget(logsId);
    for (const logsId of wanted) await (this.#adopted.has(logsId) ? this.#renew(logsId) : this.#watch(logsId));
  }

  async #foldersWithWork(): Promise<ReadonlySet<string>> {
    const { own, runFolders, openIncidents } = this.#options;
    // An adopted folder is kept until nothing of it is open. Without one, the incidents of the last full check will do.
    const ofIncidents = this.#adopted.size > 0 ? foldersOf(await openIncidents()) : this.#incidentFolders;
    const wanted = new Set([...runFolders(), ...ofIncidents]);
    if (own.logsId !== null) wanted.delete(own.logsId);
    return wanted;
  }

  async #watch(logsId: string): Promise<void> {
    const { leases, clock } = this.#options;
    const lease = await leases.read(watchdogLeaseName(logsId));
    if (lease !== null && lease.owner !== '' && lease.until > clock.now()) {
      this.#unheld.forget(logsId);
      return;
    }
    const unheldMs = this.#unheld.look(logsId, JSON.stringify(lease));
    if (unheldMs >= (await this.#patienceMs(lease))) await this.#adopt(logsId, lease);
  }

  /** There is no need to wait for a watchdog that is proven dead, but another one of its folder may be faster. */
  async #patienceMs(lease: HeldLease | null): Promise<number> {
    const { here, logsFolder, watchdogLeaseMs, runLeaseMs } = this.#options;
    const holder = holderOf(lease);
    const isDead = holder !== null && (await isOwnerAlive(holder, here, logsFolder)) === false;
    return isDead ? watchdogLeaseMs : 2 * runLeaseMs;
  }

  async #adopt(logsId: string, former: HeldLease | null): Promise<void> {
    const { logger, onChange } = this.#options;
    if (!(await this.#hold(logsId))) return;
    this.#unheld.forget(logsId);
    const host = holderOf(former)?.host ?? 'another host';
    logger.warn({ logs_id: logsId }, `the watchdogs of ${host} are lost: this one takes over their work`);
    onChange();
  }

  async #renew(logsId: string): Promise<void> {
    const { logger, onChange } = this.#options;
    if (await this.#hold(logsId)) return;
    this.#adopted.delete(logsId);
    logger.info({ logs_id: logsId }, 'another watchdog now acts for the lost host');
    onChange();
  }

  async #hold(logsId: string): Promise<boolean> {
    const { leases, watchdogLeaseMs } = this.#options;
    const lease = await leases.hold(watchdogLeaseName(logsId), this.#owner, watchdogLeaseMs);
    if (lease !== null) this.#adopted.set(logsId, lease);
    return lease !== null;
  }

  async #giveBack(logsId: string): Promise<void> {
    const lease = this.#adopted.get(logsId);
    this.#adopted.delete(logsId);
    if (lease !== undefined) await this.#options.leases.giveBack(lease);
  }

  /** Another watchdog of our own folder acts: it takes over our work. */
  async #leaveAll(): Promise<void> {
    this.#unheld.clear();
    for (const logsId of [...this.#adopted.keys()]) await this.#giveBack(logsId);
  }
}

function foldersOf(incidents: readonly Incident[]): ReadonlySet<string> {
  return new Set(incidents.flatMap(({ logs_id }) => (logs_id === undefined ? [] : [logs_id])));
}

function holderOf(lease: HeldLease | null): ProcessIdentity | null {
  return parseObject<ProcessIdentity>(lease?.owner ?? '') as ProcessIdentity | null;
}
