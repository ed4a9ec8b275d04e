import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { endPredecessorsRuns } from '../../../../bridge/runs/predecessors.js';
import { TerminalChat } from '../../../../bridge/terminal/terminalChat.js';
import { CriticalEventLog } from '../../../../monitoring/criticalEvents.js';
import { joiningFindings } from '../../../../monitoring/incident/newIncident.js';
import type { IncidentSaga } from '../../../../monitoring/incident/saga/saga.js';
import { RefusedError, type Reporter, type SagaContext } from '../../../../monitoring/incident/sagaContext.js';
import { FAILURE_PARAGRAPH } from '../../../../monitoring/incident/texts/chatTexts.js';
import { RecordedGaps } from '../../../../monitoring/lateness/knownGaps.js';
import { answerInJournal, type DiskContext, endOnDisk } from '../../../../monitoring/rounds/answeredLocally.js';
import { DEFAULT_ACTIONS } from '../../../../src/config/projects.js';
import type { Settings } from '../../../../src/config/settings.js';
import { UnreachableError } from '../../../../src/errors.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { revivalSessionId } from '../../../../src/ids.js';
import type { CriticalEvent, Incident } from '../../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import type { Chat } from '../../../../src/jobs/ports.js';
import { markUnsent } from '../../../../src/journal/unsent.js';
import { JournalWriter } from '../../../../src/journal/writer.js';
import { HOUR, isoTime, MINUTE } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import { afterThisTest } from '../../../harness/scope.js';
import { Mortal } from './mortal.js';
import {
  activeSession,
  allReport,
  eventLines,
  findingOf,
  HOST,
  incidentNow,
  issueText,
  LANE,
  must,
  OWNER,
  openIncident,
  openSagaScene,
  releaseRun,
  runIdOf,
  type SagaScene,
  sessionNow,
  settle,
  startRun,
} from './sagaScene.js';

const BOOT = 'this boot';
const PLAIN_FIELDS = [
  'timestamp',
  'event',
  'session_id',
  'project_key',
  'reason',
  'action_taken',
  'github_issue',
  'details',
];

function stepsOf(lines: readonly CriticalEvent[]): string[] {
  return lines.map(({ id, incident_id }) => id.slice(incident_id.length + 1));
}

function actionsOf(lines: readonly CriticalEvent[]): (string | null)[] {
  return lines.map(({ action_taken }) => action_taken);
}

function occurrencesIn(text: string, sessionId: string): number {
  return text.split('\n').filter((line) => line.startsWith('- Session:') && line.includes(sessionId)).length;
}

/** From the first failure to its revival's start. */
async function reviveFirst(
  scene: SagaScene,
  saga: IncidentSaga,
): Promise<{ session: AgentSession; incident: Incident }> {
  const session = await activeSession(scene);
  const incident = await openIncident(scene, session);
  await settle(saga, incident.incident_id);
  await releaseRun(scene, session);
  await settle(saga, incident.incident_id);
  return { session, incident };
}

async function revivalOf(scene: SagaScene, session: AgentSession): Promise<AgentSession> {
  return must(await scene.store.records.session(`${session.session_id}_r1`));
}

describeWithRedis('a first failure', () => {
  test('is detected, reported, ended, revived and closed, with a line for each step', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga();
    const { session, incident } = await reviveFirst(scene, saga);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'revived', last_action: 'revival_attempted' });
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'failed', end_reason: 'silent_for_15_minutes' });
    const revival = await startRun(scene, await revivalOf(scene, session));
    await scene.store.transitions.complete(revival.session_id, runIdOf(revival), 'done');
    await settle(saga, incident.incident_id);

    const lines = eventLines(scene);
    expect(stepsOf(lines)).toEqual(['detected', 'reported', 'revived', 'closed']);
    expect(actionsOf(lines)).toEqual(['detected', 'reported', 'revival_attempted', 'revival_attempted']);
    expect(lines.map(({ final }) => final)).toEqual([false, false, false, true]);
    expect(lines.at(-1)).toMatchObject({ event: 'session_recovered', github_issue: expect.stringMatching(/^file:/) });
    for (const line of lines) {
      for (const field of PLAIN_FIELDS) expect(line).toHaveProperty(field);
      expect(line).toMatchObject({
        agent: { name: 'scripted', version: null },
        asked: 'ask 1',
        session_id: session.session_id,
        project_key: 'popoto',
        reason: 'silent_for_15_minutes',
        details: { tool_count: 40, attempt: 1, findings: [expect.objectContaining({ rule: 'silence' })] },
      });
    }
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'recovered' });
    expect((await sessionNow(scene, session)).incident_id).toBeNull();
    expect(issueText(scene)).toContain('run again as');
    expect(issueText(scene)).toContain('- Agent: `scripted`\n- Asked (untrusted data, not instructions): `ask 1`');
    expect(scene.said.join('')).not.toContain('Sorry');
  });

  test('has not recovered while its second attempt is accused', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga();
    const { session, incident } = await reviveFirst(scene, saga);
    const revival = await startRun(scene, await revivalOf(scene, session));
    const second = await openIncident(scene, revival);
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'revived', outcome: null });
    expect(issueText(scene)).not.toContain('that attempt answered it');

    await settle(saga, second.incident_id);
    await releaseRun(scene, revival);
    await settle(saga, second.incident_id);
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'revival_failed' });
    const closing = eventLines(scene).find(({ incident_id, final }) => final && incident_id === incident.incident_id);
    expect(closing).toMatchObject({ event: 'session_unhealthy', details: { outcome: 'revival_failed' } });
  });

  // rule: no-instant-binds-longer-than-its-length
  test('that began while the clock was an hour ahead holds its lane no longer than any other', async () => {
    const scene = await openSagaScene();
    const pending = { ...(await activeSession(scene)) };
    scene.clock.moveWallClock(HOUR);
    const reporter: Reporter = {
      report: async (incident) => ({ ...incident.report, tries: 1, due_at: scene.clock.now() + MINUTE }),
      noteOutcome: async () => undefined,
    };
    const saga = scene.saga({ reporter });
    const incident = await openIncident(scene, pending);
    await settle(saga, incident.incident_id);
    await releaseRun(scene, pending);
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'released' });
    scene.clock.moveWallClock(-HOUR);
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'revived' });
  });

  test('asks the owner of the run to end it, and holds the lane until the run is proven dead', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await settle(saga, incident.incident_id);
    expect((await sessionNow(scene, session)).stop).toMatchObject({ cause: 'incident', run_id: runIdOf(session) });
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'stopping' });
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: runIdOf(session), head: null });
  });
});

describeWithRedis('a second failure', () => {
  test('is reported with the exact first paragraph, once, and never revived', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga();
    const { session } = await reviveFirst(scene, saga);
    const revival = await startRun(scene, await revivalOf(scene, session));
    const second = await openIncident(scene, revival, { findings: [findingOf('crash', 'run_failed_exit_1')] });
    await settle(saga, second.incident_id);
    await releaseRun(scene, revival);
    await settle(saga, second.incident_id);
    expect(await incidentNow(scene, second)).toMatchObject({ step: 'closed', outcome: 'told' });
    const told = scene.said.filter((text) => text.includes('Sorry'));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(`\n${FAILURE_PARAGRAPH}\n\n`);
    expect(FAILURE_PARAGRAPH).toBe(
      "Sorry, I ran into an issue and couldn't recover. The error has been logged for investigation.",
    );
    const lines = eventLines(scene).filter(({ incident_id }) => incident_id === second.incident_id);
    expect(stepsOf(lines)).toEqual(['detected', 'reported', 'told', 'closed']);
    expect(lines.at(-1)).toMatchObject({
      event: 'session_unrecoverable',
      action_taken: 'failure_message_sent',
      final: true,
    });
    expect(await scene.store.records.session(`${revival.session_id}_r1`)).toBeNull();
  });
});

describeWithRedis('a cause that is not revived', () => {
  for (const because of ["the agent's credentials were refused", 'no credit left', 'the conversation is too long']) {
    test(`(${because}) is reported at the first failure`, async () => {
      const scene = await openSagaScene();
      const saga = scene.saga();
      const session = await activeSession(scene);
      const incident = await openIncident(scene, session, { notRevivedBecause: because });
      await settle(saga, incident.incident_id);
      await releaseRun(scene, session);
      await settle(saga, incident.incident_id);
      expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'told', not_revived_because: because });
      expect(await scene.store.records.claimOf(session)).toBeNull();
      expect(scene.said.join('')).toContain(`I will not try again: ${because}.`);
    });
  }

  test('includes a run whose death could not be proven in time', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await settle(saga, incident.incident_id);
    await scene.clock.advance(10 * MINUTE - 1);
    await settle(saga, incident.incident_id);
    expect((await incidentNow(scene, incident)).step).toBe('stopping');
    await scene.clock.advance(1);
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'told' });
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'failed', revived_by: null });
    expect(scene.said.filter((text) => text.includes('could not be proven'))).toHaveLength(1);
    // Whoever it is that lives, nobody else begins beside him.
    expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: runIdOf(session) });
  });

  test('gets its full time again after a gap in which nothing could be proven', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await settle(scene.saga(), incident.incident_id);
    await scene.clock.advance(10 * MINUTE);
    const until = scene.clock.now();
    const gap = {
      gap_id: 'G',
      from: until - 9 * MINUTE,
      until,
      cause: 'process_stood',
      by: OWNER,
      acted: true,
    } as const;
    const saga = scene.saga({ gaps: new RecordedGaps(scene.clock, [gap]) });
    await scene.clock.advance(10 * MINUTE - 1);
    await settle(saga, incident.incident_id);
    expect((await incidentNow(scene, incident)).step).toBe('stopping');
    await scene.clock.advance(1);
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'told' });
  });
});

describeWithRedis('a failure after which the run must not be tried again', () => {
  test('is reported with the reason', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga({ keptBack: () => 'its host was lost' });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await settle(saga, incident.incident_id);
    await releaseRun(scene, session);
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'told', revival_session_id: null });
    expect(scene.said.join('')).toContain('I will not try again: its host was lost.');
  });
});

describeWithRedis('a failure that cannot be reported to anyone', () => {
  // rule: an-issue-is-given-up-after-a-day
  test('records in its own lines that message and report were given up, and in no other', async () => {
    const scene = await openSagaScene();
    const { store, clock, logger, events } = scene;
    const writer = {
      write() {
        throw new Error('broken pipe');
      },
    };
    const redact = (text: string) => text;
    const chat = new TerminalChat({ store, clock, logger, events, redact, here: readProcessIdentity(HOST) }, writer, {
      movedMs: () => 0,
    });
    const report = { state: 'given_up', url: null, tries: 9, due_at: null, last_error: 'GitHub refused' } as const;
    const saga = scene.saga({ chat, reporter: { report: async () => report, noteOutcome: async () => undefined } });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session, { notRevivedBecause: 'no credit left' });
    await settle(saga, incident.incident_id);
    await releaseRun(scene, session);
    await settle(saga, incident.incident_id);
    const lines = eventLines(scene);
    expect(stepsOf(lines)).toEqual(['detected', 'told', 'closed']);
    expect(actionsOf(lines)).toEqual(['detected', 'failure_message_given_up', 'failure_message_given_up']);
    expect(lines.at(-1)).toMatchObject({
      final: true,
      details: { report: { state: 'given_up', last_error: 'GitHub refused' } },
    });
  });
});

describeWithRedis('an answer', () => {
  test('stored before the release closes the incident without a claim', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await settle(saga, incident.incident_id);
    await scene.store.transitions.complete(session.session_id, runIdOf(session), 'in time');
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ outcome: 'answered', revival_session_id: null });
    expect(await scene.store.records.claimOf(session)).toBeNull();
  });

  test('before anything was reported still leaves exactly one detected line', async () => {
    const scene = await openSagaScene();
    const report = { state: 'given_up', url: null, tries: 1, due_at: null, last_error: 'no' } as const;
    const saga = scene.saga({ reporter: { report: async () => report, noteOutcome: async () => undefined } });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await scene.store.transitions.complete(session.session_id, runIdOf(session), 'in time');
    await settle(saga, incident.incident_id);
    expect(actionsOf(eventLines(scene))).toEqual(['detected', 'suppressed']);
  });
});

describeWithRedis('an answer that the store forgot but the journal of its run has', () => {
  for (const isProven of [true, false]) {
    const how = isProven ? 'proven dead' : 'not proven dead in time, whose lane stays blocked';
    test(`is the end of a lost run (${how}): nothing is run again, and no failure is reported`, async () => {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      await scene.clock.advance(1_000);
      const { logsFolder, journal } = journalOf(scene, session);
      journal.append({ event: 'session_end', reason: 'answered', answer: 'forty-two' });
      const saga = scene.saga({ endOnDisk: (asked) => endOnDisk(diskOf(scene, logsFolder), asked) });
      const incident = await openIncident(scene, session, { findings: [findingOf('orphan', 'run_lost')] });
      await settle(saga, incident.incident_id);
      if (isProven) await releaseRun(scene, session);
      else await scene.clock.advance(10 * MINUTE);
      await settle(saga, incident.incident_id);
      expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'answered' });
      const after = await sessionNow(scene, session);
      expect(after).toMatchObject({ status: 'completed', answer: 'forty-two', revived_by: null });
      // It may be in the chat already: then it must not be sent once more.
      expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({
        kind: 'answer',
        text: 'forty-two',
        state: 'sending',
        claimed_until: null,
      });
      expect(await scene.store.records.claimOf(session)).toBeNull();
      expect((await scene.store.records.lane(LANE)).holder).toBe(isProven ? null : runIdOf(session));
    });
  }

  test('is left to the open incident of its session by the next bridge, and is sent as usual', async () => {
    const scene = await openSagaScene();
    const { store, clock, logger } = scene;
    const session = await activeSession(scene);
    await clock.advance(1_000);
    const { logsFolder, journal } = journalOf(scene, session);
    markUnsent(logsFolder, session.session_id, BOOT);
    journal.append({ event: 'session_end', reason: 'answered', answer: 'forty-two' });
    const onDisk = (asked: AgentSession) => endOnDisk(diskOf(scene, logsFolder), asked);
    const saga = scene.saga({ endOnDisk: onDisk });
    const incident = await openIncident(scene, session, { findings: [findingOf('orphan', 'run_lost')] });
    await settle(saga, incident.incident_id);
    const ended = await endPredecessorsRuns({
      store,
      logger,
      here: { ...OWNER, boot_id: 'a later one' },
      settings: { logsFolder, timings: { killGraceMs: 0 } } as Settings,
      logsId: 'LOGS',
      clock,
      endOnDisk: onDisk,
      stopMark: { wasStopping: async () => false },
    });
    expect(ended).toEqual([session.session_id]);
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'answered' });
    expect(await store.records.outboxEntry(session.session_id)).toMatchObject({ text: 'forty-two', state: 'queued' });
  });

  // rule: an-answer-on-the-disk-counts
  test('of a second attempt recreates that attempt, which ends with it, instead of a failure of the first', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    const revivalId = revivalSessionId(session.session_id);
    await scene.clock.advance(1_000);
    const { logsFolder, journal } = journalOf(scene, { session_id: revivalId });
    markUnsent(logsFolder, revivalId, BOOT);
    journal.append({ event: 'session_end', reason: 'answered', answer: 'forty-two' });
    const onDisk = (asked: AgentSession) => endOnDisk(diskOf(scene, logsFolder), asked);
    const saga = scene.saga({
      endOnDisk: onDisk,
      isAnsweredInJournal: async (asked) => (await answerInJournal(scene.store.records, logsFolder, asked)) !== null,
      keptBack: () => 'it is not to run again',
    });
    const incident = await openIncident(scene, session, { findings: [findingOf('orphan', 'run_lost')] });
    await settle(saga, incident.incident_id);
    await releaseRun(scene, session);
    await settle(saga, incident.incident_id);
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'failed', revived_by: revivalId });
    expect(await scene.store.records.outboxEntry(session.session_id)).toBeNull();
    const revival = must(await scene.store.records.session(revivalId));
    // Nobody can have sent it: being asked about on the way changes nothing.
    expect(await onDisk(revival)).toEqual({ kind: 'answer', text: 'forty-two', mayBeInChat: false });
  });

  // rule: a-reported-end-is-the-only-end
  test.each([
    ['answer', 'completed', 'answered', ['detected', 'reported', 'closed']],
    ['failure', 'failed', 'told', ['detected', 'reported', 'told', 'closed']],
    ['cancelled', 'cancelled', 'cancelled_by_person', ['detected', 'reported', 'closed']],
  ] as const)(
    'that was sent to the chat (%s) is the end of its message: nothing is run again, and its incident says so in full',
    async (kind, status, outcome, steps) => {
      const scene = await openSagaScene();
      const session = await activeSession(scene);
      const endInChat: DiskContext['endInChat'] = async (id, since) =>
        id === session.session_id && since === session.created_at ? kind : null;
      const saga = scene.saga({
        endOnDisk: (asked) => endOnDisk(diskOf(scene, scene.folder, endInChat), asked),
        // The memory of sends has the message.
        chat: { deliver: async () => 'sent', showProgress: async () => undefined },
      });
      const incident = await openIncident(scene, session, { findings: [findingOf('orphan', 'run_lost')] });
      await settle(saga, incident.incident_id);
      await releaseRun(scene, session);
      await settle(saga, incident.incident_id);
      expect(await sessionNow(scene, session)).toMatchObject({ status, revived_by: null });
      expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome });
      expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ kind, state: 'queued' });
      expect(await scene.store.records.claimOf(session)).toBeNull();
      expect(stepsOf(eventLines(scene))).toEqual(steps);
      if (kind === 'failure')
        expect(actionsOf(eventLines(scene)).slice(2)).toEqual(Array(2).fill('failure_message_sent'));
    },
  );

  test('is in doubt after a reboot, although it was marked unsent: the disk may have lost the later mark', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    await scene.clock.advance(1_000);
    const { logsFolder, journal } = journalOf(scene, session);
    journal.append({ event: 'session_end', reason: 'answered', answer: 'forty-two' });
    for (const [madeIn, mayBeInChat] of [
      ['another boot', true],
      ['', true],
      [BOOT, false],
    ] as const) {
      markUnsent(logsFolder, session.session_id, madeIn);
      expect(await endOnDisk(diskOf(scene, logsFolder), session)).toMatchObject({ kind: 'answer', mayBeInChat });
    }
  });

  // rule: an-answer-on-the-disk-counts
  test('is the end of a lost run although the clock was set back since its message was accepted', async () => {
    const scene = await openSagaScene();
    const session = await activeSession(scene);
    scene.clock.moveWallClock(-HOUR);
    const { logsFolder, journal } = journalOf(scene, session);
    const accepted_at = isoTime(session.created_at);
    journal.append({ event: 'run_start', run_id: runIdOf(session), boot_id: BOOT, accepted_at });
    journal.append({ event: 'session_end', reason: 'answered', answer: 'forty-two' });
    const saga = scene.saga({ endOnDisk: (asked) => endOnDisk(diskOf(scene, logsFolder), asked) });
    const incident = await openIncident(scene, session, { findings: [findingOf('orphan', 'run_lost')] });
    await settle(saga, incident.incident_id);
    await releaseRun(scene, session);
    await settle(saga, incident.incident_id);
    expect(await sessionNow(scene, session)).toMatchObject({
      status: 'completed',
      answer: 'forty-two',
      revived_by: null,
    });
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'answered' });
  });

  // rule: an-answer-on-the-disk-counts
  test('is not taken as an answer to a later message with the same number', async () => {
    const scene = await openSagaScene();
    const { logsFolder, journal } = journalOf(scene, { session_id: 'tg_popoto_-100_1' });
    journal.append({ event: 'session_end', reason: 'answered', answer: 'to somebody else' });
    await scene.clock.advance(1_000);
    const session = await activeSession(scene);
    expect(await answerInJournal(scene.store.records, logsFolder, session)).toBeNull();
  });
});

/** Of a process that knows of no text that was sent, unless `told` says so. */
function diskOf(
  { store, logger }: SagaScene,
  logsFolder: string,
  endInChat: DiskContext['endInChat'] = async () => null,
): DiskContext {
  return { records: store.records, logsFolder, bootId: BOOT, logger, endInChat };
}

function journalOf({ folder, clock }: SagaScene, { session_id: sessionId }: Pick<AgentSession, 'session_id'>) {
  const logsFolder = join(folder, 'logs');
  const journal = JournalWriter.open({ logsFolder, sessionId, clock, redact: (text) => text });
  afterThisTest(() => journal.close());
  journal.append({ event: 'session_start', source: 'startup' });
  return { logsFolder, journal };
}

/** What the bridge stores of a run that a person cancelled. */
async function cancelByItsBridge(scene: SagaScene, session: AgentSession): Promise<void> {
  const { session_id: sessionId } = session;
  await scene.store.transitions.cancel(sessionId, 'Cancelled at your request.');
  await releaseRun(scene, session);
  must(await scene.store.transitions.cancelReleased(sessionId, runIdOf(session), 'Cancelled at your request.'));
}

describeWithRedis('a cancellation while the incident is open', () => {
  for (const reportOnly of [false, true]) {
    test(`ends the session as cancelled and notifies the chat once (${reportOnly ? 'only reported' : 'acting'})`, async () => {
      const scene = await openSagaScene();
      const saga = scene.saga();
      const session = await activeSession(scene);
      const incident = await openIncident(scene, session, { reportOnly });
      await settle(saga, incident.incident_id);
      await scene.store.transitions.cancel(session.session_id, 'Cancelled at your request.');
      await releaseRun(scene, session);
      await scene.store.transitions.cancelReleased(session.session_id, runIdOf(session), 'Cancelled at your request.');
      await settle(saga, incident.incident_id);
      expect(await sessionNow(scene, session)).toMatchObject({ status: 'cancelled', incident_id: null });
      expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'cancelled_by_person' });
      expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ kind: 'cancelled' });
      expect(await scene.store.records.lane(LANE)).toMatchObject({ holder: null });
      expect(issueText(scene)).toContain('A person cancelled the message.');
      expect(stepsOf(eventLines(scene))).toEqual(['detected', 'reported', 'closed']);
    });
  }

  test('does not wait for a slow report, and the record still gets its URL', async () => {
    const scene = await openSagaScene();
    const slow = slowReporter(scene);
    const saga = scene.saga({ reporter: slow.reporter });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await saga.advance(incident.incident_id);
    await scene.store.transitions.cancel(session.session_id, 'x');
    await releaseRun(scene, session);
    await saga.advance(incident.incident_id);
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'cancelled' });
    slow.go();
    await settle(saga, incident.incident_id);
    expect(stepsOf(eventLines(scene))).toEqual(['detected', 'reported', 'closed']);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', report: { state: 'filed' } });
    expect(issueText(scene)).toContain('A person cancelled the message.');
  });
});

/** An incident that was reported, and whose run then answered after all; taken as far as it gets. */
async function answeredWhileAccused(scene: SagaScene, saga: IncidentSaga) {
  const session = await activeSession(scene);
  const incident = await openIncident(scene, session);
  await saga.advance(incident.incident_id);
  await saga.settle();
  must(await scene.store.transitions.complete(session.session_id, runIdOf(session), 'at last'));
  await saga.advance(incident.incident_id);
  return { session, incident };
}

/** The real reporter, behind a GitHub that takes new issues and no changes of old ones while it is away. */
function notingWhenBack(scene: SagaScene, github: { isAway: boolean }): SagaContext['reporter'] {
  return {
    report: (incident, session) => scene.reporter.report(incident, session),
    async noteOutcome(incident) {
      if (github.isAway) throw new UnreachableError('away');
      await scene.reporter.noteOutcome(incident);
    },
  };
}

/** The real reporter behind a gate: where GitHub does not answer for a while. */
function slowReporter(scene: SagaScene): { reporter: SagaContext['reporter']; go: () => void; asked: () => number } {
  let go: () => void = () => undefined;
  let asked = 0;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const reporter: SagaContext['reporter'] = {
    async report(incident, session) {
      asked += 1;
      await gate;
      return scene.reporter.report(incident, session);
    },
    noteOutcome: (incident) => scene.reporter.noteOutcome(incident),
  };
  return { reporter, go, asked: () => asked };
}

describeWithRedis('a report', () => {
  // rule: an-issue-keeps-nobody-waiting
  test('that is slow delays a revival by at most 10 s; its URL comes later', async () => {
    const scene = await openSagaScene();
    const slow = slowReporter(scene);
    const saga = scene.saga({ reporter: slow.reporter });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await saga.advance(incident.incident_id);
    await releaseRun(scene, session);
    const due = await saga.advance(incident.incident_id);
    expect(due).toBe(scene.clock.now() + 10_000);
    await scene.clock.advance(9_999);
    await saga.advance(incident.incident_id);
    expect((await incidentNow(scene, incident)).step).toBe('released');
    await scene.clock.advance(1);
    await saga.advance(incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'revived', report: { url: null } });
    slow.go();
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({
      step: 'revived',
      last_action: 'revival_attempted',
      report: { state: 'filed', url: expect.stringMatching(/^file:/) },
    });
    expect(stepsOf(eventLines(scene))).toEqual(['detected', 'revived', 'reported']);
  });

  test('that is in progress is not requested again, and schedules no immediate retry', async () => {
    const scene = await openSagaScene();
    const slow = slowReporter(scene);
    const saga = scene.saga({ reporter: slow.reporter });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    const due = await saga.advance(incident.incident_id);
    expect(due).toBe(scene.clock.now() + 10 * MINUTE);
    await saga.advance(incident.incident_id);
    expect(slow.asked()).toBe(1);
    slow.go();
    await saga.settle();
  });

  test('that failed is tried again when it is due, without a tick', async () => {
    const scene = await openSagaScene();
    let tries = 0;
    const reporter: SagaContext['reporter'] = {
      async report(incident, session) {
        tries += 1;
        if (tries > 1) return scene.reporter.report(incident, session);
        return { state: 'pending', url: null, tries, due_at: scene.clock.now() + MINUTE, last_error: 'GitHub is away' };
      },
      noteOutcome: async () => undefined,
    };
    const saga = scene.saga({ reporter });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await saga.advance(incident.incident_id);
    await saga.settle();
    expect(scene.wanted).toContainEqual({ incidentId: incident.incident_id, instant: scene.clock.now() + MINUTE });
    await scene.clock.advance(MINUTE);
    await settle(saga, incident.incident_id);
    expect((await incidentNow(scene, incident)).report).toMatchObject({ state: 'filed' });
  });

  // rule: an-incident-closes-without-its-line
  test('whose outcome cannot be noted is closed later; meanwhile its session is free, and one line has the end', async () => {
    const scene = await openSagaScene();
    const github = { isAway: true };
    const saga = () => scene.saga({ reporter: notingWhenBack(scene, github) });
    const { session, incident } = await answeredWhileAccused(scene, saga());
    const waiting = await incidentNow(scene, incident);
    expect(waiting).toMatchObject({ outcome: 'answered', closed_at: null, note: { tries: 1, last_error: 'away' } });
    expect(await sessionNow(scene, session)).toMatchObject({ incident_id: null });
    // A watchdog that began later, and came too early.
    const second = saga();
    expect(await second.advance(incident.incident_id)).toBe(must(waiting.note).due_at);
    await scene.clock.advance(MINUTE);
    expect(await second.advance(incident.incident_id)).toBe(scene.clock.now() + 2 * MINUTE);
    github.isAway = false;
    await scene.clock.advance(2 * MINUTE);
    expect(await second.advance(incident.incident_id)).toBeNull();
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'answered' });
    expect(issueText(scene)).toContain('The answer arrived before the run was ended');
    expect(stepsOf(eventLines(scene)).filter((step) => step === 'closed')).toHaveLength(1);
  });

  // rule: an-incident-closes-without-its-line
  test('whose outcome can never be noted is closed after ten tries, with a line that says so', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga({ reporter: notingWhenBack(scene, { isAway: true }) });
    const { incident } = await answeredWhileAccused(scene, saga);
    for (let tries = 1; tries < 10; tries += 1) {
      expect(await incidentNow(scene, incident)).toMatchObject({ note: { tries } });
      const dueAt = must(await saga.advance(incident.incident_id));
      await scene.clock.advance(dueAt - scene.clock.now());
      await saga.advance(incident.incident_id);
    }
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'answered' });
    expect(scene.logged.join()).toContain('given up after 10 tries: away');
  });

  // rule: refused-reports-follow-a-restart
  test.each(['a restart', 'a reload'])('that was refused is tried again at once after %s, and once', async (how) => {
    const scene = await openSagaScene();
    const github = { isRefusing: true, asked: 0 };
    const reporter: SagaContext['reporter'] = {
      async report(incident, session) {
        github.asked += 1;
        if (!github.isRefusing) return scene.reporter.report(incident, session);
        const due_at = scene.clock.now() + 15 * MINUTE;
        return { state: 'pending', url: null, tries: github.asked, due_at, last_error: '401', refused: true };
      },
      noteOutcome: async () => undefined,
    };
    const first = scene.saga({ reporter });
    const { incident_id } = await openIncident(scene, await activeSession(scene));
    const look = async (saga: IncidentSaga) => {
      await saga.advance(incident_id);
      await saga.settle();
    };
    for (let times = 0; times < 3; times += 1) await look(first);
    expect(github.asked).toBe(1);
    const next = how === 'a restart' ? scene.saga({ reporter }) : first;
    next.tryRefusedAgain();
    for (let times = 0; times < 3; times += 1) await look(next);
    // The token is still refused: the pause holds again.
    expect(github.asked).toBe(2);
    github.isRefusing = false;
    const last = how === 'a restart' ? scene.saga({ reporter }) : first;
    if (how === 'a reload') last.tryRefusedAgain();
    await look(last);
    expect((await scene.store.records.incident(incident_id))?.report).toMatchObject({ state: 'filed', due_at: null });
    expect(github.asked).toBe(3);
  });

  // rule: refused-reports-follow-a-restart
  test('whose outcome was refused is noted at once after a restart', async () => {
    const scene = await openSagaScene();
    const github = { isAway: true };
    const reporter: SagaContext['reporter'] = {
      report: (incident, session) => scene.reporter.report(incident, session),
      async noteOutcome(incident) {
        if (github.isAway) throw new RefusedError('the token was revoked');
        await scene.reporter.noteOutcome(incident);
      },
    };
    const first = scene.saga({ reporter });
    const { incident } = await answeredWhileAccused(scene, first);
    const { note } = await incidentNow(scene, incident);
    expect(note).toMatchObject({ tries: 1, refused: true });
    expect(await first.advance(incident.incident_id)).toBe(must(note).due_at);
    github.isAway = false;
    expect(await scene.saga({ reporter }).advance(incident.incident_id)).toBeNull();
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed' });
  });

  test('that fails is not repeated without a pause', async () => {
    const scene = await openSagaScene();
    let tries = 0;
    const report = async () => {
      tries += 1;
      throw new Error('the records are away');
    };
    const saga = scene.saga({ reporter: { report, noteOutcome: async () => undefined } });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await saga.advance(incident.incident_id);
    await saga.settle();
    await saga.advance(incident.incident_id);
    await saga.settle();
    expect(tries).toBe(1);
    const next = must(await saga.advance(incident.incident_id));
    expect(next).toBeGreaterThan(scene.clock.now());
  });

  test('gives a cause once, and the last output of the agent', async () => {
    const scene = await openSagaScene();
    const untrustedExcerpt = 'it was silence; its last words: disk full';
    const incident = await openIncident(scene, await activeSession(scene), { untrustedExcerpt });
    await settle(scene.saga(), incident.incident_id);
    expect(issueText(scene)).toContain('\n\n```text\nits last words: disk full\n```\n');
    expect(issueText(scene).match(/it was silence/g)).toHaveLength(1);
  });

  test('that never comes: the revival continues, and the incident stays open for it', async () => {
    const scene = await openSagaScene();
    const slow = slowReporter(scene);
    const saga = scene.saga({ reporter: slow.reporter });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await saga.advance(incident.incident_id);
    await releaseRun(scene, session);
    await scene.clock.advance(10_000);
    await saga.advance(incident.incident_id);
    expect((await revivalOf(scene, session)).status).toBe('pending');
    const revival = await startRun(scene, await revivalOf(scene, session));
    await scene.store.transitions.complete(revival.session_id, runIdOf(revival), 'done');
    await saga.advance(incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'revived', outcome: 'recovered' });
    slow.go();
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'recovered' });
  });
});

describeWithRedis('an incident that only reports', () => {
  test('neither stops the run nor holds anything, and closes when the rule is no longer true', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session, { reportOnly: true });
    await settle(saga, incident.incident_id);
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', stop: null });
    expect((await incidentNow(scene, incident)).step).toBe('detected');
    await saga.closeHealthy(must((await sessionNow(scene, session)).incident_id));
    await saga.settle();
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'recovered' });
    expect(await sessionNow(scene, session)).toMatchObject({ status: 'active', incident_id: null });
    expect(eventLines(scene).at(-1)).toMatchObject({
      event: 'session_recovered',
      final: true,
      action_taken: 'reported',
    });
  });

  // rule: a-report-changes-no-end
  test('does not close as recovered while its run is being ended', async () => {
    for (const by of ['a person', 'a person, proven dead', 'a stop of its bridge'] as const) {
      const scene = await openSagaScene();
      const saga = scene.saga({ wasStopping: async () => by === 'a stop of its bridge' });
      const session = await activeSession(scene);
      const incident = await openIncident(scene, session, { reportOnly: true });
      await settle(saga, incident.incident_id);
      if (by !== 'a stop of its bridge') await scene.store.transitions.cancel(session.session_id, 'x');
      if (by === 'a person, proven dead') await releaseRun(scene, session);
      await saga.closeHealthy(incident.incident_id);
      await saga.settle();
      expect(await incidentNow(scene, incident)).toMatchObject({ step: 'detected', outcome: null });
    }
  });

  // rule: a-report-changes-no-end
  test('is detected, reported and closed with the truth, however early a person cancelled its run', async () => {
    for (const isDetected of [false, true]) {
      const scene = await openSagaScene();
      const saga = scene.saga();
      const session = await activeSession(scene);
      const incident = await openIncident(scene, session, { reportOnly: true });
      if (isDetected) await settle(saga, incident.incident_id);
      await cancelByItsBridge(scene, session);
      await settle(saga, incident.incident_id);
      expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'cancelled_by_person' });
      const lines = eventLines(scene);
      expect(stepsOf(lines)).toEqual(['detected', 'reported', 'closed']);
      expect(lines.at(-1)).toMatchObject({
        event: 'session_unhealthy',
        details: { outcome: 'cancelled_by_person' },
      });
      expect(issueText(scene)).toContain('A person cancelled the message.');
    }
  });

  test('starts to stop the run when a revive rule joins', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session, {
      reportOnly: true,
      findings: [findingOf('loop', 'loop_of_5')],
    });
    await settle(saga, incident.incident_id);
    await saga.accuse(await sessionNow(scene, session), {
      findings: [findingOf('silence')],
      actions: { ...allReport(), silence: 'revive' },
      toolCount: 1,
      lastToolCall: null,
    });
    await saga.settle();
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'stopping', acting: true, rule: 'loop' });
    expect(await scene.store.records.openIncidents()).toHaveLength(1);
  });
});

describeWithRedis('a run that has ended', () => {
  test.each(['released', 'revived', 'told', 'closed'] as const)('gets no more accusations at %s', async (step) => {
    const scene = await openSagaScene();
    const incident = await openIncident(scene, await activeSession(scene));
    expect(joiningFindings({ ...incident, step }, [findingOf('loop')], DEFAULT_ACTIONS)).toBeNull();
    expect(joiningFindings(incident, [findingOf('loop')], DEFAULT_ACTIONS)).not.toBeNull();
  });
});

describeWithRedis('a watchdog whose lease belongs to another', () => {
  for (const step of ['opened', 'stopping', 'told', 'revived'] as const) {
    test(`at ${step}: changes nothing and writes nothing`, async () => {
      const scene = await openSagaScene();
      const saga = scene.saga();
      const session = await activeSession(scene);
      const notRevivedBecause = step === 'told' ? 'no credit left' : null;
      const incident = await openIncident(scene, session, { notRevivedBecause });
      if (step !== 'opened') await settle(saga, incident.incident_id);
      if (step === 'told' || step === 'revived') {
        await releaseRun(scene, session);
        const chat: Chat = { deliver: async () => 'queued', showProgress: async () => undefined };
        const queue = { pump: () => Promise.reject(new Error('died here')) };
        await scene
          .saga({ chat, queue })
          .advance(incident.incident_id)
          .catch(() => null);
      }
      await releaseRun(scene, session);
      await scene.store.leases.hold('watchdog:test', 'another', MINUTE, { isDead: () => true });
      const before = { lines: eventLines(scene), incident: await incidentNow(scene, incident), said: [...scene.said] };
      await expect(saga.advance(incident.incident_id)).rejects.toThrow('another process has the lease now');
      await saga.settle();
      const after = { lines: eventLines(scene), incident: await incidentNow(scene, incident), said: [...scene.said] };
      expect(after).toEqual(before);
      expect(scene.logged.join('')).not.toContain('keeps changing');
    });
  }
});

describeWithRedis('faults around an incident', () => {
  test('an event file that cannot be written is logged, and the recovery continues', async () => {
    const scene = await openSagaScene();
    mkdirSync(scene.events.file);
    const saga = scene.saga();
    const { session } = await reviveFirst(scene, saga);
    expect((await revivalOf(scene, session)).status).toBe('pending');
    expect(scene.logged.filter((line) => line.includes('could not be written')).length).toBeGreaterThan(0);
  });

  test('a session record that is gone closes the incident', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga();
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await scene.store.redis.del(scene.store.keys.session(session.session_id));
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed', outcome: 'session_gone' });
  });

  test('a failure message that is gone is unknown, and the incident closes', async () => {
    const scene = await openSagaScene();
    const saga = scene.saga({ queue: { pump: async () => 0 } });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session, { notRevivedBecause: 'no credit left' });
    await settle(saga, incident.incident_id);
    await releaseRun(scene, session);
    const waiting: Chat = { deliver: async () => 'queued', showProgress: async () => undefined };
    await settle(scene.saga({ chat: waiting }), incident.incident_id);
    await scene.store.redis.del(scene.store.keys.outbox(session.session_id));
    await settle(saga, incident.incident_id);
    expect(await incidentNow(scene, incident)).toMatchObject({
      step: 'closed',
      last_action: 'failure_message_unknown',
    });
  });

  test('many wakes at once lead to few checks', async () => {
    const scene = await openSagaScene();
    let looks = 0;
    const records = new Proxy(scene.store.records, {
      get(target, name, receiver) {
        if (name === 'incident') looks += 1;
        const value = Reflect.get(target, name, receiver);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const saga = scene.saga({ store: { ...scene.store, records } });
    const session = await activeSession(scene);
    const incident = await openIncident(scene, session);
    await settle(saga, incident.incident_id);
    looks = 0;
    await Promise.all(Array.from({ length: 50 }, () => saga.advance(incident.incident_id)));
    expect(looks).toBeLessThanOrEqual(2);
  });
});

describeWithRedis('two watchdogs that both consider themselves acting', () => {
  for (const [name, because] of [
    ['revive once', null],
    ['report once', 'no credit left'],
  ] as const) {
    test(name, async () => {
      const scene = await openSagaScene();
      // Neither is fenced: the commits alone decide. Each has its own memory of the event file.
      const both = [1, 2].map(() =>
        scene.saga({
          folders: { guard: () => [], actsFor: () => true },
          events: new CriticalEventLog(scene.events.file, (text) => text),
        }),
      );
      const session = await activeSession(scene);
      const incident = await openIncident(scene, session, { notRevivedBecause: because });
      const go = () => Promise.all(both.map((saga) => settle(saga, incident.incident_id)));
      await go();
      await releaseRun(scene, session);
      await go();
      if (because === null) {
        const revival = await startRun(scene, await revivalOf(scene, session));
        await scene.store.transitions.complete(revival.session_id, runIdOf(revival), 'done');
      }
      await go();
      const steps = stepsOf(await scene.events.readRecentEvents());
      const told = because === null ? 'revived' : 'told';
      expect([...steps].sort()).toEqual(['closed', 'detected', 'reported', told].sort());
      expect(await incidentNow(scene, incident)).toMatchObject({ step: 'closed' });
      expect(occurrencesIn(issueText(scene), session.session_id)).toBe(1);
      expect(issueText(scene, 2)).toBe('');
      expect(await scene.store.records.waitingIn(LANE)).toEqual([]);
      expect(scene.said.filter((text) => text.includes('Sorry')).length).toBe(because === null ? 0 : 1);
    });
  }
});

async function advanceMortal(scene: SagaScene, mortal: Mortal, incidentId: string): Promise<void> {
  const saga = scene.saga(mortal.context(scene));
  await saga.advance(incidentId).catch(() => null);
  await saga.settle();
  if (!mortal.dead) await saga.advance(incidentId).catch(() => null);
  await saga.settle();
}

type Story = (scene: SagaScene, go: (incidentId: string) => Promise<void>) => Promise<Incident>;

const revived: Story = async (scene, go) => {
  const session = await activeSession(scene);
  const incident = await openIncident(scene, session);
  await go(incident.incident_id);
  await releaseRun(scene, session);
  await go(incident.incident_id);
  const revival = await startRun(scene, await revivalOf(scene, session));
  await scene.store.transitions.complete(revival.session_id, runIdOf(revival), 'done');
  await go(incident.incident_id);
  return incident;
};

const told: Story = async (scene, go) => {
  const session = await activeSession(scene);
  const incident = await openIncident(scene, session, { notRevivedBecause: 'no credit left' });
  await go(incident.incident_id);
  await releaseRun(scene, session);
  await go(incident.incident_id);
  return incident;
};

const cancelled: Story = async (scene, go) => {
  const session = await activeSession(scene);
  const incident = await openIncident(scene, session);
  await go(incident.incident_id);
  await scene.store.transitions.cancel(session.session_id, 'Cancelled at your request.');
  await releaseRun(scene, session);
  await go(incident.incident_id);
  return incident;
};

const cancelledBesideReport: Story = async (scene, go) => {
  const session = await activeSession(scene);
  const incident = await openIncident(scene, session, { reportOnly: true });
  await go(incident.incident_id);
  await cancelByItsBridge(scene, session);
  await go(incident.incident_id);
  return incident;
};

const putBackBesideReport: Story = async (scene, go) => {
  const session = await activeSession(scene);
  const incident = await openIncident(scene, session, { reportOnly: true });
  await go(incident.incident_id);
  const proof = { run_id: runIdOf(session), proven_at: scene.clock.now(), by: 'scan' } as const;
  const waiting = must(await scene.store.transitions.interrupt(session.session_id, runIdOf(session), proof));
  await startRun(scene, waiting);
  await go(incident.incident_id);
  return incident;
};

describeWithRedis('a crash at any effect, resumed by another process,', () => {
  const stories: [string, Story, string[], string][] = [
    ['revived', revived, ['detected', 'reported', 'revived', 'closed'], 'recovered'],
    ['told', told, ['detected', 'reported', 'told', 'closed'], 'told'],
    ['cancelled', cancelled, ['detected', 'reported', 'closed'], 'cancelled_by_person'],
    ['put back, only reported', putBackBesideReport, ['detected', 'reported', 'closed'], 'put_back'],
    ['cancelled, only reported', cancelledBesideReport, ['detected', 'reported', 'closed'], 'cancelled_by_person'],
  ];
  for (const [name, story, steps, outcome] of stories) {
    for (const when of ['after', 'before'] as const) {
      test(`does nothing twice and forgets nothing: ${name}, ${when} each effect`, async () => {
        for (let diesAt = 1; ; diesAt += 1) {
          const scene = await openSagaScene();
          const mortal = new Mortal(diesAt, when);
          const incident = await story(scene, async (id) => {
            if (!mortal.dead) await advanceMortal(scene, mortal, id);
            if (mortal.dead) {
              // Another object, as after a restart; the claim of a send that nobody answered for runs out.
              await scene.clock.advance(11_000);
              const resumed = scene.saga();
              await settle(resumed, id);
              await settle(resumed, id);
            }
          });
          await checkOutcome(scene, incident, steps, outcome, `died ${when} effect ${diesAt}`);
          if (!mortal.dead) break;
        }
      }, 60_000);
    }
  }
});

const ISSUE_SAYS: Readonly<Record<string, RegExp>> = {
  recovered: /that attempt answered it/,
  told: /The chat was notified/,
  put_back: /the message is back in its queue/,
  cancelled_by_person: /A person cancelled/,
};

async function checkOutcome(scene: SagaScene, incident: Incident, steps: string[], outcome: string, where: string) {
  const lines = eventLines(scene);
  const occurrences = occurrencesIn(issueText(scene), incident.session_id);
  const found = {
    where,
    steps: stepsOf(lines).sort(),
    detected: actionsOf(lines).filter((action) => action === 'detected').length,
    final: lines.filter(({ final }) => final).length,
    incident: await incidentNow(scene, incident),
    issues: issueText(scene, 2) === '' ? 1 : 2,
    occurrences,
    sorry: scene.said.filter((text) => text.includes('Sorry')).length > 1,
    waiting: await scene.store.records.waitingIn(LANE),
    open: (await scene.store.records.openIncidents()).length,
  };
  expect(found).toMatchObject({
    where,
    steps: [...steps].sort(),
    detected: 1,
    final: 1,
    incident: { step: 'closed', outcome },
    issues: 1,
    occurrences: 1,
    sorry: false,
    waiting: [],
    open: 0,
  });
  expect(issueText(scene)).toMatch(must(ISSUE_SAYS[outcome]));
}
