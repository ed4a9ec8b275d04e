import assert from 'node:assert/strict';
import { describe, expect, test } from '@jest/globals';
import { Agenda, Deadlines, type Due } from '../../../monitoring/watch/agenda.js';
import { DAY, HOUR, MINUTE } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { seededRandom } from '../../src/journal/random.js';

const STEPS = 20_000;
const IDS = 50;
const LATEST = 200;

/** What {@link Deadlines} does, at any cost. */
class PlainDeadlines {
  readonly instants = new Map<string, number>();

  takeUntil(now: number): string[] {
    const due = [...this.instants].filter(([, instant]) => instant <= now).map(([id]) => id);
    for (const id of due) this.instants.delete(id);
    return due;
  }
}

describe('deadlines', () => {
  // rule: a-deadline-is-never-late
  test('are due at their last instant, whatever it was before, and the earliest is always known', () => {
    const random = seededRandom(7);
    const deadlines = new Deadlines();
    const plain = new PlainDeadlines();
    // `expect` would take longer than all the rest.
    for (let step = 0; step < STEPS; step += 1) {
      const id = `session-${random.below(IDS)}`;
      const instant = random.below(LATEST);
      const percent = random.below(100);
      if (percent < 90) {
        deadlines.set(id, instant);
        plain.instants.set(id, instant);
      } else if (percent < 99) {
        assert.deepEqual(deadlines.takeUntil(instant).sort(), plain.takeUntil(instant).sort());
      } else {
        deadlines.keepOnly((kept) => kept === id);
        for (const known of plain.instants.keys()) if (known !== id) plain.instants.delete(known);
      }
      assert.equal(deadlines.get(id), plain.instants.get(id));
      assert.equal(deadlines.earliest, Math.min(Infinity, ...plain.instants.values()));
    }
  });

  test('are taken once, the earliest first', () => {
    const deadlines = new Deadlines();
    for (const [id, instant] of [
      ['c', 3],
      ['a', 1],
      ['d', 4],
      ['b', 2],
    ] as const)
      deadlines.set(id, instant);
    deadlines.set('a', 3);
    deadlines.set('a', 1);
    expect(deadlines.takeUntil(3)).toEqual(['a', 'b', 'c']);
    expect(deadlines.takeUntil(3)).toEqual([]);
    expect(deadlines.earliest).toBe(4);
  });
});

describe('the agenda', () => {
  // rule: no-instant-binds-longer-than-its-length
  test.each([-HOUR, -10 * DAY])('is as punctual as before when the clock is set back by %d ms', async (ms) => {
    const clock = new ManualClock();
    const agenda = new Agenda(clock);
    agenda.lookAt('session', clock.now() + MINUTE);
    agenda.driveAt('incident', clock.now() + MINUTE);
    agenda.lookAtLanes(clock.now() + MINUTE);
    let found: Due | null = null;
    const ending = new AbortController();
    void agenda.next(ending.signal).then((due) => {
      found = due;
    });
    await clock.untilWaiting();
    clock.moveWallClock(ms);
    await clock.advance(MINUTE - 1);
    expect(found).toBeNull();
    await clock.advance(1);
    expect(found).toMatchObject({ sessions: ['session'], incidents: ['incident'], lanes: true });
  });
});
