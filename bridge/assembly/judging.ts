/** What a session is judged by: the same in the bridge, in the standby, and for a command that only shows the verdict. */
import type { JudgeContext } from '../../monitoring/sessionJudge.js';
import { WatchedSessions } from '../../monitoring/watchedSessions.js';
import type { ProjectRules, Settings } from '../../src/config/settings.js';
import type { Store } from '../../src/store/store.js';
import type { Foundation } from './foundation.js';

/** @returns what a judge needs; the rules are those of this process's own settings */
export function judgeContext({ settings, clock, logger, here }: Foundation, store: Store): JudgeContext {
  return {
    store,
    clock,
    here,
    logsFolder: settings.logsFolder,
    watched: new WatchedSessions(store, logger, settings.logsFolder),
    runLeaseMs: settings.timings.runLeaseMs,
    rulesOf: (key) => settings.projects.get(key) ?? null,
  };
}

/** @returns what a bridge tells others that it judges by, by project */
export function rulesByProject({ projects }: Settings): Record<string, ProjectRules> {
  return Object.fromEntries([...projects].map(([key, { thresholds, actions }]) => [key, { thresholds, actions }]));
}
