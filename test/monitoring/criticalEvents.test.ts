import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { CriticalEventLog, LONGEST_EXCERPT } from '../../monitoring/criticalEvents.js';
import { parseCursor } from '../../monitoring/events/cursor.js';
import { EventReader, type ReadEvent } from '../../monitoring/events/reader.js';
import { packageRoot } from '../../src/host/program.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { createRedactor } from '../../src/log/redact.js';
import { type Clock, systemClock } from '../../src/time.js';
import { runOnSmallDisk } from '../harness/smallDisk.js';
import { criticalEventJsonSchema, criticalEventSchema } from './events/criticalEventSchema.js';

const redact = createRedactor(['own-secret-1']);
let folder: string;
let file: string;
let log: CriticalEventLog;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchkeeper-events-'));
  file = join(folder, 'logs', 'critical_events.jsonl');
  log = new CriticalEventLog(file, redact);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function event(id: string, more: Partial<CriticalEvent> = {}): CriticalEvent {
  return {
    v: 1,
    id,
    incident_id: id.split('.')[0] ?? id,
    final: false,
    timestamp: '2026-02-05T10:00:00.000Z',
    event: 'session_unhealthy',
    session_id: 'tg_popoto_-5294327191_4469',
    project_key: 'popoto',
    reason: 'silent_for_15_minutes',
    rule: 'silence',
    action_taken: 'detected',
    github_issue: null,
    details: { tool_count: 40, attempt: 1 },
    ...more,
  };
}

function lines(): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

async function ids(since?: number): Promise<string[]> {
  return (await log.readRecentEvents(since)).map(({ id }) => id);
}

// rule: nothing-is-written-through-a-link
test('a file that has another name takes no event, and says so', async () => {
  await log.logCriticalEvent(event('one'));
  linkSync(file, join(folder, 'victim'));
  await expect(log.logCriticalEvent(event('two'))).rejects.toThrow(/has 2 names \(hard links\)/);
  expect(lines()).toHaveLength(1);
});

describe('a path that is not a plain file', () => {
  test.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a directory', (path: string) => mkdirSync(path)],
  ])('such as %s is neither written nor read, and nothing waits for it', async (kind, make) => {
    mkdirSync(dirname(file), { recursive: true });
    make(file);
    await expect(log.logCriticalEvent(event('A.detected'))).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(`it is ${kind}, not a plain file`),
    });
    await expect(log.readRecentEvents()).rejects.toThrow(`cannot be read (it is ${kind}, not a plain file)`);
  });
});

describe('a line', () => {
  // rule: an-event-has-the-plain-fields
  test('contains all eight plain fields, null if there is no value', async () => {
    await log.logCriticalEvent(
      event('A.detected', {
        event: 'watchdog_gap',
        session_id: null,
        project_key: null,
        reason: null,
        rule: null,
        action_taken: null,
        details: null,
      }),
    );
    expect(JSON.parse(lines()[0] ?? '')).toEqual({
      v: 1,
      id: 'A.detected',
      incident_id: 'A',
      final: false,
      timestamp: '2026-02-05T10:00:00.000Z',
      event: 'watchdog_gap',
      session_id: null,
      project_key: null,
      reason: null,
      rule: null,
      action_taken: null,
      github_issue: null,
      details: null,
    });
  });

  test('is redacted, including its details; an excerpt is redacted before it is cut', async () => {
    const excerpt = `${'x'.repeat(LONGEST_EXCERPT - 5)}own-secret-1 ${'y'.repeat(100)}`;
    await log.logCriticalEvent(
      event('A.detected', { untrusted_excerpt: excerpt, details: { findings: ['own-secret-1'] } }),
    );
    await log.logCriticalEvent(event('B.detected', { untrusted_excerpt: `${'x'.repeat(LONGEST_EXCERPT - 1)}😀😀` }));
    expect(readFileSync(file, 'utf8')).not.toMatch(/own-s/);
    const [first, second] = await log.readRecentEvents();
    expect(first?.untrusted_excerpt).toBe(`${'x'.repeat(LONGEST_EXCERPT - 5)}[reda`);
    expect(second?.untrusted_excerpt).toBe('x'.repeat(LONGEST_EXCERPT - 1));
  });

  // rule: a-torn-line-is-removed
  test('that a full disk cut off leaves nothing behind once there is space: every line of the file is JSON', async () => {
    mkdirSync(dirname(file), { recursive: true });
    const compiled = (path: string) => pathToFileURL(join(packageRoot(), 'dist', path));
    const said = runOnSmallDisk(
      dirname(file),
      `import { CriticalEventLog } from '${compiled('monitoring/criticalEvents.js')}';
       const log = new CriticalEventLog('critical_events.jsonl', (text) => text);
       let isFull = false;
       for (let number = 1; number < 20; number += 1) {
         await log.logCriticalEvent({ ...${JSON.stringify(event('A'))}, id: 'A' + number }).then(
           () => console.log('A' + number),
           () => { if (isFull) makeRoom(); isFull = true; },
         );
       }`,
    );
    const written = said.trimEnd().split('\n');
    expect(written.length).toBeLessThan(19);
    expect(lines().map((line) => JSON.parse(line).id)).toEqual(written);
    expect(await ids()).toEqual(written);
  });

  test('says which agent ran and how the message began: redacted before it is cut, in one line', async () => {
    const asked = `use own-\n${'x'.repeat(100)} own-secret-1 please`;
    const agent = { name: 'claude', version: '2.1.150' };
    await log.logCriticalEvent(event('A.detected', { asked, agent }));
    const [written] = lines().map((line) => JSON.parse(line));
    expect(written.agent).toEqual(agent);
    expect(written.asked).toMatch(/^use own- x{100} /);
    expect(written.asked.length).toBeLessThanOrEqual(120);
    // Cut first, the beginning of the secret would have remained.
    expect(written.asked).not.toContain('own-s');
    expect(await log.readRecentEvents()).toMatchObject([{ asked: written.asked, agent }]);
    for (const line of lines()) expect(criticalEventSchema.safeParse(JSON.parse(line)).error).toBeUndefined();
  });

  test('matches the shipped JSON Schema, which is generated from the schema in the code', async () => {
    const shipped = JSON.parse(readFileSync(join(packageRoot(), 'monitoring', 'criticalEvent.schema.json'), 'utf8'));
    expect(shipped).toEqual(JSON.parse(JSON.stringify(criticalEventJsonSchema())));
    await log.logCriticalEvent(event('A.detected', { untrusted_excerpt: 'x'.repeat(9_000) }));
    await log.logCriticalEvent(
      event('A.closed', { final: true, event: 'session_recovered', rule: null, details: null }),
    );
    const byOthers = z.fromJSONSchema(shipped);
    for (const line of lines()) {
      expect(byOthers.safeParse(JSON.parse(line)).error).toBeUndefined();
      expect(criticalEventSchema.safeParse(JSON.parse(line)).error).toBeUndefined();
    }
    const { reason: _, ...without } = JSON.parse(lines()[0] ?? '');
    expect(byOthers.safeParse(without).success).toBe(false);
    expect(byOthers.safeParse({ ...without, reason: null, rule: 'boredom' }).success).toBe(false);
    expect(byOthers.safeParse({ ...without, reason: null, added_later: 1 }).success).toBe(true);
  });
});

describe('writing', () => {
  test('has synced file and folder when it resolves, the file after the write', async () => {
    const probe = await open(join(folder, 'probe'), 'w');
    const handles = Object.getPrototypeOf(probe) as { sync: () => Promise<void> };
    await probe.close();
    const { sync } = handles;
    const synced: { lines: number; isFolder: boolean }[] = [];
    handles.sync = async function (this: FileHandle) {
      synced.push({
        lines: readFileSync(file, 'utf8').split('\n').length - 1,
        isFolder: (await this.stat()).isDirectory(),
      });
      return sync.call(this);
    };
    try {
      await log.logCriticalEvent(event('A.detected'));
      expect(synced).toEqual([
        { lines: 1, isFolder: false },
        { lines: 1, isFolder: true },
        { lines: 1, isFolder: true },
      ]);
      await log.logCriticalEvent(event('A.reported'));
      expect(synced.slice(3)).toEqual([{ lines: 2, isFolder: false }]);
    } finally {
      Object.assign(handles, { sync });
    }
  });

  test('is idempotent by id, also across processes', async () => {
    await log.logCriticalEvent(event('A.detected'));
    await log.logCriticalEvent(event('A.detected'));
    const successor = new CriticalEventLog(file, redact);
    await successor.logCriticalEvent(event('A.detected'));
    expect(lines()).toHaveLength(1);
    await successor.logCriticalEvent(event('A.revived'));
    await log.logCriticalEvent(event('A.revived'));
    expect(lines()).toHaveLength(2);
  });

  test('terminates a line that a crash cut off', async () => {
    await log.logCriticalEvent(event('A.detected'));
    appendFileSync(file, JSON.stringify(event('A.revived')).slice(0, 60));
    const successor = new CriticalEventLog(file, redact);
    await successor.logCriticalEvent(event('A.revived'));
    expect(lines()).toHaveLength(3);
    expect(await ids()).toEqual(['A.detected', 'A.revived']);
  });

  test('counts a whole line that has only lost its line end', async () => {
    await log.logCriticalEvent(event('A.detected'));
    truncateSync(file, readFileSync(file).length - 1);
    const successor = new CriticalEventLog(file, redact);
    await successor.logCriticalEvent(event('A.detected'));
    await successor.logCriticalEvent(event('A.revived'));
    expect(lines().map((line) => JSON.parse(line).id)).toEqual(['A.detected', 'A.revived']);
  });

  test('keeps lines of many writers whole', async () => {
    const writers = [log, new CriticalEventLog(file, redact), new CriticalEventLog(file, redact)];
    await Promise.all(
      writers.flatMap((writer, number) =>
        Array.from({ length: 40 }, (_, index) => writer.logCriticalEvent(event(`${number}-${index}.detected`))),
      ),
    );
    expect(new Set(lines().map((line) => JSON.parse(line).id)).size).toBe(120);
  });

  test('fails with the path and what to do, if it is impossible', async () => {
    writeFileSync(join(folder, 'logs'), '');
    await expect(log.logCriticalEvent(event('A.detected'))).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(
        /A\.detected could not be written to .*critical_events\.jsonl \(.*\): check space/,
      ),
    });
    rmSync(join(folder, 'logs'));
    await log.logCriticalEvent(event('A.detected'));
    expect(lines()).toHaveLength(1);
  });

  // rule: an-event-survives-a-kill
  test('survives SIGKILL as soon as it has resolved', async () => {
    const module = (path: string) => JSON.stringify(pathToFileURL(join(packageRoot(), 'dist', path)).href);
    const script = `
      const { CriticalEventLog } = await import(${module('monitoring/criticalEvents.js')});
      await new CriticalEventLog(${JSON.stringify(file)}, (text) => text).logCriticalEvent(${JSON.stringify(event('A.detected'))});
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    expect(await ids()).toEqual(['A.detected']);
  });
});

describe('reading', () => {
  test('treats a field of the wrong type as absent, and continues', async () => {
    const fields = ['session_id', 'project_key', 'reason', 'rule', 'action_taken', 'github_issue', 'details', 'final'];
    const strange = fields.flatMap((field) =>
      [1, true, ['a'], 'x', { a: 1 }].map((value, index) => ({ ...event(`${field}${index}`), [field]: value })),
    );
    mkdirSync(dirname(file), { recursive: true });
    const lines = [
      ...strange,
      { ...event('excerpt'), untrusted_excerpt: 5 },
      { ...event('time'), timestamp: 5 },
      event('B'),
    ];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const kind = z.string().nullable();
    const shape = z.object({
      session_id: kind,
      project_key: kind,
      reason: kind,
      rule: kind,
      action_taken: kind,
      github_issue: kind,
      details: z.record(z.string(), z.unknown()).nullable(),
      final: z.boolean(),
      untrusted_excerpt: z.string().exactOptional(),
    });
    const read = await log.readRecentEvents();
    expect(read).toHaveLength(lines.length - 1);
    for (const each of read) expect(shape.safeParse(each).success).toBe(true);
    expect(read.at(-1)).toEqual(event('B'));
  });

  test('yields nothing without a file', async () => {
    expect(await ids()).toEqual([]);
  });

  test('skips garbage, binary, huge and torn lines, and repeated ids', async () => {
    await log.logCriticalEvent(event('A.detected'));
    appendFileSync(
      file,
      '\n\nnot json\n[1]\nnull\n{"id":1}\n{"id":"x","incident_id":"x","event":"y","timestamp":"never"}\n',
    );
    appendFileSync(file, Buffer.from([0xff, 0x00, 0xfe, 0x0a]));
    appendFileSync(file, `{"id":"${'x'.repeat(3_000_000)}"}\n`);
    appendFileSync(file, `${JSON.stringify(event('A.detected', { reason: 'replayed' }))}\n`);
    appendFileSync(file, `${JSON.stringify({ ...event('B.later'), event: 'named_later', extra: 1 })}\n`);
    appendFileSync(file, JSON.stringify(event('C.detected', { reason: 'a\u2028b' })).concat('\n{"v":1,"id":"D'));
    expect(await ids()).toEqual(['A.detected', 'B.later', 'C.detected']);
    expect((await log.readRecentEvents())[0]?.reason).toBe('silent_for_15_minutes');
    expect((await log.readRecentEvents())[1]).toMatchObject({ extra: 1 });
  });

  test('by time', async () => {
    await log.logCriticalEvent(event('A.detected'));
    await log.logCriticalEvent(event('B.detected', { timestamp: '2026-02-05T10:01:00.000Z' }));
    await log.logCriticalEvent(event('A.closed', { timestamp: '2026-02-05T10:02:00.000Z', final: true }));
    expect(await ids(Date.UTC(2026, 1, 5, 10, 1))).toEqual(['B.detected', 'A.closed']);
    expect(await ids(Date.UTC(2026, 1, 5, 10, 2))).toEqual(['A.closed']);
  });
});

describe('following', () => {
  /** Sleeps until the test wakes it. */
  function steppedClock() {
    let wake = () => {};
    const sleep: Clock['sleep'] = (_delayMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) resolve();
        wake = resolve;
        signal?.addEventListener('abort', () => resolve());
      });
    return { clock: { ...systemClock, sleep }, wake: () => wake() };
  }

  test('yields existing lines, then appended ones, even after the file is replaced, until it is stopped', async () => {
    const { clock, wake } = steppedClock();
    const stop = new AbortController();
    await log.logCriticalEvent(event('A.detected'));
    await log.logCriticalEvent(event('A.reported'));
    const events = new EventReader(file).follow(parseCursor('A.detected'), stop.signal, clock);
    const next = async () => idsOf((await events.next()).value);
    expect(await next()).toBe('A.reported');

    const third = next();
    await log.logCriticalEvent(event('A.revived'));
    await untilSettled(third, wake);
    expect(await third).toBe('A.revived');

    const fourth = next();
    renameSync(file, `${file}.old`);
    await log.logCriticalEvent(event('B.detected'));
    await untilSettled(fourth, wake);
    expect(await fourth).toBe('B.detected');

    const end = events.next();
    stop.abort();
    expect(await end).toEqual({ done: true, value: undefined });
  });

  test('waits for a file, and for the rest of a line that is being written', async () => {
    const { clock, wake } = steppedClock();
    const stop = new AbortController();
    const events = new EventReader(file).follow('live', stop.signal, clock);
    const first = events.next();
    await log.logCriticalEvent(event('A.detected'));
    await untilSettled(first, wake);
    const line = `${JSON.stringify(event('B.detected'))}\n`;
    appendFileSync(file, line.slice(0, 40));
    const second = events.next();
    wake();
    appendFileSync(file, line.slice(40));
    await untilSettled(second, wake);
    expect(idsOf((await second).value)).toBe('B.detected');
    stop.abort();
    expect(await events.next()).toMatchObject({ done: true });
  });
});

function idsOf(batch: readonly ReadEvent[] = []): string {
  return batch.map(({ event }) => event.id).join();
}

/** Wakes the follower until it has something: a look that came too early finds nothing and sleeps again. */
async function untilSettled(promise: Promise<unknown>, wake: () => void): Promise<void> {
  let settled = false;
  void promise.finally(() => {
    settled = true;
  });
  while (!settled) {
    wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
