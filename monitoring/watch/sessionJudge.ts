/** Judges active sessions by everything known about them: the journal, the record, the run's owner and lease. */

import { DEFAULT_ACTIONS } from '../../src/config/projects.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import type { ProjectRules } from '../../src/config/settings.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Finding } from '../../src/jobs/findings.js';
import type { Run } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import { type Clock, SECOND } from '../../src/time.js';
import { OwnersAlive, type WatchedRecord } from '../actors/watchedRecord.js';
import type { ManySessions } from '../incident/sagaContext.js';
import type { KnownGaps } from '../lateness/knownGaps.js';
import type { Assessment } from '../verdict/assessSessionHealth.js';
import { findOrphan, type OrphanFacts } from '../verdict/detectors/orphan.js';
import type { WatchedSessions } from './watchedSessions.js';

/** A session is still watched after its project was removed from the configuration. */
const RULES_OF_UNKNOWN_PROJECTS: ProjectRules = { thresholds: DEFAULT_THRESHOLDS, actions: DEFAULT_ACTIONS };
/** A healthy session's silence rarely gets close to its limit; this share of it must have passed. */
const NEARLY = 0.9;
/** One count serves everyone who asks within this time. */
const COUNT_SERVES_MS = SECOND;

export interface JudgeContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly watched: WatchedSessions;
  readonly gaps: KnownGaps;
  readonly here: ProcessIdentity;
  readonly logsFolder: string;
  readonly runLeaseMs: number;
  /** @returns null for a project that is not configured: the defaults apply to it */
  rulesOf(key: string): ProjectRules | null;
}

export interface Verdict {
  readonly session: WatchedRecord;
  readonly rules: ProjectRules;
  /** Everything that was read; only with findings of rules that are switched on. */
  readonly assessment: Assessment;
  /** Epoch milliseconds. */
  readonly judgedAt: number;
  readonly nextLook: number;
}

export class SessionJudge implements ManySessions {
  readonly #context: JudgeContext;
  #counted: { readonly at: number; readonly withinMs: number; readonly count: Promise<number> } | null = null;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  /** Only reads. @param leaseUntil epoch milliseconds; null if it is not known to have ended @returns null if it is not active */
  async judge(sessionId: string, leaseUntil: number | null, owners = this.newOwners()): Promise<Verdict | null> {
    const { watched, gaps, store } = this.#context;
    const session = watched.get(sessionId);
    if (session === null) return null;
    const rules = this.#rulesOf(session);
    const now = gaps.now();
    const assessment = await watched.assess(sessionId, rules.thresholds, now, gaps.of(session.run));
    if (assessment === null) return null;
    const incident = session.incident_id === null ? null : await store.records.incident(session.incident_id);
    // A run that its incident ended is not lost. An incident that only reports ends no run.
    const isEnded = session.released !== null && incident?.acting === true;
    const run = isEnded ? null : session.run;
    const orphan = run === null ? null : findOrphan(await this.#ownerOf(run, leaseUntil, owners), now);
    const found = orphan === null ? assessment.findings : [orphan, ...assessment.findings];
    const findings = found.filter((finding) => rules.actions[finding.rule] !== 'off');
    // A result moves the deadline to at least one silence after it, so a look per silence misses nothing in between.
    const inOneSilence = now + rules.thresholds.silence_ms;
    return {
      session,
      rules,
      assessment: { ...assessment, verdict: verdictOf(assessment, findings), findings },
      judgedAt: now,
      nextLook: Math.min(assessment.next_deadline ?? inOneSilence, inOneSilence),
    };
  }

  /** Notes that a session was just judged healthy; one that others wait for is not noted. */
  note(verdict: Verdict): void {
    if (isNoConcern(verdict)) this.#context.watched.letRest(verdict.session, verdict.judgedAt, verdict.nextLook);
  }

  /** Without the store: nothing was written or changed since it was healthy, its owner lives, and no rule could be true yet. */
  isUnchanged({ session_id: sessionId, run }: WatchedRecord, owners: OwnersAlive): boolean {
    const { watched, gaps } = this.#context;
    if (run !== null && owners.answerFor(run.owner) === false) return false;
    return watched.isAtRest(sessionId, gaps.now());
  }

  /** Reads the journal's new lines, which nearly always show work. @returns when to look again; null if closely, by the store */
  async lookOn(sessionId: string, owners: OwnersAlive): Promise<number | null> {
    if (!this.#context.watched.wasWell(sessionId)) return null;
    const verdict = await this.judge(sessionId, null, owners);
    if (verdict === null || !isNoConcern(verdict)) return null;
    this.note(verdict);
    return verdict.nextLook;
  }

  /** @returns what one look learns about the owners of runs */
  newOwners(): OwnersAlive {
    return new OwnersAlive(this.#context.here, this.#context.logsFolder);
  }

  active(): number {
    const { watched } = this.#context;
    return watched.all().filter((session) => !watched.isForeign(session)).length;
  }

  soonSilent(withinMs: number): Promise<number> {
    const at = this.#context.gaps.now();
    const known = this.#counted;
    if (known !== null && known.withinMs === withinMs && at < known.at + COUNT_SERVES_MS) return known.count;
    const count = this.#countSoonSilent(withinMs, at);
    this.#counted = { at, withinMs, count };
    return count;
  }

  async #countSoonSilent(withinMs: number, now: number): Promise<number> {
    const { watched, gaps } = this.#context;
    let count = 0;
    for (const session of watched.all()) {
      if (session.incident_id !== null || watched.isForeign(session)) continue;
      const { thresholds, actions } = this.#rulesOf(session);
      if (actions.silence === 'off') continue;
      const assessment = await watched.assess(session.session_id, thresholds, now, gaps.of(session.run));
      const silentMs = assessment?.clock.silence_ms ?? 0;
      const nearlyMs = Math.max(thresholds.silence_ms - withinMs, thresholds.silence_ms * NEARLY);
      if (silentMs > nearlyMs) count += 1;
    }
    return count;
  }

  #rulesOf({ project_key: project }: WatchedRecord): ProjectRules {
    return this.#context.rulesOf(project) ?? RULES_OF_UNKNOWN_PROJECTS;
  }

  async #ownerOf(run: Run, leaseUntil: number | null, owners: OwnersAlive): Promise<OrphanFacts> {
    const { gaps, runLeaseMs: leaseMs } = this.#context;
    const owner = `process ${run.owner.pid} on ${run.owner.host}`;
    const isOwnerAlive = await owners.isAlive(run.owner);
    return { isOwnerAlive, owner, leaseUntil, leaseMs, clocksStart: gaps.lastEnd(run) };
  }
}

/** The store may accuse if the journal shows nothing, and a rule that is switched off never accuses. */
function verdictOf({ verdict }: Assessment, findings: readonly Finding[]): Assessment['verdict'] {
  if (findings.length > 0) return 'unhealthy';
  return verdict === 'unhealthy' ? 'healthy' : verdict;
}

/** No action is needed, and no process waits for its outcome. */
function isNoConcern({ session, assessment }: Verdict): boolean {
  return assessment.findings.length === 0 && session.incident_id === null && session.attempt === 1;
}
