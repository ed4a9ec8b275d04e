/** A transcript that is followed is judged as one that is read whole. */
import { appendFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { judgeJournal } from '../../../monitoring/offline/assessPaths.js';
import { type Assessment, assessSessionHealth } from '../../../monitoring/verdict/assessSessionHealth.js';
import { tailFor } from '../../../monitoring/verdict/timeline/callTail.js';
import { JournalFollower } from '../../../monitoring/watch/journalFollower.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { JournalTail } from '../../../src/journal/reader.js';
import { HOUR, systemClock } from '../../../src/time.js';
import { transcriptAt } from '../../../src/transcripts/companions.js';
import { TranscriptFollower } from '../../../src/transcripts/transcriptFollower.js';
import { TranscriptTail } from '../../../src/transcripts/transcriptTail.js';
import { GrowingSession, recordedNames, recordedSession } from '../../src/transcripts/following.js';
import { asks, at, calls, START, says, transcript } from '../../src/transcripts/told.js';

const thresholds = DEFAULT_THRESHOLDS;
/** Every so many lines are held against the whole file, which is read anew for it; the last one always. */
const EVERY = 3;

function followerOf(path: string, latenessMs: number): JournalFollower {
  const follower = new JournalFollower(new TranscriptFollower(path, { clock: systemClock, latenessMs }));
  follower.remember(tailFor(thresholds));
  return follower;
}

async function verdictAt(follower: JournalFollower, now: number): Promise<Assessment> {
  await follower.look(now);
  return assessSessionHealth(follower.timeline, thresholds, now);
}

// rule: a-followed-transcript-is-the-whole-one
test.each(recordedNames())('%s: line by line, the verdict is that of the whole file', async (name) => {
  const session = new GrowingSession(recordedSession(name));
  const followers = [0, 30_000].map((latenessMs) => followerOf(session.path, latenessMs));
  for (const [index, { file, bytes }] of session.lines.entries()) {
    session.grow(file, bytes);
    const isCompared = index % EVERY === 0 || session.unfinished.length === 0;
    // Mostly both followers are asked for the same instant.
    const judged = new Map<number, Awaited<ReturnType<typeof judgeJournal>>>();
    for (const follower of followers) {
      await follower.look(Number.POSITIVE_INFINITY);
      if (!isCompared) continue;
      const last = follower.timeline.lastInstant();
      const now = (last ?? START) + HOUR;
      const expected =
        judged.get(now) ?? (await judgeJournal(new TranscriptTail(transcriptAt(session.path)), { thresholds, now }));
      judged.set(now, expected);
      expect(assessSessionHealth(follower.timeline, thresholds, now)).toEqual(expected.assessment);
      expect(follower.sessionId).toBe(expected.sessionId);
    }
  }
});

describe('a terminal in which nobody types', () => {
  // rule: a-presumed-end-is-taken-back
  test('is not stuck after a last message, but is once its agent has gone on and stopped', async () => {
    const path = transcript([asks(0, 'go'), says(100, 'First the tests')]);
    const follower = followerOf(path, 0);
    const rulesAt = async (now: number) => (await verdictAt(follower, now)).findings.map(({ rule }) => rule);
    expect(await rulesAt(START + 9 * HOUR)).toEqual([]);
    appendFileSync(path, `${JSON.stringify(calls(200, 't1', 'Read'))}\n`);
    expect(await rulesAt(START + 9 * HOUR)).toEqual(['silence']);
  });

  test('tells whether anything is new, if it is only presumed, too', async () => {
    const path = transcript([asks(0, 'go'), says(100, 'Done')]);
    const follower = followerOf(path, HOUR);
    expect(await follower.look(START + HOUR)).toBe(true);
    expect(await follower.look(START + HOUR)).toBe(false);
    appendFileSync(path, `${JSON.stringify(asks(200, 'more'))}\n`);
    expect(await follower.look(START + HOUR)).toBe(true);
    expect(follower.timeline.lastInstant()).toBe(START + 200_000);
  });

  test('is the same to a judge who remembers more calls', async () => {
    const presumed = [{ v: 1, timestamp: at(100), event: 'turn_end', reason: 'end_turn' }];
    const follower = new JournalFollower({
      path: 'none',
      diagnostics: new JournalTail('none').diagnostics,
      readBatch: () => ({ records: [], restarted: false, more: false }),
      rewind: () => undefined,
      presumed: () => presumed,
    });
    await follower.look(START + HOUR);
    follower.remember(10_000);
    await follower.look(START + HOUR);
    expect(follower.timeline.lastInstant()).toBe(START + 100_000);
  });

  test('lines of a future that is presumed wait for their time', async () => {
    const path = transcript([asks(0, 'go'), says(100, 'Done'), asks(4_000, 'later')]);
    const follower = followerOf(path, 2 * HOUR);
    await follower.look(START + 200_000);
    expect(follower.timeline.nextRelease(START + 200_000)).toBe(START + 4_000_000 - 1_000);
  });
});
