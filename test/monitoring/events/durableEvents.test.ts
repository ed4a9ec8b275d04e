import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CriticalEventLog } from '../../../monitoring/criticalEvents.js';
import { DurableEvents } from '../../../monitoring/events/durableEvents.js';
import { ensureLogsFolderId } from '../../../src/files/logsFolder.js';
import type { CriticalEvent } from '../../../src/jobs/incidents.js';
import { openStore, type Store } from '../../../src/jobs/store.js';
import { createLogger } from '../../../src/log/logger.js';
import { createRedactor } from '../../../src/log/redact.js';
import { isoTime, SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis, openTestRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';

const SECRET = 'own-secret-1';

interface Scene {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly file: string;
  readonly logged: string[];
  /** Another process of the same folder. */
  events(changes?: Partial<Pick<Store, 'owedEvents'>>): DurableEvents;
  /** @returns the ids in the file */
  ids(): string[];
  takeNothing(): void;
  takeAgain(): void;
}

async function openScene(): Promise<Scene> {
  const { redis, prefix } = await openTestRedis();
  const clock = new ManualClock();
  const store = openStore(redis, clock, prefix);
  const logsFolder = testFolder();
  await ensureLogsFolderId(logsFolder, clock);
  const file = join(logsFolder, 'critical_events.jsonl');
  const logged: string[] = [];
  const redact = createRedactor([SECRET]);
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const logger = createLogger({ level: 'debug', redact, clock, destinations });
  return {
    clock,
    store,
    file,
    logged,
    events({ owedEvents: owed = store.owedEvents } = {}) {
      const log = new CriticalEventLog(file, redact);
      return new DurableEvents({ file: log, owed, logsFolder, redact, clock, logger });
    },
    ids: () => linesIn(file).map(({ id }) => id),
    takeNothing: () => void mkdirSync(file),
    takeAgain: () => rmdirSync(file),
  };
}

function linesIn(file: string): CriticalEvent[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as CriticalEvent);
}

function event(id: string): CriticalEvent {
  return {
    v: 1,
    id,
    incident_id: id.split('.')[0] ?? '',
    final: false,
    timestamp: isoTime(0),
    event: 'session_unhealthy',
    session_id: null,
    project_key: null,
    reason: null,
    rule: null,
    action_taken: null,
    github_issue: null,
    details: { words: SECRET },
  };
}

describeWithRedis('a critical event that its file cannot take', () => {
  // rule: an-event-is-kept-in-the-store
  test('is kept in the store without a secret, and written in order when the file works, by the first process', async () => {
    const scene = await openScene();
    const events = scene.events();
    scene.takeNothing();
    await events.logCriticalEvent(event('A.detected'));
    await events.logCriticalEvent(event('A.closed'));
    expect(await events.owed()).toBe(2);
    expect(events.trouble).toContain('critical_events.jsonl');
    expect(
      JSON.stringify(await scene.store.redis.lrange(scene.store.keys.owedEvents(await idOf(scene)), 0, -1)),
    ).not.toContain(SECRET);
    expect(scene.logged.filter((line) => line.includes('kept in Redis'))).toHaveLength(2);

    scene.takeAgain();
    // A process that knows nothing of what is owed.
    const successor = scene.events();
    await successor.logCriticalEvent(event('B.detected'));
    expect(scene.ids()).toEqual(['A.detected', 'A.closed', 'B.detected']);
    expect(await successor.owed()).toBe(0);
    expect(successor.trouble).toBeNull();
  });

  test('is written within ten seconds without further calls, once, however often its step was repeated', async () => {
    const scene = await openScene();
    const events = scene.events();
    scene.takeNothing();
    await events.start();
    afterThisTest(() => events.stop());
    await events.logCriticalEvent(event('A.detected'));
    await events.logCriticalEvent(event('A.detected'));
    scene.takeAgain();
    await scene.clock.advance(10 * SECOND);
    // Behind the turn that the timer began.
    await events.logCriticalEvent(event('B.detected'));
    expect(scene.ids()).toEqual(['A.detected', 'B.detected']);
    expect(scene.logged.join('')).toContain('2 of them late');
    expect(await events.owed()).toBe(0);
  });

  // rule: an-event-is-kept-in-the-store
  test('and that the store cannot take either is refused, with the error of the file', async () => {
    const scene = await openScene();
    const away = () => Promise.reject(new Error('Connection is closed.'));
    const owedEvents = Object.assign(Object.create(scene.store.owedEvents), { add: away, first: away });
    const events = scene.events({ owedEvents });
    scene.takeNothing();
    await expect(events.logCriticalEvent(event('A.detected'))).rejects.toMatchObject({ code: 'unreachable' });
    // A store that is away keeps nothing from a file that takes it.
    scene.takeAgain();
    await events.logCriticalEvent(event('A.detected'));
    expect(scene.ids()).toEqual(['A.detected']);
  });
});

async function idOf({ clock, file }: Scene): Promise<string> {
  return ensureLogsFolderId(join(file, '..'), clock);
}
