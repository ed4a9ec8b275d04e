/** All active sessions at once, as far as this watchdog judges them. */

import { SECOND } from '../../src/time.js';
import type { ManySessions } from '../incident/sagaContext.js';
import { type JudgeContext, RULES_OF_UNKNOWN_PROJECTS } from './sessionJudge.js';

/** A healthy session's silence rarely gets close to its limit; this share of it must have passed. */
const NEARLY = 0.9;
/** One count serves everyone who asks within this time. */
const COUNT_SERVES_MS = SECOND;

type Judging = Pick<JudgeContext, 'watched' | 'gaps' | 'rulesOf'>;

export class JudgedSessions implements ManySessions {
  readonly #context: Judging;
  #counted: { readonly at: number; readonly withinMs: number; readonly count: Promise<number> } | null = null;

  constructor(context: Judging) {
    this.#context = context;
  }

  active(): number {
    const { watched } = this.#context;
    return watched.all().filter((session) => !watched.isForeign(session)).length;
  }

  soonSilent(withinMs: number): Promise<number> {
    const at = this.#context.gaps.now();
    const known = this.#counted;
    if (known !== null && known.withinMs === withinMs && at < known.at + COUNT_SERVES_MS) return known.count;
    const count = this.#count(withinMs, at);
    this.#counted = { at, withinMs, count };
    return count;
  }

  async #count(withinMs: number, now: number): Promise<number> {
    const { watched, gaps, rulesOf } = this.#context;
    let count = 0;
    for (const session of watched.all()) {
      if (session.incident_id !== null || watched.isForeign(session)) continue;
      const { thresholds, actions } = rulesOf(session.project_key) ?? RULES_OF_UNKNOWN_PROJECTS;
      if (actions.silence === 'off') continue;
      const assessment = await watched.assess(session.session_id, thresholds, now, gaps.of(session.run));
      const silentMs = assessment?.clock.silence_ms ?? 0;
      const nearlyMs = Math.max(thresholds.silence_ms - withinMs, thresholds.silence_ms * NEARLY);
      if (silentMs > nearlyMs) count += 1;
    }
    return count;
  }
}
