/** What ended over 30 days ago is forgotten, and nothing else. */

import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Acting } from '../../../monitoring/actors/actedFolders.js';
import { archiveEvents } from '../../../monitoring/events/archive.js';
import { EventConsumers } from '../../../monitoring/events/consumers.js';
import { emptyRecord, type IssueRecord, withOccurrence } from '../../../monitoring/incident/issue/issueRecords.js';
import { ExpiryRound } from '../../../monitoring/rounds/expiryRound.js';
import { FencedError } from '../../../src/errors.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { timeOfUlid, ulid } from '../../../src/ids.js';
import { StoredIssueRecords } from '../../../src/jobs/issueRecords.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { journalPath } from '../../../src/journal/path.js';
import { DAY, HOUR } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { describeWithRedis } from '../../harness/redis.js';
import { eventAt } from '../events/eventLines.js';
import {
  acceptMessage,
  activeSession,
  incidentNow,
  must,
  openIncident,
  openSagaScene,
  releaseRun,
  runIdOf,
  type SagaScene,
  sessionNow,
} from '../incident/saga/sagaScene.js';

// covers: src/journal/removal.ts

const MOST_OF_A_ROUND = 200;

async function openScene() {
  const scene = await openSagaScene();
  const { store, clock, logger, folder, lease } = scene;
  const issues = new StoredIssueRecords<IssueRecord>(store.redis, store.keys);
  const guard = () => store.leases.guard(lease);
  const folders: Acting = { guard, actsFor: () => true };
  const round = () => new ExpiryRound({ store, issues, clock, logger, logsFolder: folder, keptMs: 30 * DAY, folders });
  return { ...scene, issues, guard, round };
}

/** A session that was answered and delivered. */
async function answered({ store }: SagaScene, session: AgentSession): Promise<void> {
  await store.transitions.complete(session.session_id, runIdOf(session), 'done');
  const { entry } = must(await store.outbox.claim(session.session_id, 1_000, readProcessIdentity('here')));
  await store.outbox.save(entry, { state: 'sent' });
}

function writeJournal(folder: string, sessionId: string, touchedAt: number): string {
  const path = journalPath(folder, sessionId);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '{}\n');
  for (const each of [path, dirname(path)]) utimesSync(each, touchedAt / 1_000, touchedAt / 1_000);
  return path;
}

async function keysOf({ store }: SagaScene): Promise<string[]> {
  const found = await store.redis.keys(store.keys.session('*').replace(/session:\*$/, '*'));
  return found.map((key) => key.slice(key.indexOf('{wk}:') + 5)).sort();
}

describeWithRedis('a session', () => {
  // rule: old-records-expire
  test('is deleted with everything of it 30 days after it ended', async () => {
    const scene = await openScene();
    const { store, clock, folder, round } = scene;
    const session = await activeSession(scene);
    const journal = writeJournal(folder, session.session_id, clock.now());
    for (const name of ['worklog.jsonl', 'state.json', 'session.md', 'scan.json'])
      writeFileSync(join(dirname(journal), name), '{}\n');
    await answered(scene, session);
    await clock.advance(30 * DAY);
    expect(await round().runOnce()).toEqual({ sessions: 0, journals: 0, incidents: 0, issueRecords: 0 });
    expect(existsSync(journal)).toBe(true);
    await clock.advance(1);
    expect(await round().runOnce()).toMatchObject({ sessions: 1, journals: 1 });
    expect(existsSync(dirname(journal))).toBe(false);
    expect((await keysOf(scene)).filter((key) => !/^(?:lease:|lanes:|lane-free:|hosts$)/.test(key))).toEqual([]);
    expect(await store.records.sessionIds('ended')).toEqual([]);
  });

  // rule: old-records-expire
  test('of which only a worklog is left loses that, too', async () => {
    const scene = await openScene();
    const { clock, folder, round } = scene;
    const session = await activeSession(scene);
    const at = clock.now();
    const worklogs = [session.session_id, 'tg_gone_1_1'].map((id) => {
      const worklog = join(dirname(writeJournal(folder, id, at)), 'worklog.jsonl');
      renameSync(journalPath(folder, id), worklog);
      utimesSync(dirname(worklog), at / 1_000, at / 1_000);
      return worklog;
    });
    await answered(scene, session);
    await clock.advance(31 * DAY);
    expect((await round().runOnce()).journals).toBe(2);
    for (const worklog of worklogs) expect(existsSync(dirname(worklog))).toBe(false);
  });

  test('whose record was deleted by hand leaves the index with its journal', async () => {
    const scene = await openScene();
    const { store, clock, folder, round } = scene;
    const session = await activeSession(scene);
    await answered(scene, session);
    await clock.advance(31 * DAY);
    const journal = writeJournal(folder, session.session_id, clock.now());
    await store.redis.del(store.keys.session(session.session_id));
    expect(await round().runOnce()).toMatchObject({ sessions: 1, journals: 1 });
    expect(existsSync(journal)).toBe(false);
    expect(await store.records.sessionIds('ended')).toEqual([]);
  });

  // rule: old-records-expire
  test('stays while it runs or waits, its message is undelivered, its incident open, or its revival unfinished', async () => {
    const scene = await openScene();
    const { store, clock, folder, guard, round } = scene;
    const undelivered = await activeSession(scene, '1');
    await store.transitions.complete(undelivered.session_id, runIdOf(undelivered), 'done');
    const failed = await activeSession(scene, '2');
    const waiting = await acceptMessage(scene, '3');
    const incident = await openIncident(scene, failed);
    await releaseRun(scene, failed);
    await store.incidents.revive(await sessionNow(scene, failed), incident, { endReason: 'crash', guard: guard() });
    await clock.advance(40 * DAY);
    for (const { session_id } of [undelivered, failed, waiting]) writeJournal(folder, session_id, 0);
    const kept = await keysOf(scene);
    expect(await round().runOnce()).toEqual({ sessions: 0, journals: 0, incidents: 0, issueRecords: 0 });
    expect(await keysOf(scene)).toEqual(kept);
    expect(kept).toEqual(
      expect.arrayContaining([expect.stringMatching(/^outbox:/), expect.stringMatching(/^incident:/)]),
    );
    // Nor does Redis forget any of it by itself, which knows nothing of what is still needed.
    for (const key of kept.filter((one) => /^(?:session|message|outbox|incident):/.test(one))) {
      const whole = store.keys.session('x').replace(/session:x$/, key);
      expect([key, await store.redis.pttl(whole)]).toEqual([key, -1]);
    }

    const current = await sessionNow(scene, failed);
    await store.incidents.close(current, await incidentNow(scene, incident), 'recovered', guard());
    expect((await round().runOnce()).sessions).toBe(0);
    await store.transitions.cancel(`${failed.session_id}_r1`, 'cancelled');
    expect(await round().runOnce()).toMatchObject({ sessions: 1, journals: 1, incidents: 0 });
    // The message is still known: its revival ended only now.
    expect(await store.records.sessionOfMessage('popoto', '-100', '2')).toBe(`${failed.session_id}_r1`);
    await clock.advance(31 * DAY);
    expect(await round().runOnce()).toMatchObject({ incidents: 1 });
    expect(await store.records.closedIncidents(5)).toEqual([]);
  });

  test('whose revival still waits keeps its closed incident, which the prompt needs', async () => {
    const scene = await openScene();
    const { store, clock, guard, round } = scene;
    const failed = await activeSession(scene);
    const incident = await openIncident(scene, failed);
    await releaseRun(scene, failed);
    await store.incidents.revive(await sessionNow(scene, failed), incident, { endReason: 'crash', guard: guard() });
    await store.incidents.close(
      await sessionNow(scene, failed),
      await incidentNow(scene, incident),
      'recovered',
      guard(),
    );
    await clock.advance(40 * DAY);
    expect(await round().runOnce()).toMatchObject({ sessions: 0, incidents: 0 });
    expect((await incidentNow(scene, incident)).incident_id).toBe(incident.incident_id);
    await store.transitions.cancel(`${failed.session_id}_r1`, 'cancelled');
    expect(await round().runOnce()).toMatchObject({ sessions: 1, incidents: 1 });
  });

  test('that is deleted removes no event: late readers still get them whole', async () => {
    const scene = await openScene();
    const { clock, folder, round, events } = scene;
    const session = await activeSession(scene);
    await events.logCriticalEvent(eventAt('A', clock.now(), { session_id: session.session_id }));
    await events.logCriticalEvent(eventAt('B', clock.now(), { session_id: session.session_id }));
    await new EventConsumers(events.file, clock).acknowledge('late', { id: 'A.detected', first: null, end: 0 });
    await answered(scene, session);
    await clock.advance(40 * DAY);
    const before = readFileSync(events.file, 'utf8');
    expect(await round().runOnce()).toMatchObject({ sessions: 1 });
    expect(readFileSync(events.file, 'utf8')).toBe(before);
    expect(existsSync(join(folder, 'consumers', 'late.json'))).toBe(true);
    const archived = await archiveEvents(events.file, { clock, before: clock.now() - 30 * DAY });
    expect(archived).toMatchObject({ events: 1, unacknowledged: 1 });
    expect((await events.readRecentEvents(0)).map(({ id }) => id)).toEqual(['A.detected', 'B.detected']);
  });

  test('that has to stay blocks none behind it, and a round is bounded', async () => {
    const scene = await openScene();
    const { store, clock, round } = scene;
    // Of an unreadable record nothing is known, so it stays.
    for (let number = 0; number < MOST_OF_A_ROUND; number += 1) {
      await store.redis.zadd(store.keys.status('ended'), number, `broken-${number}`);
      await store.redis.hset(store.keys.session(`broken-${number}`), 'status', 'nonsense');
    }
    await answered(scene, await activeSession(scene));
    await clock.advance(31 * DAY);
    const rounds = round();
    expect((await rounds.runOnce()).sessions).toBe(0);
    expect((await rounds.runOnce()).sessions).toBe(1);
  });
});

describeWithRedis('a journal', () => {
  // rule: old-records-expire
  test('of an unknown session is deleted when untouched for 30 days; links are not followed', async () => {
    const scene = await openScene();
    const { clock, folder, round } = scene;
    const old = writeJournal(folder, 'tg_gone_1_1', clock.now() - 31 * DAY);
    const young = writeJournal(folder, 'tg_gone_1_2', clock.now() - 29 * DAY);
    const touchedInside = writeJournal(folder, 'tg_gone_1_3', clock.now() - 31 * DAY);
    utimesSync(touchedInside, clock.now() / 1_000, clock.now() / 1_000);
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'precious'), 'kept');
    symlinkSync(outside, join(folder, 'sessions', 'tg_link_1_1'));
    symlinkSync(outside, join(dirname(old), 'inner'));
    for (const name of ['.hidden', 'not a session id']) mkdirSync(join(folder, 'sessions', name));
    writeFileSync(join(folder, 'sessions', 'tg_file_1_1'), 'a file');
    utimesSync(dirname(old), 1, 1);
    // The link inside was made just now: it counts as a touch, itself, not what it leads to.
    expect((await round().runOnce()).journals).toBe(0);
    await clock.advance(2 * DAY + 40 * 365 * DAY);
    expect((await round().runOnce()).journals).toBe(3);
    for (const gone of [old, young, touchedInside]) expect(existsSync(dirname(gone))).toBe(false);
    expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('kept');
    for (const name of ['tg_link_1_1', '.hidden', 'not a session id', 'tg_file_1_1']) {
      expect(existsSync(join(folder, 'sessions', name))).toBe(true);
    }
  });

  test('stays if logs/sessions is itself a link', async () => {
    const scene = await openScene();
    const { clock, folder, round } = scene;
    const elsewhere = join(folder, 'elsewhere');
    const journal = writeJournal(elsewhere, 'tg_gone_1_1', clock.now() - 31 * DAY);
    symlinkSync(join(elsewhere, 'sessions'), join(folder, 'sessions'));
    expect((await round().runOnce()).journals).toBe(0);
    expect(existsSync(journal)).toBe(true);
  });
});

describeWithRedis('an issue record', () => {
  test('keeps its issue and loses the calls of old occurrences; one without an issue is deleted', async () => {
    const scene = await openScene();
    const { clock, issues, round } = scene;
    const call = { at: 1, tool: 'bash', outcome: 'ok', duration_ms: 1, input: 'secret plans', output: '' } as const;
    const occurrence = (id: string, at: number) =>
      ({
        incident_id: id,
        session_id: 's',
        project_key: 'popoto',
        rule: 'silence',
        at,
        duration_ms: 1,
        attempt: 1,
        finding: 'silent',
        done: 'told',
        needs: { who: 'person', what: 'a look' },
        host: null,
        journal: 'logs/sessions/s/tool_use.jsonl',
        excerpt: 'words',
        calls: [call],
      }) as const;
    const old = withOccurrence(emptyRecord('old', 'popoto', 'silence'), occurrence('I1', clock.now()), true);
    await issues.put('old', { ...old, issue: { number: 7, url: 'https://example/7' } }, 0);
    const capped = {
      ...emptyRecord('capped', 'popoto', 'crash'),
      elsewhere: [{ incident_id: ulid(clock), fingerprint: 'old' }],
    };
    await issues.put('capped', capped, 0);
    await clock.advance(29 * DAY);
    await issues.put(
      'old',
      withOccurrence({ ...old, issue: { number: 7, url: 'u' } }, occurrence('I2', clock.now()), false),
      1,
    );
    expect((await round().runOnce()).issueRecords).toBe(0);
    await clock.advance(2 * DAY);
    expect((await round().runOnce()).issueRecords).toBe(2);
    expect(await issues.get('capped')).toBeNull();
    const kept = must(await issues.get('old'));
    expect(kept.issue?.number).toBe(7);
    expect(kept.occurrences.map(({ calls, excerpt }) => [calls.length, excerpt])).toEqual([
      [0, null],
      [1, 'words'],
    ]);
    expect((await round().runOnce()).issueRecords).toBe(0);
  });

  test('the instant of a ULID is read', () => {
    const clock = new ManualClock();
    expect(timeOfUlid(ulid(clock))).toBe(clock.now());
    expect(timeOfUlid('I1')).toBeNull();
  });
});

describeWithRedis('a round', () => {
  test('runs at most once an hour, and never in a watchdog that was replaced', async () => {
    const scene = await openScene();
    const { clock, logged, round, store, guard, logger, folder, issues } = scene;
    const rounds = round();
    const end = async (messageId: string) => {
      await answered(scene, await activeSession(scene, messageId));
      await clock.advance(31 * DAY);
    };
    await end('1');
    await rounds.runIfDue();
    expect(await store.records.sessionIds('ended')).toEqual([]);
    expect(logged.join('')).toContain('1 session, 0 journals');
    const ended = scene.clock.now() - 31 * DAY;
    await store.redis.zadd(store.keys.status('ended'), ended, 'gone');
    await rounds.runIfDue();
    expect(await store.records.sessionIds('ended')).toEqual(['gone']);
    await clock.advance(HOUR);
    const replaced = () => {
      throw new FencedError('another watchdog acts');
    };
    await new ExpiryRound({
      store,
      issues,
      clock,
      logger,
      logsFolder: folder,
      keptMs: 30 * DAY,
      folders: { guard: replaced, actsFor: () => true },
    }).runIfDue();
    expect(await store.records.sessionIds('ended')).toEqual(['gone']);
    expect(guard()).not.toEqual([]);
    await rounds.runIfDue();
    expect(await store.records.sessionIds('ended')).toEqual([]);
  });
});
