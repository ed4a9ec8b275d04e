/** Logs the parts of journals that could not be read. */
import type { Logger } from '../../src/log/logger.js';
import { SaidOnce } from '../../src/log/saidOnce.js';
import type { FollowDiagnostics } from './journalFollower.js';

export class JournalDamage {
  readonly #logger: Logger;
  readonly #broken: SaidOnce;
  readonly #damaged = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
    this.#broken = new SaidOnce(logger);
  }

  /** Logs a journal's damage once, however many lines are damaged later. */
  report(sessionId: string, diagnostics: FollowDiagnostics): void {
    const { refused } = diagnostics;
    const damage = describeDamage(diagnostics);
    if (damage !== null && !this.#damaged.has(sessionId)) {
      this.#damaged.add(sessionId);
      const said = `session ${sessionId}: its journal is damaged, and judged by its other lines (${damage} so far)`;
      this.#logger.warn({ session_id: sessionId, diagnostics }, said);
    }
    if (refused === null) {
      this.#broken.forget(sessionId);
      return;
    }
    const said = `session ${sessionId}: its journal cannot be read, so it is judged by its record alone: ${refused}`;
    this.#broken.error(sessionId, said, { session_id: sessionId });
  }

  /** @param sessions those that are still watched, by id */
  forgetAllBut(sessions: ReadonlyMap<string, unknown>): void {
    this.#broken.forgetAllBut(sessions);
    for (const id of this.#damaged) if (!sessions.has(id)) this.#damaged.delete(id);
  }
}

/** @returns what could not be used of a journal, with counts, in one clause; null if everything could */
export function describeDamage(diagnostics: FollowDiagnostics): string | null {
  const counts: readonly (readonly [string, number])[] = [
    ['unreadable lines', diagnostics.garbage_lines],
    ['lines too long to read', diagnostics.oversized_lines],
    ['lines of a newer version, left out', diagnostics.newer_lines],
    ['lines without a possible time', diagnostics.untimed_lines],
    ['lines too late to be placed in time', diagnostics.misplaced_lines],
  ];
  const parts = counts.filter(([, count]) => count > 0).map(([what, count]) => `${what}: ${count}`);
  return parts.length === 0 ? null : parts.join(', ');
}
