/** Builds what follows a finding: the saga of each incident, and the reports that it files. */
import { ConfiguredIssues } from '../../monitoring/incident/issue/configuredIssues.js';
import type { IssueRecords } from '../../monitoring/incident/issue/issueRecords.js';
import { IncidentReporter } from '../../monitoring/incident/saga/incidentReporter.js';
import { IncidentSaga } from '../../monitoring/incident/saga/saga.js';
import { answerInJournal } from '../../monitoring/rounds/answeredLocally.js';
import { JudgedSessions } from '../../monitoring/watch/manySessions.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import { keptBack } from '../hosts/lostHosts.js';
import { wasCutDown } from '../runs/cutDown.js';
import type { RunProofs } from '../runs/proof.js';
import { StopMark } from '../runs/stopMark.js';
import type { Foundation } from './foundation.js';
import type { WatchdogActors, WatchdogSurroundings } from './watchdogActors.js';

export interface SagaParts extends WatchdogActors {
  readonly proofs: RunProofs;
  readonly issues: IssueRecords;
}

export function buildSaga(
  foundation: Foundation,
  { store, queue, chat, events, stopping }: WatchdogSurroundings,
  { agenda, gaps, judge, folders, proofs, issues: records }: SagaParts,
): IncidentSaga {
  const { settings, clock, logger, here } = foundation;
  const { logsFolder, timings } = settings;
  const issues = new ConfiguredIssues({ ...foundation, records, stopping });
  const stopMark = new StopMark(logsFolder, here, logger);
  return new IncidentSaga({
    ...foundation,
    store,
    gaps,
    timings,
    queue,
    events,
    folders,
    agenda,
    chat: chat.router,
    reporter: new IncidentReporter(clock, logsFolder, issues, events),
    keptBack: (session) => keptBack(settings, session),
    proveDead: (session) => proofs.ofSession(session),
    wasCutDown: (session) => wasCutDown(logsFolder, readLogsFolderId(logsFolder), session),
    endOnDisk: chat.endOnDisk,
    isAnsweredInJournal: async (session) => (await answerInJournal(store.records, logsFolder, session)) !== null,
    wasStopping: (session) => stopMark.wasStopping(session),
    hasWorked: (sessionId) => judge.watched.hasWorked(sessionId, clock.now()),
    sessions: new JudgedSessions(judge),
  });
}
