/** The parts that judge a session: the same in the bridge, in the standby, and for a command that only shows the verdict. */
import { type KnownGaps, RecordedGaps } from '../../monitoring/lateness/knownGaps.js';
import type { JudgeContext } from '../../monitoring/watch/sessionJudge.js';
import { WatchedSessions } from '../../monitoring/watch/watchedSessions.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import type { Foundation } from './foundation.js';

/** @param gaps after which clocks restart; the rules are those of this process's own settings */
export function judgeContext(
  { settings, clock, logger, here }: Foundation,
  store: Store,
  gaps: KnownGaps,
): JudgeContext {
  return {
    store,
    clock,
    gaps,
    here,
    logsFolder: settings.logsFolder,
    watched: new WatchedSessions(store, logger, settings.logsFolder, settings.polling),
    runLeaseMs: settings.timings.runLeaseMs,
    rulesOf: (key) => settings.projects.get(key) ?? null,
  };
}

/** @returns the gaps that the watchdogs of the session's logs folder have recorded, for a command that only looks */
export async function recordedGaps(
  { settings, clock }: Foundation,
  store: Store,
  { run }: AgentSession,
): Promise<KnownGaps> {
  const logsId = run?.logs_id ?? readLogsFolderId(settings.logsFolder);
  return new RecordedGaps(clock, logsId === null ? [] : await store.gaps.of(logsId));
}
