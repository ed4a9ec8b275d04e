/** Real parts around the saga: Redis, the event file, issues as files, the terminal as the chat, BullMQ. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { JobQueue } from '../../../../bridge/queue/pump.js';
import { TerminalChat } from '../../../../bridge/terminal/terminalChat.js';
import { readStep } from '../../../../memory/observed/step.js';
import { CriticalEventLog } from '../../../../monitoring/criticalEvents.js';
import type { IssueRecord } from '../../../../monitoring/incident/issue/issueRecords.js';
import { LocalIssues } from '../../../../monitoring/incident/issue/localIssues.js';
import { ProjectIssues } from '../../../../monitoring/incident/issue/projectIssues.js';
import { newIncident } from '../../../../monitoring/incident/newIncident.js';
import { RefusedTries } from '../../../../monitoring/incident/refusedTries.js';
import { IncidentReporter } from '../../../../monitoring/incident/saga/incidentReporter.js';
import { IncidentSaga } from '../../../../monitoring/incident/saga/saga.js';
import type { SagaContext } from '../../../../monitoring/incident/sagaContext.js';
import { RecordedGaps } from '../../../../monitoring/lateness/knownGaps.js';
import { DEFAULT_ACTIONS } from '../../../../src/config/projects.js';
import type { Rule } from '../../../../src/config/rules.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../../src/host/identity.js';
import type { Finding } from '../../../../src/jobs/findings.js';
import type { CriticalEvent, Incident } from '../../../../src/jobs/incidents.js';
import type { Guard } from '../../../../src/jobs/incidentTransitions.js';
import { StoredIssueRecords } from '../../../../src/jobs/issueRecords.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { conversationKey, laneOf } from '../../../../src/jobs/names.js';
import { openStore, type Store } from '../../../../src/jobs/store.js';
import { journalPath } from '../../../../src/journal/path.js';
import { createLogger, type Logger } from '../../../../src/log/logger.js';
import { createRedactor } from '../../../../src/log/redact.js';
import type { HeldLease } from '../../../../src/redis/leases.js';
import { isoTime, MINUTE } from '../../../../src/time.js';
import { ManualClock, TEST_START } from '../../../harness/clock.js';
import { testFolder } from '../../../harness/folder.js';
import { openTestRedis } from '../../../harness/redis.js';
import { untilAtRest } from '../../../harness/rest.js';
import { afterThisTest } from '../../../harness/scope.js';

export const HOST = 'host-a';
export const LANE = laneOf(HOST, '/srv/popoto');
export const LEASE_MS = 3 * MINUTE;
export const OWNER: ProcessIdentity = { host: 'host-b', boot_id: 'b', pid_namespace: 'n', pid: 10, pid_start: '5' };
const TIMINGS = { reportWaitMs: 10_000, proofMs: 600_000, runLeaseMs: 180_000 };

export interface SagaScene {
  /** What its clock waits for before it goes on. */
  readonly connections: Redis[];
  readonly store: Store;
  readonly clock: ManualClock;
  readonly logger: Logger;
  readonly logged: string[];
  readonly folder: string;
  readonly events: CriticalEventLog;
  readonly queue: JobQueue;
  /** What a person at the terminal read. */
  readonly said: string[];
  readonly chat: TerminalChat;
  readonly reporter: IncidentReporter;
  readonly lease: HeldLease;
  readonly wanted: { incidentId: string; instant: number }[];
  context(changes?: Partial<SagaContext>): SagaContext;
  saga(changes?: Partial<SagaContext>): IncidentSaga;
}

/** @param url another server, or another of its databases, than the run's own */
export async function openSagaScene(url?: string): Promise<SagaScene> {
  const { redis, prefix } = await openTestRedis(url);
  const connections = [redis];
  const clock = new ManualClock(TEST_START, () => untilAtRest(connections));
  const folder = testFolder();
  const store = openStore(redis, clock, prefix);
  const logged: string[] = [];
  const redact = createRedactor([]);
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const logger = createLogger({ level: 'debug', redact, clock, destinations });
  const events = new CriticalEventLog(join(folder, 'critical_events.jsonl'), redact);
  const queue = new JobQueue({ store, host: HOST, connection: redis, clock, logger });
  afterThisTest(() => queue.close());
  const said: string[] = [];
  const here = readProcessIdentity(HOST);
  const writer = { write: (text: string) => void said.push(text) };
  const chat = new TerminalChat({ store, clock, logger, redact, here, events }, writer, { movedMs: () => 0 });
  const lease = must(await store.leases.hold('watchdog:test', 'this test', 1_000 * MINUTE));
  const wanted: { incidentId: string; instant: number }[] = [];
  const reporter = incidentReporter({ store, clock, logger, folder });
  const context = (changes: Partial<SagaContext> = {}): SagaContext => ({
    store,
    clock,
    gaps: new RecordedGaps(clock),
    logger,
    timings: TIMINGS,
    queue,
    chat,
    events,
    reporter,
    folders: { guard: () => store.leases.guard(lease), actsFor: () => true },
    agenda: { driveAt: (incidentId, instant) => void wanted.push({ incidentId, instant }) },
    keptBack: () => null,
    proveDead: async () => null,
    endOnDisk: async () => null,
    isAnsweredInJournal: async () => false,
    wasCutDown: () => false,
    wasStopping: async () => false,
    hasWorked: async () => false,
    stepOf: (sessionId) => readStep(journalPath(folder, sessionId)),
    sessions: { active: () => 0, soonSilent: async () => 0 },
    refusedTries: new RefusedTries(),
    ...changes,
  });
  const saga = (changes: Partial<SagaContext> = {}) => new IncidentSaga(context(changes));
  return {
    connections,
    store,
    clock,
    logger,
    logged,
    folder,
    events,
    queue,
    said,
    chat,
    reporter,
    lease,
    wanted,
    context,
    saga,
  };
}

function incidentReporter(scene: Pick<SagaScene, 'store' | 'clock' | 'logger' | 'folder'>): IncidentReporter {
  const { store, clock, logger, folder } = scene;
  const issues = new ProjectIssues({
    projectKey: 'popoto',
    sink: new LocalIssues(join(folder, 'issues'), clock),
    records: new StoredIssueRecords<IssueRecord>(store.redis, store.keys),
    publicDetail: 'names_only',
    redact: createRedactor([]),
    clock,
    logger,
  });
  return new IncidentReporter(clock, folder, { of: () => issues }, { trouble: null });
}

/** @param wakes as in {@link Acceptance} */
export async function acceptMessage(scene: SagaScene, messageId = '1', wakes = true): Promise<AgentSession> {
  const draft = {
    session_id: `tg_popoto_-100_${messageId}`,
    project_key: 'popoto',
    chat_id: '-100',
    message_id: messageId,
    thread_id: null,
    sender: { id: '7', name: 'Ann' },
    message_text: `ask ${messageId}`,
    conversation_key: conversationKey('popoto', '-100', null, 0),
    lane: LANE,
    working_directory: '/srv/popoto',
    agent: 'scripted',
  };
  return (await scene.store.transitions.accept(draft, { wakes })).session;
}

/** @returns the session of a message that an agent works on */
export async function activeSession(scene: SagaScene, messageId = '1'): Promise<AgentSession> {
  return startRun(scene, await acceptMessage(scene, messageId));
}

export async function startRun(scene: SagaScene, session: AgentSession): Promise<AgentSession> {
  const run = { run_id: runIdOf(session), owner: OWNER, pid: 77, started_at: scene.clock.now() };
  return must(await scene.store.transitions.start(session, run, LEASE_MS)).session;
}

export function runIdOf({ session_id }: Pick<AgentSession, 'session_id'>): string {
  return `run-${session_id}`;
}

/** What the run's owner does once nothing of the run is left. */
export async function releaseRun(scene: SagaScene, session: AgentSession): Promise<AgentSession | null> {
  const proof = { run_id: runIdOf(session), proven_at: scene.clock.now(), by: 'scan' } as const;
  return scene.store.transitions.release(session.session_id, proof);
}

export function findingOf(rule: Rule = 'silence', reason = 'silent_for_15_minutes'): Finding {
  return { rule, reason, since: '2026-02-05T10:00:00.000Z', evidence: [`it was ${rule}`], waits_considered: [] };
}

export interface Accusation {
  readonly findings?: readonly Finding[];
  readonly reportOnly?: boolean;
  readonly notRevivedBecause?: string | null;
  readonly guard?: Guard;
  readonly untrustedExcerpt?: string | null;
}

export async function openIncident(
  scene: SagaScene,
  session: AgentSession,
  {
    findings = [findingOf()],
    reportOnly = false,
    notRevivedBecause = null,
    guard = [],
    untrustedExcerpt = null,
  }: Accusation = {},
): Promise<Incident> {
  const actions = reportOnly ? allReport() : DEFAULT_ACTIONS;
  const lastToolCall = isoTime(scene.clock.now() - 15 * MINUTE);
  const incident = newIncident(scene.clock, {
    session,
    findings,
    actions,
    notRevivedBecause,
    untrustedExcerpt,
    toolCount: 40,
    lastToolCall,
  });
  if (!(await scene.store.incidents.open(session, incident, guard))) throw new Error('not opened');
  return incident;
}

export function allReport(): Record<Rule, 'report'> {
  return Object.fromEntries(Object.keys(DEFAULT_ACTIONS).map((rule) => [rule, 'report'])) as Record<Rule, 'report'>;
}

/** Lets the saga go as far as it gets, reports included. */
export async function settle(saga: IncidentSaga, incidentId: string): Promise<void> {
  await saga.advance(incidentId);
  await saga.settle();
  await saga.advance(incidentId);
  await saga.settle();
}

/** @returns the lines of the event file as they are, repeated ones too */
export function eventLines({ events }: SagaScene): CriticalEvent[] {
  if (!existsSync(events.file)) return [];
  // What stands behind the last line end is being written.
  const lines = readFileSync(events.file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as CriticalEvent);
}

export function issueText({ folder }: SagaScene, number = 1): string {
  const path = join(folder, 'issues', `${number}.md`);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

export async function incidentNow({ store }: SagaScene, { incident_id }: Incident): Promise<Incident> {
  return must(await store.records.incident(incident_id));
}

export async function sessionNow({ store }: SagaScene, { session_id }: AgentSession): Promise<AgentSession> {
  return must(await store.records.session(session_id));
}

export function must<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('expected a value');
  return value;
}
