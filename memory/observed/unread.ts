import type { JournalDiagnostics } from '../../src/journal/reader.js';

/**
 * @param counts of a session
 * @param diagnostics of a file of it that was read to its end
 */
export function addUnread(counts: { unread: number; cut: number }, diagnostics: JournalDiagnostics): void {
  counts.unread += diagnostics.garbage_lines + diagnostics.oversized_lines + diagnostics.newer_lines;
  counts.cut += diagnostics.cut_lines;
}
