/** The watchdog's next looks, and their times. Between two entries it sleeps; an earlier entry wakes it. */
import { type Clock, SECOND, type Timer } from '../../src/time.js';

/**
 * Sessions due within this time of one another are looked at together: nearly all will have new activity by then, and many at once
 * cost little more than one. A session without it is looked at again at its own instant, so this delays no finding.
 */
const TOGETHER_MS = 5 * SECOND;

export interface Due {
  readonly tick: boolean;
  /** Sessions that were reported to have news. */
  readonly news: readonly string[];
  /** The other sessions that are due now or soon. */
  readonly sessions: readonly string[];
  readonly incidents: readonly string[];
  /** Whether to look at the heads of the lanes. */
  readonly lanes: boolean;
}

/** Instants by id. */
export class Deadlines {
  readonly #instants = new Map<string, number>();
  /** Null if it has to be looked for, which costs some 10 µs for a thousand. */
  #earliest: number | null = Number.POSITIVE_INFINITY;

  /** Infinite if there is none. */
  get earliest(): number {
    this.#earliest ??= [...this.#instants.values()].reduce((one, other) => Math.min(one, other), Infinity);
    return this.#earliest;
  }

  get(id: string): number | undefined {
    return this.#instants.get(id);
  }

  /** @param instant epoch milliseconds; replaces the former one */
  set(id: string, instant: number): void {
    if (this.#instants.get(id) === this.#earliest) this.#earliest = null;
    this.#instants.set(id, instant);
    if (this.#earliest !== null) this.#earliest = Math.min(this.#earliest, instant);
  }

  /** @returns the ids whose instant has come, earliest first; they are forgotten */
  takeUntil(now: number): string[] {
    if (this.earliest > now) return [];
    const due = [...this.#instants].filter(([, instant]) => instant <= now);
    this.keepOnly((_, instant) => instant > now);
    return due.sort(([, left], [, right]) => left - right).map(([id]) => id);
  }

  shift(byMs: number): void {
    for (const [id, instant] of this.#instants) this.#instants.set(id, instant + byMs);
    this.#earliest = null;
  }

  keepOnly(isKept: (id: string, instant: number) => boolean): void {
    for (const [id, instant] of this.#instants) if (!isKept(id, instant)) this.#instants.delete(id);
    this.#earliest = null;
  }
}

export class Agenda {
  readonly #clock: Clock;
  readonly #news = new Set<string>();
  readonly #sessions = new Deadlines();
  /** Until then every session was looked at ahead of time. */
  #togetherUntil = Number.NEGATIVE_INFINITY;
  readonly #incidents = new Deadlines();
  #lanesAt = Number.POSITIVE_INFINITY;
  #isTickDue = false;
  /** By how much the wall clock is ahead of the monotonic one. */
  #ahead: number;
  #wake: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#ahead = clock.now() - clock.monotonic();
  }

  /** The schedule asks for a full check. */
  tick(): void {
    this.#isTickDue = true;
    this.wakeUp();
  }

  lookNow(sessionId: string): void {
    this.#news.add(sessionId);
    this.wakeUp();
  }

  /** @param instant epoch milliseconds; replaces the entry of this session, unless that is due already */
  lookAt(sessionId: string, instant: number): void {
    note(this.#sessions, sessionId, instant, this.#clock.now());
    this.wakeUp();
  }

  /** @param instant epoch milliseconds */
  driveAt(incidentId: string, instant: number): void {
    note(this.#incidents, incidentId, instant, this.#clock.now());
    this.wakeUp();
  }

  /** @param instant epoch milliseconds; an earlier one that was noted is kept */
  lookAtLanes(instant: number): void {
    if (instant >= this.#lanesAt) return;
    this.#lanesAt = instant;
    this.wakeUp();
  }

  /** When the next incident is due to be driven, epoch milliseconds; infinite if none is. */
  get nextDriveAt(): number {
    return this.#incidents.earliest;
  }

  /** @returns the incidents that are due, once */
  takeDueIncidents(): string[] {
    return this.#incidents.takeUntil(this.#clock.now());
  }

  /** Sessions that are gone must not make the agenda grow. Due entries stay: their session may have begun a moment ago. */
  forgetAllBut(sessions: { has(sessionId: string): boolean }, incidentIds: ReadonlySet<string>): void {
    const now = this.#clock.now();
    this.#sessions.keepOnly((id, instant) => instant <= now || sessions.has(id));
    this.#incidents.keepOnly((id, instant) => instant <= now || incidentIds.has(id));
  }

  wakeUp(): void {
    this.#wake();
  }

  /** @returns all due entries, as soon as there is one; nothing if the signal aborted */
  async next(signal: AbortSignal): Promise<Due> {
    for (;;) {
      this.#followClock();
      const due = this.#takeDue(this.#clock.now());
      const count = due.news.length + due.sessions.length + due.incidents.length;
      if (due.tick || due.lanes || count > 0 || signal.aborted) return due;
      await this.#sleepUntil(Math.min(this.#lanesAt, this.#sessions.earliest, this.#incidents.earliest));
    }
  }

  /** Instants that were noted before the clock was set back come as late as they were to come then, not later by that much. */
  #followClock(): void {
    const ahead = this.#clock.now() - this.#clock.monotonic();
    const movedMs = ahead - this.#ahead;
    this.#ahead = ahead;
    if (movedMs > -SECOND) return;
    this.#sessions.shift(movedMs);
    this.#incidents.shift(movedMs);
    this.#lanesAt += movedMs;
    this.#togetherUntil += movedMs;
  }

  #takeDue(now: number): Due {
    const due: Due = {
      tick: this.#isTickDue,
      news: [...this.#news],
      sessions: this.#takeDueSessions(now).filter((id) => !this.#news.has(id)),
      incidents: this.#incidents.takeUntil(now),
      lanes: this.#lanesAt <= now,
    };
    this.#isTickDue = false;
    this.#news.clear();
    if (due.lanes) this.#lanesAt = Number.POSITIVE_INFINITY;
    return due;
  }

  #takeDueSessions(now: number): string[] {
    if (this.#sessions.earliest > now) return [];
    if (now < this.#togetherUntil) return this.#sessions.takeUntil(now);
    this.#togetherUntil = now + TOGETHER_MS;
    return this.#sessions.takeUntil(this.#togetherUntil);
  }

  #sleepUntil(instant: number): Promise<void> {
    return new Promise((resolve) => {
      let timer: Timer | null = null;
      this.#wake = () => {
        timer?.cancel();
        this.#wake = () => undefined;
        resolve();
      };
      if (Number.isFinite(instant)) timer = this.#clock.after(instant - this.#clock.now(), this.#wake);
    });
  }
}

function note(deadlines: Deadlines, id: string, instant: number, now: number): void {
  const noted = deadlines.get(id);
  if (noted === undefined || noted > now) deadlines.set(id, instant);
}
