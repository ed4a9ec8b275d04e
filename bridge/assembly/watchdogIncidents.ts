/** Builds what follows a finding: the saga, which opens incidents and drives each of them. */
import { join } from 'node:path';
import type { IssueRecord } from '../../monitoring/incident/issue/issueRecords.js';
import { IncidentSaga } from '../../monitoring/incident/saga/saga.js';
import { answerInJournal } from '../../monitoring/rounds/answeredLocally.js';
import { JudgedSessions } from '../../monitoring/watch/manySessions.js';
import { readLogsFolderId } from '../../src/files/logsFolder.js';
import { StoredIssueRecords } from '../../src/jobs/issueRecords.js';
import { keptBack } from '../hosts/keptBack.js';
import { wasCutDown } from '../runs/cutDown.js';
import { StopMark } from '../runs/stopMark.js';
import type { Foundation } from './foundation.js';
import { buildIncidentReporter } from './incidentReporter.js';
import { proveDead } from './runProofs.js';
import type { WatchdogActors } from './watchdogActors.js';
import type { WatchdogSurroundings } from './watchdogSurroundings.js';

export interface WatchdogIncidents {
  readonly issues: StoredIssueRecords<IssueRecord>;
  readonly saga: IncidentSaga;
}

export function buildIncidents(
  foundation: Foundation,
  { store, queue, chat, events, endOnDisk, stopping }: WatchdogSurroundings,
  { agenda, gaps, judge, folders }: WatchdogActors,
): WatchdogIncidents {
  const { settings, clock, logger, here } = foundation;
  const { logsFolder, timings } = settings;
  const issues = new StoredIssueRecords<IssueRecord>(store.redis, store.keys, join(logsFolder, 'issue-marker-key'));
  const stopMark = new StopMark(logsFolder, here, logger);
  const saga = new IncidentSaga({
    store,
    clock,
    gaps,
    logger,
    timings,
    queue,
    chat,
    events,
    reporter: buildIncidentReporter(foundation, issues, events, stopping),
    folders,
    agenda,
    keptBack: (session) => keptBack(settings, session),
    proveDead: (session) => proveDead(foundation, store, gaps, session),
    wasCutDown: (session) => wasCutDown(logsFolder, readLogsFolderId(logsFolder), session),
    endOnDisk,
    isAnsweredInJournal: async (session) => (await answerInJournal(store.records, logsFolder, session)) !== null,
    wasStopping: (session) => stopMark.tellsOf(session),
    hasWorked: (sessionId) => judge.watched.hasWorked(sessionId, clock.now()),
    sessions: new JudgedSessions(judge),
  });
  return { issues, saga };
}
