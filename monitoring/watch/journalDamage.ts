import type { FollowDiagnostics } from './journalFollower.js';

/** @returns what of a journal could not be used, counted, in one clause; null where everything could */
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
