/**
 * Sessions that were found healthy, with no news since that could have changed it. Every full check asks about thousands of
 * them, and some are due every second. So this neither reads the store nor accuses: a session that may no longer be healthy is
 * judged by what the store says at that moment.
 */
import type { OwnersAlive } from '../actors/ownersAlive.js';
import type { WatchedRecord } from '../actors/watchedRecord.js';
import type { JudgeContext, SessionJudge, Verdict } from './sessionJudge.js';

export class WellSessions {
  readonly #context: Pick<JudgeContext, 'watched' | 'gaps'>;
  readonly #judge: Pick<SessionJudge, 'judge'>;

  constructor(context: Pick<JudgeContext, 'watched' | 'gaps'>, judge: Pick<SessionJudge, 'judge'>) {
    this.#context = context;
    this.#judge = judge;
  }

  /** Notes that a session was just judged healthy; one that others wait for is not noted. */
  note(verdict: Verdict): void {
    if (isNoConcern(verdict)) this.#context.watched.letRest(verdict.session, verdict.judgedAt, verdict.nextLook);
  }

  /** Nothing was written or changed since it was found healthy, its owner lives, and no rule could be true yet. */
  isUnchanged({ session_id: sessionId, run }: WatchedRecord, owners: OwnersAlive): boolean {
    const { watched, gaps } = this.#context;
    if (run !== null && owners.answerFor(run.owner) === false) return false;
    return watched.isAtRest(sessionId, gaps.now());
  }

  /**
   * It is due: reads what its journal gained, which nearly always shows that it goes on.
   * @returns when to look again, epoch milliseconds; null if it has to be looked at closely
   */
  async lookOn(sessionId: string, owners: OwnersAlive): Promise<number | null> {
    if (!this.#context.watched.wasWell(sessionId)) return null;
    const verdict = await this.#judge.judge(sessionId, null, owners);
    if (verdict === null || !isNoConcern(verdict)) return null;
    this.note(verdict);
    return verdict.nextLook;
  }
}

/** Nobody has to act, and nobody waits for its outcome. */
function isNoConcern({ session, findings }: Verdict): boolean {
  return findings.length === 0 && session.incident_id === null && session.attempt === 1;
}
