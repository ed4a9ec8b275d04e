/** A terminal's session as a watcher sees it: who works on it is in its worklog, and its transcript is judged as a journal is. */
import { mayBeAtWork, type Recorded } from '../../memory/condition/condition.js';
import { type PublishedWait, unlessSilent } from '../../memory/condition/publishedWait.js';
import { recordedOf } from '../../memory/condition/recorded.js';
import { excusedUntil } from '../../memory/condition/stuck.js';
import type { Ran, Runs } from '../../memory/fold/runs.js';
import type { Conversation, Notice, Worklog } from '../../memory/fold/worklog.js';
import { worklogIn } from '../../memory/home/places.js';
import { publishedWait } from '../../memory/look/publishedWait.js';
import { transcriptOf } from '../../memory/observed/programFolders.js';
import { WovenTranscript } from '../../memory/observed/wovenTranscript.js';
import { publishedFiles } from '../../memory/sessions/published.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import type { Viewer } from '../../memory/sessions/views.js';
import type { Thresholds } from '../../src/config/rules.js';
import type { Finding, WatchdogGap } from '../../src/jobs/findings.js';
import { TranscriptFollower } from '../../src/transcripts/transcriptFollower.js';
import { type Assessment, assessSessionHealth } from '../verdict/assessSessionHealth.js';
import { owingSubAgents } from '../verdict/clocks/agentClocks.js';
import { tailFor } from '../verdict/timeline/callTail.js';
import { Timeline } from '../verdict/timeline/timeline.js';
import { JournalFollower } from '../watch/journalFollower.js';
import { judgedTrimmer } from './judgedTrimmer.js';
import { hasChanged, type Seen, seen } from './seenAsRead.js';

const NEVER = Number.POSITIVE_INFINITY;

/** The part of a worklog that a watcher keeps. */
export interface WatchedLog {
  readonly recorded: Recorded;
  /** The present one. */
  readonly conversation: Conversation | null;
  /** Where its agent works. */
  readonly directory: string | null;
}

export interface Sight {
  readonly id: string;
  readonly log: WatchedLog;
  readonly runs: Runs<Ran>;
  /** The dialog that its program publishes. Null if it publishes none. */
  readonly wait: PublishedWait | null;
  /** Null if nothing of its work can be seen. */
  readonly assessment: Assessment | null;
  /** Those that nothing excuses, in the rules' order of precedence. */
  readonly findings: readonly Finding[];
  /** Whether this watcher has found, by its own limits, what the open notice says. */
  readonly hasFound: boolean;
  /** The latest activity that is known of it, UTC epoch milliseconds. */
  readonly lastActivity: number | null;
  /** The same of that agent in it which owes work and has done nothing for longest. */
  readonly leastActivity: number | null;
  /** When a rule could become true if nothing more happens, UTC epoch milliseconds; infinite: never. */
  readonly nextLook: number;
}

export function mayWork({ log, runs }: Pick<Sight, 'log' | 'runs'>): boolean {
  return mayBeAtWork(log.recorded, runs);
}

export interface LookOptions {
  /** UTC epoch milliseconds. */
  readonly now: number;
  readonly thresholds: Thresholds;
  /** When the watcher could see nothing. */
  readonly gaps: readonly WatchdogGap[];
}

interface Followed {
  readonly transcript: string;
  readonly worklog: string;
  readonly woven: WovenTranscript;
  readonly journal: JournalFollower;
}

export class TerminalSession {
  readonly id: string;
  readonly #memory: Viewer;
  #log: WatchedLog | null = null;
  #followed: Followed | null = null;
  /** Its agent may be at work, and has no transcript yet: programs begin it with the first prompt. */
  #isAwaited = false;
  #seen: readonly Seen[] = [];
  #broken: readonly string[] = [];
  /** The last notice of something that was found here, too. */
  #foundNotice: string | null = null;

  constructor(memory: Viewer, id: string) {
    this.#memory = memory;
    this.id = id;
  }

  /** As of the last look. */
  get log(): WatchedLog | null {
    return this.#log;
  }

  /** @returns whether its worklog or its transcript may have changed since the last look; costs a `stat` of each */
  get hasNews(): boolean {
    return this.#isAwaited || this.#seen.length === 0 || this.#seen.some(hasChanged);
  }

  /** @returns null if there is no such session any more @throws UnreachableError if its worklog cannot be read */
  async look(options: LookOptions): Promise<Sight | null> {
    const log = this.readLog();
    return log === null ? null : this.#judge(log, options);
  }

  /** A worklog is small, and read as a whole when it has changed. @returns, @throws as {@link look} */
  readLog(): WatchedLog | null {
    const [worklog] = this.#seen;
    if (this.#log !== null && worklog !== undefined && !hasChanged(worklog)) return this.#log;
    const folder = this.#memory.places.findSession(this.id);
    // A line that is written during the read is news for the next look.
    this.#seen = folder === null ? [] : [seen(worklogIn(folder))];
    const session = this.#memory.sessions.read(this.id);
    this.#log = session === null ? null : watchedLog(this.#memory, session);
    return this.#log;
  }

  async #judge(log: WatchedLog, options: LookOptions): Promise<Sight> {
    const { recorded } = log;
    const runs = this.#memory.runsOf(recorded);
    const isAtWork = mayWork({ log, runs });
    const [notice = null] = recorded.notices;
    this.#follow(isAtWork ? log : null);
    this.#noteFiles(runs);
    this.#isAwaited = isAtWork && log.conversation !== null && this.#followed === null;
    const wait = isAtWork
      ? publishedWait(this.#memory, { ...recorded, conversations: [log.conversation ?? []].flat() })
      : null;
    const common = { id: this.id, log, runs, wait };
    if (this.#followed === null) {
      const { last_activity: lastActivity } = recorded;
      const hasFound = this.#hasFound(notice, []);
      const activity = { lastActivity, leastActivity: lastActivity };
      return { ...common, ...activity, hasFound, assessment: null, findings: [], nextLook: NEVER };
    }
    const { assessment, ...activity } = await this.#assess(this.#followed, options);
    const hasFound = this.#hasFound(notice, assessment.findings);
    const { findings, nextLook } = excused(recorded, assessment, options.now);
    return {
      ...{ ...common, ...activity, hasFound, nextLook, findings: unlessSilent(findings, wait) },
      assessment: wait === null ? assessment : { ...assessment, attention: 'waiting' },
    };
  }

  /** The fault may have been found before its notice, and be over by now. */
  #hasFound(notice: Notice | null, findings: readonly Finding[]): boolean {
    const broken = findings.map(({ rule }) => rule);
    if (notice !== null && [...this.#broken, ...broken].some((rule) => rule === notice.rule))
      this.#foundNotice = notice.id;
    this.#broken = broken;
    return notice !== null && this.#foundNotice === notice.id;
  }

  /** An agent that is at rest for good needs no memory. */
  #follow(log: WatchedLog | null): void {
    const worklog = this.#seen[0]?.path ?? '';
    const { programs, stamp, clock } = this.#memory;
    const present = log?.conversation ?? null;
    const path = present === null || programs === null ? null : transcriptOf(present, programs);
    if (path !== null && this.#followed?.transcript === path && this.#followed.worklog === worklog) return;
    if (present === null || path === null) this.#followed = null;
    else {
      const transcript = new TranscriptFollower(path, { clock, trimmer: judgedTrimmer(stamp.redact) });
      const woven = new WovenTranscript(transcript, worklog, present);
      this.#followed = { transcript: path, worklog, woven, journal: new JournalFollower(woven) };
    }
  }

  /** Before they are read: a line that is written meanwhile is news for the next look. */
  #noteFiles({ present, mayWork: isGoing }: Runs<Ran>): void {
    const { programs } = this.#memory;
    const published =
      !isGoing || present === null || programs === null ? [] : publishedFiles(programs, present.process);
    const transcripts = this.#followed === null ? [] : [this.#followed.transcript];
    this.#seen = [...this.#seen.slice(0, 1), ...[...transcripts, ...published].map(seen)];
  }

  async #assess({ woven, journal }: Followed, { now, thresholds, gaps }: LookOptions) {
    journal.remember(tailFor(thresholds));
    await journal.look(now);
    const { refused, newer_lines: newer } = journal.diagnostics;
    // If a part of the story cannot be read, there is no accusation.
    const known = refused === null && newer === 0 ? journal.timeline : new Timeline();
    const limits = woven.reportsDialogs ? { ...thresholds, inferred_wait_ms: 0 } : thresholds;
    const { run } = known.at(now);
    const owing = [run.agents[0], ...owingSubAgents(run)];
    return {
      assessment: assessSessionHealth(known, limits, now, { gaps }),
      lastActivity: finiteOf(run.agents.reduce((last, agent) => Math.max(last, agent.lastActivity), -NEVER)),
      leastActivity: finiteOf(owing.reduce((least, agent) => Math.min(least, agent.lastActivity), NEVER)),
    };
  }
}

function watchedLog(memory: Viewer, { log }: OpenSession): WatchedLog {
  const { state, counts } = log;
  const conversation = presentOf(state);
  return {
    recorded: recordedOf(state, undefined, counts),
    conversation,
    directory: conversation?.cwd ?? state.facts?.cwd ?? memory.workspaceOf(state)?.root ?? null,
  };
}

/** The one that was resumed last, also if others have begun after it: its program writes on in its transcript. */
function presentOf({ present, conversations }: Worklog): Conversation | null {
  return present?.moved_at === null ? present : (conversations.findLast(({ moved_at }) => moved_at === null) ?? null);
}

/** A ping excuses silence alone: it is no progress. */
function excused(recorded: Recorded, { findings: found, next_deadline }: Assessment, now: number) {
  const next = next_deadline ?? NEVER;
  const pingUntil = excusedUntil(recorded, now);
  if (pingUntil === null) return { findings: found, nextLook: next };
  const findings = found.filter(({ rule }) => rule !== 'silence');
  return { findings, nextLook: findings.length < found.length ? Math.min(next, pingUntil + 1) : next };
}

function finiteOf(instant: number): number | null {
  return Number.isFinite(instant) ? instant : null;
}
