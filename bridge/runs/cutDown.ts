/**
 * Checks whether a run was lost before its agent can have done anything. Such a run is no attempt: its session goes back to its
 * lane, as after an orderly stop, and at most as often (`MOST_INTERRUPTIONS`), because the message itself may be what kills the
 * bridge.
 *
 * Silence alone proves nothing: a plain program says nothing of its work, a bridge that stood still has not read what its agent
 * said, and journals can be deleted. So the run's own start must be in its journal without a later word of its agent, and the
 * run must have been too young for work. Every other lost run was an attempt.
 */
import type { Settings } from '../../src/config/settings.js';
import { systemCounters } from '../../src/host/counters.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { revivalSessionId } from '../../src/ids.js';
import { type AgentSession, MOST_INTERRUPTIONS } from '../../src/jobs/model.js';
import { isOfMessage } from '../../src/journal/owner.js';
import { journalPath } from '../../src/journal/path.js';
import { JournalTail } from '../../src/journal/reader.js';
import type { JournalRecord } from '../../src/journal/record.js';

/** Lines that the bridge itself writes at a run's start, whatever its agent does. */
const WRITTEN_BY_US: ReadonlySet<unknown> = new Set(['session_start', 'user_prompt']);

/** Where lost runs left their journals, and what time it is there. */
export interface RunWitness {
  readonly logsFolder: string;
  /** Its id; null if it cannot be read. */
  readonly logsId: string | null;
  /** This host's present boot; empty if the system has no such id. */
  readonly bootId: string;
  /** Milliseconds since that boot, which no change of the clock moves; null if the system does not count them. */
  readonly sinceBootMs: number | null;
  /** A run that was older when its end was proven may have done work. */
  readonly youngRunMs: number;
}

export function witnessHere(
  { logsFolder, timings }: Pick<Settings, 'logsFolder' | 'timings'>,
  { boot_id: bootId }: ProcessIdentity,
  logsId: string | null,
): RunWitness {
  const { youngRunMs } = timings;
  return { logsFolder, logsId, bootId, sinceBootMs: systemCounters.sinceBootMs(), youngRunMs };
}

/** @returns false if the journal does not prove it, or the store has forgotten that a second attempt began */
export function wasCutDown(witness: RunWitness, session: AgentSession): boolean {
  const { run, session_id, interruptions } = session;
  const { logsFolder, logsId } = witness;
  if (run === null || interruptions >= MOST_INTERRUPTIONS) return false;
  if (run.journal_torn === true || run.logs_id === undefined || run.logs_id !== logsId) return false;
  if (hasSecondBegun(logsFolder, session)) return false;
  const journal = new JournalTail(journalPath(logsFolder, session_id));
  let start: JournalRecord | null = null;
  for (let more = true; more; ) {
    const batch = journal.readBatch();
    more = batch.more;
    for (const record of batch.records) {
      if (record.event === 'run_start' && record.run_id === run.run_id) start = record;
      else if (start !== null && !WRITTEN_BY_US.has(record.event)) return false;
    }
  }
  const { refused, oversized_lines, garbage_lines } = journal.diagnostics;
  return start !== null && refused === null && oversized_lines + garbage_lines === 0 && wasYoung(witness, start);
}

/** Its age is counted from the boot on: a clock that was set back makes no run younger. */
function wasYoung({ bootId, sinceBootMs, youngRunMs }: RunWitness, { boot_id, since_boot_ms }: JournalRecord): boolean {
  if (bootId === '' || boot_id !== bootId || sinceBootMs === null || typeof since_boot_ms !== 'number') return false;
  return sinceBootMs - since_boot_ms < youngRunMs;
}

/** @returns whether a second attempt has begun: the store has then forgotten that the first one failed */
export function hasSecondBegun(logsFolder: string, session: AgentSession): boolean {
  const { attempt, session_id, run, created_at } = session;
  if (attempt !== 1 || run === null) return false;
  return isOfMessage(journalPath(logsFolder, revivalSessionId(session_id)), created_at, run.started_at);
}
