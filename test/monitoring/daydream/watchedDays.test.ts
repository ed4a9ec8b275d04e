/** The daily review tells a quiet day from one that nobody watched. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DailyReview } from '../../../monitoring/daydream/daydream.js';
import { DayZone } from '../../../monitoring/daydream/dayZone.js';
import { readWatched, WatchRecord } from '../../../monitoring/daydream/watchTimes.js';
import { archiveEvents } from '../../../monitoring/events/archive.js';
import { createLogger } from '../../../src/log/logger.js';
import { DAY, HOUR, isoTime, MINUTE, SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { appendLines, eventAt } from '../events/eventLines.js';

const MORNING = Date.UTC(2026, 1, 5, 9);
const NONE = { session_id: null, project_key: null, rule: null } as const;

/** A logs folder, a clock, and a process that may watch. */
function scene({ startAt = MORNING, zone = new DayZone('UTC') } = {}) {
  const folder = testFolder();
  const livePath = join(folder, 'critical_events.jsonl');
  const reviewsFolder = join(folder, 'daydream');
  const clock = new ManualClock(startAt);
  const logged: string[] = [];
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const logger = createLogger({ level: 'info', redact: (text) => text, clock, destinations });
  const lease = { isActing: true };
  const review = new DailyReview(livePath, reviewsFolder, zone, clock);
  const process = () => new WatchRecord(reviewsFolder, clock, lease, logger);
  /** Minute by minute; between, the file is written. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += MINUTE) {
      await clock.advance(MINUTE);
      await clock.untilWaiting(1);
    }
  };
  /** As little as makes no hole: each note waits for the disk. */
  const watchFor = async (ms: number) => {
    const record = process();
    await record.runOnce();
    for (let passed = 0; passed < ms; passed += 4 * MINUTE) {
      await clock.advance(4 * MINUTE);
      await record.runOnce();
    }
  };
  return {
    folder,
    livePath,
    reviewsFolder,
    clock,
    logged,
    process,
    pass,
    watchFor,
    act: (whether: boolean) => {
      lease.isActing = whether;
    },
    run: (date: string | null = null) => review.write(date),
    pages: () =>
      existsSync(reviewsFolder)
        ? readdirSync(reviewsFolder)
            .filter((name) => name.endsWith('.md'))
            .sort()
        : [],
    page: (date: string) => readFileSync(join(reviewsFolder, `${date}.md`), 'utf8'),
    passed: (at: number) => appendLines(livePath, [eventAt(`E${at}`, at, { final: true })]),
  };
}

describe('a day before the first event', () => {
  test('has no page, however often it is requested, by default or by date', async () => {
    const { run, pages, passed } = scene();
    passed(MORNING - MINUTE);
    await run();
    await run();
    await run();
    expect(pages()).toEqual(['2026-02-05.md']);
    expect(await run('2026-02-04')).toMatchObject({
      reviews: [],
      notices: ['no page for 2026-02-04: no event from that day or before is kept'],
    });
    expect(pages()).toEqual(['2026-02-05.md']);
  });

  test('is found by the days of the zone, and in the archive, too', async () => {
    // 23:30 UTC is the next day in Berlin.
    const first = Date.UTC(2026, 1, 4, 23, 30);
    const { run, pages, passed, livePath, clock } = scene({ zone: new DayZone('Europe/Berlin') });
    passed(first);
    await run();
    await archiveEvents(livePath, { clock, before: clock.now() });
    await run();
    expect(pages()).toEqual(['2026-02-05.md']);
    await run('2026-02-05');
    expect(pages()).toEqual(['2026-02-05.md']);
  });
});

describe('a process that watches', () => {
  test('records the moment at which it stops', async () => {
    const { process, clock, reviewsFolder } = scene();
    const record = process();
    await record.start();
    await clock.untilWaiting(1);
    await clock.advance(40 * SECOND);
    await record.stop();
    expect((await readWatched(reviewsFolder)).times).toEqual([{ from: MORNING, until: MORNING + 40 * SECOND }]);
  });
});

describe('a day without an event', () => {
  // rule: an-unwatched-day-is-not-quiet
  test('was quiet if a watchdog acted all day, and unwatched if none did', async () => {
    const { run, page, passed, watchFor, clock } = scene();
    passed(MORNING);
    await watchFor(15 * HOUR + DAY);
    await clock.advance(2 * DAY);
    await run();
    await run();
    expect(page('2026-02-06')).toContain('A quiet day: nothing went wrong.');
    expect(page('2026-02-07')).toBe(
      '# Saturday, 7 February 2026\n\nNothing was watched: the records show no watchdog on this day.\n\nWeek before · jobs in trouble: 1 · last: 5 Feb\n',
    );
    expect(page('2026-02-08')).toContain('Nothing was watched');
  });

  test('is unwatched if only a standby ran', async () => {
    const { run, page, passed, watchFor, act } = scene();
    passed(MORNING);
    act(false);
    await watchFor(2 * DAY);
    await run();
    await run();
    expect(page('2026-02-06')).toContain('Nothing was watched');
  });

  test('gives the watched times, in its zone, if only a part of it was watched', async () => {
    const { run, page, passed, watchFor, clock } = scene({ zone: new DayZone('Europe/Berlin') });
    passed(MORNING);
    await clock.advance(DAY);
    await watchFor(3 * HOUR);
    await clock.advance(HOUR);
    await watchFor(HOUR);
    await clock.advance(DAY);
    await run();
    const { reviews } = await run();
    expect(page('2026-02-06')).toContain('Watched only: 10:00–13:00, 14:00–15:00. Nothing went wrong then.');
    expect(reviews[0]?.facts.watch).toEqual({
      state: 'partly',
      times: [
        { from: '2026-02-06T09:00:00.000Z', until: '2026-02-06T12:00:00.000Z' },
        { from: '2026-02-06T13:00:00.000Z', until: '2026-02-06T14:00:00.000Z' },
      ],
    });
  });

  test('has no hole for a restart, a change to summer time or the end of an unfinished day', async () => {
    // On 29 March 2026 the clocks of Berlin go forward.
    const { run, page, passed, watchFor, clock } = scene({
      startAt: Date.UTC(2026, 2, 28, 22),
      zone: new DayZone('Europe/Berlin'),
    });
    passed(clock.now());
    await watchFor(12 * HOUR);
    await clock.advance(30 * SECOND);
    await watchFor(13 * HOUR);
    await run('2026-03-29');
    expect(page('2026-03-29')).toContain('A quiet day: nothing went wrong.');
    await run('2026-03-30');
    expect(page('2026-03-30')).toContain('A quiet day: nothing went wrong.');
  });

  test('counts many single checks made by hand', async () => {
    const { run, page, passed, process, clock } = scene();
    passed(MORNING);
    await clock.advance(DAY);
    for (let look = 0; look < 6; look += 1) {
      await process().runOnce();
      await clock.advance(HOUR);
    }
    await run('2026-02-06');
    expect(page('2026-02-06')).toContain('Watched only: 6 times between 09:00 and 14:00.');
  });

  test('reports a bridge that has been gone since another day', async () => {
    const { run, page, passed, livePath, watchFor } = scene();
    passed(MORNING);
    const details = { host: 'pier' };
    appendLines(livePath, [eventAt('gone', MORNING + 3 * HOUR, { ...NONE, event: 'bridge_gone', details })]);
    await watchFor(2 * DAY);
    await run();
    await run();
    expect(page('2026-02-06')).toMatch(
      /^Jobs in trouble: 0\n[^#]*## Other events\n\n### bridge gone\n\n- 5 Feb, 12:00 · not over yet · /m,
    );
    expect(page('2026-02-06')).not.toContain('quiet');
  });
});

describe('a day with events', () => {
  test('says which part of it was watched, and nothing if there is no record', async () => {
    const { run, page, passed, watchFor, clock, reviewsFolder } = scene();
    passed(MORNING + MINUTE);
    await watchFor(3 * HOUR);
    await clock.advance(DAY);
    await run();
    expect(page('2026-02-05')).toMatch(/^Watched only: 09:00–12:00\.$/m);
    rmSync(join(reviewsFolder, 'watched.json'));
    await run('2026-02-05');
    expect(page('2026-02-05')).not.toMatch(/[Ww]atched/);
  });
});

describe('the record of the watch', () => {
  test('logs once that it cannot be written, continues, and is restarted if it is damaged', async () => {
    const { folder, reviewsFolder, process, pass, clock, logged } = scene();
    writeFileSync(reviewsFolder, 'a file is in the way');
    const record = process();
    await record.start();
    await clock.untilWaiting(1);
    await pass(3 * MINUTE);
    expect(logged.filter((line) => line.includes('the reviews will not know'))).toHaveLength(1);
    rmSync(reviewsFolder);
    await pass(MINUTE);
    writeFileSync(join(folder, 'daydream/watched.json'), '{"watched":[{"fr');
    await pass(2 * MINUTE);
    await record.stop();
    expect((await readWatched(reviewsFolder)).times).toEqual([
      { from: MORNING + 5 * MINUTE, until: MORNING + 6 * MINUTE },
    ]);
  });

  test('that was damaged lets no review call a day unwatched until the record was restarted', async () => {
    const { run, page, passed, watchFor, clock, reviewsFolder } = scene();
    passed(MORNING);
    await watchFor(HOUR);
    await clock.advance(2 * DAY);
    await run('2026-02-05');
    writeFileSync(join(reviewsFolder, 'watched.json'), '{"watched":[{"fr');
    await run();
    await run();
    expect(page('2026-02-06')).toContain('A quiet day');
    await watchFor(HOUR);
    await clock.advance(2 * DAY);
    for (const day of ['2026-02-06', '2026-02-07', '2026-02-08']) await run(day);
    expect([page('2026-02-06'), page('2026-02-07')].join()).not.toMatch(/[Ww]atched/);
    expect(page('2026-02-08')).toContain('Nothing was watched');
  });

  test('is not overwritten if it cannot be read, and a review claims nothing then', async () => {
    const { run, page, passed, watchFor, process, clock, logged, reviewsFolder } = scene();
    passed(MORNING);
    await watchFor(DAY);
    const path = join(reviewsFolder, 'watched.json');
    const before = readFileSync(path, 'utf8');
    // Longer than any record: neither a test's user nor root is refused a plain file.
    truncateSync(path, 2 * 1024 * 1024);
    await process().runOnce();
    expect(logged.join('')).toContain('it is larger than 1048576 bytes');
    await clock.advance(2 * DAY);
    await run();
    expect((await run()).notices).toEqual([
      expect.stringContaining('the record of when a watchdog acted cannot be read'),
    ]);
    expect(page('2026-02-06')).toContain('A quiet day');
    truncateSync(path, before.length);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  test('stays small however often the watchdog was away', async () => {
    const { process, clock, reviewsFolder } = scene();
    const watched = Array.from({ length: 1_000 }, (_, hour) => {
      const instant = isoTime(MORNING - (1_000 - hour) * HOUR);
      return { from: instant, until: instant };
    });
    mkdirSync(reviewsFolder);
    writeFileSync(join(reviewsFolder, 'watched.json'), JSON.stringify({ v: 1, watched }));
    await process().runOnce();
    const { times: kept } = await readWatched(reviewsFolder);
    expect(kept).toHaveLength(1_000);
    expect(kept.at(-1)).toEqual({ from: clock.now(), until: clock.now() });
  });
});
