/**
 * Watches the sessions of a user's terminals: judges them by the rules for a bridge's sessions, and notices, at most. Nothing is
 * signalled, revived or filed as an issue.
 *
 * No event announces that a transcript grows, so it looks round every few seconds. That costs two looks at the file system for
 * each session that may be at work. Between two rounds it sleeps until the first instant at which a rule could become true.
 */
import { type Judged, mayAccuse } from '../../memory/condition/stuck.js';
import type { Notice } from '../../memory/fold/worklog.js';
import { takeReports } from '../../memory/programs/takeReports.js';
import type { Memory } from '../../memory/sessions/memory.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import type { ProjectRules } from '../../src/config/settings.js';
import { describeError, WatchkeeperError } from '../../src/errors.js';
import { seenFile } from '../../src/files/seenFile.js';
import type { Finding } from '../../src/jobs/findings.js';
import type { Logger } from '../../src/log/logger.js';
import { SaidOnce } from '../../src/log/saidOnce.js';
import type { Service } from '../../src/service.js';
import { type Clock, giveWay, SECOND } from '../../src/time.js';
import type { KnownGaps } from '../lateness/knownGaps.js';
import { Deadlines } from '../watch/agenda.js';
import type { DirectoryRules } from './directoryRules.js';
import { judgedOf } from './judge.js';
import { type LiveTerminal, liveTerminal } from './liveTerminal.js';
import { closingText, driveNotice } from './notices.js';
import { mayWork, type Sight, TerminalSession } from './terminalSession.js';

/** A silence is found at its instant all the same, because that is known from the last round; a recovery this much later. */
const ROUND_EVERY_MS = 15 * SECOND;
const SHORTEST_ROUND_MS = SECOND / 4;
/** Rounds in the shortest time that can accuse. */
const ROUNDS_PER_SILENCE = 4;
/** After a fault, or a standstill of its host, a process asks this often whether it can act again. */
const ASK_AGAIN_MS = SECOND;
/** Other work gets a turn after this many sessions. */
const MOST_IN_A_ROW = 50;
const SURELY_LATER_MS = 2 * SECOND;

/** An agent in a terminal that seems to be stuck. */
export interface NoticedSession {
  readonly notice: Notice;
  readonly sight: Sight;
  readonly project: string | null;
}

export interface TerminalWatchContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly gaps: KnownGaps;
  /** @throws WatchkeeperError if the home cannot be used */
  openMemory(): Memory;
  rulesIn(directory: string | null): DirectoryRules;
  /** Held by the process that acts for the logs folder. */
  readonly lease: { readonly isActing: boolean };
  /** Begins the keeping of a session whose program has ended. */
  keep(memory: Memory, session: OpenSession): void;
  /** Called for each open notice that this object sees, once, whichever watcher has written it. */
  onNotice(noticed: NoticedSession): Promise<void>;
}

export interface RoundSummary {
  readonly sessions: number;
  readonly looked: number;
  readonly noticed: readonly string[];
  readonly closed: readonly string[];
}

export class TerminalWatch implements Service {
  readonly name = 'watch of terminals';
  readonly #context: TerminalWatchContext;
  readonly #sessions = new Map<string, TerminalSession>();
  readonly #deadlines = new Deadlines();
  readonly #reported = new Set<string>();
  readonly #troubles: SaidOnce;
  /** As of the last look, without rules that are off. */
  readonly #judged = new WeakMap<TerminalSession, Judged>();
  #memory: Memory | null = null;
  #nextRound = Number.NEGATIVE_INFINITY;
  /** When it asks again whether it may act; null if it may. */
  #standsByUntil: number | null = null;
  /** The last change of the folder of sessions when it was listed; null if it must be listed again. */
  #listedAs: number | null = null;
  #stopping: AbortController | null = null;
  #loop: Promise<void> | null = null;

  constructor(context: TerminalWatchContext) {
    this.#context = context;
    this.#troubles = new SaidOnce(context.logger);
  }

  async start(): Promise<void> {
    if (this.#loop !== null) return;
    this.#stopping = new AbortController();
    this.#loop = this.#watch(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping?.abort();
    await this.#loop;
    this.#loop = null;
  }

  /** Those whose agents live, as of the last round. */
  get live(): readonly LiveTerminal[] {
    const memory = this.#memory;
    if (memory === null) return [];
    return [...this.#sessions.values()].flatMap((session) => {
      const { log } = session;
      return (log === null ? null : liveTerminal(memory, log, this.#judged.get(session) ?? null)) ?? [];
    });
  }

  /** When {@link runOnce} has something to do again, UTC epoch milliseconds. */
  get nextLookAt(): number {
    return this.#standsByUntil ?? Math.min(this.#nextRound, this.#deadlines.earliest);
  }

  /** Looks at every session that has changed or is due, and at the others if a round is. One session's fault stops no other. */
  async runOnce(): Promise<RoundSummary> {
    const { gaps, lease } = this.#context;
    const summary = { sessions: this.#sessions.size, looked: 0, noticed: [] as string[], closed: [] as string[] };
    const now = gaps.now();
    // A deadline that is forgotten here would never come again: a session that hangs has no news.
    this.#standsByUntil = lease.isActing ? null : now + ASK_AGAIN_MS;
    if (this.#standsByUntil !== null) return summary;
    const isRound = now >= this.#nextRound;
    if (isRound) {
      await gaps.refresh();
      this.#nextRound = now + this.#roundEveryMs();
      this.#findSessions();
    }
    const due = new Set(this.#deadlines.takeUntil(now));
    let count = 0;
    for (const [id, session] of this.#sessions) {
      const mustLook = due.has(id) || (isRound && (session.log?.recorded.notices.length || session.hasNews));
      if (!mustLook) continue;
      count += 1;
      if (count % MOST_IN_A_ROW === 0) await giveWay();
      await this.#lookSafely(session, summary);
    }
    return { ...summary, sessions: this.#sessions.size, looked: count };
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#context;
    while (!signal.aborted) {
      await this.runOnce().catch((err: unknown) => {
        this.#standsByUntil = clock.now() + ASK_AGAIN_MS;
        logger.error({ err }, `the terminals could not be looked at, and will be later: ${describeError(err)}`);
      });
      await clock.sleep(Math.max(this.nextLookAt - clock.now(), 1), signal);
    }
  }

  #roundEveryMs(): number {
    const { silence_ms } = this.#context.rulesIn(null).rules.thresholds;
    return Math.max(SHORTEST_ROUND_MS, Math.min(ROUND_EVERY_MS, silence_ms / ROUNDS_PER_SILENCE));
  }

  #findSessions(): void {
    try {
      const memory = this.#memory ?? this.#context.openMemory();
      this.#memory = memory;
      takeReports(memory, (session) => this.#context.keep(memory, session));
      const { sessions, places } = memory;
      if (!this.#mayHaveOthers(places.sessionFolder(''))) return;
      const ids = new Set(sessions.ids());
      for (const id of this.#sessions.keys()) if (!ids.has(id)) this.#sessions.delete(id);
      this.#deadlines.keepOnly((id) => ids.has(id));
      for (const id of ids) if (!this.#sessions.has(id)) this.#sessions.set(id, new TerminalSession(memory, id));
      this.#troubles.forget('home');
    } catch (error) {
      if (!(error instanceof WatchkeeperError)) throw error;
      this.#troubles.error('home', `the sessions of terminals are not watched: ${error.message}`);
      this.#sessions.clear();
      this.#memory = null;
      this.#listedAs = null;
    }
  }

  /** A folder's time changes with its entries, but not within one tick of the file system's clock. */
  #mayHaveOthers(folder: string): boolean {
    const changedAt = seenFile(folder)?.mtimeMs ?? null;
    const isAsListed = changedAt !== null && changedAt === this.#listedAs;
    const isRecent = changedAt === null || this.#context.clock.now() - changedAt < SURELY_LATER_MS;
    this.#listedAs = isRecent ? null : changedAt;
    return !isAsListed;
  }

  async #lookSafely(session: TerminalSession, summary: { noticed: string[]; closed: string[] }): Promise<void> {
    try {
      await this.#look(session, summary);
      this.#troubles.forget(session.id);
    } catch (err) {
      const said = `the session ${session.id} of a terminal could not be looked at: ${describeError(err)}`;
      this.#troubles.error(session.id, said, { err, session_id: session.id });
      // The work on a finding may be half done, such as a notice on a full disk.
      this.#deadlines.set(session.id, this.#nextRound);
    }
  }

  async #look(session: TerminalSession, summary: { noticed: string[]; closed: string[] }): Promise<void> {
    const { gaps, rulesIn, logger } = this.#context;
    const { project, rules } = rulesIn(session.readLog()?.directory ?? null);
    const now = gaps.now();
    const sight = await session.look({ now, thresholds: rules.thresholds, gaps: gaps.of(null) });
    if (sight === null || this.#memory === null) return;
    this.#deadlines.set(session.id, mayWork(sight) ? sight.nextLook : Number.POSITIVE_INFINITY);
    const found = noticeable(sight, rules, now);
    const [open] = sight.log.recorded.notices;
    // Another watcher may act on rules that are off here.
    const findings = sight.findings.filter((each) => each === found || each.rule === open?.rule);
    this.#judged.set(session, judgedOf({ ...sight, findings }));
    const driven = driveNotice(this.#memory, { ...sight, findings }, found);
    if (driven === null) return;
    const { notice, change } = driven;
    if (change === 'closed') {
      summary.closed.push(session.id);
      this.#reported.delete(notice.id);
      logger.info({ session_id: session.id }, `terminals: ${closingText(sight)}`);
      return;
    }
    if (change === 'opened') {
      summary.noticed.push(session.id);
      // So that a caller who asks now is shown the notice.
      session.readLog();
    }
    await this.#notify({ notice, sight, project });
  }

  /** The notice stays until its session works again, so that a later round reports it if this one cannot. */
  async #notify(noticed: NoticedSession): Promise<void> {
    if (this.#reported.has(noticed.notice.id)) return;
    await this.#context.onNotice(noticed);
    this.#reported.add(noticed.notice.id);
  }
}

/** @returns the leading finding; null if there is none, or it cannot be known whether the agent still exists */
function noticeable({ findings, runs }: Sight, { actions }: ProjectRules, now: number): Finding | null {
  if (runs.present === null) return null;
  const found = findings.find(({ rule }) => actions[rule] !== 'off');
  if (found === undefined) return null;
  return mayAccuse(Date.parse(found.since), runs.liveness === 'unknown', now) ? found : null;
}
